"""The client of NATS with what it lacks: bounds, TLS that cannot be talked away, and only the servers named.

Never goes to a server that another one names, and never sends a secret before a certificate was checked.
"""

import asyncio
import errno
import ssl
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nats.aio.client
import nats.errors
import nats.protocol.parser

from daemon.peers.mailboxes.jetstream.place import NatsPlace

FRAME_BYTES_MAX = 32 << 20
"""More than the longest list, which is one answer."""


class NoTls(nats.errors.Error):
    """The server wants the secret in the clear."""


class BoundedParser(nats.protocol.parser.Parser):
    """Reads what a server sends, as long as it keeps to a bound."""

    async def parse(self, data: bytes = b"") -> None:
        """Take more bytes. Raises ProtocolError for more than FRAME_BYTES_MAX that are one frame."""
        await super().parse(data)
        if self.needed > FRAME_BYTES_MAX or len(self.buf) > FRAME_BYTES_MAX:
            self.reset()
            raise nats.errors.ProtocolError


class BoundedClient(nats.aio.client.Client):
    """A connection to one server; `ended` says that it is over.

    `denied` holds what the server last said that its user may not do.
    """

    def __init__(self, *, needs_tls: bool) -> None:
        super().__init__()
        self._needs_tls = needs_tls
        self._ps = BoundedParser(self)
        self.denied = ""
        self.ended = asyncio.Event()

    async def end(self, limit_s: float) -> None:
        """Close the connection, also one that is broken."""
        # In a task of its own: after a failed handshake, what the client waits for is cancelled.
        closing = asyncio.ensure_future(self.close())
        try:
            await asyncio.wait((closing,), timeout=limit_s)
        finally:
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
            self.ended.set()
            # What could not be flushed keeps the client from closing its socket.
            if self._transport is not None:
                self._transport.close()

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        # The last word before the client sends its secret.
        if initial_connection and self._needs_tls and info.get("tls_required") is not True:
            raise NoTls
        info.pop("connect_urls", None)
        await super()._process_info(info, initial_connection)


async def connect(
    server: str, place: NatsPlace, secret: str, *, limit_s: float, ended: Callable[[], None]
) -> BoundedClient:
    """Connect to one server. `ended` is called when the connection is over.

    `secret` is USER:PASSWORD, or a token. Raises OSError, TimeoutError and the errors of the client.
    """
    client = BoundedClient(needs_tls=place.has_tls)

    async def on_error(fault: Exception) -> None:
        if "permissions violation" in str(fault).lower():
            client.denied = str(fault)

    async def on_end() -> None:
        client.ended.set()
        ended()

    user, colon, password = secret.partition(":")
    try:
        await client.connect(
            [server],
            error_cb=on_error,
            closed_cb=on_end,
            disconnected_cb=on_end,
            name="placet",
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=limit_s,
            no_echo=True,
            tls=await asyncio.to_thread(_trust, place) if place.has_tls else None,
            **({"user": user, "password": password} if colon else {"token": secret}),
        )
    except BaseException:
        await client.end(limit_s)
        raise
    return client


def _trust(place: NatsPlace) -> ssl.SSLContext:
    for file in filter(None, (place.ca, place.certificate, place.key)):
        # OpenSSL would wait for ever for a pipe that lies there.
        if not stat.S_ISREG(Path(file).stat().st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", file)
    context = ssl.create_default_context(cafile=place.ca or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if place.certificate:
        context.load_cert_chain(place.certificate, place.key)
    return context
