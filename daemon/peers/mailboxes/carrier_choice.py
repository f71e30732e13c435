"""Which carrier a mailbox has, by its kind, and what a person must say to have it.

Never opens a connection by itself.
"""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from daemon.peers.mailboxes import relay
from daemon.peers.mailboxes.carrier import BadPlace, Carrier, CarrierFault, given_path
from daemon.peers.mailboxes.folder import FolderCarrier, StuckWork
from daemon.peers.mailboxes.jetstream import place as nats_places
from daemon.peers.mailboxes.relay import RelayCarrier
from daemon.peers.mailboxes.secret_file import SecretFile
from daemon.refusal import usage_error
from store.local.mailboxes import Mailbox
from store.sentence import sentence

READER_BYTES = 8
_NATS_MISSING = sentence(
    "nats-not-installed", "the client of NATS is not installed: install placet with the extra nats"
)


class Access(NamedTuple):
    """What a box needs beside its place: its secret, and whether that may go there in the clear."""

    secret: str | None = None
    unencrypted: bool = False


class CarrierChoice:
    """Makes the carriers of this device's mailboxes."""

    def __init__(self, secrets: SecretFile, randomness: Callable[[int], bytes]) -> None:
        self.secrets = secrets
        self._randomness = randomness
        self._stuck: StuckWork = {}

    def check(self, stored: Mailbox, access: Access) -> None:
        """Check what a person gave for a new mailbox. Raises Refused."""
        try:
            if stored.kind == "folder":
                given_path(stored.place)
                return
            where, is_safe = _where(stored)
        except BadPlace as fault:
            raise usage_error(fault.sentence) from fault
        if stored.kind == "nats" and not _has_nats():
            raise usage_error(_NATS_MISSING)
        if not (is_safe or access.unencrypted):
            raise usage_error(
                sentence(
                    "relay-unencrypted",
                    "without https, everybody on the way to {place} can read the secret of the box",
                    place=where,
                )
                if stored.kind == "relay"
                else sentence(
                    "nats-unencrypted",
                    "without tls, everybody on the way to {place} can read the secret",
                    place=where,
                )
            )
        secret = access.secret or ""
        if not (0 < len(secret) <= relay.SECRET_CHARS_MAX and secret.isascii() and secret.isprintable()):
            raise usage_error(
                sentence("relay-needs-secret", "the box at {place} needs its secret", place=where)
            )

    async def make(self, stored: Mailbox, tag: bytes, given: str | None = None) -> Carrier:
        """Return the carrier of what lies in a mailbox under a tag, such as a vault's. Raises CarrierFault.

        `given` is the secret of a box that is not kept yet.
        """
        if stored.kind == "folder":
            folder = Path(stored.place)
            return FolderCarrier(folder, tag, randomness=self._randomness, stuck=self._stuck)
        secret = given or await asyncio.to_thread(self.secrets.secret_of, stored.name)
        if secret is None:
            raise CarrierFault(
                sentence(
                    "relay-secret-lost",
                    "the secret of this box is not here any more: add its place once more, with the secret",
                )
            )
        if stored.kind == "nats":
            return _nats_carrier(stored, secret, tag)
        reader = self._randomness(READER_BYTES).hex()
        return RelayCarrier(relay.parse_place(stored.place), secret, tag, reader=reader)


def is_same_box(stored: Mailbox, kind: str, place: str) -> bool:
    """Return whether a place is that of a mailbox that has a secret, whatever its pin, quota or files."""
    if stored.kind != kind or kind == "folder":
        return False
    try:
        if kind == "nats":
            own_stream, other_stream = nats_places.parse_place(stored.place), nats_places.parse_place(place)
            has_same_servers = set(own_stream.servers) == set(other_stream.servers)
            return own_stream.stream == other_stream.stream and has_same_servers
        return relay.parse_place(stored.place).url.casefold() == relay.parse_place(place).url.casefold()
    except BadPlace:
        return False


def with_place(stored: Mailbox, place: str) -> Mailbox:
    """Return a mailbox with a place that is given anew: its pin, quota or files stay if that has none."""
    return stored._replace(place=place) if "#" in place or "?" in place else stored


def _where(stored: Mailbox) -> tuple[str, bool]:
    """Return a place in words, and whether a secret is safe on the way there. Raises BadPlace."""
    if stored.kind == "nats":
        stream = nats_places.parse_place(stored.place)
        return stream.text, stream.is_safe
    box = relay.parse_place(stored.place)
    return box.url, box.is_safe


def _has_nats() -> bool:
    return find_spec("nats") is not None


def _nats_carrier(stored: Mailbox, secret: str, tag: bytes) -> Carrier:
    if not _has_nats():
        raise CarrierFault(_NATS_MISSING)
    # Most people have no NATS, and its client is an extra.
    from daemon.peers.mailboxes.nats import NatsCarrier

    return NatsCarrier(nats_places.parse_place(stored.place), secret, tag)
