"""Time records: one running timer a device, whatever devices do while apart.

Never waits for time to pass: the fleet's clock is moved.
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.journal import tasks, time_records
from daemon.journal.fields.time_spans import MINUTE_MS, covered_ms, kept_moment_ms
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import NewTask
from daemon.journal.time_records import NewTimer, Started, Stop, TimeEdit
from daemon.journal.views.structures import Task, TimeRecord
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.transaction import EntityWrite
from syncproto.ids import id_from_text
from tests.support.fleet import START_MS, Fleet, Home
from tests.support.sqlite_steps import steps_of

HOUR_MS = 60 * MINUTE_MS


def make(home: Home, title: str = "Renew the passport") -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title)))


@pytest.fixture
def task(a: Home) -> Task:
    return make(a)


def typed(home: Home) -> HumanInput:
    return HumanInput(home.now_ms, UTC, "en")


def start(home: Home, task: Task, **fields) -> Started:
    return home.write(lambda tx: time_records.start(tx, task.id, NewTimer(**fields), typed(home)))


def stop(home: Home, record: TimeRecord | None = None, **fields) -> list[TimeRecord]:
    requested_stop = Stop(record=None if record is None else record.id, **fields)
    return home.write(lambda tx: time_records.stop(tx, requested_stop, typed(home)))


def edit(home: Home, record: TimeRecord, **fields) -> TimeRecord:
    return home.write(lambda tx: time_records.edit(tx, record.id, TimeEdit(**fields), typed(home)))


def remove(home: Home, record: TimeRecord) -> TimeRecord:
    return home.write(lambda tx: time_records.remove(tx, record.id))


def running(home: Home) -> list[TimeRecord]:
    return home.read(time_records.list_running)


def running_here(home: Home) -> list[TimeRecord]:
    return [record for record in running(home) if record.is_here]


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def refusal(use, *args, **fields) -> Refused:
    with pytest.raises(Refused) as error:
        use(*args, **fields)
    return error.value


# -- one timer a device -------------------------------------------------------------------------------


def test_a_timer_runs_until_it_is_stopped_and_its_minutes_are_the_tasks(fleet: Fleet, a: Home, task: Task):
    started = start(a, task, note="Finding the photos")
    assert (started.is_running, started.is_here, started.ended_at, started.minutes) == (
        True,
        True,
        None,
        None,
    )
    assert show(a, task).time_spent_minutes == 0
    fleet.now_ms += 70 * MINUTE_MS
    (ended,) = stop(a)
    assert (ended.id, ended.minutes, ended.is_running) == (started.id, 70, False)
    assert (ended.note, ended.task_title) == ("Finding the photos", task.title)
    shown_task = show(a, task)
    assert (shown_task.times, shown_task.time_spent_minutes) == ([ended], 70)


def test_starting_another_stops_the_one_that_runs_here_when_the_other_begins(
    fleet: Fleet, a: Home, task: Task
):
    first = start(a, task)
    fleet.now_ms += HOUR_MS
    before = commits(a)
    second = start(a, make(a, "Second"), at="10 minutes ago")
    assert commits(a) == before + 2  # the second task, and one commit for both timers
    (stopped,) = second.stopped
    assert (stopped.id, stopped.ended_at, stopped.minutes) == (first.id, second.started_at, 50)
    assert [record.id for record in running(a)] == [second.id]


def test_starting_what_runs_already_changes_nothing(fleet: Fleet, a: Home, task: Task):
    first = start(a, task)
    fleet.now_ms += HOUR_MS
    before = commits(a)
    again = start(a, task)
    assert (again.id, again.already, again.stopped, commits(a)) == (first.id, True, [], before)
    noted = start(a, task, note="the form now")
    assert (noted.already, [record.id for record in noted.stopped]) == (False, [first.id])


def test_stopping_where_nothing_runs_is_done_already(a: Home, task: Task):
    before = commits(a)
    assert stop(a) == []
    assert commits(a) == before


def test_each_device_has_a_timer_of_its_own_also_on_one_task(fleet: Fleet, a: Home, b: Home, task: Task):
    fleet.sync()
    on_a = start(a, task)
    fleet.now_ms += 10 * MINUTE_MS
    on_b = start(b, task)
    fleet.sync()
    assert [record.id for record in running(a)] == [on_a.id, on_b.id]
    assert [record.id for record in running(b)] == [on_b.id, on_a.id]
    fleet.now_ms += 20 * MINUTE_MS
    stop(a)
    stop(b)
    fleet.sync()
    assert [time.minutes for time in show(a, task).times] == [30, 20]
    assert show(a, task).time_spent_minutes == 30


def test_the_timer_of_a_device_that_is_gone_is_stopped_by_its_id_on_another(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    fleet.sync()
    on_b = start(b, task)
    fleet.sync()
    fleet.now_ms += HOUR_MS
    assert stop(a) == []
    (ended,) = stop(a, on_b)
    assert (ended.minutes, ended.is_here, running(a)) == (60, False, [])


def test_two_that_stop_it_while_apart_leave_the_other_end_in_sight(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    record = start(a, task)
    fleet.sync()
    fleet.now_ms += HOUR_MS
    (on_b,) = stop(b, record)
    fleet.now_ms += HOUR_MS
    (on_a,) = stop(a)
    fleet.sync()
    (time,) = show(b, task).times
    assert time.ended_at == on_a.ended_at
    (conflict,) = show(b, task).conflicts
    assert (conflict.entity, conflict.field) == (record.id, "ended_at")
    assert {version.value for version in conflict.versions} == {on_a.ended_at, on_b.ended_at}


def test_stopping_again_changes_nothing_and_an_end_is_only_changed_by_an_edit(a: Home, task: Task):
    record = start(a, task)
    (ended,) = stop(a)
    before = commits(a)
    assert stop(a, record) == [ended]
    assert commits(a) == before
    assert refusal(stop, a, record, note="and more").code is RefusalCode.CONFLICT


def test_a_backup_that_is_put_back_goes_on_as_a_new_replica_and_keeps_its_timer(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    record = start(a, task)
    a.store.close()
    backup = a.path.read_bytes()
    a.store = a.opened()
    make(a, "Made after the backup")
    before = a.read(lambda snapshot: snapshot.replica)
    fleet.sync()
    a.store.close()
    a.path.write_bytes(backup)
    a.store = a.opened()
    fleet.sync()
    (stopped,) = start(a, task, note="again").stopped
    assert stopped.id == record.id
    assert a.read(lambda snapshot: snapshot.replica) != before
    assert len(running_here(a)) == 1


def test_a_copied_folder_may_leave_two_running_here_and_stopping_stops_both(a: Home, task: Task):
    start(a, task)
    a.new("time_record", task_id=id_from_text(task.id), started_at=iso_utc(START_MS))
    assert len(running_here(a)) == 2
    assert len(stop(a)) == 2
    assert running(a) == []


# -- tasks that go ------------------------------------------------------------------------------------


def test_a_timer_outlives_its_removed_task_and_stopping_it_does_not_bring_the_task_back(
    fleet: Fleet, a: Home, task: Task
):
    start(a, task)
    a.write(lambda tx: tasks.remove(tx, task.id))
    fleet.now_ms += HOUR_MS
    assert [record.task_title for record in running(a)] == [task.title]
    (ended,) = stop(a)
    assert ended.minutes == 60
    assert a.read(lambda snapshot: tasks.list_tasks(snapshot, closed=True, removed=True, brief=True))


def test_a_timer_started_while_its_task_was_removed_elsewhere_keeps_the_task(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    start(b, task)
    fleet.sync()
    assert [conflict.field for conflict in show(a, task).conflicts] == ["deleted"]


def test_a_record_whose_task_is_not_here_is_shown_without_one(a: Home):
    a.new("time_record", task_id=bytes(16), started_at=iso_utc(START_MS))
    (record,) = running(a)
    assert (record.task_id, record.task_title) == (None, "")


# -- times --------------------------------------------------------------------------------------------


def test_a_clock_that_was_set_back_a_little_makes_a_record_of_no_length(fleet: Fleet, a: Home, task: Task):
    started = start(a, task)
    fleet.now_ms -= time_records.SKEW_MS
    (ended,) = stop(a)
    assert (ended.ended_at, ended.minutes) == (started.started_at, 0)


@pytest.mark.parametrize("act", ["stop", "start"])
def test_a_clock_that_was_set_back_a_year_is_told_with_both_times(fleet: Fleet, a: Home, task: Task, act):
    started = start(a, task)
    fleet.now_ms -= 365 * 24 * HOUR_MS
    before = commits(a)
    refused = refusal(stop, a) if act == "stop" else refusal(start, a, task, note="again")
    assert refused.code is RefusalCode.CONFLICT
    assert started.started_at in refused.message
    assert iso_utc(fleet.now_ms) in refused.message
    assert f"timer edit {started.id[:8]}" in refused.hint
    assert commits(a) == before
    edit(a, started, started_at="2 hours ago")
    (ended,) = stop(a)
    assert ended.minutes == 120


def test_a_stop_before_the_beginning_that_was_asked_for_is_refused(fleet: Fleet, a: Home, task: Task):
    start(a, task)
    fleet.now_ms += MINUTE_MS
    assert refusal(stop, a, at="2 minutes ago").code is RefusalCode.CONFLICT


@pytest.mark.parametrize("use", [start, lambda home, task, **fields: stop(home, **fields)])
def test_no_timer_starts_or_stops_in_time_to_come(a: Home, task: Task, use):
    start(a, make(a, "Other"))
    refused = refusal(use, a, task, at="2099-01-01T00:00:00Z")
    assert (refused.code, "is in the future" in refused.message) == (RefusalCode.USAGE, True)


def test_words_for_a_time_are_read_in_the_zone_and_language_that_were_set(a: Home, task: Task):
    today = iso_utc(START_MS)[:10]
    started = start(a, task, at="06:30")
    assert started.started_at == f"{today}T06:30:00.000Z"
    assert refusal(start, a, task, at="at some point").code is RefusalCode.USAGE


def test_an_edit_corrects_the_ends_the_note_and_the_task(fleet: Fleet, a: Home, task: Task):
    fleet.now_ms += 3 * HOUR_MS
    other = make(a, "The right one")
    started = start(a, task)
    changed = edit(a, started, started_at="2 hours ago", ended_at="1 hour ago", note="forms", task=other.id)
    assert (changed.minutes, changed.note, changed.task_title) == (60, "forms", "The right one")
    assert (show(a, task).times, len(show(a, other).times)) == ([], 1)
    assert show(a, other).vector_clock != other.vector_clock
    before = commits(a)
    edit(a, started, note="forms")
    assert commits(a) == before
    assert edit(a, started, note=None).note is None


def test_an_edit_does_not_turn_a_record_round(fleet: Fleet, a: Home, task: Task):
    start(a, task)
    fleet.now_ms += HOUR_MS
    (ended,) = stop(a)
    assert refusal(edit, a, ended, ended_at="3 hours ago").code is RefusalCode.USAGE
    assert (
        refusal(edit, a, ended, started_at="0 minutes ago", ended_at="5 minutes ago").code
        is RefusalCode.USAGE
    )


def test_a_record_that_two_edits_turned_round_has_no_length(a: Home, task: Task):
    a.new(
        "time_record",
        task_id=id_from_text(task.id),
        started_at=iso_utc(START_MS),
        ended_at=iso_utc(START_MS - HOUR_MS),
    )
    shown_task = show(a, task)
    assert ([time.minutes for time in shown_task.times], shown_task.time_spent_minutes) == ([0], 0)


@pytest.mark.parametrize("value", [7, "soon", "2026-03-01T10:00:00", None, "9" * 5000])
def test_times_that_are_none_from_elsewhere_count_nothing_and_break_nothing(a: Home, task: Task, value):
    a.new("time_record", task_id=id_from_text(task.id), started_at=value, ended_at=value)
    assert show(a, task).time_spent_minutes == 0
    stop(a)
    assert running(a) == []


def test_a_time_without_a_zone_from_elsewhere_is_no_time(a: Home, task: Task):
    ended = iso_utc(START_MS + HOUR_MS)
    naive = iso_utc(START_MS).removesuffix("Z")
    a.new("time_record", task_id=id_from_text(task.id), started_at=naive, ended_at=ended)
    assert show(a, task).time_spent_minutes == 0


def test_a_timer_removed_after_the_clock_was_set_back_does_not_end_before_it_began(
    fleet: Fleet, a: Home, task: Task
):
    started = start(a, task)
    fleet.now_ms -= HOUR_MS
    assert remove(a, started).ended_at == started.started_at


# -- removed and restored -----------------------------------------------------------------------------


def test_a_removed_timer_ends_and_coming_back_it_does_not_run(fleet: Fleet, a: Home, task: Task):
    started = start(a, task)
    fleet.now_ms += HOUR_MS
    record = remove(a, started)
    assert (record.removed, record.minutes, running(a), show(a, task).times) == (True, 60, [], [])
    assert [
        listed_record.id
        for listed_record in a.read(lambda s: time_records.list_records(s, task.id, removed=True, limit=9))
    ] == [started.id]
    start(a, task)
    back = a.write(lambda tx: time_records.restore(tx, started.id))
    assert (back.removed, back.is_running, len(running_here(a))) == (False, False, 1)
    before = commits(a)
    a.write(lambda tx: time_records.restore(tx, started.id))
    remove(a, remove(a, started))
    assert commits(a) == before + 1


def test_what_an_older_program_removed_running_comes_back_ended(a: Home, task: Task):
    record = a.new("time_record", task_id=id_from_text(task.id), started_at=iso_utc(START_MS))
    a.write(lambda tx: tx.commit([EntityWrite(record, "time_record", {"deleted": True})]))
    (only_record,) = a.read(lambda s: time_records.list_records(s, None, removed=True, limit=9))
    assert not a.write(lambda tx: time_records.restore(tx, only_record.id)).is_running


def test_records_are_listed_newest_first_of_a_task_or_of_all(fleet: Fleet, a: Home, task: Task):
    other = make(a, "Other")
    ids = []
    for listed_task in (task, other, task):
        ids.append(start(a, listed_task).id)
        fleet.now_ms += HOUR_MS
    listed = a.read(lambda s: time_records.list_records(s, None, removed=False, limit=2))
    assert [record.id for record in listed] == [ids[2], ids[1]]
    assert [
        record.id
        for record in a.read(lambda s: time_records.list_records(s, "passport", removed=False, limit=9))
    ] == [
        ids[2],
        ids[0],
    ]


def test_records_come_in_pages_each_once_whatever_they_are_called(fleet: Fleet, a: Home, task: Task):
    for minutes in (3, 1, 3, 2, 3):
        started = iso_utc(START_MS + minutes * MINUTE_MS)
        a.new("time_record", task_id=id_from_text(task.id), started_at=started, ended_at=started)
    a.new("time_record", task_id=id_from_text(task.id), started_at=7)
    records: list[TimeRecord] = []
    while len(records) < 99:
        after = records[-1].id if records else None
        page = a.read(partial(time_records.list_records, ref=None, removed=False, limit=2, after=after))
        if not page:
            break
        records += page
    assert [record.started_at[14:16] for record in records] == ["49", "49", "49", "48", "47", ""]
    assert len({record.id for record in records}) == 6


def test_the_records_of_a_task_cost_those_whatever_others_have(a: Home, b: Home):
    costs = []
    for home, count in ((a, 1), (b, 50)):
        task, other = make(home), make(home, "Other")
        for listed_task in (task, *[other] * count):
            home.new("time_record", task_id=id_from_text(listed_task.id), started_at=iso_utc(START_MS))
        with home.store.read() as snapshot, steps_of(snapshot) as steps:
            assert len(time_records.list_records(snapshot, task.id, removed=False, limit=9)) == 1
            costs.append(steps())
    assert costs[0] == costs[1]


# -- laws ---------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(["start", "stop", "stop other", "edit", "remove", "restore", "sync", "back"]),
        st.integers(0, 3),
        st.integers(0, 90),
    ),
    max_size=14,
)


def play(fleet: Fleet, homes: list[Home], new_tasks: list[Task], step: tuple[int, str, int, int]) -> None:
    who, act, which, minutes = step
    home = homes[who]
    fleet.now_ms += minutes * MINUTE_MS
    records = home.read(lambda s: time_records.list_records(s, None, removed=act == "restore", limit=99))
    record = records[which % len(records)] if records else None
    if act == "start":
        start(home, new_tasks[which % 2], at=f"{minutes} minutes ago" if which > 1 else None)
    elif act == "stop":
        stop(home, at=f"{minutes} minutes ago" if which > 1 else None)
    elif act == "sync":
        fleet.pull(homes[1 - who], home)
    elif act == "back":
        fleet.now_ms -= 2 * minutes * MINUTE_MS
    elif record is not None:
        if act == "stop other":
            stop(home, record)
        elif act == "edit":
            edit(home, record, ended_at="now", note=str(minutes))
        elif act == "remove":
            remove(home, record)
        else:
            home.write(lambda tx: time_records.restore(tx, record.id))


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_whatever_two_devices_do_no_device_has_two_timers_and_no_minute_counts_twice(steps):
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        homes = [fleet.home("a"), fleet.home("b")]
        new_tasks = [make(homes[0], "One"), make(homes[0], "Two")]
        fleet.sync()
        for step in steps:
            try:
                play(fleet, homes, new_tasks, step)
            except Refused:
                continue
            assert all(len(running_here(home)) <= 1 for home in homes)
        fleet.sync()
        for home in homes:
            on = [record.device for record in running(home)]
            assert len(on) == len(set(on))
            for task in new_tasks:
                shown_task = show(home, task)
                lengths = [time.minutes for time in shown_task.times if time.minutes is not None]
                assert max(lengths, default=0) <= shown_task.time_spent_minutes <= sum(lengths) + len(lengths)
        fleet.close()


STRETCH = st.tuples(st.integers(0, 30) | st.none(), st.integers(0, 30) | st.none())


@given(st.lists(STRETCH))
def test_what_stretches_cover_together_is_what_counting_moments_gives(stretches):
    counted = {index for s, e in stretches if s is not None and e is not None for index in range(s, e)}
    assert covered_ms(stretches) == len(counted)


@given(st.integers(-(10**12), 4 * 10**12))
def test_a_moment_is_read_as_it_was_written(ms):
    assert kept_moment_ms(iso_utc(ms)) == ms
    assert datetime.fromisoformat(iso_utc(ms)).tzinfo is UTC
