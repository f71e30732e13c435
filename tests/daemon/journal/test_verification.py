"""Checking the journal in a process of its own: what it reports, and that it ends with who asked."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from daemon.journal.verification import CheckProgress, verify_apart, verify_database
from daemon.refusal import Refused
from tests.support.patience import LIMIT_S
from tests.support.stores import StoreBench, write_entities


def no_report(*_progress: object) -> None:
    """Listen to nothing."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[StoreBench]:
    bench = StoreBench(tmp_path)
    yield bench
    bench.close()


async def test_a_process_of_its_own_finds_what_this_one_finds(bench: StoreBench):
    store, reports = bench.store("a"), list[CheckProgress]()
    write_entities(store, 20)
    verified = await verify_apart(store.path, reports.append)
    assert verified == verify_database(store.path, no_report)
    assert (verified.sound, verified.commits) == (True, 20)
    assert {progress.stage for progress in reports} >= {"looking at the file's pages", "reading the log"}


async def test_a_file_that_is_no_journal_is_refused_with_the_reason(tmp_path: Path):
    file = tmp_path / "notes.db"
    file.write_text("no database at all")
    with pytest.raises(Refused) as refused:
        await verify_apart(file, no_report)
    assert str(file) in refused.value.message


def children() -> set[int]:
    """Return the processes that this one has begun and not waited for: the server of forks is one."""
    processes: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # Any process may end before its line is read.
        with suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                processes.add(int(stat.parent.name))
    return processes


async def test_a_check_that_nobody_waits_for_any_more_ends(bench: StoreBench):
    store, begun = bench.store("a"), asyncio.Event()
    before = children()
    write_entities(store, 20)
    check = asyncio.create_task(verify_apart(store.path, lambda _progress: begun.set()))
    async with asyncio.timeout(LIMIT_S):
        await begun.wait()
    check.cancel()
    await asyncio.gather(check, return_exceptions=True)
    # It was waited for: this process has no other child than before, not even one that has ended.
    assert children() == before
