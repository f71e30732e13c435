"""Tasks of this journal in a file that another program wrote: what it edited of them is told, never taken.

Never edits a file by hand: a second journal plays the other program.
"""

import re

import pytest
from hypothesis import HealthCheck, given, settings

from daemon.file_formats import list_formats
from daemon.formats.core.importer import ImportResult
from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, TaskEdit
from syncproto.ids import id_from_text
from tests.daemon.formats.transfers import bring, commits, export, fill, journals, stored_tasks
from tests.support.fleet import Fleet, Home

FORMATS = [row.name for row in list_formats() if row.keeps_ids]
EDITS = {
    "title": TaskEdit(title="other"),
    "status": TaskEdit(status="DONE"),
    "a status of our own": TaskEdit(status="BLOCKED", reason="for Ann"),
    "priority": TaskEdit(priority="P0"),
    "due": TaskEdit(due="2026-12-24"),
    "no due": TaskEdit(due=None),
    "estimate": TaskEdit(estimate_minutes=90),
    "category": TaskEdit(category="Home"),
    "label": TaskEdit(labels=["other"]),
}


def two_tasks(home: Home) -> list[str]:
    ids: list[str] = []
    for title in ("rake  it", "dig"):
        new = NewTask(title=title, due="2026-12-01", labels=["x"])
        ids.append(home.write(lambda tx, new=new: tasks.add(tx, new)).id)  # type: ignore[misc]
    home.new("link", from_id=id_from_text(ids[1]), to_id=id_from_text(ids[0]), type="blocks")
    home.write(lambda tx: entries.add(tx, ids[0], NewEntry(text="two\nlines")))
    return ids


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None)
@given(journals)
@pytest.mark.parametrize("format_", FORMATS)
def test_what_nobody_edited_is_unchanged(fleet: Fleet, format_, journal):
    home = fleet.home(f"device {len(fleet.homes)}")
    fill(home, journal)
    text = export(home, format_)
    assert bring(home, format_, text) == ImportResult(unchanged=len(journal))


@pytest.mark.parametrize("format_", FORMATS)
def test_whatever_was_edited_elsewhere_is_named_and_left_alone(fleet: Fleet, format_):
    wrong = []
    for name, edit in [*EDITS.items(), ("a note", None), ("nothing", TaskEdit())]:
        home, other = (fleet.home(f"device {len(fleet.homes)}") for _ in range(2))
        two_tasks(home)
        bring(other, format_, export(home, format_))
        task = next(task.id for task in stored_tasks(other) if task.title.startswith("rake"))
        if edit is None:
            other.write(lambda tx, task=task: entries.add(tx, task, NewEntry(text="new")))  # type: ignore[misc]
        else:
            other.write(lambda tx, task=task, edit=edit: tasks.edit(tx, task, edit))  # type: ignore[misc]
        before = commits(home)
        result = bring(home, format_, export(other, format_))
        left_out = [skipped.why_id for skipped in result.skipped]
        wanted = [] if name == "nothing" else ["import-own-task-changed"]
        if (left_out, result.unchanged, commits(home)) != (wanted, 2 - len(wanted), before):
            wrong.append((name, result))
    assert wrong == []


@pytest.mark.parametrize("format_", FORMATS)
def test_a_part_of_an_export_is_unchanged_though_it_names_tasks_that_are_not_in_it(a: Home, format_):
    two_tasks(a)
    text = export(a, format_)
    part = _without_the_second(text, format_)
    assert part != text
    assert bring(a, format_, part) == ImportResult(unchanged=1)


@pytest.mark.parametrize("format_", FORMATS)
def test_what_was_removed_here_is_called_removed(a: Home, b: Home, format_):
    ids = two_tasks(a)
    text = export(a, format_)
    a.write(lambda tx: tasks.remove(tx, ids[0]))
    bring(b, format_, text)
    for home, imported in ((a, False), (b, True)):
        if imported:
            home.write(lambda tx: tasks.remove(tx, "rake  it"))
        before = commits(home)
        assert bring(home, format_, text) == ImportResult(unchanged=1, removed=1)
        assert commits(home) == before


@pytest.mark.parametrize("format_", FORMATS)
def test_a_link_with_an_imported_task_is_no_edit(a: Home, b: Home, format_):
    two_tasks(b)
    bring(a, format_, export(b, format_))
    imported = [id_from_text(task.id) for task in stored_tasks(a)]
    own = id_from_text(a.write(lambda tx: tasks.add(tx, NewTask(title="mow"))).id)
    for ends in ((own, imported[0]), (imported[1], own)):
        for type_ in ("blocks", "follows_up"):
            a.new("link", from_id=ends[0], to_id=ends[1], type=type_)
    before = commits(a)
    assert bring(a, format_, export(a, format_)) == ImportResult(unchanged=3)
    assert commits(a) == before


@pytest.mark.parametrize("format_", FORMATS)
def test_ids_in_another_form_name_the_same_tasks(a: Home, format_):
    two_tasks(a)
    text = re.sub("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lambda uid: uid[0].upper(), export(a, format_))
    assert bring(a, format_, text) == ImportResult(unchanged=2)
    result = bring(a, format_, text.replace("dig", "hoe"))
    assert [(skipped.what, skipped.why_id) for skipped in result.skipped] == [
        ("hoe", "import-own-task-changed")
    ]
    assert result.unchanged == 1


@pytest.mark.parametrize("format_", FORMATS)
def test_what_was_removed_here_and_edited_in_the_file_is_named(a: Home, format_):
    ids = two_tasks(a)
    text = export(a, format_)
    a.write(lambda tx: tasks.remove(tx, ids[0]))
    result = bring(a, format_, text.replace("rake  it", "hoe").replace("rake it", "hoe"))
    assert [(skipped.what, skipped.why_id) for skipped in result.skipped] == [
        ("hoe", "import-own-task-removed")
    ]
    assert (result.unchanged, result.removed) == (1, 0)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_link_with_a_task_removed_before_the_export_is_no_edit(a: Home, format_):
    ids = two_tasks(a)
    a.write(lambda tx: tasks.remove(tx, ids[1]))
    result = bring(a, format_, export(a, format_))
    assert (result.skipped, result.removed) == ((), 0)


@pytest.mark.parametrize("format_", FORMATS)
def test_an_edit_made_here_is_not_called_one_of_the_file(a: Home, format_):
    ids = two_tasks(a)
    text = export(a, format_)
    for id_ in ids:
        a.write(lambda tx, id_=id_: tasks.edit(tx, id_, TaskEdit(priority="P0")))  # type: ignore[misc]
    a.write(lambda tx: tasks.remove(tx, ids[0]))
    reasons = [skipped.why for skipped in bring(a, format_, text).skipped]
    assert [reason.partition(", where")[0] for reason in reasons] == [
        "the file says otherwise than the journal"
    ] * 2


def _without_the_second(text: str, format_: str) -> str:
    if format_ == "taskwarrior":
        start, first, *_, end = text.splitlines()
        return "\n".join([start, first.removesuffix(","), end])
    first, _, end = text.partition("END:VTODO\r\n")
    return first + "END:VTODO\r\n" + end.partition("END:VTODO\r\n")[2]
