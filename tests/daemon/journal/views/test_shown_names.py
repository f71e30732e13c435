"""Names that fill a commit: however many things they stand beside, they are shown as short as a name.

Never measures time: how much is shown is the measure.
"""

from datetime import UTC
from functools import partial
from typing import Any

import pytest
from msgspec import json

from daemon.agents.deciding.decision_history import list_decisions
from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.tools.agent_record import current_report, load_agent
from daemon.file_formats import format_names
from daemon.formats.writers import writer_for
from daemon.journal.change_log import list_changes
from daemon.journal.links import list_links
from daemon.journal.tasks import list_tasks
from daemon.journal.tasks import show as show_task
from daemon.journal.time_records import list_records, list_running
from daemon.journal.views.task_lines import task_lines_page
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.fleet import Fleet, Home

LONG = "N" * 200_000
THINGS = 40
SHOWN_BYTES_MAX = 2 * len(LONG) + THINGS * 8_000
"""Twice the name itself, and for each thing as much as is shown beside it otherwise."""


def _name_things(tx: Transaction) -> tuple[EntityId, EntityId]:
    """Write tasks that name a label, a category and a task of long names; return that one, and a star."""
    label, category, hub = tx.new_id(), tx.new_id(), tx.new_id()
    tx.commit([EntityWrite(label, "label", {"name": LONG})])
    tx.commit([EntityWrite(category, "category", {"name": LONG})])
    source: dict[str, Any] = {"by": "import", "format": "icalendar", "source": LONG}
    tx.commit([EntityWrite(hub, "task", {"title": LONG, "status": "OPEN"})])
    tx.commit([EntityWrite(hub, "task", {"status": "OPEN"}, origin=source)])
    star = tx.new_id()
    for number in range(THINGS):
        task, record = tx.new_id(), tx.new_id()
        fields: dict[str, Value] = {
            "title": f"t{number}",
            "category_id": category,
            f"label_ids/{id_to_text(label)}": True,
        }
        started: dict[str, Value] = {"task_id": hub, "started_at": f"2026-03-15T10:{number:02}:00.000Z"}
        ended: dict[str, Value] = {"ended_at": "2026-03-15T11:00:00.000Z"} if number % 2 else {}
        link: dict[str, Value] = {"from_id": task, "to_id": hub, "type": "blocks"}
        tx.commit(
            [
                EntityWrite(task, "task", fields),
                EntityWrite(record, "time_record", started | ended),
                EntityWrite(tx.new_id(), "link", link),
            ]
        )
    tx.commit([EntityWrite(star, "task", {"title": "star", "status": "OPEN"})])
    for number in range(THINGS):
        other: dict[str, Value] = {"from_id": star, "to_id": hub, "type": f"type {number}"}
        tx.commit([EntityWrite(tx.new_id(), "link", other)])
    return hub, star


@pytest.fixture
def crowd(a: Home) -> tuple[EntityId, EntityId]:
    """Return the task of the long title, and one that is linked to it many times."""
    return a.write(_name_things)


def _shown(home: Home, view: Any, **words: Any) -> int:
    return len(json.encode(home.read(partial(view, **words)), enc_hook=str))


@pytest.mark.parametrize("format_", format_names())
def test_an_export_has_a_long_name_as_short_as_a_name(
    a: Home, crowd: tuple[EntityId, EntityId], format_: str
):
    def export(snapshot: Snapshot) -> int:
        return sum(len(piece) for piece in writer_for(format_)(snapshot, UTC))

    # A file of JSON lines has the names and the origin themselves; each of them is there once.
    assert a.read(export) <= SHOWN_BYTES_MAX + 4 * len(LONG)


def test_lists_show_a_long_name_as_short_as_a_name(a: Home, crowd: tuple[EntityId, EntityId]):
    hub, star = (id_to_text(task) for task in crowd)
    sizes = {
        "tasks": _shown(a, list_tasks, closed=True, removed=False, brief=True),
        "lines": _shown(a, task_lines_page, closed=True, removed=False),
        "running": _shown(a, list_running),
        "records": _shown(a, list_records, ref=None, removed=False, limit=500),
        "links of the long one": _shown(a, list_links, ref=hub),
        "links to the long one": _shown(a, list_links, ref=star),
        "task": _shown(a, show_task, ref=star, provenance=True),
        "log": _shown(a, list_changes, ref=star, limit=500),
    }
    assert {name: size for name, size in sizes.items() if size > SHOWN_BYTES_MAX} == {}


def test_proposals_and_decisions_show_a_long_title_as_short_as_a_title(fleet: Fleet, a: Home):
    task = a.new("task", title=LONG, status="OPEN")
    items = [a.estimate(task, minutes, f"run {minutes}") for minutes in range(1, THINGS)]
    assert _shown(a, list_waiting_items, now_ms=fleet.now_ms) <= SHOWN_BYTES_MAX
    for item in items:
        a.new("decision", item_id=item, verdict="rejected", seen=[])
    assert _shown(a, list_decisions, now_ms=fleet.now_ms, limit=500) <= SHOWN_BYTES_MAX


@pytest.mark.parametrize("title", [LONG, [LONG], {"a": LONG}], ids=["text", "a list", "a map"])
def test_proposals_show_the_beginning_of_the_value_that_they_would_replace(
    fleet: Fleet, a: Home, title: Value
):
    task = a.new("task", title="Passport", status="OPEN")
    for number in range(THINGS):
        a.propose(task, f"run {number}", ("set_task_title", {"title": f"better {number}"}))
    a.set(task, title=title)
    assert _shown(a, list_waiting_items, now_ms=fleet.now_ms) <= SHOWN_BYTES_MAX


def test_a_report_is_shown_with_its_own_agent_alone(a: Home):
    tasks = [a.new("task", title=f"t{number}", status="OPEN") for number in range(THINGS)]
    agents = [derived_id("agent", id_to_text(task), time_of=task) for task in tasks]
    report = a.new("report", agent_id=agents[0], content={"tldr": LONG})

    def point_all(tx: Transaction) -> None:
        for task, agent in zip(tasks, agents, strict=True):
            state = derived_id("state", id_to_text(agent), time_of=agent)
            tx.commit(
                [
                    EntityWrite(agent, "agent", {"task_id": task, "lifecycle": "active"}),
                    EntityWrite(state, "agent_state", {"agent_id": agent, "report_id": report}),
                ]
            )

    a.write(point_all)
    assert _shown(a, list_tasks, closed=True, removed=False, brief=False) <= SHOWN_BYTES_MAX
    reports = a.read(lambda snapshot: [_report_of(snapshot, agent) for agent in agents])
    assert [report is not None for report in reports] == [True] + [False] * (THINGS - 1)


def _report_of(snapshot: Snapshot, identifier: EntityId) -> dict[str, Any] | None:
    agent = load_agent(snapshot, identifier)
    assert agent is not None
    return current_report(snapshot, agent)


def test_decisions_on_an_item_that_nobody_proposed_show_no_long_arguments(fleet: Fleet, a: Home):
    task, item = a.new("task", title="Passport"), EntityId(b"i" * 16)
    change: dict[str, Value] = {"item_id": item, "tool": "set_task_title", "args": {"title": LONG}}
    a.new("change_set", task_id=task, agent_id=task, items=[change], expires_at=1 << 60)
    for _ in range(THINGS):
        a.new("decision", item_id=item, verdict="deferred", seen=[])
    assert _shown(a, list_decisions, now_ms=fleet.now_ms, limit=500) <= SHOWN_BYTES_MAX


def test_a_device_is_shown_by_the_beginning_of_a_long_name(a: Home):
    a.enter_device(LONG)
    tasks = [a.new("task", title=f"t{number}", status="OPEN") for number in range(THINGS)]
    sizes = [
        sum(len(piece) for piece in a.read(lambda snapshot: [*writer_for("jsonl")(snapshot, UTC)])),
        _shown(a, list_changes, ref=id_to_text(tasks[0]), limit=500),
        _shown(a, show_task, ref=id_to_text(tasks[0]), provenance=True),
    ]
    assert max(sizes) < len(LONG)
