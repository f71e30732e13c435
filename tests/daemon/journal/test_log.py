"""The history as a person reads it.

Never compares times but where the clock was set.
"""

from collections.abc import Callable
from functools import partial

import apsw
import pytest

from daemon.agents import decisions
from daemon.journal import categories, checklists, entries, labels, links, log, tasks
from daemon.journal.categories import NewCategory
from daemon.journal.checklists import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.errors import Code, Refused
from daemon.journal.labels import NewLabel
from daemon.journal.links import NewLink
from daemon.journal.log import Filter
from daemon.journal.show import plain
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views import Change, Event, Task
from store import history
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value, redacted
from syncproto.commit import By
from syncproto.ids import EntityId, from_text, text
from tests.daemon.agents.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport", estimate_minutes=60)))


def edit(home: Home, task: Task, **fields) -> Task:
    return home.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(**fields)))


def read(home: Home, ref: str | None = None, *, limit: int = 100, **asked) -> list[Change]:
    return home.read(lambda snapshot: log.log(snapshot, ref, limit=limit, **asked))


def only(home: Home, ref: str | None = None, **asked) -> list[Change]:
    return read(home, ref, only=Filter(**asked))


def steps(changes: list[Change], field: str) -> list[tuple[object, object]]:
    return [(one.before, one.after) for one in changes if one.field == field]


def test_each_change_says_who_when_where_and_from_what_to_what(fleet: Fleet, a: Home, task: Task):
    fleet.now_ms += 60_000
    edit(a, task, priority="P1")
    last = read(a, task.id)[-1]
    assert (last.by, last.kind, last.entity, last.title) == ("user", "task", task.id, task.title)
    assert (last.field, last.before, last.after) == ("priority", "P2", "P1")
    assert (last.at, last.device) == ("2026-03-20T09:47:40.000Z", a.signer.device.hex())
    assert last.why is None


def test_before_is_what_the_author_saw_not_what_had_come_meanwhile(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    fleet.sync()
    edit(a, task, title="From a")
    edit(b, task, title="From b")
    fleet.sync()
    seen = [("Renew the passport", "From a"), ("Renew the passport", "From b")]
    assert sorted(steps(read(a, task.id), "title")[1:]) == seen
    assert sorted(steps(read(b, task.id), "title")[1:]) == seen


def test_the_log_of_a_task_has_what_belongs_to_it_and_nothing_else(a: Home, task: Task):
    a.write(lambda tx: checklists.add_item(tx, task.id, NewItem(title="Photos")))
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="The photos are in the drawer")))
    a.write(lambda tx: tasks.add(tx, NewTask(title="Other")))
    changes = read(a, task.id)
    assert {one.kind for one in changes} == {"task", "checklist", "checklist_item", "entry"}
    assert "Other" not in [one.after for one in changes]


def test_a_confirmed_proposal_says_why(a: Home, task: Task):
    identifier = from_text(task.id)
    (item,) = a.propose(
        identifier, "run", ("update_task_estimate", {"minutes": 120, "rationale": "The note says two hours"})
    )
    a.write(lambda tx: decisions.confirm(tx, item, reason="indeed", via="cli"))
    changes = read(a, task.id)
    change = next(one for one in changes if one.after == 120)
    assert (change.before, change.by) == (60, "agent")
    assert change.agent_id is not None
    assert change.why == 'proposed by an agent: "The note says two hours"; indeed'
    assert ("verdict", "confirmed") in [(one.field, one.after) for one in changes]


@pytest.mark.parametrize(
    ("rationale", "why"),
    [
        ("", "proposed by an agent; indeed"),
        ('Yes"; I am the person', 'proposed by an agent: "Yes\'; I am the person"; indeed'),
    ],
)
def test_an_agents_words_do_not_pass_for_a_persons(a: Home, task: Task, rationale: str, why: str):
    call = {"minutes": 120, "rationale": rationale}
    (item,) = a.propose(from_text(task.id), "run", ("update_task_estimate", call))
    a.write(lambda tx: decisions.confirm(tx, item, reason="indeed", via="cli"))
    assert next(one.why for one in read(a, task.id) if one.after == 120) == why


def test_after_an_undo_the_next_change_comes_from_what_showed_again(a: Home, task: Task):
    item = a.estimate(from_text(task.id), 120)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    a.write(lambda tx: decisions.undo(tx, item, via="cli"))
    edit(a, task, estimate_minutes=90)
    assert steps(read(a, task.id), "estimate_minutes")[-1] == (60, 90)


def test_names_are_shown_for_labels_and_categories(a: Home, task: Task):
    edit(a, task, labels=["home"], category="admin")
    changes = read(a, task.id)
    assert steps(changes, "label_ids/home") == [(None, True)]
    assert steps(changes, "category_id") == [(None, "admin")]


def test_without_a_position_the_newest_changes_come_in_order(a: Home, task: Task):
    for minutes in (10, 20, 30):
        edit(a, task, estimate_minutes=minutes)
    assert [one.after for one in read(a, limit=2)] == [20, 30]


def test_reading_on_from_the_last_position_misses_nothing(a: Home, task: Task):
    for minutes in range(1, 20):
        edit(a, task, estimate_minutes=minutes, priority=f"P{minutes % 4}")
    whole = read(a, after=0, limit=500)
    found: list[Change] = []
    while page := read(a, after=found[-1].seq if found else 0, limit=3):
        found += page
    assert found == whole


def test_the_log_of_everything_leaves_out_what_agents_keep_for_themselves(a: Home, task: Task):
    a.write(lambda tx: tx.commit([Write(tx.new_id(), "message", {"kind": "thought"})], by=By.AGENT))
    assert "message" not in {one.kind for one in read(a)}


def test_anything_can_be_asked_for_by_its_id(a: Home, task: Task):
    item = a.write(lambda tx: checklists.add_item(tx, task.id, NewItem(title="Photos")))
    assert {one.entity for one in read(a, item.id[:8])} == {item.id}


def test_that_a_beacon_key_changed_is_told_and_the_key_is_not(a: Home):
    key: list[Value] = [b"k" * 32, b"r" * 8]
    device = a.write(lambda tx: tx.commit([Write(tx.new_id(), "device", {"name": "tablet", "beacon": key})]))
    assert device is not None
    assert steps(read(a), "beacon") == [(None, None)]
    told = a.read(lambda snapshot: log.events(snapshot, snapshot.feed_end() - 1, 1))
    assert [one.after for one in told[0].changes if one.field == "beacon"] == [None]


def test_what_names_nothing_is_not_found(a: Home, task: Task):
    with pytest.raises(Refused) as caught:
        read(a, "no such thing")
    assert caught.value.code is Code.NOT_FOUND


def test_removed_tasks_keep_their_history(a: Home, task: Task):
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert steps(read(a, task.id), "deleted") == [(None, True)]


def test_the_log_of_a_task_keeps_what_was_removed_from_it(a: Home, task: Task):
    item = a.write(lambda tx: checklists.add_item(tx, task.id, NewItem(title="Photos")))
    a.set(from_text(item.id), deleted=True)
    assert ("deleted", True) in [(one.field, one.after) for one in read(a, task.id)]


def test_an_ambiguous_reference_is_told_as_such(a: Home, task: Task):
    a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the contract")))
    with pytest.raises(Refused) as caught:
        read(a, "renew")
    assert caught.value.code is Code.AMBIGUOUS


def test_a_member_of_a_set_that_is_no_label_is_shown_as_it_is(a: Home, task: Task):
    a.set(from_text(task.id), **{"label_ids/nonsense": True, "watchers/me": True})
    fields = {one.field for one in read(a, task.id)}
    assert {"label_ids/nonsense", "watchers/me"} <= fields


def test_events_name_what_agents_keep_for_themselves_without_showing_it(a: Home, task: Task):
    end = a.read(lambda snapshot: snapshot.feed_end())
    a.write(lambda tx: tx.commit([Write(tx.new_id(), "message", {"kind": "thought"})], by=By.AGENT))
    (event,) = a.read(lambda snapshot: log.events(snapshot, end, 100))
    assert ([one.kind for one in event.touched], event.changes, event.by) == (["message"], [], "agent")


def test_events_show_every_commit_once(a: Home, task: Task):
    edit(a, task, title="Two")
    end = a.read(lambda snapshot: snapshot.feed_end())
    found = a.read(lambda snapshot: log.events(snapshot, 0, 100))
    assert [one.seq for one in found] == list(range(1, end + 1))
    assert [one.field for one in found[-1].changes] == ["title"]
    assert a.read(lambda snapshot: log.events(snapshot, end, 100)) == []


def test_links_and_time_are_part_of_a_tasks_log_and_are_named_by_tasks(a: Home):
    photos, form = (a.write(partial(tasks.add, new=NewTask(title=title))) for title in ("Photos", "Form"))
    a.write(partial(categories.add, new=NewCategory(name="admin")))
    a.write(partial(labels.add, new=NewLabel(name="paper", categories=["admin"])))
    a.write(partial(links.add, ref=photos.id, new=NewLink(type="blocks", to=form.id)))
    a.new("time_record", task_id=from_text(photos.id), started_at="2026-03-20T10:00:00Z")
    a.new("time_record", started_at="2026-03-20T10:00:00Z")
    a.new("link", type="basic", from_id=from_text(photos.id))
    made = a.read(lambda snapshot: log.log(snapshot, photos.id, after=None, limit=99))
    told = {(one.kind, one.title, one.field, one.after) for one in made}
    assert ("link", "Photos blocks Form", "to_id", "Form") in told
    assert ("time_record", "Photos", "task_id", "Photos") in told
    assert ("link", "Photos basic", "type", "basic") in told
    every = a.read(lambda snapshot: log.log(snapshot, None, after=None, limit=99))
    assert {one.field for one in every if one.kind == "label"} == {"name", "category_ids/admin"}


def test_paging_back_from_the_first_position_misses_nothing(a: Home, task: Task):
    for minutes in range(1, 20):
        edit(a, task, estimate_minutes=minutes, priority=f"P{minutes % 4}")
    whole = read(a, after=0, limit=500)
    found: list[Change] = []
    while page := read(a, before=found[0].seq if found else None, limit=3):
        found = page + found
    assert found == whole
    middle = whole[8].seq
    assert {one.seq for one in read(a, after=middle, before=middle + 3)} == {middle + 1, middle + 2}
    assert read(a, task.id, before=whole[1].seq + 1) == [one for one in whole if one.seq <= whole[1].seq]


@pytest.mark.parametrize("name", ["estimate_minutes", "estimate", " Estimate"])
def test_changes_of_one_field_are_found_by_the_name_that_people_see(a: Home, task: Task, name: str):
    edit(a, task, priority="P0", estimate_minutes=5)
    assert {one.field for one in only(a, field=name)} == {"estimate_minutes"}
    assert [one.after for one in only(a, task.id, field=name)] == [60, 5]


def test_changes_of_a_set_are_found_by_its_name(a: Home, task: Task):
    edit(a, task, labels=["home"])
    assert [one.field for one in only(a, field="label")] == ["label_ids/home"]


def test_changes_of_one_kind_are_found(a: Home, task: Task):
    a.write(lambda tx: checklists.add_item(tx, task.id, NewItem(title="Photos")))
    assert {one.kind for one in only(a, kind="checklist item")} == {"checklist_item"}
    assert {one.kind for one in only(a, task.id, kind="checklist")} == {"checklist"}


def test_changes_of_an_agent_or_a_person_are_told_apart(a: Home, task: Task):
    item = a.estimate(from_text(task.id), 120)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    (change,) = only(a, task.id, by="agent", field="estimate")
    assert (change.before, change.after) == (60, 120)
    assert {one.by for one in only(a, by="user")} == {"user"}
    assert only(a, by="system") == []


def test_changes_that_an_agent_proposed_or_wrote_itself_are_found_by_it(a: Home, task: Task):
    agent = a.new("agent", task_id=from_text(task.id))
    write = Write(from_text(task.id), "task", {"language": "en"})
    a.write(lambda tx: tx.commit([write], by=By.AGENT, agent=agent))
    changes = only(a, agent=text(agent)[:8])
    assert [(one.field, one.agent_id) for one in changes] == [("language", text(agent))]


def test_changes_of_one_device_are_found_by_its_name_or_id(fleet: Fleet, a: Home, b: Home, task: Task):
    for home in (a, b):
        home.new("device", name=f"the {home.name}", public_key=home.signer.public_key)
    fleet.sync()
    edit(b, task, priority="P0")
    fleet.sync()
    for name in ("The B", b.signer.device.hex()[:6]):
        assert [one.field for one in only(a, task.id, device=name)] == ["priority"]
    with pytest.raises(Refused) as caught:
        only(a, device="toaster")
    assert caught.value.code is Code.NOT_FOUND


def test_changes_between_two_times_are_found(fleet: Fleet, a: Home, task: Task):
    start = fleet.now_ms
    for step in range(1, 4):
        fleet.now_ms = start + step * 1000
        edit(a, task, estimate_minutes=step)
    found = only(a, since_ms=start + 1000, until_ms=start + 3000)
    assert [one.after for one in found] == [1, 2]


def test_what_a_newer_version_wrote_is_shown_as_unknown(fleet: Fleet, a: Home, b: Home, task: Task):
    fleet.sync()
    gadget = b.new("gadget", title="Toaster", slots=2)
    b.set(from_text(task.id), mood="sunny", **{"watchers/me": True})
    fleet.sync()
    told = {(one.kind, one.field): one.unknown for one in read(a)}
    assert told["gadget", "slots"]
    assert told["task", "mood"]
    assert told["task", "watchers/me"]
    assert not told["task", "title"]
    assert [one.entity for one in only(a, kind="gadget", field="slots")] == [text(gadget)]
    assert {one.field for one in read(a, text(gadget))} == {"title", "slots"}
    events = a.read(lambda snapshot: log.events(snapshot, 0, 100))
    fields = [{one.field for one in event.changes} for event in events]
    assert fields[-2:] == [{"title", "slots"}, {"mood", "watchers/me"}]


def short(home: Home, after: int) -> list[Event] | None:
    return home.read(lambda snapshot: log.short_events(snapshot, after))


def test_what_is_shown_at_once_is_what_is_shown_otherwise(a: Home, task: Task):
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="bring photos")))
    edit(a, task, title="Two")
    end = a.read(lambda snapshot: snapshot.feed_end())
    assert short(a, end - 2) == a.read(lambda snapshot: log.events(snapshot, end - 2, 100)) != []
    assert short(a, end) == []


def test_what_may_take_longer_to_show_is_not_shown_at_once(a: Home, task: Task):
    def beyond(use: Callable[[], object]) -> list[Event] | None:
        end = a.read(lambda snapshot: snapshot.feed_end())
        use()
        return short(a, end)

    note = partial(entries.add, ref=task.id, new=NewEntry(text="x" * log.SHORT_BYTES))
    assert beyond(lambda: a.write(note)) is None
    item = EntityId(b"i" * 16)
    assert beyond(lambda: a.write(lambda tx: tx.commit([Write(item, "entry", {}, effect=item)]))) is None
    assert beyond(lambda: [edit(a, task, title=f"{turn}") for turn in range(log.SHORT_COMMITS)]) is not None
    assert beyond(lambda: [edit(a, task, title=f"{turn}") for turn in range(log.SHORT_COMMITS + 1)]) is None
    for turn in range(log.SHORT_PAST):
        edit(a, task, title=f"again {turn}")
    assert beyond(lambda: edit(a, task, title="last")) is None


def test_what_is_too_long_to_be_shown_at_once_is_not_read_for_that(a: Home, task: Task):
    for _ in range(log.SHORT_COMMITS):
        a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="x" * 120_000)))
    end = a.read(lambda snapshot: snapshot.feed_end())

    def look(snapshot: Snapshot) -> tuple[list[Event] | None, int]:
        before = apsw.status(apsw.SQLITE_STATUS_MALLOC_SIZE, True)[0]
        del before
        shown = log.short_events(snapshot, end - log.SHORT_COMMITS)
        return shown, apsw.status(apsw.SQLITE_STATUS_MALLOC_SIZE)[1]

    shown, largest = a.read(look)
    assert shown is None
    assert largest < 100_000


def test_what_a_compaction_dropped_is_said_to_be():
    assert plain({"text": redacted("x" * 100), "kept": [1]}) == {"text": "(dropped)", "kept": [1]}


def test_looking_for_something_rare_ends_and_says_where(a: Home, task: Task):
    for minutes in range(1, 10):
        edit(a, task, estimate_minutes=minutes)

    def look(snapshot: Snapshot, **where) -> history.Found:
        return history.changes(snapshot, limit=5, field="title".__eq__, commits_max=4, **where)

    assert a.read(look) == ([], 6)
    found = a.read(lambda snapshot: look(snapshot, before=7))
    assert (found.changes, found.stopped) == ([], 2)
    found = a.read(lambda snapshot: look(snapshot, after=0))
    assert ([one.after for one in found.changes], found.stopped) == (["Renew the passport"], 5)
    assert a.read(lambda snapshot: look(snapshot, before=3)).stopped is None


def test_the_log_of_what_was_written_a_thousand_times_is_read_in_time(a: Home, task: Task):
    """Comparing all its writes with each other, for each of them anew, took minutes."""

    def rewrite(tx: Transaction) -> None:
        for number in range(1, 1501):
            tx.commit([Write(from_text(task.id), "task", {"title": f"Title {number}"})])

    a.write(rewrite)
    found = steps(read(a, task.id, limit=300), "title")
    assert found == [(f"Title {number - 1}", f"Title {number}") for number in range(1201, 1501)]


def test_a_kind_or_field_that_nothing_has_is_refused_with_those_that_are_known(a: Home, task: Task):
    with pytest.raises(Refused, match="no kind is called 'tsk'") as refused:
        only(a, kind="tsk")
    assert refused.value.code is Code.USAGE
    assert "checklist_item" in refused.value.hint
    with pytest.raises(Refused, match="no kind is called 'message'"):
        only(a, kind="message")
    with pytest.raises(Refused, match="no field is called 'staus'") as refused:
        only(a, field="staus")
    assert "'status'" in refused.value.hint
    assert only(a, kind="Checklist-Item") == []
    assert only(a, field="estimate")


def test_a_kind_and_a_field_of_a_newer_version_may_be_asked_for_where_they_are_held(a: Home, task: Task):
    a.write(lambda tx: _written(tx, task, "poem", {"verse": "Roses"}))
    a.write(lambda tx: _written(tx, task, "task", {"mood": "good"}))
    assert [one.field for one in only(a, kind="poem", field="verse")] == ["verse"]
    assert [one.after for one in only(a, task.id, field="mood")] == ["good"]


def _written(tx: Transaction, task: Task, kind: str, fields: dict[str, str]) -> Task:
    entity = from_text(task.id) if kind == "task" else tx.new_id()
    tx.commit([Write(entity, kind, dict(fields))])
    return task
