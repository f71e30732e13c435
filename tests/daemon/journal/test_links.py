"""Links between tasks: one for each thing that is said, in both directions, and circles that are told.

Never goes below the use cases, but for what an import or another device wrote.
"""

import itertools
from datetime import UTC
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.formats import readers
from daemon.formats.core.importer import PlanImport
from daemon.journal import links, tasks
from daemon.journal.links import NewLink
from daemon.journal.tasks import NewTask
from daemon.journal.views import task_graph
from daemon.journal.views.structures import Link, Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text
from tests.support.fleet import Fleet, Home
from tests.support.sqlite_steps import steps_of

DEPENDS = """[
{"uuid": "11111111-1111-4111-8111-111111111111", "description": "Photos", "status": "pending",
 "entry": "20260301T100000Z"},
{"uuid": "22222222-2222-4222-8222-222222222222", "description": "Form", "status": "pending",
 "entry": "20260301T100000Z", "depends": ["11111111-1111-4111-8111-111111111111"]}
]"""


def make(home: Home, *titles: str) -> list[Task]:
    return [home.write(partial(tasks.add, new=NewTask(title=title))) for title in titles]


def link(home: Home, begins: Task, kind: str, ends: Task) -> Link:
    return home.write(lambda tx: links.add(tx, begins.id, NewLink(type=kind, to=ends.id)))


def unlink(home: Home, new_link: Link) -> Link:
    return home.write(lambda tx: links.remove(tx, new_link.id))


def listed(home: Home, task: Task) -> list[tuple[str, str, str | None]]:
    stored_links = home.read(lambda snapshot: links.list_links(snapshot, task.id))
    return [(stored_link.type, stored_link.direction, stored_link.title) for stored_link in stored_links]


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def refusal(use, *args) -> Refused:
    with pytest.raises(Refused) as error:
        use(*args)
    return error.value


def test_a_link_is_seen_from_both_its_ends(a: Home):
    photos, form = make(a, "Photos", "Form")
    new_link = link(a, photos, "Blocks", form)
    assert (new_link.type, new_link.direction, new_link.title, new_link.status) == (
        "blocks",
        "to",
        "Form",
        "OPEN",
    )
    assert show(a, photos).links == [new_link]
    (back,) = show(a, form).links
    assert (back.id, back.direction, back.task_id, back.title) == (new_link.id, "from", photos.id, "Photos")
    assert (back.from_id, back.to_id) == (new_link.from_id, new_link.to_id) == (photos.id, form.id)


def test_linking_again_changes_nothing_and_basic_has_no_direction(a: Home):
    task, two = make(a, "One", "Two")
    first = link(a, task, "basic", two)
    before = commits(a)
    assert link(a, two, "basic", task).id == link(a, task, "basic", two).id == first.id
    assert commits(a) == before


def test_two_devices_that_link_the_same_while_apart_make_one(fleet: Fleet, a: Home, b: Home):
    task, two = make(a, "One", "Two")
    fleet.sync()
    for home in (a, b):
        link(home, task, "follows up", two)
    link(a, task, "basic", two)
    link(b, two, "basic", task)
    fleet.sync()
    assert sorted(listed(b, task)) == [("basic", "to", "Two"), ("follows_up", "to", "Two")] or sorted(
        listed(b, task)
    ) == [("basic", "from", "Two"), ("follows_up", "to", "Two")]
    assert show(a, task).conflicts == show(a, two).conflicts == []


def test_a_link_touches_both_tasks_in_one_commit(a: Home):
    only_task, two = make(a, "One", "Two")
    before = commits(a)
    link(a, only_task, "fixes", two)
    assert commits(a) == before + 1
    assert all(show(a, task).vector_clock != task.vector_clock for task in (only_task, two))


def test_a_link_to_itself_and_one_of_no_known_type_are_refused(a: Home):
    (task,) = make(a, "One")
    assert refusal(link, a, task, "basic", task).code is RefusalCode.USAGE
    (two,) = make(a, "Two")
    refused = refusal(link, a, task, "loves", two)
    assert (refused.code, "duplicates" in refused.hint) == (RefusalCode.USAGE, True)


def test_a_circle_of_blocks_is_refused_and_named(a: Home):
    task, two, three = make(a, "One", "Two", "Three")
    link(a, task, "blocks", two)
    link(a, two, "blocks", three)
    refused = refusal(link, a, three, "blocks", task)
    assert refused.code is RefusalCode.CONFLICT
    assert refused.message == "this would close a circle: 'One' blocks 'Two' blocks 'Three'"
    link(a, three, "follows_up", task)
    assert not any(listed_link.circular for listed_link in show(a, task).links)


def test_only_blocks_makes_a_circle(a: Home):
    task, two, three = make(a, "One", "Two", "Three")
    link(a, task, "follows_up", two)
    link(a, two, "blocks", task)
    link(a, task, "blocks", three)
    link(a, three, "fixes", two)
    assert not any(listed_link.circular for listed_link in show(a, task).links)


def test_two_tasks_may_be_linked_in_several_ways(a: Home):
    task, two = make(a, "One", "Two")
    for kind in ("fixes", "blocks", "duplicates"):
        link(a, task, kind, two)
    assert [kind for kind, _, _ in listed(a, two)] == ["blocks", "duplicates", "fixes"]


def test_a_basic_link_that_was_written_the_other_way_round_is_the_same(a: Home):
    only_task, two = sorted(make(a, "One", "Two"), key=lambda task: id_from_text(task.id))
    identifier = a.new("link", from_id=id_from_text(two.id), to_id=id_from_text(only_task.id), type="basic")
    before = commits(a)
    assert id_from_text(link(a, only_task, "basic", two).id) == identifier
    assert commits(a) == before
    assert len(show(a, only_task).links) == len(show(a, two).links) == 1


def test_a_long_circle_is_named_by_its_ends(a: Home):
    new_tasks = make(a, *(f"T{n}" for n in range(9)))
    for task, two in itertools.pairwise(new_tasks):
        link(a, task, "blocks", two)
    refused = refusal(link, a, new_tasks[-1], "blocks", new_tasks[0])
    assert refused.message.count("blocks") == 5
    assert "'T0'" in refused.message
    assert "'T8'" in refused.message


def test_a_circle_that_two_devices_closed_while_apart_is_shown_until_one_link_goes(
    fleet: Fleet, a: Home, b: Home
):
    task, two, three = make(a, "One", "Two", "Three")
    fleet.sync()
    link(a, task, "blocks", two)
    link(a, task, "blocks", three)
    new_link = link(b, two, "blocks", task)
    link(b, two, "fixes", task)
    fleet.sync()
    assert {
        (listed_link.title, listed_link.circular)
        for listed_link in show(a, task).links
        if listed_link.type == "blocks"
    } == {
        ("Two", True),
        ("Three", False),
    }
    assert all(listed_link.circular == (listed_link.type == "blocks") for listed_link in show(b, two).links)
    assert not any(listed_link.circular for listed_link in show(b, three).links)
    unlink(b, new_link)
    assert not any(listed_link.circular for listed_link in show(b, task).links)


def steps_to_list(home: Home) -> int:
    """Count the steps that SQLite takes to show every task."""
    with home.store.read() as snapshot, steps_of(snapshot) as steps:
        tasks.list_tasks(snapshot, closed=True, removed=False, brief=False)
        return steps()


def chain(tx: Transaction, made: list[Task]) -> None:
    for identifier, other in itertools.pairwise(id_from_text(task.id) for task in made):
        tx.commit(
            [EntityWrite(tx.new_id(), "link", {"from_id": identifier, "to_id": other, "type": "blocks"})]
        )


def test_a_list_of_a_chain_of_tasks_costs_their_number(a: Home, b: Home):
    costs = []
    for home, count in ((a, 25), (b, 100)):
        new_tasks = make(home, *map(str, range(count)))
        home.write(partial(chain, made=new_tasks))
        costs.append(steps_to_list(home))
    assert costs[1] < 6 * costs[0]


def test_a_removed_link_comes_back_by_being_made_again(a: Home):
    task, two = make(a, "One", "Two")
    new_link = link(a, task, "blocks", two)
    assert unlink(a, new_link).removed
    assert (show(a, task).links, show(a, two).links) == ([], [])
    before = commits(a)
    unlink(a, new_link)
    assert commits(a) == before
    again = link(a, task, "blocks", two)
    assert (again.id, again.removed) == (new_link.id, False)
    assert a.value(id_from_text(new_link.id), "deleted") is False


def test_a_link_is_taken_away_by_what_it_says_also_where_a_task_was_removed(a: Home):
    task, two = make(a, "One", "Two")
    new_link = link(a, task, "blocks", two)
    a.write(lambda tx: tasks.remove(tx, two.id))
    take = partial(links.remove_matching, ref="One", new=NewLink(type="BLOCKS", to="Two"))
    assert a.write(take).id == new_link.id
    before = commits(a)
    assert a.write(take).removed
    assert commits(a) == before
    other = partial(links.remove_matching, ref="One", new=NewLink(type="fixes", to="Two"))
    refused = refusal(a.write, other)
    assert (refused.code, "link list" in refused.hint) == (RefusalCode.NOT_FOUND, True)


def test_the_removed_end_of_a_link_is_shown_as_such_and_a_missing_one_is_no_fault(a: Home):
    task, two = make(a, "One", "Two")
    link(a, task, "duplicates", two)
    a.write(lambda tx: tasks.remove(tx, two.id))
    a.new("link", from_id=id_from_text(task.id), to_id=EntityId(bytes(16)), type="basic")
    a.new("link", from_id=id_from_text(task.id), type="basic")
    a.new("link", from_id=id_from_text(task.id), to_id=b"short", type="basic")
    lost, removed = sorted(show(a, task).links, key=lambda other_link: other_link.title or "")
    assert (lost.title, lost.status, lost.task_removed) == (None, None, False)
    assert (removed.title, removed.task_removed) == ("Two", True)


def test_a_link_without_ends_cannot_be_named(a: Home):
    stray = a.new("link", type="basic")
    refused = refusal(lambda: a.write(lambda tx: links.remove(tx, stray[9:].hex())))
    assert refused.code is RefusalCode.NOT_FOUND


def test_a_type_that_a_newer_version_knows_is_shown_last(a: Home):
    task, two = make(a, "One", "Two")
    a.new("link", from_id=id_from_text(task.id), to_id=id_from_text(two.id), type="haunts")
    link(a, task, "fixes", two)
    assert [kind for kind, _, _ in listed(a, task)] == ["fixes", "haunts"]


def test_what_an_import_linked_is_found_and_both_are_taken_away_together(fleet: Fleet, a: Home, b: Home):
    work = PlanImport(readers.read_plan("taskwarrior", "x", DEPENDS, UTC))
    bring_in(a, work)
    fleet.sync()
    photos, form = (home_task(a, title) for title in ("Photos", "Form"))
    before = commits(a)
    found_link = link(a, photos, "blocks", form)
    assert commits(a) == before
    assert id_from_text(found_link.id) != links.link_id_of(
        task_graph.link_key(id_from_text(photos.id), "blocks", id_from_text(form.id))
    )
    b.new("link", from_id=id_from_text(photos.id), to_id=id_from_text(form.id), type="blocks")
    fleet.sync()
    (shown_link,) = show(a, photos).links
    assert (shown_link.type, shown_link.title) == ("blocks", "Form")
    assert shown_link.id == link(a, photos, "blocks", form).id
    unlink(a, found_link)
    assert listed(a, photos) == []
    bring_in(a, work)
    assert listed(a, photos) == []


def bring_in(home: Home, work: PlanImport) -> None:
    for part in work.parts:
        home.write(partial(work.import_part, part=part))


def home_task(home: Home, title: str) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, title))


SAYINGS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.booleans(),
        st.integers(0, 2),
        st.sampled_from(["basic", "blocks", "duplicates"]),
        st.integers(0, 2),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(SAYINGS)
def test_after_two_devices_met_each_saying_is_one_link_and_circles_are_as_a_walk_finds_them(sayings):
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        homes = [fleet.home("a"), fleet.home("b")]
        new_tasks = make(homes[0], "0", "1", "2")
        fleet.sync()
        wanted: list[set[task_graph.LinkKey]] = [set(), set()]
        ids = [id_from_text(task.id) for task in new_tasks]
        for who, adds, begins, kind, ends in sayings:
            link_key = task_graph.link_key(ids[begins], kind, ids[ends])
            try:
                shown_link = link(homes[who], new_tasks[begins], kind, new_tasks[ends])
            except Refused:
                continue
            wanted[who].add(link_key)
            if not adds:
                unlink(homes[who], shown_link)
                wanted[who].discard(link_key)
        fleet.sync()
        link_keys = homes[1].read(
            lambda s: (
                {
                    key
                    for identifier in ids
                    for _, key in task_graph.links_at(s, identifier, task_graph.OUTGOING)
                }
                | {
                    key
                    for identifier in ids
                    for _, key in task_graph.links_at(s, identifier, task_graph.INCOMING)
                }
            )
        )
        # A link that one device took back while the other made it is either's word; all others are certain.
        assert wanted[0] & wanted[1] <= link_keys <= wanted[0] | wanted[1]
        for index, task in enumerate(new_tasks):
            for seen_link in show(homes[0], task).links:
                assert seen_link.circular == (
                    seen_link.type == "blocks" and circular(link_keys, ids[index], seen_link)
                )
        fleet.close()


def circular(link_keys: set[task_graph.LinkKey], task: EntityId, seen_link: Link) -> bool:
    """Say by plain search whether the two ends of a link block each other."""
    other = id_from_text(seen_link.task_id)
    return reaches(link_keys, task, other) and reaches(link_keys, other, task)


def reaches(link_keys: set[task_graph.LinkKey], begins: EntityId, ends: EntityId) -> bool:
    identifiers: set[EntityId] = set()
    more = {begins}
    while more:
        more = {
            link_key.ends for link_key in link_keys if link_key.type == "blocks" and link_key.begins in more
        } - identifiers
        identifiers |= more
    return ends in identifiers
