"""Cases for the fold: logs, each with the state of every entity and the state hash.

Never imports what they check.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from tests.vectors import cases_presence, portable, semantics, wire
from tests.vectors.commit_writer import START_MS, CommitWriter, WrittenCommit, decision, name_id, operation
from tests.vectors.semantics import AGENT, ReferenceStore

Case = dict[str, Any]
Story = Callable[[CommitWriter, CommitWriter], list[WrittenCommit]]
TASK, ITEM = name_id("a task"), name_id("an item")


def _plain(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(
        operation(TASK, {"title": "a", "due": None, "raw": b"\x00", "x": 1.5, "many": [1, {"k": -1}]})
    )
    return [first, bea.write(operation(TASK, {"title": "b"}, base=[first.head]))]


def _siblings(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(operation(TASK, {"title": "a", "label_ids/1": True}))
    written_commit = anna.write(
        operation(TASK, {"title": "b", "label_ids/2": True}, base=[first.head]), ms=START_MS + 9
    )
    other = bea.write(
        operation(TASK, {"title": "c", "label_ids/3": True}, base=[first.head]), ms=START_MS + 7
    )
    tie = CommitWriter("carl").write(operation(TASK, {"title": "d"}, base=[first.head]), ms=START_MS + 9)
    return [first, written_commit, other, tie]


def _ranks(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(operation(TASK, {"title": "a"}), decision(ITEM, "confirmed", "d1"))
    base = [first.head]
    writers = [bea, *(CommitWriter(name) for name in ("carl", "dora", "emil"))]
    ways: list[dict[str, Any]] = [{}, {"effect": ITEM}, {"effect": ITEM, "by": AGENT}, {"by": AGENT}]
    late = [
        writer.write(operation(TASK, {"title": str(n)}, base=base, **way), ms=START_MS + n)
        for n, (writer, way) in enumerate(zip(writers, ways, strict=True))
    ]
    return [first, *late]


def _undone(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    made_id = name_id("made")
    first = anna.write(operation(TASK, {"title": "a"}))
    confirmed = bea.write(
        decision(ITEM, "confirmed", "d1"),
        operation(TASK, {"title": "b"}, base=[first.head], effect=ITEM, by=AGENT),
        operation(made_id, {"title": "c"}, effect=ITEM, by=AGENT, kind="checklist_item"),
    )
    return [first, confirmed, anna.write(decision(ITEM, "undone", "d2", seen=("d1",)))]


def _touched(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    before = _undone(anna, bea)
    made_id, base = name_id("made"), [before[1].head]
    tick = operation(made_id, {"is_checked": True}, base=base, kind="checklist_item")
    return [*before, bea.write(tick)]


def _never_confirmed(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(operation(TASK, {"title": "a"}, effect=ITEM, by=AGENT))
    agent = anna.write(operation(TASK, {"title": "b"}, base=[first.head], by=AGENT))
    return [first, agent, bea.write(decision(ITEM, "retracted", "d1", by=AGENT))]


def _deleted(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(operation(TASK, {"title": "a"}))
    return [first, bea.write(operation(TASK, {"deleted": True}, base=[first.head]))]


def _deleted_meanwhile(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    before = _deleted(anna, bea)
    return [*before, anna.write(operation(TASK, {"title": "b"}, base=[before[0].head]))]


def _deleted_beneath_an_agent(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    before = _deleted(anna, bea)
    return [*before, anna.write(operation(TASK, {"title": "b"}, base=[before[0].head], by=AGENT))]


def _deleted_apart(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """Two tombstones: each hides what the other had not seen."""
    first = anna.write(operation(TASK, {"title": "a"}))
    mine = anna.write(operation(TASK, {"title": "b"}, base=[first.head]))
    theirs = bea.write(operation(TASK, {"title": "c"}, base=[first.head]))
    written_commit = anna.write(operation(TASK, {"deleted": True}, base=[mine.head]))
    return [
        first,
        mine,
        theirs,
        written_commit,
        bea.write(operation(TASK, {"deleted": True}, base=[theirs.head])),
    ]


def _restored(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    before = _deleted(anna, bea)
    base = [before[0].head, before[1].head]
    return [*before, anna.write(operation(TASK, {"deleted": False}, base=base))]


def _created_twice(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    written_commit = anna.write(operation(TASK, {"title": "Todos"}, kind="checklist"), ms=START_MS + 5)
    other = bea.write(
        operation(TASK, {"title": "Todos"}, kind="a list", origin={"app": "x", "n": [1]}), ms=START_MS
    )
    return [written_commit, other]


def _written_before_made(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """An operation with a base that names commits on other entities only: the entity does not exist."""
    first = anna.write(operation(name_id("other"), {"title": "a"}))
    return [first, bea.write(operation(TASK, {"title": "b"}, base=[first.head]))]


def _forked(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(operation(TASK, {"title": "a"}))
    other = anna.branch()
    written_commit = anna.write(operation(TASK, {"title": "b"}, base=[first.head]))
    two = other.write(operation(TASK, {"title": "c"}, base=[first.head]))
    three = other.write(operation(TASK, {"note": "d"}, base=[two.head]))
    return [first, written_commit, two, three, bea.write(operation(TASK, {"title": "e"}, base=[three.head]))]


def _written_over_and_over(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """One device writes a field six times without having seen what it wrote: the newest four stand."""
    first = anna.write(operation(TASK, {"title": "a", "note": "a"}))
    late = [anna.write(operation(TASK, {"title": str(n)}, base=[first.head])) for n in range(6)]
    return [first, bea.write(operation(TASK, {"title": "b"}, base=[first.head])), *late]


def _written_over_by_lower_ranks(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """What an agent writes again and again overtakes its own writes only; a person's stands beneath none."""
    first = anna.write(operation(TASK, {"title": "a"}))
    base = [first.head]
    own = anna.write(operation(TASK, {"title": "mine"}, base=base))
    late = [anna.write(operation(TASK, {"title": str(n)}, base=base, by=AGENT)) for n in range(6)]
    last = [anna.write(operation(TASK, {"title": f"again {n}"}, base=base)) for n in range(3)]
    return [first, own, *late, *last, bea.write(operation(TASK, {"note": "b"}, base=base))]


def _written_over_on_branches(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """Each branch of a fork is a chain of its own; what lies before the fork lies on both."""
    first = anna.write(operation(TASK, {"title": "a"}))
    base = [first.head]
    early = anna.write(operation(TASK, {"title": "early"}, base=base))
    other = anna.branch()
    mine = [anna.write(operation(TASK, {"title": f"mine {n}"}, base=base)) for n in range(3)]
    theirs = [other.write(operation(TASK, {"title": f"theirs {n}"}, base=base)) for n in range(3)]
    tail = other.write(operation(TASK, {"note": "n"}, base=base))
    more = bea.write(operation(TASK, {"note": "b"}, base=[theirs[0].head]))
    return [first, early, *mine, *theirs, tail, more]


def _overtaken_then_undone(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """What is undone overtakes nothing."""
    first = anna.write(operation(TASK, {"title": "a"}), decision(ITEM, "confirmed", "d1"))
    base = [first.head]
    plain = [anna.write(operation(TASK, {"title": f"x{n}"}, base=base, by=AGENT)) for n in range(3)]
    edited = [anna.write(operation(TASK, {"title": f"y{n}"}, base=base, effect=ITEM)) for n in range(3)]
    agents = [
        anna.write(operation(TASK, {"title": f"z{n}"}, base=base, effect=ITEM, by=AGENT)) for n in range(3)
    ]
    undone = bea.write(decision(ITEM, "undone", "d2", seen=("d1",)))
    return [first, *plain, *edited, *agents, undone]


def _more_effects_than_count(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """An item is in effect on the 24 entities with the least ids, whatever came first."""
    names = sorted(name_id(f"made {n}") for n in range(27))
    first = anna.write(
        *(operation(name, {"title": "a"}, effect=ITEM, by=AGENT) for name in names[3:]),
        operation(TASK, {"title": "a"}),
    )
    confirmed = bea.write(decision(ITEM, "confirmed", "d1"))
    again = bea.write(operation(names[26], {"title": "b"}, base=[first.head], effect=ITEM, by=AGENT))
    lower = anna.write(*(operation(name, {"title": "c"}, effect=ITEM, by=AGENT) for name in names[:2]))
    touched = anna.write(operation(names[25], {"note": "mine"}, base=[first.head]))
    lowest = bea.write(operation(names[2], {"title": "d"}, effect=ITEM, by=AGENT))
    return [first, confirmed, again, lower, touched, lowest]


_FINGERPRINT = hashlib.sha256(b"a fingerprint").digest()


def _item_naming(entity: bytes, follows: bytes | None = None) -> bytes:
    before = None if follows is None else wire.text(follows)
    return wire.derived_id("item", [_FINGERPRINT.hex(), before, wire.text(entity)], TASK)


def _named_effects(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """An item is in effect on what it names, once that is shown, whatever else is written in its name."""
    first_item = _item_naming(TASK)
    item = _item_naming(TASK, first_item)
    made = wire.derived_id("entity", [wire.text(item)], item)
    lesser = sorted(bytes(14) + bytes([1, n]) for n in range(26))
    first = anna.write(operation(TASK, {"title": "a"}))
    forged = bea.write(*(operation(name, {"title": "x"}, effect=item, by=AGENT) for name in lesser))
    confirmed = anna.write(
        decision(item, "confirmed", "d1"),
        operation(TASK, {"title": "b"}, base=[first.head], effect=item, by=AGENT),
        operation(made, {"title": "c"}, effect=item, by=AGENT, kind="checklist_item"),
    )
    shown: dict[str, Any] = {"entity": TASK, "fingerprint": _FINGERPRINT, "follows": first_item}
    odd: list[dict[str, Any]] = [
        {"follows": None},
        {"follows": first_item[:15]},
        {"fingerprint": bytes(32)},
        {"fingerprint": _FINGERPRINT[:31]},
        {"entity": lesser[25]},
        {"entity": None},
    ]
    wrong = bea.write(*(decision(item, "deferred", f"w{n}", **shown | more) for n, more in enumerate(odd)))
    late = bea.write(decision(item, "confirmed", "d2", by=AGENT, **shown))
    other = bea.write(
        decision(first_item, "confirmed", "d3", entity=TASK, fingerprint=_FINGERPRINT),
        *(operation(name, {"note": "y"}, effect=first_item, by=AGENT) for name in lesser),
        operation(TASK, {"note": "n"}, base=[first.head], effect=first_item, by=AGENT),
    )
    return [first, forged, confirmed, wrong, late, other]


def _taken_over(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """A person's creation of another kind takes away neither a roster entry nor an agent nor its state."""
    key = anna.device.public_key
    device = hashlib.sha256(bytes.fromhex("302a300506032b6570032100") + key).hexdigest()
    entry = wire.derived_id("device", [device], bytes(16))
    agent = wire.derived_id("agent", [wire.text(TASK)], TASK)
    state = wire.derived_id("state", [wire.text(agent)], agent)
    names = (entry, agent, state, name_id("no entry"))
    before = bea.write(*(operation(name, {"title": "x"}, kind="x") for name in names), ms=START_MS)
    created = anna.write(
        operation(entry, {"name": "anna", "public_key": key}, kind="device", by=0),
        operation(agent, {"task_id": TASK}, kind="agent", by=AGENT),
        operation(state, {"agent_id": agent}, kind="agent_state", by=AGENT),
        operation(name_id("no entry"), {"public_key": key}, kind="device", by=0),
    )
    again = bea.write(
        operation(entry, {"public_key": bytes(32)}, kind="device"),
        operation(agent, {"task_id": agent}, kind="agent"),
        operation(state, {"agent_id": None}, kind="agent_state"),
    )
    return [
        before,
        created,
        again,
        bea.write(operation(entry, {"public_key": key}, kind="device", effect=ITEM)),
    ]


def _disputed(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    first = anna.write(operation(TASK, {"title": "a"}))
    effect = operation(TASK, {"title": "b"}, base=[first.head], effect=ITEM, by=AGENT)
    confirmed = bea.write(decision(ITEM, "confirmed", "d1"), effect)
    return [first, confirmed, anna.write(decision(ITEM, "rejected", "d2"))]


def _odd_decisions(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
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
    operations = [operation(name_id(f"odd {n}"), fields, kind="decision") for n, fields in enumerate(odd)]
    late = operation(
        name_id("late"), {"item_id": ITEM, "verdict": "confirmed"}, base=[first.head], kind="decision"
    )
    observed = {"item_id": ITEM, "verdict": "deferred", "seen": [1, "x", b"short", name_id("odd 0")]}
    return [
        first,
        bea.write(*operations, late),
        bea.write(operation(name_id("last"), observed, kind="decision")),
    ]


def _dropped(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """A value that a person's own words cover leaves no trace: the state is that of the whole log."""
    first = anna.write(operation(TASK, {"text": "x" * 200, "title": "a"}))
    second = bea.write(operation(TASK, {"text": "y" * 200}, base=[first.head], by=AGENT))
    return [first.without(), second.without(), anna.write(operation(TASK, {"text": "z"}, base=[second.head]))]


def _dropped_wrongly(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """Values that still count, dropped by a member that may not: what is left of them is in the state."""
    first = anna.write(operation(TASK, {"text": "x" * 200, "deleted": "y" * 200}))
    note = bea.write(operation(TASK, {"text": "z" * 200}))
    return [first.without(), note.without()]


def _dropped_and_brought_whole(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """Of what is held without some values, another spelling brings what it has; fewer values take nothing."""
    words = {"text": "x" * 200, "note": "y" * 200, "rest": "z" * 200}
    first = anna.write(operation(TASK, words), operation(name_id("other"), {"text": "x" * 300}))
    after = bea.write(operation(TASK, {"note": "mine"}, base=[first.head]))
    return [first.without(), after, first.without("note", "rest"), first.without("text", "rest")]


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
    ("a field that one device wrote over and over", _written_over_and_over),
    ("a field that an agent wrote over and over", _written_over_by_lower_ranks),
    ("a field written over and over on both branches of a fork", _written_over_on_branches),
    ("writes that overtake, then are undone", _overtaken_then_undone),
    ("more effects of an item than count", _more_effects_than_count),
    ("effects on what an item names", _named_effects),
    ("what is founded is taken over by none", _taken_over),
    ("disputed", _disputed),
    *cases_presence.STORIES,
    ("decisions that are none", _odd_decisions),
    ("dropped values that a person's own words cover", _dropped),
    ("dropped values that still count", _dropped_wrongly),
    ("dropped values that another spelling brings", _dropped_and_brought_whole),
)


def states() -> list[Case]:
    """Return logs, and for each the state of every entity, the standing of every item, and the state hash."""
    cases = []
    for name, story in _STORIES:
        log = story(CommitWriter("anna"), CommitWriter("bea"))
        store = ReferenceStore()
        store.take([written_commit.signed for written_commit in log])
        folded = semantics.states(store)
        standings = {
            item: semantics.standing(opinion) for item, opinion in semantics.opinions_by_item(store).items()
        }
        entities = [
            {"id": raw.hex(), "state": fold.state.hex(), "visible": fold.visible}
            for raw, fold in folded.items()
        ]
        items = [{"id": raw.hex(), "status": s, "disputed": d} for raw, (s, d) in sorted(standings.items())]
        cases.append(
            {
                "name": name,
                "commits": [
                    [written_commit.body.hex(), written_commit.signature.hex()] for written_commit in log
                ],
                "vector": portable.value(store.vector()),
                "entities": entities,
                "items": items,
                "state_hash": semantics.state_hash(folded).hex(),
                "outcome": "ok",
            }
        )
    return cases
