"""Labels and categories: names of their own, scopes, what a task was denied, and what two devices add apart.

Never goes below the use cases, but for what another device or an agent wrote.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.agents.tools.effects import change_set_id
from daemon.journal import categories, labels, tasks
from daemon.journal.categories import Category, CategoryEdit, NewCategory
from daemon.journal.labels import ASSIGN_LABEL_TOOL, Label, LabelEdit, NewLabel
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views.structures import Task
from daemon.refusal import RefusalCode, Refused
from store.fold.item import clock_as_value
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text
from tests.support.fleet import DAY_MS, Fleet, Home


def make(home: Home, title: str = "Renew the passport", **fields) -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title, **fields)))


def change(home: Home, task: Task, **fields) -> Task:
    return home.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(**fields)))


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def add(home: Home, name: str, **fields) -> Label:
    return home.write(lambda tx: labels.add(tx, NewLabel(name=name, **fields)))


def edit(home: Home, ref: str, **fields) -> Label:
    return home.write(lambda tx: labels.edit(tx, ref, LabelEdit(**fields)))


def remove(home: Home, ref: str) -> Label:
    return home.write(lambda tx: labels.remove(tx, ref))


def restore(home: Home, ref: str) -> Label:
    return home.write(lambda tx: labels.restore(tx, ref))


def listed(home: Home, *, task: str | None = None, removed: bool = False) -> list[str]:
    return [label.name for label in home.read(lambda s: labels.list_labels(s, task=task, removed=removed))]


def category(home: Home, name: str, **fields) -> Category:
    return home.write(lambda tx: categories.add(tx, NewCategory(name=name, **fields)))


def edit_category(home: Home, ref: str, **fields) -> Category:
    return home.write(lambda tx: categories.edit(tx, ref, CategoryEdit(**fields)))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def refusal(use, *args, **fields) -> Refused:
    with pytest.raises(Refused) as error:
        use(*args, **fields)
    return error.value


# -- sets that are replaced ---------------------------------------------------------------------------


def test_labels_that_are_replaced_leave_what_came_since_they_were_shown(fleet: Fleet, a: Home, b: Home):
    task = make(a, labels=["home", "old"])
    fleet.sync()
    change(b, task, add_labels=["news"])
    fleet.sync()
    replaced = change(a, task, labels=["home", "urgent"], base=task.vector_clock)
    assert (replaced.labels, replaced.conflicts) == (["home", "news", "urgent"], [])
    assert change(a, task, labels=["home"], base=replaced.vector_clock).labels == ["home"]
    assert change(a, task, labels=[]).labels == []


def test_the_categories_of_a_label_that_are_replaced_leave_what_came_since(fleet: Fleet, a: Home, b: Home):
    for name in ("garden", "house", "boat"):
        category(a, name)
    label = add(a, "repair", categories=["house"])
    fleet.sync()
    edit(b, "repair", add_categories=["boat"])
    fleet.sync()
    replaced = edit(a, "repair", categories=["garden"], base=label.vector_clock)
    assert (replaced.categories, replaced.conflicts) == (["boat", "garden"], [])


# -- labels by name -----------------------------------------------------------------------------------


def test_a_label_has_a_name_a_colour_and_words_and_its_colour_shows_on_its_tasks(a: Home):
    label = add(a, " Home ", color="#0AF", description="Around the house")
    assert (label.name, label.color, label.description) == ("Home", "#00aaff", "Around the house")
    task = make(a, labels=["home", "other"])
    assert (task.labels, task.label_colors) == (["Home", "other"], {"Home": "#00aaff"})
    assert a.read(lambda snapshot: labels.show(snapshot, "HOME")) == label


def test_adding_what_is_there_is_done_already_unless_it_should_look_otherwise(a: Home):
    label = add(a, "home", color="red")
    before = commits(a)
    assert add(a, "HOME") == add(a, "home", color="RED") == label
    refused = refusal(add, a, "home", color="blue")
    assert (refused.code, "label edit" in refused.hint) == (RefusalCode.CONFLICT, True)
    assert commits(a) == before


@pytest.mark.parametrize(
    "fields", [{"color": "reddish"}, {"color": "#12345"}, {"name": " "}, {"name": "x" * 101}, {"color": ""}]
)
def test_what_is_no_name_or_colour_is_refused(a: Home, fields):
    before = commits(a)
    assert refusal(add, a, **{"name": "x", **fields}).code is RefusalCode.USAGE
    assert commits(a) == before


def test_a_colour_that_only_a_newer_version_knows_is_kept_and_not_painted(a: Home):
    label = add(a, "home")
    a.set(id_from_text(label.id), color="ultraviolet")
    assert make(a, labels=["home"]).label_colors == {}
    assert a.read(lambda snapshot: labels.show(snapshot, "home")).color == "ultraviolet"


def test_renaming_keeps_the_id_and_renames_it_on_every_task(a: Home):
    label = add(a, "home")
    task = make(a, labels=["home"])
    assert edit(a, "home", name="House").id == label.id
    assert show(a, task).labels == ["House"]
    assert add(a, "home").id != label.id


def test_a_name_in_use_is_refused_but_another_spelling_of_its_own_is_not(a: Home):
    add(a, "home")
    add(a, "work")
    assert refusal(edit, a, "work", name="HOME").code is RefusalCode.CONFLICT
    assert edit(a, "work", name="WORK").name == "WORK"


def test_an_edit_empties_with_null_and_writes_nothing_that_stands(a: Home):
    add(a, "home", color="red", description="x")
    changed = edit(a, "home", color=None, description="  ")
    assert (changed.color, changed.description) == (None, None)
    before = commits(a)
    edit(a, "home", name="home", color=None)
    assert commits(a) == before


def test_a_removed_label_is_out_of_sight_on_tasks_until_it_is_restored(a: Home):
    label = add(a, "home", color="red")
    task = make(a, labels=["home"])
    assert remove(a, "home").removed
    assert (show(a, task).labels, listed(a), listed(a, removed=True)) == ([], [], ["home"])
    assert refusal(edit, a, "home", color="red").code is RefusalCode.NOT_FOUND
    before = commits(a)
    remove(a, "home")
    assert commits(a) == before
    assert restore(a, "home").id == label.id
    assert show(a, task).labels == ["home"]
    before = commits(a)
    restore(a, label.id[:6])
    assert commits(a) == before


def test_a_removed_label_or_category_comes_back_where_it_is_given_to_a_task_that_still_has_it(a: Home):
    task = make(a, labels=["home"], category="admin")
    remove(a, "home")
    a.write(lambda tx: categories.remove(tx, "admin"))
    changed = change(a, task, add_labels=["home"], category="admin")
    assert (changed.labels, changed.category) == (["home"], "admin")
    assert listed(a) == ["home"]


def test_what_was_renamed_and_removed_does_not_come_back_when_its_first_name_is_used(a: Home):
    label = add(a, "home")
    task = make(a, labels=["home"])
    edit(a, "home", name="House")
    remove(a, "House")
    assert add(a, "home").id != label.id
    assert show(a, task).labels == []
    assert add(a, "House").id != label.id
    assert refusal(restore, a, label.id).code is RefusalCode.CONFLICT


def test_two_labels_that_became_one_name_while_apart_are_both_kept_and_told(fleet: Fleet, a: Home, b: Home):
    for name in ("home", "house"):
        add(a, name)
    task = make(a, labels=["home", "house"])
    fleet.sync()
    edit(a, "home", name="flat")
    edit(b, "house", name="Flat")
    fleet.sync()
    both = a.read(lambda s: labels.list_labels(s, task=None, removed=False))
    assert [(label.name.casefold(), label.is_double) for label in both] == [("flat", True)] * 2
    refused = refusal(edit, a, "flat", color="red")
    assert (refused.code, len(refused.candidates)) == (RefusalCode.AMBIGUOUS, 2)
    assert change(b, task, remove_labels=["flat"]).labels == []
    renamed = edit(a, both[0].id[:8], name="apartment")
    assert not renamed.is_double


def test_two_devices_that_make_one_label_with_two_colours_are_told(fleet: Fleet, a: Home, b: Home):
    label, two = add(a, "home", color="red"), add(b, "Home", color="blue")
    fleet.sync()
    assert label.id == two.id
    (stored_label,) = a.read(lambda s: labels.list_labels(s, task=None, removed=False))
    assert {conflict.field for conflict in stored_label.conflicts} == {"color", "name"}


@pytest.mark.parametrize("ref", ["nowhere", "ab", "", "zzzz"])
def test_a_name_that_nothing_has_is_answered_with_where_names_are(a: Home, ref):
    refused = refusal(edit, a, ref, color="red")
    assert (refused.code, "label list" in refused.hint) == (RefusalCode.NOT_FOUND, True)
    assert refusal(edit, a, "abcdef", color="red").code is RefusalCode.NOT_FOUND


# -- scopes -------------------------------------------------------------------------------------------


def test_a_scoped_label_is_offered_to_and_taken_by_tasks_of_its_categories_only(a: Home):
    for name in ("admin", "garden"):
        category(a, name)
    add(a, "form", categories=["Admin"])
    add(a, "anywhere")
    inside, outside = make(a, "In", category="admin"), make(a, "Out")
    assert listed(a, task=inside.id) == ["anywhere", "form"]
    assert listed(a, task=outside.id) == ["anywhere"]
    assert change(a, inside, add_labels=["form"]).labels == ["form"]
    assert listed(a, task=inside.id) == ["anywhere"]
    before = commits(a)
    for refused in (
        refusal(change, a, outside, add_labels=["form"]),
        refusal(change, a, outside, labels=["form"], category="garden"),
        refusal(make, a, "New", labels=["form"]),
    ):
        assert (refused.code, "'form'" in refused.message, "admin" in refused.message) == (
            RefusalCode.USAGE,
            True,
            True,
        )
    assert commits(a) == before
    assert make(a, "New", labels=["form"], category="ADMIN").labels == ["form"]
    assert change(a, outside, add_labels=["form"], category="admin").labels == ["form"]


def test_a_task_that_leaves_the_scope_goes_on_showing_the_label(a: Home):
    category(a, "admin")
    add(a, "form", categories=["admin"])
    task = make(a, labels=["form"], category="admin")
    assert change(a, task, category=None).labels == ["form"]
    assert change(a, task, title="Other").labels == ["form"]


def test_scopes_are_sets_so_additions_on_two_devices_both_stay(fleet: Fleet, a: Home, b: Home):
    for name in ("admin", "garden", "trip"):
        category(a, name)
    add(a, "form", categories=["admin"])
    fleet.sync()
    edit(a, "form", add_categories=["garden"], remove_categories=["admin"])
    edit(b, "form", add_categories=["trip"])
    fleet.sync()
    assert a.read(lambda s: labels.show(s, "form")).categories == ["garden", "trip"]
    assert edit(a, "form", categories=[]).categories == []
    assert refusal(edit, a, "form", add_categories=["nowhere"]).code is RefusalCode.NOT_FOUND


def test_a_label_for_a_removed_category_alone_is_not_for_every_task(a: Home):
    category(a, "admin")
    add(a, "form", categories=["admin"])
    a.write(lambda tx: categories.remove(tx, "admin"))
    assert listed(a, task=make(a).id) == []
    assert "removed" in refusal(make, a, "New", labels=["form"]).message


# -- categories ---------------------------------------------------------------------------------------


def test_a_category_keeps_its_language_and_examples(a: Home):
    new_category = category(
        a, "Admin", color="grey", default_language="de", correction_examples=[" Bürgeramt ", "  ", "ELSTER"]
    )
    assert (new_category.default_language, new_category.correction_examples) == (
        "de",
        ["Bürgeramt", "ELSTER"],
    )
    changed = edit_category(a, "admin", name="Office", default_language=None, correction_examples=None)
    assert (changed.id, changed.default_language, changed.correction_examples) == (new_category.id, None, [])
    assert refusal(edit_category, a, "office", default_language="German").code is RefusalCode.USAGE
    assert refusal(edit_category, a, "admin").code is RefusalCode.NOT_FOUND


def test_a_removed_category_is_out_of_sight_on_its_tasks_and_comes_back(a: Home):
    category(a, "admin")
    task = make(a, category="admin")
    a.write(lambda tx: categories.remove(tx, "admin"))
    assert (show(a, task).category, a.read(lambda s: categories.list_categories(s, removed=False))) == (
        None,
        [],
    )
    assert [
        listed_category.name
        for listed_category in a.read(lambda s: categories.list_categories(s, removed=True))
    ] == ["admin"]
    a.write(lambda tx: categories.restore(tx, "admin"))
    assert show(a, task).category == a.read(lambda s: categories.show(s, "ADMIN")).name == "admin"


@pytest.mark.parametrize("remaining", [7, ["ok", 7, None], "x"])
def test_examples_of_another_shape_from_elsewhere_are_passed_over(a: Home, remaining):
    new_category = category(a, "admin")
    a.set(id_from_text(new_category.id), correction_examples=remaining)
    correction_examples = a.read(lambda s: categories.show(s, "admin")).correction_examples
    assert correction_examples == (["ok"] if isinstance(remaining, list) else [])


# -- what a task was denied ---------------------------------------------------------------------------


def propose(home: Home, task: Task, label: str, run: str = "run", tool: str = ASSIGN_LABEL_TOOL) -> EntityId:
    """Bring in a proposal of a label, as an agent of a version with that tool would."""
    target = id_from_text(task.id)

    def use(tx: Transaction) -> EntityId:
        args: dict[str, Value] = {"id": label, "confidence": "high"}
        entity = tx.entity(target)
        assert entity is not None
        item = derived_id("item", task.id, label, time_of=target)
        proposed: dict[str, Value] = {
            "item_id": item,
            "tool": tool,
            "args": args,
            "base": {"clock": clock_as_value(entity.clock), "value": {}},
            "rationale": "",
            "fingerprint": bytes(32),
        }
        fields: dict[str, Value] = {
            "agent_id": derived_id("agent", task.id, time_of=target),
            "task_id": target,
            "run_key": run,
            "items": [proposed],
            "expires_at": home.now_ms() + DAY_MS,
        }
        tx.commit([EntityWrite(change_set_id(run, 0, target), "change_set", fields)], by=AuthorKind.AGENT)
        return tx.items(target)[-1].id

    return home.write(use)


def decide(home: Home, item: EntityId, verdict: Verdict) -> None:
    def use(tx: Transaction) -> None:
        stored_item = tx.item(item)
        assert stored_item is not None
        values: list[Value] = [decision.id for decision in stored_item.decisions]
        fields: dict[str, Value] = {"item_id": item, "verdict": verdict.value, "seen": values, "via": "api"}
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)])

    home.write(use)


def denied(home: Home, task: Task) -> set[str]:
    def use(snapshot: Snapshot) -> set[str]:
        entity = snapshot.entity(id_from_text(task.id))
        assert entity is not None
        return {id_to_text(denied_label_id) for denied_label_id in labels.denied_label_ids(snapshot, entity)}

    return home.read(use)


@pytest.mark.parametrize(
    ("verdicts", "is_denied"),
    [
        ([], False),
        ([Verdict.REJECTED], True),
        ([Verdict.DEFERRED], False),
        ([Verdict.CONFIRMED], False),
        ([Verdict.CONFIRMED, Verdict.UNDONE], True),
        ([Verdict.REJECTED, Verdict.REOPENED], False),
    ],
)
def test_a_label_is_denied_while_a_persons_no_stands(a: Home, verdicts, is_denied):
    task, label = make(a), add(a, "home")
    item = propose(a, task, label.id)
    for verdict in verdicts:
        decide(a, item, verdict)
    assert denied(a, task) == ({label.id} if is_denied else set())


def test_a_label_that_the_person_gives_after_all_is_no_longer_denied_and_taken_off_it_is(a: Home):
    task, label = make(a), add(a, "home")
    decide(a, propose(a, task, label.id), Verdict.REJECTED)
    change(a, task, add_labels=["home"])
    assert denied(a, task) == set()
    other = make(a, labels=["home"])
    change(a, other, remove_labels=["home"])
    assert denied(a, other) == {label.id}
    assert denied(a, make(a)) == set()


def test_what_an_agent_took_off_or_named_wrongly_denies_nothing(a: Home):
    label = add(a, "home")
    task = make(a, labels=["home"])
    field: dict[str, Value] = {
        f"label_ids/{label.id}": False,
        "label_ids/odd": False,
        "label_ids/" + "z" * 32: False,
    }
    a.write(lambda tx: tx.commit([EntityWrite(id_from_text(task.id), "task", field)], by=AuthorKind.AGENT))
    assert denied(a, task) == set()
    decide(a, propose(a, task, label.id, run="other", tool="update_checklist_item"), Verdict.REJECTED)
    for wrong in ("short", "z" * 32):
        decide(a, propose(a, task, wrong, run=wrong), Verdict.REJECTED)
    a.set(id_from_text(task.id), **{"label_ids/" + "z" * 32: False})
    assert denied(a, task) == set()


# -- laws ---------------------------------------------------------------------------------------------

NAMES = ("one", "two", "three", "four")
ACTS = st.lists(st.tuples(st.integers(0, 1), st.booleans(), st.sampled_from(NAMES)), max_size=10)


@settings(max_examples=50, deadline=None)
@given(st.sets(st.sampled_from(NAMES)), ACTS)
def test_of_labels_that_two_devices_add_and_take_while_apart_each_ones_own_word_stands(first, acts):
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        homes = [fleet.home("a"), fleet.home("b")]
        task = make(homes[0], labels=sorted(first))
        fleet.sync()
        stored = [set(first), set(first)]
        for who, adds, name in acts:
            change(homes[who], task, **{"add_labels" if adds else "remove_labels": [name]})
            (stored[who].add if adds else stored[who].discard)(name)
        fleet.sync()
        shown_labels = set(show(homes[0], task).labels)
        added = (stored[0] | stored[1]) - first
        removed = first - (stored[0] & stored[1])
        # Nobody took what only one of them added, nor added what was there and one took: each is certain,
        # unless the other device wrote the same label both ways.
        for name in NAMES:
            both = {who for who, _, acted in acts if acted == name} == {0, 1}
            if not both:
                assert (name in shown_labels) == (name in added or name in first - removed)
        assert shown_labels <= first | stored[0] | stored[1]
        fleet.close()
