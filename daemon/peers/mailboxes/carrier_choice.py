"""Which carrier a mailbox has, by its kind, and what a person must say to have it.

Never opens a connection by itself.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from daemon.peers.mailboxes import relay
from daemon.peers.mailboxes.carrier import Carrier, CarrierFault
from daemon.peers.mailboxes.folder import FolderCarrier
from daemon.peers.mailboxes.relay import BadPlace, RelayCarrier
from daemon.peers.mailboxes.secret_file import SecretFile
from daemon.refusal import usage_error
from store.local.mailboxes import Mailbox
from store.sentence import sentence

READER_BYTES = 8


class Access(NamedTuple):
    """What a box needs beside its place: its secret, and whether that may go there in the clear."""

    secret: str | None = None
    unencrypted: bool = False


class CarrierChoice:
    """Makes the carriers of this device's mailboxes."""

    def __init__(self, secrets: SecretFile, randomness: Callable[[int], bytes]) -> None:
        self.secrets = secrets
        self._randomness = randomness

    def check(self, stored: Mailbox, access: Access) -> None:
        """Check what a person gave for a new mailbox. Raises Refused."""
        if stored.kind == "folder":
            return
        try:
            place = relay.parse_place(stored.place)
        except BadPlace as fault:
            raise usage_error(fault.sentence) from fault
        if not (place.is_safe or access.unencrypted):
            raise usage_error(
                sentence(
                    "relay-unencrypted",
                    "without https, everybody on the way to {place} can read the secret of the box",
                    place=place.url,
                )
            )
        secret = access.secret or ""
        if not (0 < len(secret) <= relay.SECRET_CHARS_MAX and secret.isascii() and secret.isprintable()):
            raise usage_error(
                sentence("relay-needs-secret", "the box at {place} needs its secret", place=place.url)
            )

    async def make(self, stored: Mailbox, tag: bytes, given: str | None = None) -> Carrier:
        """Return the carrier of what lies in a mailbox under a tag, such as a vault's. Raises CarrierFault.

        `given` is the secret of a box that is not kept yet.
        """
        if stored.kind == "folder":
            return FolderCarrier(Path(stored.place), tag)
        secret = given or await asyncio.to_thread(self.secrets.secret_of, stored.name)
        if secret is None:
            raise CarrierFault(
                sentence(
                    "relay-secret-lost",
                    "the secret of this box is not here any more: remove the mailbox and add it again",
                )
            )
        reader = self._randomness(READER_BYTES).hex()
        return RelayCarrier(relay.parse_place(stored.place), secret, tag, reader=reader)
