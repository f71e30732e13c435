"""Syncthing: a file an entity, two daemons of this machine, told nothing but each other's address.

Never lets it look for anyone: no announcements, relays, reports or upgrades.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers.outcome import Outcome, Unavailable
from bench.stores import task_fields
from syncproto import codec
from tests.support.syncthing import SyncthingFault, SyncthingNode

SIZES, ENOUGH_S = (400, 1_600, 6_400), 4.0
LIVE, WARM = 30, 3
LIMIT_S, LOOK_S = 120.0, 0.0005


def _put(node: SyncthingNode, number: int) -> Path:
    """Write an entity as a file, whole or not at all."""
    path = node.folder / f"{1_700_000_000_000 + number:012x}"
    fresh = node.home / "fresh"
    fresh.write_bytes(codec.encode(task_fields(number)))
    return fresh.rename(path)


def _wait(what: str, holds: Callable[[], bool]) -> None:
    """Wait for something that it does, closely enough to time it."""
    end = time.monotonic() + LIMIT_S
    while not holds():
        if time.monotonic() > end:
            raise Unavailable(f"waited {LIMIT_S:.0f} s in vain: {what}")
        time.sleep(LOOK_S)  # noqa: TID251 - another process cannot be awaited


@contextmanager
def _two(program: str, folder: Path, entities: int) -> Iterator[tuple[SyncthingNode, SyncthingNode]]:
    """Run two, of which the first holds the entities, and the second has not been let to it yet."""
    local_node, existing_node = (
        SyncthingNode.made(program, folder / f"{name}-{entities}") for name in ("here", "there")
    )
    for number in range(entities):
        _put(local_node, number)
    local_node.configure(existing_node, paused=False)
    existing_node.configure(local_node, paused=True)
    try:
        for node in (local_node, existing_node):
            node.start()
        for node in (local_node, existing_node):
            _wait(f"{node.home.name} has read its folder", node.answers)
        yield local_node, existing_node
    finally:
        for node in (local_node, existing_node):
            node.end()


def _bootstrap_s(node: SyncthingNode, existing_node: SyncthingNode, entities: int) -> float:
    """Let the second to the first, and time until it has as many files."""
    start = time.perf_counter()
    existing_node.let_in(node)
    _wait(f"{entities} files", lambda: len(list(existing_node.folder.glob("[0-9a-f]*"))) >= entities)
    return time.perf_counter() - start


def _live_ms(node: SyncthingNode, existing_node: SyncthingNode, number: int) -> float:
    """Write a file, have it looked at at once, and time until the other has it."""
    awaited = existing_node.folder / f"{1_700_000_000_000 + number:012x}"
    start = time.perf_counter()
    path = _put(node, number)
    node.asked(f"db/scan?folder=tasks&sub={path.name}", "POST")
    _wait("one file", awaited.exists)
    return 1e3 * (time.perf_counter() - start)


def measured(program: str) -> Outcome:
    """Bring up folders, each four times the last, until one takes long; then write files one by one."""
    try:
        return _measured(program)
    except SyncthingFault as fault:
        raise Unavailable(str(fault)) from fault


def _measured(program: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="placet-peers-") as name:
        for entities in SIZES:
            with _two(program, Path(name), entities) as (node, existing_node):
                seconds = _bootstrap_s(node, existing_node, entities)
                if seconds > ENOUGH_S or entities == SIZES[-1]:
                    live_mses = [
                        _live_ms(node, existing_node, entities + turn) for turn in range(LIVE + WARM)
                    ]
                    return Outcome(entities, seconds, live_mses[WARM:])
    raise AssertionError("the last size is always measured")
