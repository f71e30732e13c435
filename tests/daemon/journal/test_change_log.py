"""The history as a person reads it.

Never compares times, except if the test set the clock.
"""

from collections.abc import Callable
from functools import partial

import apsw
import msgspec
import pytest

from daemon.agents.deciding import decisions
from daemon.journal import categories, change_log, checklist_items, entries, labels, links, tasks
from daemon.journal.categories import NewCategory
from daemon.journal.change_log import ChangeFilter
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.labels import NewLabel
from daemon.journal.links import NewLink
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views import lookup
from daemon.journal.views.lookup import json_value
from daemon.journal.views.structures import Change, Event, Task
from daemon.refusal import RefusalCode, Refused
from store.queries import field_changes
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value, redaction_of
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport", estimate_minutes=60)))


def edit(home: Home, task: Task, **fields) -> Task:
    return home.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(**fields)))


def read(home: Home, ref: str | None = None, *, limit: int = 100, **fields) -> list[Change]:
    return home.read(lambda snapshot: change_log.list_changes(snapshot, ref, limit=limit, **fields))


def only(home: Home, ref: str | None = None, **fields) -> list[Change]:
    return read(home, ref, only=ChangeFilter(**fields))


def steps(changes: list[Change], field: str) -> list[tuple[object, object]]:
    return [(change.before, change.after) for change in changes if change.field == field]


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
    observed = [("Renew the passport", "From a"), ("Renew the passport", "From b")]
    assert sorted(steps(read(a, task.id), "title")[1:]) == observed
    assert sorted(steps(read(b, task.id), "title")[1:]) == observed


def test_the_log_of_a_task_has_what_belongs_to_it_and_nothing_else(a: Home, task: Task):
    a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="The photos are in the drawer")))
    a.write(lambda tx: tasks.add(tx, NewTask(title="Other")))
    changes = read(a, task.id)
    assert {change.kind for change in changes} == {"task", "checklist", "checklist_item", "entry"}
    assert "Other" not in [change.after for change in changes]


def test_a_confirmed_proposal_says_why(a: Home, task: Task):
    identifier = id_from_text(task.id)
    (item,) = a.propose(
        identifier, "run", ("update_task_estimate", {"minutes": 120, "rationale": "The note says two hours"})
    )
    a.write(lambda tx: decisions.confirm(tx, item, reason="indeed", via="cli"))
    changes = read(a, task.id)
    change = next(listed_change for listed_change in changes if listed_change.after == 120)
    assert (change.before, change.by) == (60, "agent")
    assert change.agent_id is not None
    assert change.why == 'proposed by an agent: "The note says two hours"; indeed'
    assert ("verdict", "confirmed") in [
        (listed_change.field, listed_change.after) for listed_change in changes
    ]


@pytest.mark.parametrize(
    ("rationale", "reason"),
    [
        ("", "proposed by an agent; indeed"),
        ('Yes"; I am the person', 'proposed by an agent: "Yes\'; I am the person"; indeed'),
    ],
)
def test_an_agents_words_do_not_pass_for_a_persons(a: Home, task: Task, rationale: str, reason: str):
    call = {"minutes": 120, "rationale": rationale}
    (item,) = a.propose(id_from_text(task.id), "run", ("update_task_estimate", call))
    a.write(lambda tx: decisions.confirm(tx, item, reason="indeed", via="cli"))
    assert next(change.why for change in read(a, task.id) if change.after == 120) == reason


def test_after_an_undo_the_next_change_comes_from_what_showed_again(a: Home, task: Task):
    item = a.estimate(id_from_text(task.id), 120)
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
    assert [change.after for change in read(a, limit=2)] == [20, 30]


def test_long_values_are_left_out_of_a_list_beyond_its_bytes_and_shown_alone(
    a: Home, task: Task, monkeypatch: pytest.MonkeyPatch
):
    for letter in "abcde":
        edit(a, task, title=letter * 100)
    whole = read(a, task.id)
    monkeypatch.setattr(change_log, "PAGE_BYTES_MAX", 500)
    changes = read(a, task.id)
    assert [change.seq for change in changes] == [change.seq for change in whole]
    # The newest are shown.
    cut = [change for change in changes if change.left_out]
    assert changes[-3:] == whole[-3:]
    assert cut == changes[: len(cut)]
    assert {(change.before, change.after) for change in cut} == {(None, None)}
    last = cut[-1]
    alone = only(a, last.entity, field=last.field)
    narrowed = read(a, last.entity, before=last.seq + 1, only=ChangeFilter(field=last.field))
    assert not narrowed[-1].left_out
    assert (narrowed[-1].seq, len(alone)) == (last.seq, 6)


def test_reading_on_from_the_last_position_misses_nothing(a: Home, task: Task):
    for minutes in range(1, 20):
        edit(a, task, estimate_minutes=minutes, priority=f"P{minutes % 4}")
    changes = read(a, after=0, limit=500)
    found_changes: list[Change] = []
    while page := read(a, after=found_changes[-1].seq if found_changes else 0, limit=3):
        found_changes += page
    assert found_changes == changes


def test_the_log_of_everything_leaves_out_what_agents_keep_for_themselves(a: Home, task: Task):
    a.write(
        lambda tx: tx.commit([EntityWrite(tx.new_id(), "message", {"kind": "thought"})], by=AuthorKind.AGENT)
    )
    assert "message" not in {change.kind for change in read(a)}


def test_anything_can_be_asked_for_by_its_id(a: Home, task: Task):
    item = a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    assert {change.entity for change in read(a, item.id[:8])} == {item.id}


def test_that_a_beacon_key_changed_is_told_and_the_key_is_not(a: Home):
    key: list[Value] = [b"k" * 32, b"r" * 8]
    device = a.write(
        lambda tx: tx.commit([EntityWrite(tx.new_id(), "device", {"name": "tablet", "beacon": key})])
    )
    assert device is not None
    assert steps(read(a), "beacon") == [(None, None)]
    events = a.read(lambda snapshot: change_log.feed_events(snapshot, snapshot.feed_end() - 1, 1))
    assert [change.after for change in events[0].changes if change.field == "beacon"] == [None]


def test_what_names_nothing_is_not_found(a: Home, task: Task):
    with pytest.raises(Refused) as refusal:
        read(a, "no such thing")
    assert refusal.value.code is RefusalCode.NOT_FOUND


def test_removed_tasks_keep_their_history(a: Home, task: Task):
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert steps(read(a, task.id), "deleted") == [(None, True)]


def test_the_log_of_a_task_keeps_what_was_removed_from_it(a: Home, task: Task):
    item = a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    a.set(id_from_text(item.id), deleted=True)
    assert ("deleted", True) in [(change.field, change.after) for change in read(a, task.id)]


def test_an_ambiguous_reference_is_told_as_such(a: Home, task: Task):
    a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the contract")))
    with pytest.raises(Refused) as refusal:
        read(a, "renew")
    assert refusal.value.code is RefusalCode.AMBIGUOUS


def test_a_member_of_a_set_that_is_no_label_is_shown_as_it_is(a: Home, task: Task):
    a.set(id_from_text(task.id), **{"label_ids/nonsense": True, "watchers/me": True})
    fields = {change.field for change in read(a, task.id)}
    assert {"label_ids/nonsense", "watchers/me"} <= fields


def test_events_name_what_agents_keep_for_themselves_without_showing_it(a: Home, task: Task):
    end = a.read(lambda snapshot: snapshot.feed_end())
    a.write(
        lambda tx: tx.commit([EntityWrite(tx.new_id(), "message", {"kind": "thought"})], by=AuthorKind.AGENT)
    )
    (event,) = a.read(lambda snapshot: change_log.feed_events(snapshot, end, 100))
    assert ([touched.kind for touched in event.touched], event.changes, event.by) == (
        ["message"],
        [],
        "agent",
    )


def test_events_show_every_commit_once(a: Home, task: Task):
    edit(a, task, title="Two")
    end = a.read(lambda snapshot: snapshot.feed_end())
    events = a.read(lambda snapshot: change_log.feed_events(snapshot, 0, 100))
    assert [event.seq for event in events] == list(range(1, end + 1))
    assert [change.field for change in events[-1].changes] == ["title"]
    assert a.read(lambda snapshot: change_log.feed_events(snapshot, end, 100)) == []


def test_links_and_time_are_part_of_a_tasks_log_and_are_named_by_tasks(a: Home):
    photos, form = (a.write(partial(tasks.add, new=NewTask(title=title))) for title in ("Photos", "Form"))
    a.write(partial(categories.add, new=NewCategory(name="admin")))
    a.write(partial(labels.add, new=NewLabel(name="paper", categories=["admin"])))
    a.write(partial(links.add, ref=photos.id, new=NewLink(type="blocks", to=form.id)))
    a.new("time_record", task_id=id_from_text(photos.id), started_at="2026-03-20T10:00:00Z")
    a.new("time_record", started_at="2026-03-20T10:00:00Z")
    a.new("link", type="basic", from_id=id_from_text(photos.id))
    changes = a.read(lambda snapshot: change_log.list_changes(snapshot, photos.id, after=None, limit=99))
    answer = {(change.kind, change.title, change.field, change.after) for change in changes}
    assert ("link", "Photos blocks Form", "to_id", "Form") in answer
    assert ("time_record", "Photos", "task_id", "Photos") in answer
    assert ("link", "Photos basic", "type", "basic") in answer
    all_changes = a.read(lambda snapshot: change_log.list_changes(snapshot, None, after=None, limit=99))
    assert {change.field for change in all_changes if change.kind == "label"} == {
        "name",
        "category_ids/admin",
    }


def test_paging_back_from_the_first_position_misses_nothing(a: Home, task: Task):
    for minutes in range(1, 20):
        edit(a, task, estimate_minutes=minutes, priority=f"P{minutes % 4}")
    changes = read(a, after=0, limit=500)
    found_changes: list[Change] = []
    while page := read(a, before=found_changes[0].seq if found_changes else None, limit=3):
        found_changes = page + found_changes
    assert found_changes == changes
    middle = changes[8].seq
    assert {change.seq for change in read(a, after=middle, before=middle + 3)} == {middle + 1, middle + 2}
    assert read(a, task.id, before=changes[1].seq + 1) == [
        change for change in changes if change.seq <= changes[1].seq
    ]


@pytest.mark.parametrize("name", ["estimate_minutes", "estimate", " Estimate"])
def test_changes_of_one_field_are_found_by_the_name_that_people_see(a: Home, task: Task, name: str):
    edit(a, task, priority="P0", estimate_minutes=5)
    assert {change.field for change in only(a, field=name)} == {"estimate_minutes"}
    assert [change.after for change in only(a, task.id, field=name)] == [60, 5]


def test_changes_of_a_set_are_found_by_its_name(a: Home, task: Task):
    edit(a, task, labels=["home"])
    assert [change.field for change in only(a, field="label")] == ["label_ids/home"]


def test_changes_of_one_kind_are_found(a: Home, task: Task):
    a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    assert {change.kind for change in only(a, kind="checklist item")} == {"checklist_item"}
    assert {change.kind for change in only(a, task.id, kind="checklist")} == {"checklist"}


def test_changes_of_an_agent_or_a_person_are_told_apart(a: Home, task: Task):
    item = a.estimate(id_from_text(task.id), 120)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    (change,) = only(a, task.id, by="agent", field="estimate")
    assert (change.before, change.after) == (60, 120)
    assert {listed_change.by for listed_change in only(a, by="user")} == {"user"}
    assert only(a, by="system") == []


def test_changes_that_an_agent_proposed_or_wrote_itself_are_found_by_it(a: Home, task: Task):
    agent = a.new("agent", task_id=id_from_text(task.id))
    write = EntityWrite(id_from_text(task.id), "task", {"language": "en"})
    a.write(lambda tx: tx.commit([write], by=AuthorKind.AGENT, agent=agent))
    changes = only(a, agent=id_to_text(agent)[:8])
    assert [(change.field, change.agent_id) for change in changes] == [("language", id_to_text(agent))]


def test_changes_of_one_device_are_found_by_its_name_or_id(fleet: Fleet, a: Home, b: Home, task: Task):
    for home in (a, b):
        home.enter_device(f"the {home.name}")
    fleet.sync()
    edit(b, task, priority="P0")
    fleet.sync()
    for name in ("The B", b.signer.device.hex()[:6]):
        assert [change.field for change in only(a, task.id, device=name)] == ["priority"]
    with pytest.raises(Refused) as refusal:
        only(a, device="toaster")
    assert refusal.value.code is RefusalCode.NOT_FOUND


def test_two_devices_of_one_name_are_told_apart_by_the_beginnings_of_their_ids(
    fleet: Fleet, a: Home, b: Home, task: Task, monkeypatch: pytest.MonkeyPatch
):
    for home in (a, b):
        home.enter_device("laptop")
    fleet.sync()
    edit(b, task, priority="P0")
    fleet.sync()
    (change,) = only(a, task.id, field="priority", device=f"laptop ({b.signer.device.hex()[:4]})")
    assert change.device_name == f"laptop ({b.signer.device.hex()[:4]})"
    a.enter_device("desk")
    assert [change.device_name for change in only(a, task.id, field="priority")] == ["desk", "laptop"]
    # Of a roster that somebody has filled, no other entry is read.
    monkeypatch.setattr(lookup, "DEVICES_COMPARED_MAX", 1)
    a.enter_device("table")
    assert only(a, task.id, device="table")[0].device_name == f"table ({a.signer.device.hex()[:4]})"


def test_changes_between_two_times_are_found(fleet: Fleet, a: Home, task: Task):
    start = fleet.now_ms
    for step in range(1, 4):
        fleet.now_ms = start + step * 1000
        edit(a, task, estimate_minutes=step)
    changes = only(a, since_ms=start + 1000, until_ms=start + 3000)
    assert [change.after for change in changes] == [1, 2]


def test_what_a_newer_version_wrote_is_shown_as_unknown(fleet: Fleet, a: Home, b: Home, task: Task):
    fleet.sync()
    gadget = b.new("gadget", title="Toaster", slots=2)
    b.set(id_from_text(task.id), mood="sunny", **{"watchers/me": True})
    fleet.sync()
    answer = {(change.kind, change.field): change.unknown for change in read(a)}
    assert answer["gadget", "slots"]
    assert answer["task", "mood"]
    assert answer["task", "watchers/me"]
    assert not answer["task", "title"]
    assert [change.entity for change in only(a, kind="gadget", field="slots")] == [id_to_text(gadget)]
    assert {change.field for change in read(a, id_to_text(gadget))} == {"title", "slots"}
    events = a.read(lambda snapshot: change_log.feed_events(snapshot, 0, 100))
    fields = [{change.field for change in event.changes} for event in events]
    assert fields[-2:] == [{"title", "slots"}, {"mood", "watchers/me"}]


def short(home: Home, after: int) -> list[Event] | None:
    return home.read(lambda snapshot: change_log.small_feed_events(snapshot, after))


def test_what_is_shown_at_once_is_what_is_shown_otherwise(a: Home, task: Task):
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="bring photos")))
    edit(a, task, title="Two")
    end = a.read(lambda snapshot: snapshot.feed_end())
    assert short(a, end - 2) == a.read(lambda snapshot: change_log.feed_events(snapshot, end - 2, 100)) != []
    assert short(a, end) == []


def test_what_may_take_longer_to_show_is_not_shown_at_once(a: Home, task: Task):
    def beyond(use: Callable[[], object]) -> list[Event] | None:
        end = a.read(lambda snapshot: snapshot.feed_end())
        use()
        return short(a, end)

    note = partial(entries.add, ref=task.id, new=NewEntry(text="x" * change_log.SMALL_BYTES_MAX))
    assert beyond(lambda: a.write(note)) is None
    item = EntityId(b"i" * 16)
    assert (
        beyond(lambda: a.write(lambda tx: tx.commit([EntityWrite(item, "entry", {}, effect=item)]))) is None
    )
    assert (
        beyond(lambda: [edit(a, task, title=f"{turn}") for turn in range(change_log.SMALL_COMMITS_MAX)])
        is not None
    )
    assert (
        beyond(lambda: [edit(a, task, title=f"{turn}") for turn in range(change_log.SMALL_COMMITS_MAX + 1)])
        is None
    )
    for turn in range(change_log.SMALL_HISTORY_MAX):
        edit(a, task, title=f"again {turn}")
    assert beyond(lambda: edit(a, task, title="last")) is None


def test_what_is_too_long_to_be_shown_at_once_is_not_read_for_that(a: Home, task: Task):
    for _ in range(change_log.SMALL_COMMITS_MAX):
        a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="x" * 120_000)))
    end = a.read(lambda snapshot: snapshot.feed_end())

    def look(snapshot: Snapshot) -> tuple[list[Event] | None, int]:
        before = apsw.status(apsw.SQLITE_STATUS_MALLOC_SIZE, True)[0]
        del before
        events = change_log.small_feed_events(snapshot, end - change_log.SMALL_COMMITS_MAX)
        return events, apsw.status(apsw.SQLITE_STATUS_MALLOC_SIZE)[1]

    shown_events, largest = a.read(look)
    assert shown_events is None
    assert largest < 100_000


def test_what_a_compaction_dropped_is_said_to_be():
    assert json_value({"text": redaction_of("x" * 100), "kept": [1]}) == {"text": "(dropped)", "kept": [1]}


def test_looking_for_something_rare_ends_and_says_where(a: Home, task: Task):
    for minutes in range(1, 10):
        edit(a, task, estimate_minutes=minutes)

    def look(snapshot: Snapshot, **where) -> field_changes.ChangePage:
        return field_changes.field_changes(snapshot, limit=5, field="title".__eq__, commits_max=4, **where)

    assert a.read(look) == ([], 6)
    change_page = a.read(lambda snapshot: look(snapshot, before=7))
    assert (change_page.changes, change_page.resume_at) == ([], 2)
    change_page = a.read(lambda snapshot: look(snapshot, after=0))
    assert ([change.after for change in change_page.changes], change_page.resume_at) == (
        ["Renew the passport"],
        5,
    )
    assert a.read(lambda snapshot: look(snapshot, before=3)).resume_at is None


def test_the_log_of_what_was_written_a_thousand_times_is_read_in_time(a: Home, task: Task):
    """Comparing all its writes with each other, for each of them anew, took minutes."""

    def rewrite(tx: Transaction) -> None:
        for number in range(1, 1501):
            tx.commit([EntityWrite(id_from_text(task.id), "task", {"title": f"Title {number}"})])

    a.write(rewrite)
    result = steps(read(a, task.id, limit=300), "title")
    assert result == [(f"Title {number - 1}", f"Title {number}") for number in range(1201, 1501)]


def test_a_kind_or_field_that_nothing_has_is_refused_with_those_that_are_known(a: Home, task: Task):
    with pytest.raises(Refused, match="no kind is called 'tsk'") as refused:
        only(a, kind="tsk")
    assert refused.value.code is RefusalCode.USAGE
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
    assert [change.field for change in only(a, kind="poem", field="verse")] == ["verse"]
    assert [change.after for change in only(a, task.id, field="mood")] == ["good"]


def _written(tx: Transaction, task: Task, kind: str, fields: dict[str, str]) -> Task:
    entity = id_from_text(task.id) if kind == "task" else tx.new_id()
    tx.commit([EntityWrite(entity, kind, dict(fields))])
    return task


def test_an_event_counts_what_is_too_long_for_it(a: Home):
    """A small commit can overwrite any number of long texts, and would be as long as all of them."""
    texts = [a.write(lambda tx: tx.new_id()) for _ in range(20)]
    for text in texts:
        a.write(partial(Transaction.commit, writes=[EntityWrite(text, "entry", {"text": "x" * 200_000})]))
    start = a.read(lambda snapshot: snapshot.feed_end())
    a.write(lambda tx: tx.commit([EntityWrite(text, "entry", {"text": "short"}) for text in texts]))
    (event,) = a.read(lambda snapshot: change_log.feed_events(snapshot, start, 100))
    assert 0 < len(event.changes) < len(texts)
    assert len(event.changes) + event.changes_left_out == len(texts) == len(event.touched)
    assert len(msgspec.json.encode(event)) < change_log.EVENT_BYTES_MAX + 250_000
    # A page ends early too; the stream goes on from its last event.
    page = a.read(lambda snapshot: change_log.feed_events(snapshot, 0, 100))
    assert len(msgspec.json.encode(page)) < change_log.PAGE_BYTES_MAX + change_log.EVENT_BYTES_MAX + 250_000
