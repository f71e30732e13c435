"""What a verdict lacks in order to count, and the verdicts on an item that did not count.

Never decides what counts: that is the fold's. It only says beforehand what the fold will say.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from daemon.agents.tools.presence import ANY
from daemon.timestamps import stamp_utc
from store.fold.item import Decision, Item
from store.fold.item_name import Presence, Requirement
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.ids import DeviceId

NOT_COUNTED: Final[Mapping[Presence, Sentence]] = {
    Presence.OTHER_DEVICE: sentence(
        "verdict-not-from-another-device",
        "noted, and nothing was done: this verdict is not from another device. Decide on one where the agent"
        " does not work",
    ),
    Presence.PASSKEY: sentence(
        "verdict-without-passkey",
        "noted, and nothing was done: this verdict is without a passkey. Decide on the page, with yours",
    ),
}
"""The answers to a verdict, by what it lacks."""


class IdleVerdict(Struct, frozen=True, kw_only=True):
    """A verdict that was kept and changed nothing. `lacks` is `other_device` or `passkey`.

    `at` is ISO 8601 in UTC.
    """

    verdict: str
    lacks: str
    device: str
    device_name: str
    at: str


def verdict_lack(snapshot: Snapshot, item: Item) -> Presence | None:
    """Return what a verdict without a passkey, given on this device, would lack; None if it counts."""
    return lack_here(snapshot, item.requirement)


def lack_here(snapshot: Snapshot, needed: Requirement | None) -> Presence | None:
    """Return what a verdict without a passkey, given on this device, lacks of what is needed."""
    if needed is None or (needed.presence is Presence.OTHER_DEVICE and needed.home != snapshot.device):
        return None
    return needed.presence


def presence_needed(item: Item) -> str:
    """Return what verdicts on an item need: `any`, `other_device` or `passkey`."""
    return ANY if item.requirement is None else item.requirement.presence.value


def lack_of(item: Item, decision: Decision) -> str | None:
    """Return what a decision on an item lacks, `other_device` or `passkey`; None if it counts."""
    return None if decision.counts or item.requirement is None else item.requirement.presence.value


def idle_verdicts(item: Item, device_name: Callable[[DeviceId], str]) -> list[IdleVerdict]:
    """Return the verdicts on an item that did not count, in feed order, as they were stamped."""
    needed = None if item.requirement is None else item.requirement.presence
    return idle_verdicts_on(item.all_decisions, needed, device_name, None)


def idle_verdicts_on(
    decisions: Iterable[Decision],
    needed: Presence | None,
    device_name: Callable[[DeviceId], str],
    now_ms: int | None,
) -> list[IdleVerdict]:
    """Return those of some decisions that did not count, since they lack what is needed; see `stamp_utc`."""
    if needed is None:
        return []
    return [
        IdleVerdict(
            verdict=decision.verdict.value,
            lacks=needed.value,
            device=decision.device.hex(),
            device_name=device_name(decision.device),
            at=stamp_utc(decision.stamp_ms, now_ms),
        )
        for decision in decisions
        if not decision.counts and decision.rule is None
    ]
