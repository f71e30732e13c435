"""Relations, followed both ways.

Never expects an end to be there: relations are soft.
"""

import pytest

from daemon.journal import checklists, links, related, tasks
from daemon.journal.checklists import NewItem
from daemon.journal.errors import Code, Refused
from daemon.journal.links import NewLink
from daemon.journal.tasks import NewTask
from daemon.journal.views import Task
from syncproto.ids import EntityId, from_text, text
from tests.daemon.agents.fleet import Home


def make(home: Home, title: str, **fields) -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title, **fields)))


def relations(home: Home, ref: str) -> set[tuple[str, str, str, bool]]:
    found = home.read(lambda snapshot: related.relations(snapshot, ref))
    return {(one.from_id, one.relation, one.to_id, one.removed) for one in found}


def test_what_points_at_a_task_and_what_it_points_at_is_found_from_either_end(a: Home):
    task, other = make(a, "Photos", category="admin"), make(a, "Form")
    item = a.write(lambda tx: checklists.add_item(tx, task.id, NewItem(title="Find them")))
    link = a.write(lambda tx: links.add(tx, task.id, NewLink(type="blocks", to=other.id)))
    found = relations(a, "photos")
    assert (item.checklist_id, "task_checklist", task.id, False) in found
    assert (link.id, "link_from", task.id, False) in found
    (category,) = [one for one in found if one[1] == "task_category"]
    assert category[0] == task.id
    assert relations(a, category[2]) == {category}
    assert relations(a, item.id) == {(item.id, "checklist_item", item.checklist_id, False)}
    assert (link.id, "link_to", other.id, False) in relations(a, link.id) & relations(a, "form")


def test_a_removed_end_is_told_and_a_missing_one_has_no_kind(a: Home):
    task = make(a, "Photos")
    nowhere = EntityId(bytes(16))
    entry = a.new("entry", task_id=nowhere, text="Stray")
    (stray,) = a.read(lambda snapshot: related.relations(snapshot, text(entry)))
    assert (stray.from_kind, stray.to_kind, stray.removed) == ("entry", None, False)
    item = a.write(lambda tx: checklists.add_item(tx, task.id, NewItem(title="x")))
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert (item.checklist_id, "task_checklist", task.id, True) in relations(a, task.id)
    other = make(a, "Form")
    a.set(entry, task_id=from_text(other.id), deleted=True)
    assert relations(a, other.id) == {(text(entry), "task_entry", other.id, True)}


def test_what_is_named_by_nothing_is_not_found(a: Home):
    with pytest.raises(Refused) as caught:
        relations(a, "nothing")
    assert caught.value.code is Code.NOT_FOUND
