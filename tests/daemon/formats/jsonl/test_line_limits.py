"""What other programs may write and no import takes: an export leaves it out, so that the rest can come in.

Never leaves out what a person wrote with Placet.
"""

from collections.abc import Callable
from typing import Any

import pytest

from daemon.journal.fields.validation import ENTRY_BYTES_MAX
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text
from tests.daemon.formats.jsonl.files import exported, imported
from tests.support.fleet import Fleet, Home

NOTE = "words " * (ENTRY_BYTES_MAX // 6)
"""As long as a note of a person may be."""

Attack = Callable[[Fleet, Home, EntityId], None]


def _write(
    home: Home, entity: EntityId, fields: dict[str, Value], origin: dict[str, Any] | None = None
) -> None:
    def use(tx: Transaction) -> None:
        tx.commit([EntityWrite(entity, "task", fields, origin=origin)])

    home.write(use)


def _concurrently(fleet: Fleet, home: Home, task: EntityId, fields: dict[str, Value], replicas: int) -> None:
    """Let many devices write the same fields, of which none has seen the others' values."""
    for number in range(replicas):
        other = fleet.home(f"{fleet.now_ms} {number}")
        _write(other, task, fields)
        fleet.pull(home, other)


def a_value_as_long_as_a_commit(fleet: Fleet, home: Home, task: EntityId) -> None:
    _write(home, task, {"reason": "x" * 261_000})


def an_origin_as_long_as_a_commit(fleet: Fleet, home: Home, task: EntityId) -> None:
    _write(home, task, {"reason": "x" * 1000, "due": "2026-03-15"}, {"a": "x" * 258_000})


def a_value_of_as_many_items(fleet: Fleet, home: Home, task: EntityId) -> None:
    _write(home, task, {"parts": [[]] * 32_600})


def fields_that_share_a_long_origin(fleet: Fleet, home: Home, task: EntityId) -> None:
    fields: dict[str, Value] = {f"f{number}": number for number in range(3000)}
    _write(home, task, fields, {"a": "x" * 180_000})
    _concurrently(fleet, home, task, dict.fromkeys(fields), 1)


def more_replicas_than_a_line_names(fleet: Fleet, home: Home, task: EntityId) -> None:
    heads = [[bytes([number // 256, number % 256]) * 8, 1] for number in range(2000)]
    origin = {"by": "import", "format": "jsonl", "seen": heads}
    was = [1, 0, bytes(32), "away", bytes(16), 1, bytes(32), None, None]
    _write(home, task, {"reason": "x"}, origin | {"was": was})


def values_that_fill_a_line(fleet: Fleet, home: Home, task: EntityId) -> None:
    _concurrently(fleet, home, task, {"reason": "x" * 180_000, "more": "y" * 50_000}, 24)


def members_of_a_set_without_end(fleet: Fleet, home: Home, task: EntityId) -> None:
    for part in range(16):
        members = [part.to_bytes(2) + number.to_bytes(14) for number in range(2000)]
        _write(home, task, {f"label_ids/{id_to_text(EntityId(member))}": True for member in members})


ATTACKS = (
    a_value_as_long_as_a_commit,
    an_origin_as_long_as_a_commit,
    a_value_of_as_many_items,
    fields_that_share_a_long_origin,
    more_replicas_than_a_line_names,
    values_that_fill_a_line,
    members_of_a_set_without_end,
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_export_can_be_imported_whatever_was_written(fleet: Fleet, a: Home, attack: Attack):
    task = a.new("task", title="Passport", status="OPEN")
    note = a.new("entry", task_id=task, text=NOTE)
    attack(fleet, a, task)
    other = fleet.home("other")
    imported(other, exported(a))
    assert other.value(task, "title") == "Passport"
    assert other.value(note, "text") == NOTE


def test_a_value_that_fits_stands_in_for_a_longer_one_that_is_in_effect(fleet: Fleet, a: Home):
    task = a.new("task", title="Passport", status="OPEN")
    _concurrently(fleet, a, task, {"reason": "a person's"}, 1)
    fleet.now_ms += 1000
    _concurrently(fleet, a, task, {"reason": "x" * 261_000}, 1)
    other = fleet.home("another")
    imported(other, exported(a))
    assert other.value(task, "reason") == "a person's"
