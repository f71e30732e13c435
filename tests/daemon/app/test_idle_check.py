"""Damage in pages that nothing reads: found while the daemon is idle, wherever it is.

Never waits: the pauses between the tables are skipped.
"""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from daemon.app.idle_check import ALL_EVERY_S, check_while_idle
from daemon.control.health import this_device
from store.file.errors import DamagedDatabase, StoreError
from store.threads import READER_THREADS, StoreThreads
from tests.support.fleet import Fleet
from tests.support.patience import LIMIT_S


class _AllSeen(Exception):
    pass


async def _looked_at(store: StoreThreads) -> None:
    """Let every table be looked at once."""

    async def skip(pause_s: float) -> None:
        if pause_s == ALL_EVERY_S:
            raise _AllSeen

    with pytest.raises(_AllSeen):
        await check_while_idle(store, skip)


async def test_a_damaged_page_of_any_table_or_index_is_found_and_nothing_more_is_written(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    home = Fleet(tmp_path).home("a")
    home.new("task", title="Call Ana")
    whole = home.threads()
    await _looked_at(whole)
    assert whole.damage is None
    with home.store.read() as snapshot:
        size = snapshot.db.pragma("page_size")
        roots: Any = snapshot.db.execute(
            "SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"
        ).fetchall()
    path = home.path
    home.close()
    sound = path.read_bytes()
    while_idle = 0
    for name, root in roots:
        with subtests.test(name=name):
            damaged = bytearray(sound)
            damaged[(root - 1) * size] ^= 0xFF
            path.write_bytes(damaged)
            try:
                store = StoreThreads(home.opened())
            except StoreError:
                continue  # The start reads it.
            while_idle += 1
            await _looked_at(store)
            assert store.damage is not None
            check = await store.read(this_device.check_database)
            assert (check.well, check.code) == (False, "database_damaged")
            with pytest.raises(DamagedDatabase, match="nothing is written"):
                await store.write(lambda tx: tx.new_id())
            store.close()
    assert while_idle > len(roots) // 2


async def test_a_check_takes_the_place_of_no_reader(tmp_path: Path) -> None:
    store = Fleet(tmp_path).home("a").threads()
    go_on = threading.Event()
    readers = [asyncio.create_task(store.read(lambda _: go_on.wait(LIMIT_S))) for _ in range(READER_THREADS)]
    try:
        for table in await store.table_names():
            await store.check_table(table)
        assert not any(reader.done() for reader in readers)
    finally:
        go_on.set()
        await asyncio.gather(*readers)
        store.close()
