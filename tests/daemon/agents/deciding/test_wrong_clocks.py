"""A device whose clock was decades wrong for one start, and is right again: what is shown, and the way back.

Never sets a clock of this machine: the skew of a device is a parameter.
"""

import re
from functools import partial
from typing import Final

import msgspec
import pytest

from daemon.agents.context.local_time import to_local
from daemon.agents.context.task_view import entry_views
from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.person import full_history
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.control.health import this_device
from daemon.journal import change_log, conflicts, preferences, tasks
from daemon.journal.task_timeline import task_timeline
from daemon.timestamps import iso_utc
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fleet import Fleet, Home

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
DAY_MS = 86_400_000
DECADES_MS = 40 * 365 * DAY_MS


@pytest.mark.parametrize("skew_ms", [DECADES_MS, -DECADES_MS])
def test_what_is_proposed_once_the_clock_is_right_is_dated_by_the_clock(
    fleet: Fleet, a: Home, b: Home, task: EntityId, skew_ms: int
) -> None:
    a.skew_ms = skew_ms
    a.new("task", title="Written by a wrong clock")
    a.skew_ms = 0
    item = a.estimate(task, 120)
    fleet.sync()
    for home in (a, b):
        (shown,) = home.read(lambda snapshot: list_waiting_items(snapshot, fleet.now_ms))
        assert shown.item_id == id_to_text(item)
        assert shown.created_at == iso_utc(home.now_ms())


def test_what_is_proposed_after_a_start_far_ahead_expires_by_the_clock(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    a.skew_ms = DECADES_MS
    a.new("task", title="Written by a wrong clock")
    a.skew_ms = 0
    a.estimate(task, 120)
    fleet.sync()
    lifetime_ms = ProposalLimits().lifetime_ms
    for home in (a, b):
        (shown,) = home.read(lambda snapshot: list_waiting_items(snapshot, fleet.now_ms))
        assert shown.expires_at == iso_utc(fleet.now_ms + lifetime_ms)
        assert not home.read(lambda snapshot: list_waiting_items(snapshot, fleet.now_ms + lifetime_ms))


def test_no_face_dates_what_was_decided_and_written_ahead_of_now(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    a.skew_ms = DECADES_MS
    a.new("task", title="Written by a wrong clock")
    a.skew_ms = 0
    confirm(a, a.estimate(task, 120))
    fleet.sync()
    for home in (a, b):
        now_ms, ref = home.now_ms(), id_to_text(task)
        decided = home.read(partial(full_history.list_decided, now_ms=now_ms, limit=9))
        changes = home.read(partial(change_log.list_changes, ref=None, limit=99))
        moments = home.read(partial(task_timeline, ref=ref)).moments
        times = [record.at for record in decided] + [change.at for change in changes]
        assert decided
        assert max(times + [moment.at for moment in moments]) == iso_utc(now_ms)


def test_no_face_dates_a_task_or_what_belongs_to_it_ahead_of_now(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    a.skew_ms = DECADES_MS
    a.set(task, title="Written by a wrong clock")
    a.new("entry", task_id=task, text="by the 4th")
    checklist = a.new("checklist", task_id=task, title="Steps")
    a.new("checklist_item", checklist_id=checklist, title="Book", is_checked=True)
    a.new("preference", text="mornings")
    fleet.sync()
    a.skew_ms = 0
    b.set(task, title="Written here meanwhile")
    a.set(task, title="And there")
    fleet.sync()
    for home in (a, b):
        now, ref = iso_utc(home.now_ms()), id_to_text(task)
        shown = home.read(partial(tasks.show, ref=ref, provenance=True))
        answers = (shown, home.read(preferences.list_preferences))
        disputed = home.read(partial(conflicts.list_conflicts, ref=ref))
        assert disputed
        assert shown.checklists[0].items[0].checked_at == shown.entries[0].happened_at == now
        assert max(_times_in(msgspec.to_builtins((answers, disputed)))) == now
        (note,) = home.read(partial(entry_views, task=task, zone=None))
        assert note.written_at == to_local(home.now_ms(), None)


def _times_in(value: object) -> list[str]:
    """Return every time in an answer, whatever it is called there."""
    if isinstance(value, dict):
        return [time for part in value.values() for time in _times_in(part)]
    if isinstance(value, list | tuple):
        return [time for part in value for time in _times_in(part)]
    return [value] if isinstance(value, str) and _TIME.fullmatch(value) else []


def test_doctor_says_whose_stamps_lie_ahead_and_a_new_log_is_the_way_back(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    a.skew_ms = DECADES_MS
    a.set(task, title="Written by a wrong clock")
    a.skew_ms = 0
    fleet.sync()
    (check,) = a.read(lambda snapshot: list(this_device.check_clocks(snapshot, a.now_ms(), 0)))
    assert (check.well, check.code) == (False, "clock_ahead")
    assert "run placet devices leave, and join again" in check.remedy
    # What it does as a new device, with all that it had written, is dated by its clock.
    again = fleet.home("again")
    fleet.sync()
    assert again.value(task, "title") == "Written by a wrong clock"
    entity = again.entity(again.new("task", title="Written by a right clock"))
    assert entity.created is not None
    assert entity.created.ms == again.now_ms()
    again.set(task, title="Mended")
    fleet.sync()
    assert {home.value(task, "title") for home in (a, b, again)} == {"Mended"}
