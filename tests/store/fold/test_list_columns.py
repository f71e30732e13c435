"""What is over: closed tasks and time records that have ended, told by a column that follows from the fold.

Never reads the column itself: what is listed shows it.
"""

import pytest

from store.transaction import EntityWrite
from syncproto.codec import Value
from tests.support.stores import StoreBench


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
        going = snapshot.states_by_creation(kind, removed=False, closed=False, after=None, limit=9)
        states = snapshot.states_by_creation(kind, removed=False, closed=True, after=None, limit=9)
    assert [name for name, _ in states] == [new_id]
    assert [name for name, _ in going] == ([] if is_over else [new_id])
