"""Making a connection to one address: pinned to a member, or open-eyed for pairing.

Never follows a redirect, uses a proxy, or sends anything above TLS to a device that is not the one dialled.
"""

import asyncio
import errno
import os
import ssl
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from enum import StrEnum
from types import SimpleNamespace
from typing import Any

import aiohttp
from aiohttp import ClientSession, ClientWebSocketResponse, ClientWSTimeout, TraceConfig

from daemon.peers import trust
from daemon.peers.addresses import Address
from daemon.peers.identity import Identity
from daemon.peers.listener import LINK_PATH, PAIR_PATH
from daemon.peers.pace import Pace
from daemon.peers.wire import Wire, told_of

# What answers to the connections of this task were dated with: aiohttp keeps an upgrade's headers to itself.
_dates: ContextVar[list[str] | None] = ContextVar("_dates", default=None)


class Silence(StrEnum):
    """What kept a connection from being made, as far as can be told from here."""

    NO_ANSWER = "no_answer"
    NOT_LISTENING = "not_listening"
    NO_WAY = "no_way"
    TURNED_AWAY = "turned_away"
    BUSY = "busy"
    ANOTHER = "another"
    NEWER = "newer"
    OLDER = "older"


class Unreachable(Exception):
    """No connection was made; the message says what was tried and seen."""

    def __init__(self, message: str, kind: Silence = Silence.NO_WAY) -> None:
        super().__init__(message)
        self.kind = kind


class TurnedAway(Unreachable):
    """Something answered there, and would not have us, or was not whom we sought."""

    def __init__(self, message: str, kind: Silence = Silence.TURNED_AWAY) -> None:
        super().__init__(message, kind)


class Dialling:
    """Makes connections; close it at the end."""

    def __init__(self, identity: Identity, pace: Pace) -> None:
        self._identity = identity
        self._pace = pace
        self._session: ClientSession | None = None
        self._pins: dict[bytes, ssl.SSLContext] = {}

    async def close(self) -> None:
        """Close what is open."""
        if self._session is not None:
            await self._session.close()

    async def member(self, address: Address, certificate: bytes) -> Wire:
        """Connect to the member that has this certificate (DER). Raises Unreachable."""
        dates: list[str] = []
        _dates.set(dates)
        socket, shown = await self._connect(address, LINK_PATH, trust.LINK_NAME, self._pin(certificate))
        if shown != certificate:
            await Wire(socket, str(address)).close()
            raise TurnedAway(f"{address} showed another certificate", Silence.ANOTHER)
        return Wire(socket, str(address), _time_s(dates))

    def _pin(self, certificate: bytes) -> ssl.SSLContext:
        context = self._pins.get(certificate)
        if context is None:
            try:
                context = trust.pinned(self._identity.file, certificate)
            except (OSError, ValueError) as fault:
                raise Unreachable(f"its certificate cannot be pinned: {fault}") from fault
            self._pins[certificate] = context
        return context

    async def inviter(self, address: Address) -> tuple[Wire, bytes]:
        """Connect for pairing; return the wire and the certificate (DER) shown. Raises Unreachable."""
        socket, shown = await self._connect(address, PAIR_PATH, trust.PAIR_NAME, trust.unpinned())
        return Wire(socket, str(address)), shown

    async def _connect(
        self, address: Address, path: str, name: str, context: ssl.SSLContext
    ) -> tuple[ClientWebSocketResponse[Any], bytes]:
        try:
            async with asyncio.timeout(self._pace.dial_s):
                socket = await self._http().ws_connect(
                    f"https://{address}{path}",
                    ssl=context,
                    server_hostname=name,
                    compress=0,
                    max_msg_size=self._pace.frame_bytes_max,
                    timeout=ClientWSTimeout(ws_close=self._pace.goodbye_s),
                )
        except TimeoutError as fault:
            silent = f"{address} did not answer within {self._pace.dial_s:g} s"
            raise Unreachable(silent, Silence.NO_ANSWER) from fault
        except (aiohttp.ClientError, OSError, ValueError) as fault:
            if isinstance(fault, aiohttp.ClientConnectorCertificateError):
                raise TurnedAway(f"{address} showed another certificate", Silence.ANOTHER) from fault
            if _is_full(fault):
                raise TurnedAway(f"{address} has too many callers now", Silence.BUSY) from fault
            if _answered(fault):
                raise TurnedAway(f"{address} turned us away") from fault
            raise Unreachable(f"{address}: {_words(fault)}", _kind(fault)) from fault
        connection = told_of(socket, "ssl_object")
        if connection is None:
            raise TurnedAway(f"{address} turned us away")
        return socket, connection.getpeercert(binary_form=True) or b""

    def _http(self) -> ClientSession:
        if self._session is None:
            tracing = TraceConfig()
            tracing.on_request_redirect.append(_refuse_redirect)
            tracing.on_request_end.append(_note_date)
            self._session = ClientSession(
                connector=aiohttp.TCPConnector(limit=0, force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[tracing],
            )
        return self._session


def _is_full(fault: Exception) -> bool:
    """Say whether the other side had no room for one more connection, see the listener."""
    seen = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    return getattr(seen, "reason", None) == "TLSV1_ALERT_INTERNAL_ERROR"


def _answered(fault: Exception) -> bool:
    """Say whether something listens there, and ended the connection in the handshake or after it."""
    if isinstance(fault, aiohttp.ClientConnectorError):
        # A closed door is seen as a TLS alert where it gets through, else as a connection that breaks in the
        # handshake; asyncio gives no number where the peer closed it.
        seen = fault.os_error
        broken = isinstance(seen, ConnectionResetError | ConnectionAbortedError | BrokenPipeError)
        return isinstance(fault, aiohttp.ClientSSLError) or broken or not seen.errno
    cut = aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | ConnectionResetError
    return isinstance(fault, cut | aiohttp.WSServerHandshakeError)


def _kind(fault: Exception) -> Silence:
    seen = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    refused = isinstance(seen, OSError) and seen.errno == errno.ECONNREFUSED
    return Silence.NOT_LISTENING if refused else Silence.NO_WAY


def _words(fault: Exception) -> str:
    seen = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    if isinstance(seen, OSError) and not isinstance(seen, ssl.SSLError) and (seen.errno or 0) > 0:
        # The system's own words: asyncio says the address once more, and not what was seen there.
        return os.strerror(seen.errno or 0)
    return getattr(seen, "strerror", None) or str(seen)


async def _note_date(
    session: ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestEndParams
) -> None:
    del session, context
    dates = _dates.get()
    if dates is not None:
        dates.append(params.response.headers.get("Date", ""))


def _time_s(dates: list[str]) -> float | None:
    """Read the moment that an answer was dated with."""
    try:
        return parsedate_to_datetime(dates[-1]).timestamp() if dates else None
    except (ValueError, OverflowError):
        return None


async def _refuse_redirect(
    session: ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestRedirectParams
) -> None:
    del session, context
    raise aiohttp.ClientPayloadError(f"it answered with a redirect ({params.response.status})")
