"""Relations, followed both ways.

Never expects an end to be there: relations are soft.
"""

import pytest

from daemon.journal import checklist_items, links, relations, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.links import NewLink
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import Task
from daemon.refusal import RefusalCode, Refused
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support.fleet import Home


def make(home: Home, title: str, **fields) -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title, **fields)))


def relations_of(home: Home, ref: str) -> set[tuple[str, str, str, bool]]:
    found_relations = home.read(lambda snapshot: relations.list_relations(snapshot, ref))
    return {
        (found_relation.from_id, found_relation.relation, found_relation.to_id, found_relation.removed)
        for found_relation in found_relations
    }


def test_what_points_at_a_task_and_what_it_points_at_is_found_from_either_end(a: Home):
    task, other = make(a, "Photos", category="admin"), make(a, "Form")
    item = a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Find them")))
    link = a.write(lambda tx: links.add(tx, task.id, NewLink(type="blocks", to=other.id)))
    found_relations = relations_of(a, "photos")
    assert (item.checklist_id, "task_checklist", task.id, False) in found_relations
    assert (link.id, "link_from", task.id, False) in found_relations
    (category,) = [
        found_relation for found_relation in found_relations if found_relation[1] == "task_category"
    ]
    assert category[0] == task.id
    assert relations_of(a, category[2]) == {category}
    assert relations_of(a, item.id) == {(item.id, "checklist_item", item.checklist_id, False)}
    assert (link.id, "link_to", other.id, False) in relations_of(a, link.id) & relations_of(a, "form")


def test_a_removed_end_is_told_and_a_missing_one_has_no_kind(a: Home):
    task = make(a, "Photos")
    nowhere = EntityId(bytes(16))
    entry = a.new("entry", task_id=nowhere, text="Stray")
    (stray,) = a.read(lambda snapshot: relations.list_relations(snapshot, id_to_text(entry)))
    assert (stray.from_kind, stray.to_kind, stray.removed) == ("entry", None, False)
    item = a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="x")))
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert (item.checklist_id, "task_checklist", task.id, True) in relations_of(a, task.id)
    other = make(a, "Form")
    a.set(entry, task_id=id_from_text(other.id), deleted=True)
    assert relations_of(a, other.id) == {(id_to_text(entry), "task_entry", other.id, True)}


def test_what_is_named_by_nothing_is_not_found(a: Home):
    with pytest.raises(Refused) as refusal:
        relations_of(a, "nothing")
    assert refusal.value.code is RefusalCode.NOT_FOUND
