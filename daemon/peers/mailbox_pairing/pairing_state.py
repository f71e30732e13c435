"""What is under way of pairing through mailboxes, for whoever asks how things stand.

Never shows a secret.
"""

from typing import Any

from msgspec import Struct


class MailboxInvitation(Struct, frozen=True):
    """An open invitation through a mailbox: until `expires_at` it lets in one device that has its token."""

    id: str
    mailbox: str
    expires_at: str


class MailboxJoining(Struct, frozen=True):
    """An invitation that this device has accepted: since `began_at` it waits for the answer of a device.

    `trouble` says why it could not look for the answer last, null if it could.
    """

    mailbox: str
    place: str
    inviter_id: str
    began_at: str
    trouble: str | None
    trouble_id: str
    trouble_params: dict[str, Any]


class MailboxPairing(Struct, frozen=True):
    """What is under way."""

    invitations: list[MailboxInvitation]
    joining: MailboxJoining | None
