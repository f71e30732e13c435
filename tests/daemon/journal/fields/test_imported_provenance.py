"""Origins that claim to come from an export of JSON lines, written by a member that is not Placet.

Never trusts what an origin contains: a journal shows, exports and imports whatever stands in it.
"""

from functools import partial
from typing import Any

import pytest

from daemon.journal.fields.imported_provenance import known_counters_in
from daemon.journal.views.presenter import JournalPresenter
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.ids import EntityId
from tests.daemon.formats.jsonl.files import exported, imported
from tests.support.fleet import Fleet, Home

_WAS = {
    "ms": 1,
    "n": 0,
    "device": bytes(32),
    "name": "away",
    "replica": bytes(16),
    "counter": 1,
    "hash": bytes(32),
    "effect": None,
}

INNER = {
    "a surrogate": b"\x81\xa1a\xa3\xed\xa0\x80",
    "another extension": b"\x81\xa1a\xd4\x05\x00",
    "a time": b"\x81\xa1a\xd6\xff\x00\x00\x00\x01",
    "no number": b"\x81\xa1a\xcb\x7f\xf8" + bytes(6),
    "more than 64 bits": b"\x81\xa1a\xcf" + b"\xff" * 8,
    "a key that is no text": b"\x81\x01\x01",
    "too deep": b"\x81\xa1a" + b"\x91" * 900 + b"\x01",
    "a dropped value": b"\x81\xa1a\xc7\x20\x01" + bytes(32),
    "more items than an import writes": codec.encode({"a": [None] * 4096}),
    "cut off": b"\x81",
    "no map": b"\x93\x01\x02\x03",
}
OTHERS: dict[str, dict[str, Any]] = {
    "a counter that is no number": {"counter": True},
    "a time that is no number": {"ms": False},
    "a count that is no number": {"n": True},
    "a device of no size": {"device": b""},
}
SEEN: dict[str, list[Any]] = {
    "a replica of no size": [[b"", 1]],
    "a counter that is no number": [[bytes(16), True]],
    "a long replica": [[bytes(5000), 1]],
    "no pairs": [1, [2], "x"],
}


def origin_of(inner: bytes | None = None, listed: list[Any] | None = None, **other: Any) -> dict[str, Any]:
    return {
        "by": "import",
        "format": "jsonl",
        "was": [*(_WAS | other).values(), inner],
        "seen": listed or [],
    }


ORIGINS = [
    *(pytest.param(origin_of(inner), id=name) for name, inner in INNER.items()),
    *(pytest.param(origin_of(**other), id=name) for name, other in OTHERS.items()),
    *(pytest.param(origin_of(listed=listed), id=f"seen: {name}") for name, listed in SEEN.items()),
]


def _write(tx: Transaction, task: EntityId, note: EntityId, origin: dict[str, Any]) -> None:
    tx.commit(
        [
            EntityWrite(task, "task", {"title": "Passport", "status": "OPEN"}, origin=origin),
            EntityWrite(note, "entry", {"task_id": task, "text": "a photo"}, origin=origin),
        ]
    )


def _shown(snapshot: Snapshot, task: EntityId) -> str:
    entity = snapshot.entity(task)
    assert entity is not None
    return JournalPresenter(snapshot, provenance=True).task(entity).title


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_origin_of_any_form_is_shown_exported_and_imported(fleet: Fleet, a: Home, origin: dict[str, Any]):
    task, note = EntityId(b"t" * 16), EntityId(b"n" * 16)
    a.write(partial(_write, task=task, note=note, origin=origin))
    assert a.read(partial(_shown, task=task)) == "Passport"
    other = fleet.home("there")
    imported(other, exported(a))
    assert other.read(partial(_shown, task=task)) == "Passport"
    assert exported(other) == exported(a)


def test_what_an_origin_says_of_replicas_is_read_as_far_as_it_has_the_form():
    assert known_counters_in({"seen": [[bytes(16), 7], [b"", 1], 5]}) == {bytes(16): 7}
