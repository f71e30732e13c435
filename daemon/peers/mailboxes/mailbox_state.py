"""What is said of a mailbox: as it was found last, and what was done in it.

Never asks a mailbox.
"""

from typing import Any

from msgspec import Struct


class MailboxReader(Struct, frozen=True):
    """A member that looks into a mailbox: when it was noticed there, and how many commits it lacks."""

    device: str
    name: str
    noticed_at: str
    lacks: int


class MailboxState(Struct, frozen=True):
    """A mailbox as it was found last. `trouble` says why it could not be looked into, null if it could.

    `unreadable` counts blobs that have not opened for a day, `foreign` those of no member that have lain
    there for a day, and `gaps` those that rest on what is not here. `overdue_s` says for how many seconds no
    look has ended, 0 if none should have by now. `newer` and `older` are the names of the members whose blobs
    this device does not understand: they speak newer, or older, versions of the protocol alone.
    """

    name: str
    kind: str
    place: str
    looked_at: str | None
    trouble: str | None
    trouble_id: str
    trouble_params: dict[str, Any]
    blobs: int
    bytes: int
    unreadable: int
    foreign: int
    gaps: int
    readers: list[MailboxReader]
    overdue_s: int = 0
    newer: list[str] = []
    older: list[str] = []


class AddedMailbox(MailboxState, frozen=True, kw_only=True):
    """A mailbox that a person added. It is `changed` if it was known, and has another secret from now on."""

    changed: bool


class MailboxActivity(Struct, frozen=True):
    """What was done in a mailbox since the daemon began, and why it cannot be looked into, if it cannot.

    `visits` counts the looks that ended well, `faults` those that did not. `taken` counts the drops that
    brought something new, `put` the drops that this device left, `cleared` the blobs that it deleted. As an
    event it has no id, because it has no position in the feed. A new stream begins with the mailboxes in
    trouble; later events come when something was taken, put or cleared, and when trouble begins or ends. All
    counts go on from event to event, so one that a client did not get is contained in the next.
    """

    mailbox: str
    looked_at: str | None
    visits: int
    taken: int
    put: int
    cleared: int
    faults: int
    trouble: str | None
    trouble_id: str
    trouble_params: dict[str, Any]

    def has_news_since(self, earlier: "MailboxActivity | None") -> bool:
        """Return whether more was done than to look and find everything as it was."""
        if earlier is None:
            return self.trouble is not None
        return _news_of(self) != _news_of(earlier)


def _news_of(activity: MailboxActivity) -> tuple[object, ...]:
    return activity.taken, activity.put, activity.cleared, activity.trouble
