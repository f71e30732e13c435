"""Measures ours and each peer in turn, and prints one table: `python -m bench.peers [PEER...]`.

Never runs as part of the tests, and never fails for a peer that cannot be had here: the table says why.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from bench.peers import installing, placet, scripted, syncthing
from bench.peers.outcome import Outcome, Unavailable
from bench.table import Absent, Figure, show
from tests.support.devices import Device


@dataclass(frozen=True, slots=True)
class Peer:
    """What is measured, how it is set up, and what it is held against."""

    name: str
    how: str
    install: Callable[[], str]
    measured: Callable[[str], Outcome]
    bootstrap_goal: str = "(shown)"
    live_goal: str = ""
    """Of our p99 against its p50, if there is one."""


PEERS = {
    "pouchdb": Peer(
        "PouchDB in one process",
        "LevelDB, not synced to the disk, no socket",
        installing.node,
        partial(scripted.measured, "pouchdb"),
        bootstrap_goal=">= 10",
    ),
    "pouchdb-http": Peer(
        "PouchDB over HTTP",
        "version 7, express-pouchdb, LevelDB, not synced to the disk, not encrypted",
        installing.node,
        partial(scripted.measured, "pouchdb_http"),
        live_goal="<= 3",
    ),
    "crsqlite": Peer(
        "cr-sqlite (wasm)",
        "in memory, one process, no socket",
        installing.node,
        partial(scripted.measured, "crsqlite"),
    ),
    "automerge": Peer(
        "automerge-repo",
        "a document an entity, WebSocket, files not synced to the disk, not encrypted",
        installing.node,
        partial(scripted.measured, "automerge"),
    ),
    "syncthing": Peer(
        "Syncthing",
        "a file an entity, TLS, synced to the disk; told when to look",
        installing.syncthing,
        syncthing.measured,
    ),
}


def figures(peer: Peer, ours: Outcome, theirs: Outcome) -> Iterator[Figure]:
    """Hold ours against theirs."""
    against = f"{peer.how}; {theirs.entities:,} entities"
    yield Figure(
        f"{peer.name}: a new device, {ours.entities:,} entities",
        ours.rate,
        theirs.rate,
        "entities/s",
        against,
        peer.bootstrap_goal,
    )
    mine, other = median(ours.live_ms), median(theirs.live_ms)
    late, later = (quantiles(outcome.live_ms, n=100)[98] for outcome in (ours, theirs))
    yield Figure(f"{peer.name}: live, p50", mine, other, "ms", peer.how, "(shown)")
    yield Figure(f"{peer.name}: live, p99", late, later, "ms", peer.how, "(shown)")
    if peer.live_goal:
        yield Figure(f"{peer.name}: live, our p99 to its p50", late, other, "ms", peer.how, peer.live_goal)


def _installed(install: Callable[[], str]) -> str | Unavailable:
    print(f"installing what {install.__name__} needs", file=sys.stderr)
    try:
        return install()
    except Unavailable as error:
        return error


def _measured(peer: Peer, program: str | Unavailable) -> Outcome | Unavailable:
    if isinstance(program, Unavailable):
        return program
    print(f"measuring {peer.name}", file=sys.stderr)
    try:
        return peer.measured(program)
    except Unavailable as error:
        return error


def measured(chosen: list[Peer]) -> Iterator[Figure | Absent]:
    """Measure ours beside each peer, since a machine is not the same for minutes."""
    programs = {install: _installed(install) for install in dict.fromkeys(peer.install for peer in chosen)}
    with tempfile.TemporaryDirectory(prefix="placet-peers-") as name:
        folder = Path(name)
        full: Device | None = None
        for number, peer in enumerate(chosen):
            theirs = _measured(peer, programs[peer.install])
            if isinstance(theirs, Unavailable):
                yield Absent(peer.name, theirs.reason)
                continue
            full = full or placet.filled(folder)
            beside = folder / str(number)
            beside.mkdir()
            yield from figures(peer, placet.measured(full, beside), theirs)


if __name__ == "__main__":
    # Whoever ends this ends what it started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    words = sys.argv[1:]
    unknown = set(words) - set(PEERS)
    if unknown:
        sys.exit(f"bench.peers: unknown: {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    before = os.getloadavg()[0]
    outcomes = list(measured([PEERS[name] for name in words or PEERS]))
    show(outcomes, Path("bench/results/peers.json"))
    print(f"load before {before:.1f}, after {os.getloadavg()[0]:.1f}, on {os.cpu_count()} processors")
