"""The list of what was removed, and bringing any of it back."""

import pytest

from daemon.journal import categories, labels, links, preferences, tasks
from daemon.journal.categories import NewCategory
from daemon.journal.labels import NewLabel
from daemon.journal.links import NewLink
from daemon.journal.preferences import NewPreference
from daemon.journal.removed import bring_back, list_removed
from daemon.journal.tasks import NewTask
from daemon.refusal import RefusalCode, Refused
from store.transaction import Transaction
from tests.daemon.journal.undo.acts import ACTS, Parts, make_parts, undo
from tests.daemon.journal.undo.whole_journal import whole_journal
from tests.support.fleet import Home

_REMOVALS = [name for name in ACTS if name.startswith("removed")]


@pytest.fixture
def parts(a: Home) -> Parts:
    return a.write(make_parts)


@pytest.mark.parametrize("act", _REMOVALS)
def test_each_kind_is_listed_and_comes_back_as_it_was(a: Home, parts: Parts, act: str) -> None:
    a.enter_device("Laptop")
    before = a.read(whole_journal)
    a.write(lambda tx: ACTS[act](tx, parts))
    first = a.read(lambda snapshot: list_removed(snapshot, after=None, limit=1))[0]
    assert first.device_name == "Laptop"
    assert first.by == "user"
    assert first.title
    assert a.write(lambda tx: bring_back(tx, first.id)).title == first.title
    assert a.read(whole_journal) == before
    commits = a.read(lambda snapshot: snapshot.feed_end())
    a.write(lambda tx: bring_back(tx, first.id))
    assert a.read(lambda snapshot: snapshot.feed_end()) == commits


def test_the_newest_comes_first_and_pages_follow_one_another(a: Home) -> None:
    for number in range(7):
        task = a.write(lambda tx, number=number: tasks.add(tx, NewTask(title=f"T{number}"))).id  # type: ignore[misc]
        a.write(lambda tx, task=task: tasks.remove(tx, task))  # type: ignore[misc]
    titles, after = [], None
    while page := a.read(lambda snapshot, after=after: list_removed(snapshot, after=after, limit=3)):  # type: ignore[misc]
        titles += [removed.title for removed in page]
        after = page[-1].id
    assert titles == [f"T{number}" for number in range(6, -1, -1)]


def test_a_part_says_whose_it_is_and_that_its_task_was_removed_too(a: Home, parts: Parts) -> None:
    a.write(lambda tx: ACTS["removed note"](tx, parts))
    a.write(lambda tx: tasks.remove(tx, parts.task))
    task, note = a.read(lambda snapshot: list_removed(snapshot, after=None, limit=2))
    assert (task.kind, task.above_removed, task.task_id) == ("task", False, None)
    assert (note.kind, note.above_removed, note.task_title) == ("entry", True, "Renew the passport")
    with pytest.raises(Refused) as refused:
        a.write(lambda tx: bring_back(tx, note.id))
    assert refused.value.code is RefusalCode.NOT_FOUND


def test_what_an_undo_took_away_is_listed(a: Home) -> None:
    a.write(lambda tx: preferences.add(tx, NewPreference(text="Be short")))
    undo(a)
    listed = a.read(lambda snapshot: list_removed(snapshot, after=None, limit=9))
    assert [(removed.kind, removed.title) for removed in listed] == [("preference", "Be short")]


def test_a_link_that_would_close_a_circle_stays_away(a: Home) -> None:
    def use(tx: Transaction) -> str:
        first, second = (tasks.add(tx, NewTask(title=title)).id for title in ("One", "Two"))
        link = links.add(tx, first, NewLink("blocks", second))
        links.remove(tx, link.id)
        links.add(tx, second, NewLink("blocks", first))
        return link.id

    link = a.write(use)
    with pytest.raises(Refused) as refused:
        a.write(lambda tx: bring_back(tx, link))
    assert refused.value.code is RefusalCode.CONFLICT


def test_a_name_that_was_given_away_stays_away(a: Home) -> None:
    def use(tx: Transaction) -> list[str]:
        ids = [
            labels.add(tx, NewLabel(name="home")).id,
            categories.add(tx, NewCategory(name="Papers")).id,
        ]
        labels.remove(tx, "home")
        categories.remove(tx, "Papers")
        labels.edit(tx, labels.add(tx, NewLabel(name="house")).id, labels.LabelEdit(name="home"))
        return ids

    label, category = a.write(use)
    with pytest.raises(Refused):
        a.write(lambda tx: bring_back(tx, label))
    assert a.write(lambda tx: bring_back(tx, category)).title == "Papers"


@pytest.mark.parametrize("ref", ["", "zz", "ab" * 16])
def test_what_is_not_there_is_refused(a: Home, ref: str) -> None:
    with pytest.raises(Refused):
        a.write(lambda tx: bring_back(tx, ref))
    with pytest.raises(Refused):
        a.read(lambda snapshot: list_removed(snapshot, after=ref, limit=1))
