"""Cases for the fold: logs, each with the state of every entity and the state hash.

Never imports what they check.
"""

from collections.abc import Callable
from typing import Any

from tests.vectors import meaning, portable
from tests.vectors.meaning import AGENT, Store
from tests.vectors.writers import START_MS, Writer, Written, decision, name_id, operation

Case = dict[str, Any]
Story = Callable[[Writer, Writer], list[Written]]
TASK, ITEM = name_id("a task"), name_id("an item")


def _plain(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(
        operation(TASK, {"title": "a", "due": None, "raw": b"\x00", "x": 1.5, "many": [1, {"k": -1}]})
    )
    return [first, bea.write(operation(TASK, {"title": "b"}, base=[first.head]))]


def _siblings(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(operation(TASK, {"title": "a", "label_ids/1": True}))
    one = anna.write(operation(TASK, {"title": "b", "label_ids/2": True}, base=[first.head]), ms=START_MS + 9)
    other = bea.write(
        operation(TASK, {"title": "c", "label_ids/3": True}, base=[first.head]), ms=START_MS + 7
    )
    tie = Writer("carl").write(operation(TASK, {"title": "d"}, base=[first.head]), ms=START_MS + 9)
    return [first, one, other, tie]


def _ranks(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(operation(TASK, {"title": "a"}), decision(ITEM, "confirmed", "d1"))
    base = [first.head]
    writers = [bea, *(Writer(name) for name in ("carl", "dora", "emil"))]
    ways: list[dict[str, Any]] = [{}, {"effect": ITEM}, {"effect": ITEM, "by": AGENT}, {"by": AGENT}]
    late = [
        writer.write(operation(TASK, {"title": str(n)}, base=base, **way), ms=START_MS + n)
        for n, (writer, way) in enumerate(zip(writers, ways, strict=True))
    ]
    return [first, *late]


def _undone(anna: Writer, bea: Writer) -> list[Written]:
    made = name_id("made")
    first = anna.write(operation(TASK, {"title": "a"}))
    confirmed = bea.write(
        decision(ITEM, "confirmed", "d1"),
        operation(TASK, {"title": "b"}, base=[first.head], effect=ITEM, by=AGENT),
        operation(made, {"title": "c"}, effect=ITEM, by=AGENT, kind="checklist_item"),
    )
    return [first, confirmed, anna.write(decision(ITEM, "undone", "d2", seen=("d1",)))]


def _touched(anna: Writer, bea: Writer) -> list[Written]:
    before = _undone(anna, bea)
    made, base = name_id("made"), [before[1].head]
    tick = operation(made, {"is_checked": True}, base=base, kind="checklist_item")
    return [*before, bea.write(tick)]


def _never_confirmed(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(operation(TASK, {"title": "a"}, effect=ITEM, by=AGENT))
    agent = anna.write(operation(TASK, {"title": "b"}, base=[first.head], by=AGENT))
    return [first, agent, bea.write(decision(ITEM, "retracted", "d1", by=AGENT))]


def _deleted(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(operation(TASK, {"title": "a"}))
    return [first, bea.write(operation(TASK, {"deleted": True}, base=[first.head]))]


def _deleted_meanwhile(anna: Writer, bea: Writer) -> list[Written]:
    before = _deleted(anna, bea)
    return [*before, anna.write(operation(TASK, {"title": "b"}, base=[before[0].head]))]


def _deleted_beneath_an_agent(anna: Writer, bea: Writer) -> list[Written]:
    before = _deleted(anna, bea)
    return [*before, anna.write(operation(TASK, {"title": "b"}, base=[before[0].head], by=AGENT))]


def _deleted_apart(anna: Writer, bea: Writer) -> list[Written]:
    """Two tombstones: each hides what the other had not seen."""
    first = anna.write(operation(TASK, {"title": "a"}))
    mine = anna.write(operation(TASK, {"title": "b"}, base=[first.head]))
    theirs = bea.write(operation(TASK, {"title": "c"}, base=[first.head]))
    gone = anna.write(operation(TASK, {"deleted": True}, base=[mine.head]))
    return [first, mine, theirs, gone, bea.write(operation(TASK, {"deleted": True}, base=[theirs.head]))]


def _restored(anna: Writer, bea: Writer) -> list[Written]:
    before = _deleted(anna, bea)
    base = [before[0].head, before[1].head]
    return [*before, anna.write(operation(TASK, {"deleted": False}, base=base))]


def _created_twice(anna: Writer, bea: Writer) -> list[Written]:
    one = anna.write(operation(TASK, {"title": "Todos"}, kind="checklist"), ms=START_MS + 5)
    other = bea.write(
        operation(TASK, {"title": "Todos"}, kind="a list", origin={"app": "x", "n": [1]}), ms=START_MS
    )
    return [one, other]


def _written_before_made(anna: Writer, bea: Writer) -> list[Written]:
    """An operation with a base that names commits on other entities only: the entity does not exist."""
    first = anna.write(operation(name_id("other"), {"title": "a"}))
    return [first, bea.write(operation(TASK, {"title": "b"}, base=[first.head]))]


def _forked(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(operation(TASK, {"title": "a"}))
    other = anna.branch()
    one = anna.write(operation(TASK, {"title": "b"}, base=[first.head]))
    two = other.write(operation(TASK, {"title": "c"}, base=[first.head]))
    three = other.write(operation(TASK, {"note": "d"}, base=[two.head]))
    return [first, one, two, three, bea.write(operation(TASK, {"title": "e"}, base=[three.head]))]


def _disputed(anna: Writer, bea: Writer) -> list[Written]:
    first = anna.write(operation(TASK, {"title": "a"}))
    effect = operation(TASK, {"title": "b"}, base=[first.head], effect=ITEM, by=AGENT)
    confirmed = bea.write(decision(ITEM, "confirmed", "d1"), effect)
    return [first, confirmed, anna.write(decision(ITEM, "rejected", "d2"))]


def _odd_decisions(anna: Writer, bea: Writer) -> list[Written]:
    """Decisions that no reader understands decide nothing, and stay as they are."""
    first = anna.write(operation(TASK, {"title": "a"}, effect=ITEM))
    odd: list[dict[str, Any]] = [
        {"item_id": ITEM, "verdict": "blessed"},
        {"item_id": ITEM, "verdict": None},
        {"item_id": ITEM, "verdict": 7},
        {"item_id": ITEM, "verdict": b"confirmed"},
        {"item_id": ITEM, "verdict": ["confirmed"]},
        {"item_id": ITEM, "verdict": {"confirmed": True}},
        {"item_id": ITEM[:15], "verdict": "confirmed"},
        {"item_id": ITEM.hex(), "verdict": "confirmed"},
        {"verdict": "confirmed"},
    ]
    operations = [operation(name_id(f"odd {n}"), one, kind="decision") for n, one in enumerate(odd)]
    late = operation(
        name_id("late"), {"item_id": ITEM, "verdict": "confirmed"}, base=[first.head], kind="decision"
    )
    seen = {"item_id": ITEM, "verdict": "deferred", "seen": [1, "x", b"short", name_id("odd 0")]}
    return [first, bea.write(*operations, late), bea.write(operation(name_id("last"), seen, kind="decision"))]


def _dropped(anna: Writer, bea: Writer) -> list[Written]:
    """A value that a person's own words cover leaves no trace: the state is that of the whole log."""
    first = anna.write(operation(TASK, {"text": "x" * 200, "title": "a"}))
    second = bea.write(operation(TASK, {"text": "y" * 200}, base=[first.head], by=AGENT))
    return [first.without(), second.without(), anna.write(operation(TASK, {"text": "z"}, base=[second.head]))]


def _dropped_wrongly(anna: Writer, bea: Writer) -> list[Written]:
    """Values that still count, dropped by a member that may not: what is left of them is in the state."""
    first = anna.write(operation(TASK, {"text": "x" * 200, "deleted": "y" * 200}))
    note = bea.write(operation(TASK, {"text": "z" * 200}))
    return [first.without(), note.without()]


_STORIES: tuple[tuple[str, Story], ...] = (
    ("nothing", lambda anna, bea: []),
    ("one write after another", _plain),
    ("concurrent writes, by time and then by replica", _siblings),
    ("ranks before times", _ranks),
    ("a confirmation undone", _undone),
    ("a creation undone that a person has touched", _touched),
    ("an effect that nobody confirmed", _never_confirmed),
    ("deleted", _deleted),
    ("deleted while a person wrote", _deleted_meanwhile),
    ("deleted while an agent wrote", _deleted_beneath_an_agent),
    ("deleted twice while apart", _deleted_apart),
    ("restored", _restored),
    ("created twice", _created_twice),
    ("written and never made", _written_before_made),
    ("a fork", _forked),
    ("disputed", _disputed),
    ("decisions that are none", _odd_decisions),
    ("dropped values that a person's own words cover", _dropped),
    ("dropped values that still count", _dropped_wrongly),
)


def states() -> list[Case]:
    """Return logs, and for each the state of every entity, the standing of every item, and the state hash."""
    cases = []
    for name, story in _STORIES:
        log = story(Writer("anna"), Writer("bea"))
        store = Store()
        store.take([one.signed for one in log])
        folded = meaning.states(store)
        standings = {item: meaning.standing(found) for item, found in meaning.opinions_by_item(store).items()}
        entities = [
            {"id": one.hex(), "state": fold.state.hex(), "visible": fold.visible}
            for one, fold in folded.items()
        ]
        items = [{"id": one.hex(), "status": s, "disputed": d} for one, (s, d) in sorted(standings.items())]
        cases.append(
            {
                "name": name,
                "commits": [[one.body.hex(), one.signature.hex()] for one in log],
                "vector": portable.value(store.vector()),
                "entities": entities,
                "items": items,
                "state_hash": meaning.state_hash(folded).hex(),
                "outcome": "ok",
            }
        )
    return cases
