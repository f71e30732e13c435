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

from daemon.journal import links, tasks, ties
from daemon.journal.errors import Code, Refused
from daemon.journal.imports import formats
from daemon.journal.imports.apply import Work
from daemon.journal.links import NewLink
from daemon.journal.tasks import NewTask
from daemon.journal.views import Link, Task
from store.transaction import Transaction, Write
from syncproto.ids import EntityId, from_text
from tests.daemon.agents.fleet import Fleet, Home
from tests.store.test_cost import steps_of

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


def unlink(home: Home, made: Link) -> Link:
    return home.write(lambda tx: links.remove(tx, made.id))


def listed(home: Home, task: Task) -> list[tuple[str, str, str | None]]:
    held = home.read(lambda snapshot: links.listed(snapshot, task.id))
    return [(one.type, one.direction, one.title) for one in held]


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def refusal(use, *args) -> Refused:
    with pytest.raises(Refused) as caught:
        use(*args)
    return caught.value


def test_a_link_is_seen_from_both_its_ends(a: Home):
    photos, form = make(a, "Photos", "Form")
    made = link(a, photos, "Blocks", form)
    assert (made.type, made.direction, made.title, made.status) == ("blocks", "to", "Form", "OPEN")
    assert show(a, photos).links == [made]
    (back,) = show(a, form).links
    assert (back.id, back.direction, back.task_id, back.title) == (made.id, "from", photos.id, "Photos")
    assert (back.from_id, back.to_id) == (made.from_id, made.to_id) == (photos.id, form.id)


def test_linking_again_changes_nothing_and_basic_has_no_direction(a: Home):
    one, two = make(a, "One", "Two")
    first = link(a, one, "basic", two)
    before = commits(a)
    assert link(a, two, "basic", one).id == link(a, one, "basic", two).id == first.id
    assert commits(a) == before


def test_two_devices_that_link_the_same_while_apart_make_one(fleet: Fleet, a: Home, b: Home):
    one, two = make(a, "One", "Two")
    fleet.sync()
    for home in (a, b):
        link(home, one, "follows up", two)
    link(a, one, "basic", two)
    link(b, two, "basic", one)
    fleet.sync()
    assert sorted(listed(b, one)) == [("basic", "to", "Two"), ("follows_up", "to", "Two")] or sorted(
        listed(b, one)
    ) == [("basic", "from", "Two"), ("follows_up", "to", "Two")]
    assert show(a, one).conflicts == show(a, two).conflicts == []


def test_a_link_touches_both_tasks_in_one_commit(a: Home):
    one, two = make(a, "One", "Two")
    before = commits(a)
    link(a, one, "fixes", two)
    assert commits(a) == before + 1
    assert all(show(a, task).vector_clock != task.vector_clock for task in (one, two))


def test_a_link_to_itself_and_one_of_no_known_type_are_refused(a: Home):
    (one,) = make(a, "One")
    assert refusal(link, a, one, "basic", one).code is Code.USAGE
    (two,) = make(a, "Two")
    refused = refusal(link, a, one, "loves", two)
    assert (refused.code, "duplicates" in refused.hint) == (Code.USAGE, True)


def test_a_circle_of_blocks_is_refused_and_named(a: Home):
    one, two, three = make(a, "One", "Two", "Three")
    link(a, one, "blocks", two)
    link(a, two, "blocks", three)
    refused = refusal(link, a, three, "blocks", one)
    assert refused.code is Code.CONFLICT
    assert refused.message == "this would close a circle: 'One' blocks 'Two' blocks 'Three'"
    link(a, three, "follows_up", one)
    assert not any(one.circular for one in show(a, one).links)


def test_only_blocks_makes_a_circle(a: Home):
    one, two, three = make(a, "One", "Two", "Three")
    link(a, one, "follows_up", two)
    link(a, two, "blocks", one)
    link(a, one, "blocks", three)
    link(a, three, "fixes", two)
    assert not any(each.circular for each in show(a, one).links)


def test_two_tasks_may_be_linked_in_several_ways(a: Home):
    one, two = make(a, "One", "Two")
    for kind in ("fixes", "blocks", "duplicates"):
        link(a, one, kind, two)
    assert [kind for kind, _, _ in listed(a, two)] == ["blocks", "duplicates", "fixes"]


def test_a_basic_link_that_was_written_the_other_way_round_is_the_same(a: Home):
    one, two = sorted(make(a, "One", "Two"), key=lambda task: from_text(task.id))
    made = a.new("link", from_id=from_text(two.id), to_id=from_text(one.id), type="basic")
    before = commits(a)
    assert from_text(link(a, one, "basic", two).id) == made
    assert commits(a) == before
    assert len(show(a, one).links) == len(show(a, two).links) == 1


def test_a_long_circle_is_named_by_its_ends(a: Home):
    made = make(a, *(f"T{n}" for n in range(9)))
    for one, two in itertools.pairwise(made):
        link(a, one, "blocks", two)
    refused = refusal(link, a, made[-1], "blocks", made[0])
    assert refused.message.count("blocks") == 5
    assert "'T0'" in refused.message
    assert "'T8'" in refused.message


def test_a_circle_that_two_devices_closed_while_apart_is_shown_until_one_link_goes(
    fleet: Fleet, a: Home, b: Home
):
    one, two, three = make(a, "One", "Two", "Three")
    fleet.sync()
    link(a, one, "blocks", two)
    link(a, one, "blocks", three)
    made = link(b, two, "blocks", one)
    link(b, two, "fixes", one)
    fleet.sync()
    assert {(each.title, each.circular) for each in show(a, one).links if each.type == "blocks"} == {
        ("Two", True),
        ("Three", False),
    }
    assert all(each.circular == (each.type == "blocks") for each in show(b, two).links)
    assert not any(each.circular for each in show(b, three).links)
    unlink(b, made)
    assert not any(each.circular for each in show(b, one).links)


def steps_to_list(home: Home) -> int:
    """Count the steps that SQLite takes to show every task."""
    with home.store.read() as snapshot, steps_of(snapshot) as steps:
        tasks.tasks(snapshot, closed=True, removed=False, brief=False)
        return steps()


def chain(tx: Transaction, made: list[Task]) -> None:
    for one, other in itertools.pairwise(from_text(task.id) for task in made):
        tx.commit([Write(tx.new_id(), "link", {"from_id": one, "to_id": other, "type": "blocks"})])


def test_a_list_of_a_chain_of_tasks_costs_their_number(a: Home, b: Home):
    costs = []
    for home, count in ((a, 25), (b, 100)):
        made = make(home, *map(str, range(count)))
        home.write(partial(chain, made=made))
        costs.append(steps_to_list(home))
    assert costs[1] < 6 * costs[0]


def test_a_removed_link_comes_back_by_being_made_again(a: Home):
    one, two = make(a, "One", "Two")
    made = link(a, one, "blocks", two)
    assert unlink(a, made).removed
    assert (show(a, one).links, show(a, two).links) == ([], [])
    before = commits(a)
    unlink(a, made)
    assert commits(a) == before
    again = link(a, one, "blocks", two)
    assert (again.id, again.removed) == (made.id, False)
    assert a.value(from_text(made.id), "deleted") is False


def test_a_link_is_taken_away_by_what_it_says_also_where_a_task_was_removed(a: Home):
    one, two = make(a, "One", "Two")
    made = link(a, one, "blocks", two)
    a.write(lambda tx: tasks.remove(tx, two.id))
    take = partial(links.unlink, ref="One", new=NewLink(type="BLOCKS", to="Two"))
    assert a.write(take).id == made.id
    before = commits(a)
    assert a.write(take).removed
    assert commits(a) == before
    other = partial(links.unlink, ref="One", new=NewLink(type="fixes", to="Two"))
    refused = refusal(a.write, other)
    assert (refused.code, "link list" in refused.hint) == (Code.NOT_FOUND, True)


def test_the_removed_end_of_a_link_is_shown_as_such_and_a_missing_one_is_no_fault(a: Home):
    one, two = make(a, "One", "Two")
    link(a, one, "duplicates", two)
    a.write(lambda tx: tasks.remove(tx, two.id))
    a.new("link", from_id=from_text(one.id), to_id=EntityId(bytes(16)), type="basic")
    a.new("link", from_id=from_text(one.id), type="basic")
    a.new("link", from_id=from_text(one.id), to_id=b"short", type="basic")
    lost, removed = sorted(show(a, one).links, key=lambda each: each.title or "")
    assert (lost.title, lost.status, lost.task_removed) == (None, None, False)
    assert (removed.title, removed.task_removed) == ("Two", True)


def test_a_link_without_ends_cannot_be_named(a: Home):
    stray = a.new("link", type="basic")
    refused = refusal(lambda: a.write(lambda tx: links.remove(tx, stray[9:].hex())))
    assert refused.code is Code.NOT_FOUND


def test_a_type_that_a_newer_version_knows_is_shown_last(a: Home):
    one, two = make(a, "One", "Two")
    a.new("link", from_id=from_text(one.id), to_id=from_text(two.id), type="haunts")
    link(a, one, "fixes", two)
    assert [kind for kind, _, _ in listed(a, one)] == ["fixes", "haunts"]


def test_what_an_import_linked_is_found_and_both_are_taken_away_together(fleet: Fleet, a: Home, b: Home):
    work = Work(formats.read("taskwarrior", "x", DEPENDS, UTC))
    bring_in(a, work)
    fleet.sync()
    photos, form = (home_task(a, title) for title in ("Photos", "Form"))
    before = commits(a)
    found = link(a, photos, "blocks", form)
    assert commits(a) == before
    assert from_text(found.id) != links.link_id(ties.tie(from_text(photos.id), "blocks", from_text(form.id)))
    b.new("link", from_id=from_text(photos.id), to_id=from_text(form.id), type="blocks")
    fleet.sync()
    (shown,) = show(a, photos).links
    assert (shown.type, shown.title) == ("blocks", "Form")
    assert shown.id == link(a, photos, "blocks", form).id
    unlink(a, found)
    assert listed(a, photos) == []
    bring_in(a, work)
    assert listed(a, photos) == []


def bring_in(home: Home, work: Work) -> None:
    for part in work.parts:
        home.write(partial(work.take, part=part))


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
        made = make(homes[0], "0", "1", "2")
        fleet.sync()
        wanted: list[set[ties.Tie]] = [set(), set()]
        ids = [from_text(task.id) for task in made]
        for who, adds, begins, kind, ends in sayings:
            said = ties.tie(ids[begins], kind, ids[ends])
            try:
                shown = link(homes[who], made[begins], kind, made[ends])
            except Refused:
                continue
            wanted[who].add(said)
            if not adds:
                unlink(homes[who], shown)
                wanted[who].discard(said)
        fleet.sync()
        held = homes[1].read(
            lambda s: (
                {said for one in ids for _, said in ties.links_at(s, one, ties.OUT)}
                | {said for one in ids for _, said in ties.links_at(s, one, ties.IN)}
            )
        )
        # A link that one device took back while the other made it is either's word; all others are certain.
        assert wanted[0] & wanted[1] <= held <= wanted[0] | wanted[1]
        for at, task in enumerate(made):
            for seen in show(homes[0], task).links:
                assert seen.circular == (seen.type == "blocks" and circular(held, ids[at], seen))
        fleet.close()


def circular(held: set[ties.Tie], task: EntityId, seen: Link) -> bool:
    """Say by plain search whether the two ends of a link block each other."""
    other = from_text(seen.task_id)
    return reaches(held, task, other) and reaches(held, other, task)


def reaches(held: set[ties.Tie], begins: EntityId, ends: EntityId) -> bool:
    found: set[EntityId] = set()
    more = {begins}
    while more:
        more = {one.ends for one in held if one.type == "blocks" and one.begins in more} - found
        found |= more
    return ends in found
