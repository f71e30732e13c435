"""Figures of deciding: a set of ten proposals of every kind, confirmed one durable commit each.

Never measures the way to the daemon: that is a figure of its own.
"""

import itertools
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.raw import single_commit_s
from bench.stores import open_store, task_fields
from bench.table import Figure, paired
from daemon.agents.deciding import decisions
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.proposing.baseline import baseline_of
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.tools.agent_record import agent_id
from store.store import Store
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text

SETS, ROUNDS = 20, 3
PROPOSED_BYTES = 600

_numbers = itertools.count(1)


def _calls(labels: list[EntityId]) -> list[tuple[str, dict[str, Any]]]:
    """Return ten calls: five fields, two labels, three new items."""
    return [
        ("set_task_title", {"title": "A title that says better what it is about"}),
        ("update_task_estimate", {"minutes": 90}),
        ("update_task_due_date", {"dueDate": "2027-04-01"}),
        ("update_task_priority", {"priority": "P1"}),
        ("set_task_status", {"status": "BLOCKED", "reason": "waits for Ann"}),
        *(("assign_task_label", {"id": id_to_text(label), "confidence": "high"}) for label in labels),
        *(("add_checklist_item", {"title": f"Step {number}"}) for number in range(3)),
    ]


def _propose(tx: Transaction, labels: list[EntityId], run_key: str) -> list[EntityId]:
    """Make a task with some notes and an agent's set on it; return the items."""
    task = tx.new_id()
    tx.commit([EntityWrite(task, "task", task_fields(1))])
    for number in range(10):
        tx.commit([EntityWrite(tx.new_id(), "entry", {"task_id": task, "text": f"note {number} " * 20})])
    desk = ToolCallHandler(
        RunIdentity(agent_id(task), task, run_key, tx.now_ms()), baseline_of(tx, task), ProposalLimits()
    )
    for tool, arguments in _calls(labels):
        desk.answer_call(tool, arguments, tx)
    sets = desk.run_end_writes(tx)
    tx.commit(sets, by=AuthorKind.AGENT, agent=agent_id(task))
    items = [item.id for entity_write in sets for item in tx.items_of_set(entity_write.entity)]
    assert len(items) == 10
    return items


def _confirm(store: Store, items: list[EntityId]) -> None:
    for item in items:
        with store.write() as tx:
            result = decisions.confirm(tx, item, via="cli")
        assert result.result is DecisionOutcome.APPLIED, result.message


def decide_one(store: Store, *, is_confirmed: bool) -> None:
    """Let an agent propose a set, and confirm or reject the first item of it."""
    with store.write() as tx:
        labels = [tx.new_id() for _ in range(2)]
        tx.commit([EntityWrite(label, "label", {"name": id_to_text(label)}) for label in labels])
        item = _propose(tx, labels, f"run {next(_numbers)}")[0]
    decide = decisions.confirm if is_confirmed else decisions.reject
    with store.write() as tx:
        result = decide(tx, item, via="cli")
    assert result.result is DecisionOutcome.APPLIED, result.message


def _bare(store: Store, count: int) -> None:
    for number in range(count):
        with store.write() as tx:
            tx.commit([EntityWrite(tx.new_id(), "task", task_fields(number))])


def _sets_ms(store: Store, labels: list[EntityId]) -> float:
    with store.write() as tx:
        sets = [_propose(tx, labels, f"run {next(_numbers)}") for _ in range(SETS)]
    start = time.perf_counter()
    for items in sets:
        _confirm(store, items)
    return 1e3 * (time.perf_counter() - start) / SETS


def _ten_ms(store: Store) -> float:
    start = time.perf_counter()
    _bare(store, 10 * SETS)
    return 1e3 * (time.perf_counter() - start) / SETS


def _raw_ms(folder: Path) -> float:
    path = folder / f"raw-{next(_numbers)}.db"
    return 1e3 * single_commit_s(path, b"x" * PROPOSED_BYTES, 10 * SETS) / SETS


def figures() -> list[Figure]:
    """Measure everything here."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        store = open_store(folder)
        with store.write() as tx:
            labels = [tx.new_id() for _ in range(2)]
            tx.commit([EntityWrite(label, "label", {"name": id_to_text(label)}) for label in labels])
        text = "confirm of a set of 10, one durable commit each"
        mine, bare = paired(lambda: _sets_ms(store, labels), lambda: _ten_ms(store), ROUNDS)
        again, raw = paired(lambda: _sets_ms(store, labels), lambda: _raw_ms(folder), ROUNDS)
        store.close()
        return [
            Figure(text, mine, bare, "ms", "ten bare durable commits of this store", "<= 3"),
            Figure(text, again, raw, "ms", "ten rows by raw apsw, durable each", "(shown)"),
        ]
