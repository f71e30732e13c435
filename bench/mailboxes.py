"""Figures of devices that meet only in a mailbox: a new one, one change, a look, and the size of a verdict.

Never lets two daemons link: one of them runs at a time, or it listens where the other does not look for it.
"""

import asyncio
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

import aiohttp

from bench.bringing import MANY, MANY_QUICK, bring_up_s, control_api, fill, post, two_devices
from bench.deciding import decide_one
from bench.stores import open_store
from bench.table import Absent, Figure
from store.log import pages
from syncproto.commit import SignedCommit
from syncproto.keys import Signer
from syncproto.mailboxes import envelope, names, sealing_keys
from syncproto.mailboxes.sealing_keys import SECRET_BYTES, PrivateSealingKey, SealingSuite
from syncproto.messages import PAGE_BYTES_MAX, Commits, encode_message
from tests.support.devices import Device, free_port
from tests.support.needs import SEARCH_PATH
from tests.support.patience import wait_until
from tests.support.starts.processes import PLACET

QUOTA_MIB = 4096
POLL_S = 0.02
RECIPIENTS = 3
ROUNDS = 15
WAIT_S = 1200.0
NEVER = {"PLACET_MAILBOX_LOOK_S": "3600"}
OFTEN = {"PLACET_MAILBOX_LOOK_S": "0.05"}


def _commits(device: Device) -> int:
    return int(device.do("status")["commits"])


@dataclass
class _Place:
    """A mailbox: the words that add it, and the secret that goes with them."""

    words: tuple[str, ...]
    secret: str = ""
    join: tuple[str, ...] = ()


@contextmanager
def _folder(folder: Path) -> Iterator[_Place]:
    box = folder / "box"
    box.mkdir(parents=True)
    yield _Place((str(box),), join=("--mailbox", str(box)))


@contextmanager
def _relay(folder: Path) -> Iterator[_Place]:
    keeper, port = Device("keeper", folder / "keeper"), free_port()
    keeper.home.mkdir(parents=True)
    made = keeper.do("relay", "add", "box", "--quota", str(QUOTA_MIB))
    place = _Place((f"https://127.0.0.1:{port}/box#{made['pin']}",), made["secret"])
    with _serving(folder / "relay.log", [PLACET, "relay", "up", "--port", str(port)], keeper, port):
        yield place


@contextmanager
def _nats(folder: Path) -> Iterator[_Place]:
    program, port = shutil.which("nats-server", path=SEARCH_PATH), free_port()
    assert program is not None
    keeper, secret = Device("keeper", folder / "keeper"), "bench:of-nobody-else"
    user, _, password = secret.partition(":")
    command = [program, "--jetstream", "--addr", "127.0.0.1", "--port", str(port)]
    command += ["--user", user, "--pass", password, "--store_dir", str(folder / "streams")]
    folder.mkdir(parents=True, exist_ok=True)
    with _serving(folder / "nats.log", command, keeper, port):
        yield _Place((f"nats://127.0.0.1:{port}/box?mib={QUOTA_MIB}",), secret)


@contextmanager
def _serving(log: Path, command: Sequence[str | Path], keeper: Device, port: int) -> Iterator[None]:
    """Run a server as long as the block lasts, which begins once it takes connections."""
    with log.open("ab") as opened:
        server = subprocess.Popen(
            command, env=keeper.environment, stdin=subprocess.DEVNULL, stdout=opened, stderr=opened
        )
    try:
        wait_until(f"the server listens: {log}", lambda: _listens(port), WAIT_S)
        yield
    finally:
        server.terminate()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


CARRIERS: Final[dict[str, Callable[[Path], AbstractContextManager[_Place]]]] = {
    "a folder": _folder,
    "a relay": _relay,
    "NATS": _nats,
}


async def _read_s(newcomer: Device, commits: int) -> float:
    """Start a device; return how many seconds passed until it was let in and has so many commits."""
    async with control_api(newcomer) as session, asyncio.timeout(WAIT_S):
        start = time.perf_counter()
        newcomer.launch()
        while True:
            with suppress(aiohttp.ClientConnectionError):
                # Before it is let in, it has commits of its own, and looks into no mailbox.
                async with session.get("/v1/mailboxes") as mailboxes, session.get("/v1/status") as status:
                    if await mailboxes.json() and (await status.json()).get("commits", 0) >= commits:
                        return time.perf_counter() - start
            await asyncio.sleep(POLL_S)


def _pair_apart(place: _Place, local_device: Device, newcomer: Device) -> float:
    """Pair two devices by a mailbox alone; return for how long they wrote and read, in seconds.

    At the end the first one does not run, and the newcomer has all that it has.
    """
    local_device.start()
    newcomer.start()
    local_device.do("mailbox", "add", *place.words, typed=place.secret)
    token = local_device.do("pair", "--invite", "--mailbox", "box")["token"]
    newcomer.do("join", *place.join, typed=token)
    newcomer.stop()
    commits = _commits(local_device)
    start = time.perf_counter()
    local_device.do("mailbox", "check", "box")
    taken_s = time.perf_counter() - start
    local_device.stop()
    return taken_s + asyncio.run(_read_s(newcomer, commits))


async def _look(session: aiohttp.ClientSession) -> None:
    await post(session, "/v1/mailboxes/box/check", {})


async def _change_ms(writer: Device, reader: Device) -> tuple[float, float, float]:
    """Time a change that one device leaves and another takes, the same without one, and a bare answer."""
    async with control_api(writer) as mine, control_api(reader) as theirs:
        changed_ms: list[float] = []
        idle_ms: list[float] = []
        bare_ms: list[float] = []
        for number in range(ROUNDS):
            for session in (mine, theirs, mine):
                await _look(session)
            for is_idle, durations in ((True, idle_ms), (False, changed_ms)):
                if not is_idle:
                    await post(mine, "/v1/tasks", {"title": f"change {number}"})
                start = time.perf_counter()
                await _look(mine)
                await _look(theirs)
                durations.append(1e3 * (time.perf_counter() - start))
            start = time.perf_counter()
            async with mine.get("/healthz") as answer:
                await answer.read()
            bare_ms.append(1e3 * (time.perf_counter() - start))
    return median(changed_ms), median(idle_ms), median(bare_ms)


def _brought_up(folder: Path, count: int) -> Iterator[Figure | Absent]:
    """Bring up a new device through each carrier, and one of the same size over a link."""
    with two_devices(folder / "live", count) as live:
        live_s = bring_up_s(*live)
    for number, (kind, open_place) in enumerate(CARRIERS.items()):
        name = f"a new device through {kind}, {count} tasks"
        if kind == "NATS" and shutil.which("nats-server", path=SEARCH_PATH) is None:
            yield Absent(name, "nats-server is not installed")
            continue
        local_device = Device("here", folder / f"apart-{number}" / "here", dict(NEVER))
        newcomer = Device("there", folder / f"apart-{number}" / "there", dict(OFTEN))
        fill(local_device, count)
        with open_place(folder / f"place-{number}") as place:
            try:
                apart_s = _pair_apart(place, local_device, newcomer)
            finally:
                _end(local_device, newcomer)
        yield Figure(name, count / apart_s, count / live_s, "/s", "the same over a link", ">= 0.5")


def _single_change(folder: Path) -> list[Figure]:
    writer = Device("here", folder / "here", dict(NEVER))
    reader = Device("there", folder / "there", dict(OFTEN))
    with _folder(folder) as place:
        try:
            _pair_apart(place, writer, reader)
            reader.stop()
            # From now on neither finds the other one.
            reader.port = free_port()
            reader.settings = dict(NEVER)
            for device in (writer, reader):
                device.start()
            changed_ms, idle_ms, bare_ms = asyncio.run(_change_ms(writer, reader))
            assert not any(device["connected"] for device in writer.do("devices") if not device["this"])
        finally:
            _end(writer, reader)
    return [
        Figure("a change left in a folder and taken", changed_ms, idle_ms, "ms", "two idle looks", ""),
        Figure("a look into a folder where nothing is new", idle_ms / 2, bare_ms, "ms", "/healthz", ""),
    ]


def _page_of_verdict(folder: Path, *, is_confirmed: bool) -> list[SignedCommit]:
    """Return the commit of a verdict on one item of an agent's set, alone."""
    folder.mkdir(parents=True)
    store = open_store(folder)
    try:
        decide_one(store, is_confirmed=is_confirmed)
        with store.read() as snapshot:
            return pages.page_of_positions(snapshot.log, [snapshot.feed_end()], PAGE_BYTES_MAX).commits
    finally:
        store.close()


def _sealed_verdicts(folder: Path) -> Iterator[Figure]:
    """Seal one verdict for three other devices by either suite; its own device opens it too."""
    for verdict in ("confirmation", "rejection"):
        page = _page_of_verdict(folder / verdict, is_confirmed=verdict == "confirmation")
        frame = encode_message(Commits(page))
        for suite, goal in ((SealingSuite.X25519, "< 1024"), (SealingSuite.HYBRID, "(shown)")):
            size = len(_sealed(frame, suite))
            name = f"a {verdict} sealed for three by {suite.name}"
            yield Figure(name, size, len(frame), "bytes", "the same in clear", goal)


def _sealed(frame: bytes, suite: SealingSuite) -> bytes:
    random = Random(f"seal {suite.name}")
    length = sealing_keys.private_bytes_of(suite)
    keys = [PrivateSealingKey(suite, 1, random.randbytes(length)) for _ in range(RECIPIENTS + 1)]
    return envelope.seal(
        [frame],
        kind=envelope.BlobKind.DROP,
        vault=(bytes(16), names.vault_tag(bytes(16))),
        sender=bytes(names.TAG_BYTES),
        number=1_700_000_000_000,
        recipients=[key.public_key for key in keys],
        signer=Signer(random.randbytes(32)),
        secret=random.randbytes(SECRET_BYTES),
    )


def _end(*devices: Device) -> None:
    for device in devices:
        if device.daemon is not None and device.daemon.poll() is None:
            device.kill()


def figures(*, quick: bool) -> list[Figure | Absent]:
    """Measure everything here; `quick` brings up a smaller journal."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        return [
            *_sealed_verdicts(Path(name) / "verdicts"),
            *_single_change(Path(name) / "single"),
            *_brought_up(Path(name), MANY_QUICK if quick else MANY),
        ]
