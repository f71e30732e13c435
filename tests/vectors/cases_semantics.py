"""Cases for what commits mean: clocks, acceptance and verdicts.

Never imports what they check.
"""

from itertools import combinations
from typing import Any

from tests.vectors import portable, semantics, wire
from tests.vectors.commit_writer import START_MS, CommitWriter, name_id, operation
from tests.vectors.semantics import AGENT, USER, Head, ReferenceChains, ReferenceOpinion, ReferenceStore
from tests.vectors.wire import InvalidEncoding

Case = dict[str, Any]
TASK = name_id("a task")


# -- clocks -------------------------------------------------------------------------------------------


def _chains() -> tuple[ReferenceChains, list[Head]]:
    """Return a replica that is one chain, and one that forked twice, the second time on a branch."""
    chains = ReferenceChains()
    plain, forked = name_id("one chain"), name_id("a fork")
    before: dict[str, str | None] = {"p1": None, "p2": "p1", "p3": "p2"}
    before |= {"f1": None, "f2": "f1", "f3a": "f2", "f4a": "f3a", "f3b": "f2", "f4b": "f3b", "f4c": "f3b"}
    heads = {name: (plain if name[0] == "p" else forked, int(name[1]), name.encode() * 16) for name in before}
    for name, parent in before.items():
        chains.before[heads[name]] = None if parent is None else heads[parent]
    return chains, list(heads.values())


def clocks() -> Case:
    """Return commits by what each follows, and for every pair and triple of clocks what they come to."""
    chains, heads = _chains()
    small = [chains.join(some) for size in (0, 1, 2) for some in combinations(heads, size)]
    distinct = [list(clock) for clock in sorted({tuple(clock) for clock in small})]
    place = {head: index for index, head in enumerate(heads)}

    def places(clock: list[Head]) -> list[int]:
        return [place[head] for head in clock]

    covers = [
        {"clock": places(clock), "covers": [place[head] for head in heads if head in chains.covered(clock)]}
        for clock in distinct
    ]
    unions = [
        {"one": places(element), "other": places(other), "union": places(chains.join([*element, *other]))}
        for element, other in combinations(distinct, 2)
    ]
    return {
        "heads": portable.value(heads),
        "before": [None if (b := chains.before[head]) is None else place[b] for head in heads],
        "covers": covers,
        "unions": unions,
    }


# -- verdicts -----------------------------------------------------------------------------------------

_OPINIONS: tuple[tuple[str, list[tuple[str, str, int, str]]], ...] = (
    ("no decision", []),
    ("confirmed", [("a", "confirmed", USER, "")]),
    ("rejected", [("a", "rejected", USER, "")]),
    ("confirmed twice while apart", [("a", "confirmed", USER, ""), ("b", "confirmed", USER, "")]),
    ("confirmed and rejected while apart", [("a", "confirmed", USER, ""), ("b", "rejected", USER, "")]),
    ("confirmed and undone while apart", [("a", "confirmed", USER, ""), ("b", "undone", USER, "")]),
    ("undone by one who saw it confirmed", [("a", "confirmed", USER, ""), ("b", "undone", USER, "a")]),
    ("confirmed again", [
        ("a", "confirmed", USER, ""), ("b", "undone", USER, "a"), ("c", "confirmed", USER, "ab")]),
    ("a dispute settled by rejecting", [
        ("a", "confirmed", USER, ""), ("b", "rejected", USER, ""), ("c", "rejected", USER, "ab")]),
    ("a dispute settled by confirming", [
        ("a", "confirmed", USER, ""), ("b", "rejected", USER, ""), ("c", "confirmed", USER, "ab")]),
    ("a dispute half settled", [
        ("a", "confirmed", USER, ""), ("b", "rejected", USER, ""), ("c", "confirmed", USER, "a")]),
    ("deferred", [("a", "deferred", USER, "")]),
    ("deferred and confirmed while apart", [("a", "deferred", USER, ""), ("b", "confirmed", USER, "")]),
    ("deferred and rejected while apart", [("a", "deferred", USER, ""), ("b", "rejected", USER, "")]),
    ("reopened", [("a", "rejected", USER, ""), ("b", "reopened", USER, "a")]),
    ("reopened and confirmed while apart", [("a", "reopened", USER, ""), ("b", "confirmed", USER, "")]),
    ("reopened and deferred while apart", [("a", "reopened", USER, ""), ("b", "deferred", USER, "")]),
    ("retracted by an agent", [("a", "retracted", AGENT, "")]),
    ("retracted by an agent, confirmed by a person", [
        ("a", "retracted", AGENT, ""), ("b", "confirmed", USER, "")]),
    ("confirmed by a person, retracted by an agent who saw it", [
        ("a", "confirmed", USER, ""), ("b", "retracted", AGENT, "a")]),
    ("an agent's word has no weight where a person spoke", [
        ("a", "deferred", USER, ""), ("b", "confirmed", AGENT, "a")]),
    ("the system's word counts like an agent's", [("a", "retracted", 0, "")]),
    ("two that have each seen the other", [("a", "confirmed", USER, "b"), ("b", "rejected", USER, "a")]),
    ("one that has seen itself", [("a", "confirmed", USER, "a")]),
    ("one that has seen what is not held", [("a", "confirmed", USER, "z")]),
)  # fmt: skip


def verdicts() -> list[Case]:
    """Return decisions on an item, and what they amount to."""
    cases = []
    for name, spoken in _OPINIONS:
        opinions = [
            ReferenceOpinion(name_id(text), verdict, by, {name_id(x) for x in observed})
            for text, verdict, by, observed in spoken
        ]
        status, disputed = semantics.standing(opinions)
        decisions = [
            {"decision": text, "verdict": verdict, "by": by, "seen": list(observed)}
            for text, verdict, by, observed in spoken
        ]
        standing = {"status": status, "disputed": disputed}
        cases.append({"name": name, "decisions": decisions, "standing": standing, "outcome": "ok"})
    return cases


# -- acceptance ---------------------------------------------------------------------------------------

Page = list[tuple[bytes, bytes]]


def _runs() -> dict[str, tuple[list[Page], list[str]]]:
    """Return pages in the order of their arrival, and what should become of each."""
    anna, bea = CommitWriter("anna"), CommitWriter("bea")
    a1, a2, a3 = (anna.write(operation(TASK, {"n": n})) for n in range(3))
    b1 = bea.write(operation(TASK, {"n": 9}, base=[a2.head]))
    thief = CommitWriter("bea")
    thief.usurp(anna)
    stolen = thief.write(operation(TASK, {}))
    unsigned, wrong = (a1.body, b""), (a1.body, a2.signature)
    altered = (a2.body.replace(b"\xa1n\x01", b"\xa1n\x07"), a2.signature)
    return {
        "one at a time": ([[a1.signed], [a2.signed], [b1.signed]], ["ok"] * 3),
        "a run with one signature at its end": ([[unsigned, (a2.body, b""), a3.signed]], ["ok"]),
        "a run that ends without signature": (
            [[a1.signed, (a2.body, b"")], [a1.signed]], ["bad-signature", "ok"]),
        "a run inside which a signature is wrong": ([[wrong, a2.signed]], ["ok"]),
        "a run whose end is signed wrongly": ([[wrong]], ["bad-signature"]),
        "two runs, one without signature": ([[a1.signed, a2.signed, (b1.body, b"")], [a1.signed]],
                                            ["bad-signature", "ok"]),
        "a gap": ([[a1.signed], [a3.signed], [a2.signed, a3.signed]], ["ok", "gap", "ok"]),
        "an unknown replica's second commit": ([[a2.signed]], ["gap"]),
        "the wrong way round": ([[a2.signed, a1.signed]], ["gap"]),
        "a cause that is not held": ([[a1.signed], [b1.signed]], ["ok", "unknown-base"]),
        "a cause in the same page": ([[a1.signed, a2.signed, b1.signed]], ["ok"]),
        "all held already": ([[a1.signed, a2.signed], [a1.signed, a2.signed]], ["ok", "ok"]),
        "some held already, without signature": ([[a1.signed], [unsigned, a2.signed]], ["ok", "ok"]),
        "another device's replica": ([[a1.signed], [stolen.signed]], ["ok", "foreign-replica"]),
        "another device's replica, before its own first commit comes": (
            [[stolen.signed], [a1.signed, a2.signed]], ["foreign-replica", "ok"]),
        "an altered commit": ([[a1.signed], [altered]], ["ok", "bad-signature"]),
        **_odd_runs(),
        **_dropped(),
    }  # fmt: skip


def _dropped() -> dict[str, tuple[list[Page], list[str]]]:
    """Return pages with commits of which values were dropped."""
    anna = CommitWriter("anna")
    a1 = anna.write(operation(TASK, {"text": "x" * 200, "note": "y" * 200}))
    a2 = anna.write(operation(TASK, {"text": "z"}, base=[a1.head]))
    bare, half = a1.without(), a1.without("text")
    other = (bare.body.replace(wire.dropped("x" * 200).data, bytes(32)), bare.signature)
    return {
        "a commit without its long values": ([[bare.signed], [a2.signed]], ["ok", "ok"]),
        "in a run, and not signed": ([[(bare.body, b""), a2.signed]], ["ok"]),
        "held whole, and brought again without": ([[a1.signed], [bare.signed, a2.signed]], ["ok", "ok"]),
        "held without, and brought again whole": ([[bare.signed], [a1.signed, a2.signed]], ["ok", "ok"]),
        "the same, dropped in three ways": ([[bare.signed, half.signed, a1.signed, a2.signed]], ["ok"]),
        "a dropped value with another digest": ([[other], [bare.signed]], ["bad-signature", "ok"]),
    }


def _odd_runs() -> dict[str, tuple[list[Page], list[str]]]:
    """Return pages of forks, and of commits that rest on what cannot be."""
    anna = CommitWriter("anna")
    a1 = anna.write(operation(TASK, {"n": 1}))
    other = anna.branch()
    a2, b2 = anna.write(operation(TASK, {"n": 2}, base=[a1.head])), other.write(operation(TASK, {"n": 3}))
    a3, b3 = anna.write(operation(TASK, {"n": 4}, base=[b2.head])), other.write(operation(TASK, {"n": 5}))
    twin = CommitWriter("anna").write(operation(TASK, {"n": 6}), ms=START_MS)
    bea = CommitWriter("bea")
    b1 = bea.write(operation(TASK, {}))
    self_based = bea.write(operation(TASK, {}, base=[(bea.replica, 2, b"\x01" * 32)]))
    unmatched = CommitWriter("bea").write(operation(TASK, {}, base=[(a1.head[0], 1, b"\x01" * 32)]))
    return {
        "a fork": ([[a1.signed, a2.signed], [b2.signed, b3.signed]], ["ok", "ok"]),
        "a fork in one page, each branch signed at its end": (
            [[a1.signed, (a2.body, b""), b2.signed, a3.signed]], ["ok"]),
        "a fork in one page, one branch unsigned at its end": (
            [[a1.signed, a2.signed, (b2.body, b"")]], ["bad-signature"]),
        "a fork whose other branch is the cause": (
            [[a1.signed, a2.signed], [a3.signed], [b2.signed, a3.signed]],
            ["ok", "unknown-base", "ok"]),
        "a fork at the first commit": ([[a1.signed], [twin.signed]], ["ok", "ok"]),
        "a branch without its beginning": ([[a1.signed, a2.signed], [b3.signed]], ["ok", "gap"]),
        "a commit that rests on itself": ([[b1.signed], [self_based.signed]], ["ok", "future-base"]),
        "a cause with another hash": ([[a1.signed], [unmatched.signed]], ["ok", "unknown-base"]),
        "bytes that are no commit": ([[a1.signed, (b"\xc0", bytes(64))], [a1.signed]], ["malformed", "ok"]),
        "a signature of 63 bytes": ([[(a1.body, bytes(63))]], ["malformed"]),
    }  # fmt: skip


def pages() -> list[Case]:
    """Return pages in order of arrival, each with its outcome; what is refused changes nothing."""
    cases = []
    for name, (arriving, outcomes) in _runs().items():
        store, answer = ReferenceStore(), []
        for page, outcome in zip(arriving, outcomes, strict=True):
            new, text = _taken(store, page)
            assert text == outcome, (name, text, outcome)
            commits = [[portable.raw(body), signature.hex()] for body, signature in page]
            answer.append({"commits": commits, "outcome": outcome, "new": new})
        remaining = {portable_head(head): signature.hex() for head, signature in store.checked.items()}
        cases.append(
            {"name": name, "pages": answer, "vector": portable.value(store.vector()), "signatures": remaining}
        )
    return cases


def portable_head(head: Head) -> str:
    """Write a head as one word."""
    return f"{head[0].hex()}:{head[1]}:{head[2].hex()}"


def _taken(store: ReferenceStore, page: Page) -> tuple[int, str]:
    try:
        return store.take(page), "ok"
    except InvalidEncoding as fault:
        return 0, fault.outcome
