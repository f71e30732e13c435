"""A relay as a mailbox: a small server that keeps sealed blobs in a box, and says when one came.

Never follows a redirect, never believes a length, and never shows the secret to another host.
"""

import asyncio
import io
import re
import ssl
from collections.abc import Collection
from typing import NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec

from daemon.peers.mailboxes.carrier import LISTED_MAX, BadPlace, CarrierFault, ListedBlob, full_sentence
from daemon.peers.transport import addresses
from store.sentence import Sentence, sentence
from syncproto.mailboxes import names

T = TypeVar("T")

PLACE_CHARS_MAX = 1024
SECRET_CHARS_MAX = 256
LIST_BYTES_MAX = 1 << 20
MARK_CHARS_MAX = 100
TRIES = 3
_BOX = re.compile(r"/[a-z0-9][a-z0-9-]{0,62}")
_PIN = re.compile(r"sha256=[0-9a-f]{64}")
_FIRST_PART = re.compile(r"[0-9A-Za-z]{1,64}")


class RelayTimes(NamedTuple):
    """How long a relay may take, in seconds: for a whole answer, and until it says that nothing came."""

    answer_s: float = 30.0
    news_s: float = 75.0
    retry_s: float = 1.0


class RelayPlace(NamedTuple):
    """Where a box is: its URL without a slash at the end, and SHA-256 of the certificate if it is pinned."""

    url: str
    pin: bytes | None

    @property
    def is_safe(self) -> bool:
        """Return whether the secret of the box goes there sealed, or stays on this machine."""
        parts = urlsplit(self.url)
        return parts.scheme == "https" or _is_loopback(parts.hostname or "")


class _Page(msgspec.Struct, frozen=True):
    blobs: list[tuple[str, int, str]]
    more: bool


class _News(msgspec.Struct, frozen=True):
    turn: int


class RelayCarrier:
    """The blobs of one vault (its tag) in a box. `reader` tells this device from the others there."""

    def __init__(
        self, place: RelayPlace, secret: str, vault: bytes, *, reader: str, times: RelayTimes | None = None
    ) -> None:
        self._place = place
        self._vault_url = f"{place.url}/{vault.hex()}"
        self._headers = {
            "Authorization": f"Bearer {secret}",
            "Placet-Reader": reader,
            "Accept-Encoding": "identity",
        }
        self._times = times or RelayTimes()
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False
        self._turn = 0

    async def put(self, name: str, content: bytes) -> None:
        """Send a blob."""
        await self._ask("PUT", _blob_path(name), 0, content)

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return the blobs that the relay names, page by page; a list that goes nowhere is refused."""
        del first  # a relay keeps as many as are listed
        blobs: list[ListedBlob] = []
        after, more = "", True
        while more and len(blobs) < LISTED_MAX:
            answer = await self._ask("GET", f"?after={quote(after, safe='')}", LIST_BYTES_MAX)
            page = self._decode(answer, _Page)
            for name, size, mark in page.blobs:
                if name <= after or size < 0 or len(mark) > MARK_CHARS_MAX or not is_name(name):
                    raise self._liar()
                blobs.append(ListedBlob(name, size, mark))
                after = name
            more = page.more
            if more and not page.blobs:
                raise self._liar()
        return blobs[:LISTED_MAX]

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return what the relay says a blob is."""
        return await self._ask("GET", _blob_path(name), bytes_max, is_cut=True)

    async def delete(self, name: str) -> None:
        """Have a blob deleted."""
        await self._ask("DELETE", _blob_path(name), 0)

    async def wait_for_news(self) -> bool:
        """Wait until another device may have put something; False if nothing came for a while."""
        answer = await self._ask(
            "GET", f"/news?after={self._turn}", LIST_BYTES_MAX, limit_s=self._times.news_s
        )
        news = self._decode(answer, _News)
        if not 0 <= news.turn < 10**15:
            raise self._liar()
        before, self._turn = self._turn, news.turn
        return news.turn != before

    async def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        if self._session is not None:
            await self._session.close()

    # -- the wire -------------------------------------------------------------------------------------

    async def _ask(
        self,
        method: str,
        path: str,
        bytes_max: int,
        content: bytes | None = None,
        *,
        is_cut: bool = False,
        limit_s: float | None = None,
    ) -> bytes | None:
        """Send one request; return the body of the answer, None if there is no such blob.

        A body of more than `bytes_max` is cut one byte above it if `is_cut`, and refused otherwise.
        """
        for further in reversed(range(TRIES)):
            try:
                async with asyncio.timeout(self._times.answer_s if limit_s is None else limit_s):
                    async with self._open_session().request(
                        method,
                        self._vault_url + path,
                        data=None if content is None else io.BytesIO(content),
                        headers=self._headers,
                        allow_redirects=False,
                        ssl=self._trust(),
                    ) as answer:
                        if answer.status == 429 and further:
                            wait_s = self._times.retry_s
                        elif answer.status in (200, 204):
                            return await self._read(answer, bytes_max, is_cut=is_cut)
                        elif answer.status == 404 and is_cut:
                            return None
                        else:
                            raise CarrierFault(self._refusal(answer.status))
            except TimeoutError as fault:
                raise CarrierFault(
                    sentence("relay-slow", "{place} does not answer in time", place=self._place.url)
                ) from fault
            except (aiohttp.ClientError, OSError, ValueError) as fault:
                raise self._fault(fault) from fault
            await asyncio.sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    async def _read(self, answer: aiohttp.ClientResponse, bytes_max: int, *, is_cut: bool) -> bytes:
        content = bytearray()
        while len(content) <= bytes_max:
            piece = await answer.content.read(min(1 << 16, bytes_max + 1 - len(content)))
            if not piece:
                return bytes(content)
            content += piece
        # What follows is not read: the connection ends here.
        answer.close()
        if not is_cut:
            raise self._liar()
        return bytes(content)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise self._fault(ConnectionError("it is used no more"))
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=self._times.answer_s),
                auto_decompress=False,
                trust_env=False,
                max_line_size=4096,
                max_field_size=4096,
            )
        return self._session

    def _trust(self) -> ssl.SSLContext | aiohttp.Fingerprint | bool:
        return True if self._place.pin is None else aiohttp.Fingerprint(self._place.pin)

    def _decode(self, answer: bytes | None, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(answer or b"", type=shape)
        except (msgspec.MsgspecError, ValueError) as fault:
            raise self._liar() from fault

    # -- what was seen --------------------------------------------------------------------------------

    def _refusal(self, status: int) -> Sentence:
        if status == 401:
            return sentence(
                "relay-secret-refused",
                "{place} does not know this box, or not this secret; if it has a new one, run:"
                " placet mailbox add {place}",
                place=self._place.url,
            )
        if status == 507:
            return full_sentence(self._place.url)
        return sentence(
            "relay-status", "{place} answers with status {status}", place=self._place.url, status=status
        )

    def _fault(self, fault: Exception) -> CarrierFault:
        place = self._place.url
        if isinstance(fault, aiohttp.ServerFingerprintMismatch):
            return CarrierFault(
                sentence(
                    "relay-pin", "the certificate of {place} is not the one that was pinned", place=place
                )
            )
        if isinstance(fault, aiohttp.ClientConnectorCertificateError):
            return CarrierFault(
                sentence("relay-untrusted", "the certificate of {place} is not trusted here", place=place)
            )
        reason = (fault.strerror if isinstance(fault, OSError) else None) or type(fault).__name__
        return CarrierFault(
            sentence(
                "mailbox-relay-fault",
                "{place} cannot be used: {reason}",
                place=place,
                reason=reason,
            )
        )

    def _liar(self) -> CarrierFault:
        return CarrierFault(
            sentence("relay-makes-no-sense", "{place} answers what no relay does", place=self._place.url)
        )


def parse_place(text: str) -> RelayPlace:
    """Read `https://HOST:PORT/BOX#sha256=HEX`, of which the last part may be missing. Raises BadPlace."""
    try:
        parts = urlsplit(text)
        is_well = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_well = False
        parts = urlsplit("")
    is_pin = not parts.fragment or (_PIN.fullmatch(parts.fragment) and parts.scheme == "https")
    has_no_more = "@" not in parts.netloc and not parts.query and text.isascii() and text.isprintable()
    is_box = _BOX.fullmatch(parts.path) is not None
    if not (is_well and is_pin and has_no_more and is_box and len(text) <= PLACE_CHARS_MAX):
        raise BadPlace(
            sentence(
                "relay-place",
                "{place} is not of the form {form}",
                place=text[:80],
                form="https://HOST:PORT/BOX#sha256=PIN",
            )
        )
    pin = bytes.fromhex(parts.fragment.removeprefix("sha256=")) if parts.fragment else None
    return RelayPlace(f"{parts.scheme}://{parts.netloc}{parts.path}", pin)


def is_name(name: str) -> bool:
    """Return whether a blob that a relay names can be asked for."""
    first, slash, last = name.rpartition("/")
    is_plain = name.isascii() and name.isprintable() and len(name) <= 300
    return is_plain and names.is_blob_name(last) and (not slash or _FIRST_PART.fullmatch(first) is not None)


def _blob_path(name: str) -> str:
    return f"/blobs/{quote(name)}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or addresses.is_loopback_host(host)
    except ValueError:
        return False
