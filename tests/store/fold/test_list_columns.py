"""What is over, and what comes first: told by columns that follow from the fold.

Never reads a column itself: what is listed shows it.
"""

from typing import Any

import apsw
import pytest

from store.fold.list_columns import ListOrder, fill_columns
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId
from tests.simulation.laws import refold_is_the_same
from tests.support.source_tree import ROOT
from tests.support.stores import StoreBench, entity_id, write


@pytest.mark.parametrize(
    ("kind", "fields", "is_over"),
    [
        ("task", {"status": "OPEN"}, False),
        ("task", {"status": "REJECTED"}, True),
        ("task", {"status": 7}, False),
        ("task", {"ended_at": "2026-03-20T10:00:00Z"}, False),
        ("time_record", {}, False),
        ("time_record", {"ended_at": ""}, False),
        ("time_record", {"ended_at": 7}, False),
        ("time_record", {"ended_at": "2026-03-20T10:00:00Z"}, True),
        ("entry", {"ended_at": "2026-03-20T10:00:00Z", "status": "DONE"}, False),
    ],
)
def test_a_closed_task_and_a_time_record_that_ended_are_over(
    bench: StoreBench, kind: str, fields: dict[str, Value], is_over: bool
) -> None:
    store = bench.store("a")
    with store.write() as tx:
        new_id = tx.new_id()
        tx.commit([EntityWrite(new_id, kind, fields)])
    with store.read() as snapshot:
        going = snapshot.states_in_order(kind, removed=False, closed=False, after=None, limit=9)
        states = snapshot.states_in_order(kind, removed=False, closed=True, after=None, limit=9)
    assert [name for name, _ in states] == [new_id]
    assert [name for name, _ in going] == ([] if is_over else [new_id])


MIGRATIONS = ROOT / "store" / "migrations"
TASKS: list[dict[str, Any]] = [
    {"priority": priority, "due": due}
    for priority in ("P1", 7, "P0", "", None, "P3" * 40)
    for due in ("2026-03-22", None, "", 5, "2026-03-20", "soon", "2026-02-30", "2026-W12-5", "0" * 99)
]
"""Tasks in the order of their making: values of any type, since a member can sign them."""


def _text(value: object) -> str:
    return value[:32] if isinstance(value, str) else ""


def _day(value: object) -> str:
    """Return a day of those above; anything else of them is none."""
    return value if value in {"2026-03-22", "2026-03-20"} and isinstance(value, str) else "none"


def _expected(order: ListOrder) -> list[int]:
    def key(number: int) -> tuple[str, str]:
        priority, due = _text(TASKS[number]["priority"]) or "P2", _day(TASKS[number]["due"])
        return (priority, due) if order is ListOrder.PRIORITY else (due, priority)

    numbers = list(range(len(TASKS)))
    if order is ListOrder.OLDEST:
        return numbers
    return numbers[::-1] if order is ListOrder.NEWEST else sorted(numbers, key=key)


def _undo_migration(file: apsw.Connection) -> None:
    """Give a file back the columns and indexes of the version before 0210_task_days.sql."""
    indexes = ("task_by_priority", "task_by_due", "task_by_status", "task_by_start", "entity_out_of_sight")
    file.execute("".join(f"DROP INDEX {name};" for name in indexes))
    file.execute("ALTER TABLE entity DROP COLUMN status; ALTER TABLE entity DROP COLUMN start")
    file.execute("ALTER TABLE answer DROP COLUMN change; DROP TABLE change_part")
    before = (MIGRATIONS / "0200_task_order.sql").read_text().split("\n")
    file.execute("".join(line for line in before if line.startswith("CREATE INDEX")))
    file.execute("DELETE FROM migration WHERE number >= 210")


@pytest.mark.parametrize("version", ["0110", "0200"])
@pytest.mark.parametrize("order", ListOrder)
def test_tasks_come_in_their_order_page_by_page_also_from_rows_of_an_older_version(
    bench: StoreBench, order: ListOrder, version: str
) -> None:
    store = bench.store("a")
    for number, fields in enumerate(TASKS):
        # Half of them only their creation has written: such rows take a way of their own.
        write(store, entity_id(number), **(fields if number % 2 else {}))
    for number, fields in enumerate(TASKS):
        write(store, entity_id(number), **({} if number % 2 else fields))
    store.close()
    path = bench.folder / "a.db"
    with apsw.Connection(str(path)) as file:
        if version == "0110":
            file.execute("UPDATE entity SET priority = NULL, due = NULL")
        else:
            # That version kept any text as a day.
            file.execute("UPDATE entity SET due = '2026-99-99' WHERE due = '~' AND no % 3 = 0")
        _undo_migration(file)
    file.close()
    store = bench.store("a", path)
    with store.read() as snapshot:
        refold_is_the_same(snapshot)
        listed: list[EntityId] = []
        while page := snapshot.states_in_order(
            "task", order, removed=False, closed=True, after=listed[-1] if listed else None, limit=4
        ):
            listed += [name for name, _ in page]
    assert listed == [entity_id(number) for number in _expected(order)]


def test_a_start_reads_no_task_whose_columns_are_filled_and_ends_for_a_damaged_one(bench: StoreBench) -> None:
    store = bench.store("a")
    write(store, entity_id(1), title="x")
    path = bench.folder / "a.db"
    store.close()
    with apsw.Connection(str(path)) as file:
        file.execute("UPDATE entity SET status = NULL, kind = 'label', state = (SELECT state FROM entity)")
        file.execute("UPDATE entity SET kind = 'task'")
        statements: list[str] = []
        file.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        fill_columns(file)
        file.trace_v2(0, None)
        (select,) = {sql for sql in statements if sql.startswith("SELECT no, state")}
        steps: list[Any] = file.execute(f"EXPLAIN QUERY PLAN {select}").fetchall()
    file.close()
    plan = "SEARCH entity USING INDEX task_by_status (visible=? AND status=?)"
    assert [step[3] for step in steps] == [plan]
