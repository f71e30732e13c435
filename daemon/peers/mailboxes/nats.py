"""A stream of NATS JetStream as a mailbox: several servers keep it, and any of them may be away.

Never believes a length or a subject that a server gives, and never makes a stream other than the one named.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import nats.errors
import nats.js.errors
from nats.js import api

from daemon.peers.mailboxes.carrier import LISTED_MAX, CarrierFault, ListedBlob
from daemon.peers.mailboxes.jetstream import client as bounded_client
from daemon.peers.mailboxes.jetstream.client import BoundedClient
from daemon.peers.mailboxes.jetstream.faults import STREAM_GONE, NatsFaults, Unreachable
from daemon.peers.mailboxes.jetstream.place import NatsPlace

T = TypeVar("T")

PART_BYTES = 256 * 1024
PARTS_MAX = 4096
ROOM_BYTES = 4 << 20
"""Beyond the quota there is room for what devices say that they have: else a full one never becomes empty."""
_HEADERS_BYTES = 512
_VERSION = re.compile(r"([0-9]{1,12})-([0-9]{1,4})-([0-9]{1,10})-([0-9a-f]{16})")
_TOKEN = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,200}")
_ENDINGS = ("drop", "have")


class NatsTimes(NamedTuple):
    """How long NATS may take, in seconds: for a whole task, for one answer, and until nothing came.

    After `headless_s`, parts whose first one did not come are given up: whoever put them was cut off.
    """

    task_s: float = 30.0
    answer_s: float = 5.0
    news_s: float = 75.0
    retry_s: float = 0.5
    headless_s: float = 3600.0


class _Version(NamedTuple):
    """What a subject says of a blob: which replaces which, its parts, its size in bytes, and of SHA-256."""

    generation: int
    parts: int
    size: int
    digest: str

    @property
    def token(self) -> str:
        return f"{self.generation}-{self.parts}-{self.size}-{self.digest}"

    @classmethod
    def parse(cls, token: str) -> "_Version | None":
        match = _VERSION.fullmatch(token)
        return None if match is None else cls(int(match[1]), int(match[2]), int(match[3]), match[4])


class _Found(NamedTuple):
    """The subjects that fit a pattern, how many bytes the whole stream has, and may have."""

    subjects: dict[str, int]
    bytes: int
    bytes_max: int


class NatsCarrier:
    """The blobs of one vault (its tag) in a stream: a subject for each part of a version of a blob."""

    def __init__(
        self, place: NatsPlace, secret: str, vault: bytes, *, times: NatsTimes | None = None
    ) -> None:
        self._place = place
        self._secret = secret
        self._subject = f"{place.stream}.{vault.hex()}"
        self._news_subject = f"{place.stream}-news.{vault.hex()}"
        self._times = times or NatsTimes()
        self._faults = NatsFaults(place)
        self._servers = list(place.servers)
        self._client: BoundedClient | None = None
        self._connecting = asyncio.Lock()
        self._news = asyncio.Event()
        self._listed: dict[str, _Version] = {}
        self._headless_since_s: dict[str, float] = {}
        self._is_closed = False

    async def put(self, name: str, content: bytes) -> None:
        """Publish the parts of a blob, the first one last, and purge what it replaces."""
        await self._run(lambda client, stream: self._put(client, stream, name, content))

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return the blobs whose first part is there: their subjects say all, so no consumer is made."""
        del first
        return await self._run(lambda _, stream: self._list(stream))

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return a blob as far as its parts are there."""
        return await self._run(lambda _, stream: self._get(stream, name, bytes_max))

    async def delete(self, name: str) -> None:
        """Purge the parts of a blob."""
        subject = f"{self._subject_of(name)}.>"
        await self._run(lambda _, stream: stream.purge_stream(self._place.stream, subject=subject))

    async def wait_for_news(self) -> bool:
        """Wait until another device may have put something; False if nothing came for a while."""
        client = await self._run(_give_client)
        try:
            async with asyncio.timeout(self._times.news_s):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        if client.ended.is_set():
            raise self._faults.describe(ConnectionError("the connection ended"))
        return True

    async def close(self) -> None:
        """Close the connection."""
        self._is_closed = True
        await self._drop_client()

    # -- what is asked ----------------------------------------------------------------------------------

    async def _put(self, client: BoundedClient, stream: Any, name: str, content: bytes) -> None:
        part_bytes = max(1, min(PART_BYTES, client.max_payload - _HEADERS_BYTES))
        parts = [content[start : start + part_bytes] for start in range(0, len(content), part_bytes)] or [b""]
        if len(parts) > PARTS_MAX:
            raise self._faults.makes_no_sense()
        holdings = await self._look(stream, f"{self._subject_of(name)}.>")
        if name.endswith(".drop") and 0 < holdings.bytes_max < holdings.bytes + len(content) + ROOM_BYTES:
            raise self._faults.is_full()
        earlier = self._versions(holdings.subjects).get(name, [])
        generation = 1 + max((version.generation for version in earlier), default=0)
        version = _Version(generation, len(parts), len(content), sha256(content).hexdigest()[:16])
        subject = f"{self._subject_of(name)}.{version.token}"
        for number in reversed(range(len(parts))):
            answer = await stream.publish(f"{subject}.{number}", parts[number], timeout=self._times.answer_s)
            if answer.stream != self._place.stream:
                raise self._faults.is_no_mailbox()
        for old in earlier:
            await stream.purge_stream(self._place.stream, subject=f"{self._subject_of(name)}.{old.token}.*")
        await client.publish(self._news_subject)

    async def _list(self, stream: Any) -> list[ListedBlob]:
        holdings = await self._look(stream, f"{self._subject}.>")
        await self._purge_headless(stream, holdings.subjects)
        self._listed = {
            name: max(versions)
            for name, versions in islice(self._versions(holdings.subjects).items(), LISTED_MAX)
        }
        return [
            ListedBlob(name, version.size, f"{version.generation}-{version.digest}")
            for name, version in self._listed.items()
        ]

    async def _purge_headless(self, stream: Any, subjects: Iterable[str]) -> None:
        """Purge the parts of versions whose first part has been missing for long: they only take room."""
        numbers: dict[str, set[str]] = {}
        for subject in subjects:
            version, _, number = subject.rpartition(".")
            numbers.setdefault(version, set()).add(number)
        now_s, since_s = asyncio.get_running_loop().time(), self._headless_since_s
        self._headless_since_s = {
            version: since_s.get(version, now_s)
            for version, seen_numbers in numbers.items()
            if "0" not in seen_numbers and self._is_version(version)
        }
        for version, seen_s in list(self._headless_since_s.items()):
            if now_s - seen_s >= self._times.headless_s:
                await stream.purge_stream(self._place.stream, subject=f"{version}.*")
                del self._headless_since_s[version]

    def _is_version(self, subject: str) -> bool:
        """Return whether a subject without the number of a part is that of a version of a blob here."""
        *path, token = subject.removeprefix(f"{self._subject}.").split(".")
        is_here = subject.startswith(f"{self._subject}.") and 2 <= len(path) <= 3
        return is_here and all(map(_TOKEN.fullmatch, path)) and _Version.parse(token) is not None

    async def _get(self, stream: Any, name: str, bytes_max: int) -> bytes | None:
        version = self._listed.get(name)
        content = None if version is None else await self._get_version(stream, name, version, bytes_max)
        if content is None:
            # It was replaced since, or never listed.
            holdings = await self._look(stream, f"{self._subject_of(name)}.>")
            versions = self._versions(holdings.subjects).get(name)
            if versions:
                content = await self._get_version(stream, name, max(versions), bytes_max)
        return content

    async def _get_version(self, stream: Any, name: str, version: _Version, bytes_max: int) -> bytes | None:
        subject = f"{self._subject_of(name)}.{version.token}"
        content = bytearray()
        for number in range(version.parts):
            if len(content) > bytes_max:
                break
            try:
                message = await stream.get_last_msg(self._place.stream, f"{subject}.{number}")
            except nats.js.errors.NotFoundError as fault:
                if fault.err_code == STREAM_GONE:
                    raise
                return None
            if message.subject != f"{subject}.{number}":
                raise self._faults.makes_no_sense()
            content += message.data or b""
        return bytes(content[: bytes_max + 1])

    async def _look(self, stream: Any, pattern: str) -> _Found:
        holdings = await stream.stream_info(self._place.stream, subjects_filter=pattern)
        return _Found(holdings.state.subjects or {}, holdings.state.bytes, holdings.config.max_bytes or -1)

    # -- subjects -----------------------------------------------------------------------------------------

    def _subject_of(self, name: str) -> str:
        """Return the subject of a blob, without its version and the number of a part."""
        first, slash, last = name.rpartition("/")
        stem, _, ending = last.rpartition(".")
        tokens = [*([first] if slash else []), stem, ending]
        if ending not in _ENDINGS or not all(_TOKEN.fullmatch(token) for token in tokens):
            raise self._faults.makes_no_sense()
        return ".".join([self._subject, *tokens])

    def _versions(self, subjects: Iterable[str]) -> dict[str, list[_Version]]:
        """Return the blobs of which the first part is there, by name; what is foreign is passed over."""
        versions: dict[str, list[_Version]] = {}
        for subject in subjects:
            tokens = subject.removeprefix(f"{self._subject}.").split(".")
            if not subject.startswith(f"{self._subject}.") or not 4 <= len(tokens) <= 5:
                continue
            *path, ending, token, number = tokens
            version = _Version.parse(token)
            is_path = ending in _ENDINGS and all(_TOKEN.fullmatch(part) for part in path)
            if number == "0" and is_path and version is not None:
                versions.setdefault(f"{'/'.join(path)}.{ending}", []).append(version)
        return versions

    # -- the connection -----------------------------------------------------------------------------------

    async def _run(self, work: Callable[[BoundedClient, Any], Awaitable[T]]) -> T:
        """Do a task, again over another connection while servers come and go. Raises CarrierFault."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._times.task_s
        client: BoundedClient | None = None
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    client = await self._connect()
                    return await self._work(client, work)
            except Unreachable as fault:
                raise self._faults.describe(fault.fault) from fault
            except CarrierFault:
                raise
            except Exception as fault:
                is_denied = client is not None and bool(client.denied)
                if is_denied or self._faults.wants_new_connection(fault):
                    await self._drop_client()
                if is_denied or not self._faults.passes(fault) or loop.time() >= deadline:
                    raise self._faults.describe(fault, client) from fault
            await asyncio.sleep(min(self._times.retry_s, max(0.0, deadline - loop.time())))

    async def _work(self, client: BoundedClient, work: Callable[[BoundedClient, Any], Awaitable[T]]) -> T:
        """Do a task over a connection. Raises ConnectionError as soon as that is over."""
        doing = asyncio.ensure_future(work(client, client.jetstream(timeout=self._times.answer_s)))
        ending = asyncio.ensure_future(client.ended.wait())
        try:
            await asyncio.wait((doing, ending), return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                return doing.result()
            raise ConnectionError("the connection ended")
        finally:
            doing.cancel()
            ending.cancel()
            await asyncio.gather(doing, ending, return_exceptions=True)

    async def _connect(self) -> BoundedClient:
        """Return a connection to a server that has the stream; the servers are tried in turn."""
        async with self._connecting:
            if self._is_closed:
                raise Unreachable(ConnectionError("it is used no more"))
            if self._client is not None and not self._client.ended.is_set():
                return self._client
            self._client = client = await self._connect_to_one()
            try:
                await client.subscribe(self._news_subject, cb=self._hear, pending_msgs_limit=1000)
                await self._require_stream(client)
            except BaseException as fault:
                self._servers.append(self._servers.pop(0))
                await self._drop_client()
                if client.denied and isinstance(fault, Exception):
                    raise self._faults.describe(fault, client) from fault
                raise
            return client

    async def _connect_to_one(self) -> BoundedClient:
        failure: Exception | None = None
        for _ in self._place.servers:
            try:
                return await bounded_client.connect(
                    self._servers[0],
                    self._place,
                    self._secret,
                    limit_s=self._times.answer_s,
                    ended=self._news.set,
                )
            except (nats.errors.Error, OSError, TimeoutError, ValueError) as fault:
                # A fault that waiting does not mend is told rather than one that it does.
                if failure is None or self._faults.passes(failure):
                    failure = fault
                self._servers.append(self._servers.pop(0))
        assert failure is not None, "a place without servers"
        raise Unreachable(failure)

    async def _require_stream(self, client: BoundedClient) -> None:
        """Make the stream if there is none; refuse one that is used for something else."""
        stream = client.jetstream(timeout=self._times.answer_s)
        try:
            config = (await stream.stream_info(self._place.stream)).config
        except nats.js.errors.NotFoundError:
            config = await self._make_stream(stream)
        if f"{self._place.stream}.>" not in (config.subjects or ()) or config.max_msgs_per_subject != 1:
            raise self._faults.is_no_mailbox()

    async def _make_stream(self, stream: Any) -> Any:
        wanted = api.StreamConfig(
            name=self._place.stream,
            subjects=[f"{self._place.stream}.>"],
            max_msgs_per_subject=1,
            max_bytes=(self._place.mib << 20) + ROOM_BYTES,
            discard=api.DiscardPolicy.NEW,
            storage=api.StorageType.FILE,
            num_replicas=self._place.replicas,
        )
        try:
            return (await stream.add_stream(wanted)).config
        except nats.js.errors.ServiceUnavailableError:
            raise
        except nats.js.errors.APIError as fault:
            raise self._faults.has_no_stream(fault.description or "") from fault

    async def _hear(self, message: Any) -> None:
        del message
        self._news.set()

    async def _drop_client(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.end(self._times.answer_s)


async def _give_client(client: BoundedClient, stream: Any) -> BoundedClient:
    del stream
    return client
