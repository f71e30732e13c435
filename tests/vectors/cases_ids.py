"""Cases for ids, derived ids and stamps.

Never imports what they check.
"""

from typing import Any

from tests.vectors import semantics, wire
from tests.vectors.commit_writer import START_MS, name_id

Case = dict[str, Any]

_TIMES = (0, 1, START_MS, 2**48 - 1)
_RANDOM = (bytes(10), bytes(range(10)), b"\xff" * 10)


def ids() -> list[Case]:
    """Return ids made, written as text, and texts that are none."""
    created = [
        {"ms": ms, "randomness": random.hex(), "id": raw.hex(), "text": wire.text(raw), "outcome": "ok"}
        for ms in _TIMES
        for random in _RANDOM
        for raw in [wire.uuid7(ms, random)]
    ]
    text = wire.text(name_id("an id"))
    wrong = ("", text[:-1], text + "0", text[:-2] + " a", text[:-1] + "g", " " + text[:-1], text[:-1] + "٠")
    return created + [{"text": element, "outcome": "malformed"} for element in wrong]


_PARTS: tuple[tuple[str, list[Any]], ...] = (
    ("set", ["run", 1]),
    ("fp", ["0" * 32, "set_task_title", None, {"title": 'Fix the "login" bug'}]),
    ("item", ["00" * 32, None]),
    ("entity", [wire.text(name_id("an item"))]),
    ("checklist", [wire.text(name_id("a task"))]),
    ("order", [{"b": 1, "a": [True, False, None, {}], "": 0, "aa": -1}]),
    ("utf-16 order", [{"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "\r": 4, "1": 5, "\x80": 6}]),
    ("escapes", ['\x00\x07\x08\x09\x0a\x0c\x0d\x1f\x7f"\\/\u2028é']),
    (
        "numbers",
        [0.0, -0.0, 1.0, -2.5, 0.1, 1e-6, 1e-7, 123456789.125, 1e20, 1e21, 1.5e300, 5e-324, 2**53 - 1],
    ),
    ("", []),
)


def derived_ids() -> list[Case]:
    """Return ids derived from JSON values."""
    time_of = name_id("what it derives from")
    return [
        {
            "tag": tag,
            "parts": parts,
            "time_of": time_of.hex(),
            "json": wire.jcs([tag, *parts]),
            "digest": wire.digest(tag, parts).hex(),
            "id": wire.derived_id(tag, parts, time_of).hex(),
            "outcome": "ok",
        }
        for tag, parts in _PARTS
    ]


def replica_ids() -> list[Case]:
    """Return the ids of replicas that keys begin."""
    return [
        {
            "ms": ms,
            "public_key": key.hex(),
            "nonce": nonce.hex(),
            "id": wire.replica_id(ms, key, nonce).hex(),
            "outcome": "ok",
        }
        for ms in (-1, *_TIMES, 2**48)
        for key in (wire.device("anna").public_key, wire.device("bea").public_key)
        for nonce in (bytes(32), bytes(range(32)))
    ]


def devices() -> list[Case]:
    """Return device ids of keys."""
    return [
        {
            "seed": device.seed.hex(),
            "public_key": device.public_key.hex(),
            "device": device.id.hex(),
            "outcome": "ok",
        }
        for device in map(wire.device, ("anna", "bea", "carl"))
    ]


def stamps() -> list[Case]:
    """Return how stamps go on and follow."""
    last = [START_MS, 5]
    ticks = [
        {"op": "tick", "last": element, "now_ms": now, "stamp": semantics.tick(element, now), "outcome": "ok"}
        for element in ([0, 0], last, [START_MS, 2**32 - 1], [START_MS + 9_999, 0])
        for now in (0, START_MS - 1, START_MS, START_MS + 1, 2**48)
    ]
    observed = (
        [START_MS - 1, 9],
        [START_MS, 4],
        [START_MS, 6],
        [START_MS + 600_000, 0],
        [START_MS + 600_001, 0],
    )
    follows = [
        {
            "op": "follow",
            "last": last,
            "seen": element,
            "now_ms": START_MS,
            "stamp": semantics.follow(last, element, START_MS),
            "outcome": "ok",
        }
        for element in (*observed, [2**48 - 1, 2**32 - 1])
    ]
    return ticks + follows
