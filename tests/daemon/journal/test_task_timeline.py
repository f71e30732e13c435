"""The timeline of a task: what was made apart, judged by an observer who knows what each device had seen."""

from functools import partial
from pathlib import Path
from random import Random

import pytest

from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.task_timeline import Moment, Timeline, task_timeline
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.refusal import Refused
from tests.support.fleet import Fleet, Home

NAMES = ("laptop", "desk", "phone")


def number_of(moment: Moment) -> int:
    """Return the number of a write, which its note or title contains."""
    return next(int(change.after[1:]) for change in moment.changes if change.field in ("title", "text"))


def numbered(timeline: Timeline) -> dict[int, set[int]]:
    """Return, for each write by its number, those that it is said to be apart from."""
    number = {moment.seq: number_of(moment) for moment in timeline.moments}
    return {number[moment.seq]: {number[seq] for seq in moment.apart} for moment in timeline.moments}


@pytest.mark.parametrize("seed", range(25))
def test_two_changes_are_apart_if_neither_author_had_seen_the_other(tmp_path: Path, seed: int) -> None:
    fleet, random = Fleet(tmp_path), Random(seed)
    homes = [fleet.home(name, skew_ms=random.randrange(-60_000, 60_000)) for name in NAMES]
    ref = homes[0].write(lambda tx: tasks.add(tx, NewTask(title="#0"))).id
    numbers_at = {home.name: set[int]() for home in homes}
    pasts: dict[int, frozenset[int]] = {0: frozenset()}
    numbers_at[homes[0].name].add(0)
    fleet.sync()
    for numbers in numbers_at.values():
        numbers.add(0)
    for number in range(1, 16):
        fleet.now_ms += random.randrange(1, 5_000)
        home, giver = random.sample(homes, 2)
        if random.random() < 0.4:
            fleet.pull(home, giver)
            numbers_at[home.name] |= numbers_at[giver.name]
        pasts[number] = frozenset(numbers_at[home.name])
        write(home, ref, number, by_note=random.random() < 0.3)
        numbers_at[home.name].add(number)
    fleet.sync()
    wanted = {
        number: {other for other in pasts.keys() - {number} - past if number not in pasts[other]}
        for number, past in pasts.items()
    }
    for home in homes:
        assert numbered(home.read(lambda snapshot: task_timeline(snapshot, ref))) == wanted
    fleet.close()


def write(home: Home, ref: str, number: int, *, by_note: bool) -> None:
    if by_note:
        home.write(lambda tx: entries.add(tx, ref, NewEntry(f"#{number}")))
    else:
        home.write(lambda tx: tasks.edit(tx, ref, TaskEdit(title=f"#{number}")))


def test_it_is_read_page_by_page_the_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.journal.task_timeline.MOMENTS_MAX", 4)
    fleet = Fleet(tmp_path)
    home = fleet.home("laptop")
    ref = home.write(lambda tx: tasks.add(tx, NewTask(title="#0"))).id
    for number in range(1, 10):
        fleet.now_ms += 1
        write(home, ref, number, by_note=True)
    shown: list[int] = []
    before: int | None = None
    while True:
        page = home.read(partial(task_timeline, ref=ref, before=before))
        numbers = [number_of(moment) for moment in page.moments]
        assert numbers == sorted(numbers, reverse=True)
        shown += numbers
        before = page.earlier
        if before is None:
            break
    assert shown == [*range(9, -1, -1)]
    fleet.close()


def test_a_task_that_is_none_is_refused(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path)
    home = fleet.home("laptop")
    with pytest.raises(Refused):
        home.read(lambda snapshot: task_timeline(snapshot, "0" * 32))
    fleet.close()
