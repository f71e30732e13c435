"""Connecting to one address: pinned to a member's certificate, or to any device for pairing.

Never follows a redirect, uses a proxy, or sends anything above TLS to a device that is not the one called.
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

from daemon.peers.transport import trust
from daemon.peers.transport.addresses import Address
from daemon.peers.transport.identity import Identity
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.listener import LINK_PATH, PAIR_PATH
from daemon.peers.transport.wire import Wire, transport_detail
from store.sentence import Sentence, sentence

# The `Date` headers of the answers in this task. aiohttp does not give out the headers of an upgrade.
_dates: ContextVar[list[str] | None] = ContextVar("_dates", default=None)


class UnreachableReason(StrEnum):
    """Why no connection was made, or by which fault a link ended, as far as this side can tell."""

    NO_ANSWER = "no_answer"
    NOT_LISTENING = "not_listening"
    NO_WAY = "no_way"
    TURNED_AWAY = "turned_away"
    BUSY = "busy"
    ANOTHER = "another"
    NEWER = "newer"
    OLDER = "older"
    FAULTY = "faulty"
    ENDED_THERE = "ended_there"
    FAILED_HERE = "failed_here"


class Unreachable(Exception):
    """No connection was made; `sentence` says what was tried and seen."""

    def __init__(self, message: Sentence, kind: UnreachableReason = UnreachableReason.NO_WAY) -> None:
        super().__init__(message.text)
        self.sentence = message
        self.kind = kind


class ConnectionRejected(Unreachable):
    """Something answered there, and rejected this device or is another device than the one called."""

    def __init__(self, message: Sentence, kind: UnreachableReason = UnreachableReason.TURNED_AWAY) -> None:
        super().__init__(message, kind)


class Connector:
    """Makes connections; call `close` at the end."""

    def __init__(self, identity: Identity, limits: PeerLimits) -> None:
        self._identity = identity
        self._limits = limits
        self._session: ClientSession | None = None
        self._pins: dict[bytes, ssl.SSLContext] = {}

    async def close(self) -> None:
        """Close the connections that are open."""
        if self._session is not None:
            await self._session.close()

    async def connect_to_member(self, address: Address, certificate: bytes) -> Wire:
        """Connect to the member that has this certificate (DER). Raises Unreachable."""
        dates: list[str] = []
        _dates.set(dates)
        socket, raw = await self._connect(address, LINK_PATH, trust.LINK_SERVER_NAME, self._pin(certificate))
        # TLS also accepts a certificate that the pinned one has issued. Only the one in the roster counts.
        if raw != certificate:
            await Wire(socket, str(address)).close()
            raise ConnectionRejected(_another_certificate(address), UnreachableReason.ANOTHER)
        return Wire(socket, str(address), _time_s(dates))

    def _pin(self, certificate: bytes) -> ssl.SSLContext:
        context = self._pins.get(certificate)
        if context is None:
            try:
                context = trust.pinned_context(self._identity.file, certificate)
            except (OSError, ValueError) as fault:
                raise Unreachable(
                    sentence(
                        "certificate-unusable", "its certificate cannot be pinned: {fault}", fault=str(fault)
                    )
                ) from fault
            self._pins[certificate] = context
        return context

    async def connect_to_inviter(self, address: Address) -> tuple[Wire, bytes]:
        """Connect for pairing; return the wire and the certificate (DER) shown. Raises Unreachable."""
        socket, raw = await self._connect(
            address, PAIR_PATH, trust.PAIR_SERVER_NAME, trust.unpinned_context()
        )
        return Wire(socket, str(address)), raw

    async def _connect(
        self, address: Address, path: str, name: str, context: ssl.SSLContext
    ) -> tuple[ClientWebSocketResponse[Any], bytes]:
        try:
            async with asyncio.timeout(self._limits.dial_s):
                socket = await self._http().ws_connect(
                    f"https://{address}{path}",
                    ssl=context,
                    server_hostname=name,
                    compress=0,
                    # The wire answers pings itself, and counts them.
                    autoping=False,
                    max_msg_size=self._limits.frame_bytes_max,
                    timeout=ClientWSTimeout(ws_close=self._limits.goodbye_s),
                )
        except TimeoutError as fault:
            silent = sentence(
                "no-answer-within",
                "{address} did not answer within {seconds} s",
                address=str(address),
                seconds=f"{self._limits.dial_s:g}",
            )
            raise Unreachable(silent, UnreachableReason.NO_ANSWER) from fault
        except (aiohttp.ClientError, OSError, ValueError) as fault:
            if isinstance(fault, aiohttp.ClientConnectorCertificateError):
                raise ConnectionRejected(_another_certificate(address), UnreachableReason.ANOTHER) from fault
            if _is_full(fault):
                full = sentence(
                    "too-many-callers", "{address} has too many callers now", address=str(address)
                )
                raise ConnectionRejected(full, UnreachableReason.BUSY) from fault
            if _is_answer(fault):
                raise ConnectionRejected(_refusal_sentence(address)) from fault
            raise Unreachable(_failure_sentence(address, fault), _kind(fault)) from fault
        connection = transport_detail(socket, "ssl_object")
        if connection is None:
            raise ConnectionRejected(_refusal_sentence(address))
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


def _another_certificate(address: Address) -> Sentence:
    return sentence("another-certificate", "{address} showed another certificate", address=str(address))


def _refusal_sentence(address: Address) -> Sentence:
    return sentence("turned-away", "{address} refused this device", address=str(address))


def _too_many_callers(address: Address) -> Sentence:
    return sentence("too-many-callers", "{address} has too many callers now", address=str(address))


def _failure_sentence(address: Address, fault: Exception) -> Sentence:
    return sentence("connecting-failed", "{address}: {fault}", address=str(address), fault=_words(fault))


def _is_full(fault: Exception) -> bool:
    """Return whether the other side had no room for one more connection: see `LISTENER_FULL_ALERT`."""
    exception = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    return getattr(exception, "reason", None) == "TLSV1_ALERT_INTERNAL_ERROR"


def _is_answer(fault: Exception) -> bool:
    """Return whether something listens there, and ended the connection in the handshake or after it."""
    if isinstance(fault, aiohttp.ClientConnectorError):
        # A rejection arrives as a TLS alert if that gets through, else as a connection that breaks in the
        # handshake. asyncio gives no error number if the peer closed it.
        os_error = fault.os_error
        broken = isinstance(os_error, ConnectionResetError | ConnectionAbortedError | BrokenPipeError)
        return isinstance(fault, aiohttp.ClientSSLError) or broken or not os_error.errno
    cut = aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | ConnectionResetError
    return isinstance(fault, cut | aiohttp.WSServerHandshakeError)


def _kind(fault: Exception) -> UnreachableReason:
    exception = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    refused = isinstance(exception, OSError) and exception.errno == errno.ECONNREFUSED
    return UnreachableReason.NOT_LISTENING if refused else UnreachableReason.NO_WAY


def _words(fault: Exception) -> str:
    exception = fault.os_error if isinstance(fault, aiohttp.ClientConnectorError) else fault
    if (
        isinstance(exception, OSError)
        and not isinstance(exception, ssl.SSLError)
        and (exception.errno or 0) > 0
    ):
        # The system's own words: those of asyncio repeat the address, and do not say what was seen there.
        return os.strerror(exception.errno or 0)
    return getattr(exception, "strerror", None) or str(exception)


async def _note_date(
    session: ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestEndParams
) -> None:
    del session, context
    dates = _dates.get()
    if dates is not None:
        dates.append(params.response.headers.get("Date", ""))


def _time_s(dates: list[str]) -> float | None:
    """Return the Unix time in the last `Date` header, None if it has none."""
    try:
        return parsedate_to_datetime(dates[-1]).timestamp() if dates else None
    except (ValueError, OverflowError):
        return None


async def _refuse_redirect(
    session: ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestRedirectParams
) -> None:
    del session, context
    raise aiohttp.ClientPayloadError(f"it answered with a redirect ({params.response.status})")
