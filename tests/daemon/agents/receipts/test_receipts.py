"""Receipts: what they state follows from signatures alone, and no altered one passes."""

import base64
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.asks import ask_decisions, ask_requests
from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.person import lifecycle, presence_edits, standing_rules
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.agents.receipts.receipt_builder import make_receipt
from daemon.agents.receipts.receipt_check import check_receipt
from daemon.agents.receipts.receipt_form import BYTES_MAX, COMMITS_MAX, PROOFS_MAX, ReceiptFault
from daemon.agents.tools.agent_record import agent_id
from store.fold.verdicts import Verdict
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, reject
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.vectors import generate

ARGS = {"command": "npm test", "in": "/srv"}


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    return agent_id(task)


def ask(home: Home, agent: EntityId, key: str = "1", **changed: Any) -> EntityId:
    fields: dict[str, Any] = {
        "agent": "x",
        "name": "run",
        "args": ARGS,
        "title": "Run the tests",
        "key": key,
        "not_after": home.now_ms() + DAY_MS,
    }
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, NewAsk(**(fields | changed))))


def decide(home: Home, name: EntityId, verdict: Verdict, **how: Any) -> None:
    home.fleet.now_ms += 1
    how = {"reason": None, "via": "cli", **how}
    home.write(lambda tx: ask_decisions.decide(tx, name, verdict, **how))


def use(home: Home, name: EntityId) -> None:
    def spend(tx: Transaction) -> None:
        stored = read_ask(tx, name)
        assert stored is not None
        assert ask_requests.use_permission(tx, name, stored.args_hash, "once").result == "granted"

    home.fleet.now_ms += 1
    home.write(spend)


def receipt_of(home: Home, name: EntityId) -> dict[str, Any]:
    return home.read(lambda snapshot: make_receipt(snapshot, name))


def checked(receipt: object) -> dict[str, Any]:
    return check_receipt(json.dumps(receipt).encode())


@pytest.fixture
def used(fleet: Fleet, a: Home, b: Home, agent: EntityId) -> EntityId:
    """An ask that was made on `a`, permitted on `b`, and used on `a`."""
    name = ask(a, agent)
    fleet.sync()
    decide(b, name, Verdict.CONFIRMED, reason="fine")
    fleet.sync()
    use(a, name)
    fleet.sync()
    return name


def test_it_states_the_same_wherever_it_is_made(a: Home, b: Home, used: EntityId) -> None:
    for home in (a, b):
        statement = checked(receipt_of(home, used))
        assert (statement["action"], statement["args"], statement["device"]) == (
            "run",
            ARGS,
            a.signer.device.hex(),
        )
        (verdict,) = statement["verdicts"]
        assert (verdict["verdict"], verdict["reason"], verdict["device"], verdict["counts"]) == (
            "confirmed",
            "fine",
            b.signer.device.hex(),
            True,
        )
        assert statement["status"] == "used"
        assert [spent["execution_id"] for spent in statement["uses"]] == ["once"]


def test_a_commit_inside_a_run_is_shown_by_the_signature_at_its_end(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    """What comes with others in one page keeps only the signature at the end of the run."""
    name = ask(a, agent)
    decide(a, name, Verdict.REJECTED, reason="no")
    a.new("task", title="x" * 500, entry="a long word of the person " * 20)
    fleet.sync()
    receipt = receipt_of(b, name)
    assert max(len(proof["commits"]) for proof in receipt["proofs"]) > 1
    assert checked(receipt)["status"] == "rejected"
    assert "a long word" not in json.dumps(receipt)
    assert b"a long word".hex() not in json.dumps(receipt)


def test_a_verdict_that_does_not_count_is_stated_as_such(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.write(lambda tx: presence_edits.set_presence(tx, agent, "all", "other_device", has_other_devices=True))
    name = ask(a, agent)
    decide(a, name, Verdict.CONFIRMED)
    assert checked(receipt_of(a, name))["status"] == "pending"
    fleet.sync()
    decide(b, name, Verdict.CONFIRMED)
    statement = checked(receipt_of(b, name))
    assert statement["status"] == "confirmed"
    assert sorted(verdict["counts"] for verdict in statement["verdicts"]) == [False, True]


def test_what_a_rule_permitted_is_stated_with_the_rule(a: Home, agent: EntityId) -> None:
    until = a.now_ms() + DAY_MS
    request = NewStandingRule(agent="x", name="run", exact=ARGS, until=until, uses_a_day=1)
    rule = a.write(lambda tx: standing_rules.make_rule(tx, agent, request, until))
    name = ask(a, agent)
    use(a, name)
    statement = checked(receipt_of(a, name))
    assert [stated["rule"] for stated in statement["rules"]] == [id_to_text(rule)]
    assert [verdict["rule"] for verdict in statement["verdicts"]] == [id_to_text(rule)]
    assert len(statement["uses"]) == 1


def test_a_proposal_has_a_receipt_too(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(b, item)
    reject(a, item, "too long")
    fleet.sync()
    statement = checked(receipt_of(a, item))
    assert (statement["kind"], statement["tool"], statement["status"]) == (
        "proposal",
        "update_task_estimate",
        "disputed",
    )


def test_a_proposal_that_follows_a_decided_one_has_a_receipt(a: Home, task: EntityId) -> None:
    first = a.estimate(task, 120)
    confirm(a, first)
    confirm(a, a.estimate(task, 30, "less"))
    second = a.estimate(task, 120, "later")
    receipt = receipt_of(a, second)
    assert (receipt["follows"], checked(receipt)["status"]) == (id_to_text(first), "pending")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in a receipt that is no list and no map."""
    if isinstance(value, dict):
        for key, element in value.items():
            yield from leaves(element, (*path, key))
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from leaves(element, (*path, number))
    else:
        yield path


def replaced(receipt: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    copied = copy.deepcopy(receipt)
    place: Any = copied
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copied


def altered(value: Any) -> list[Any]:
    if isinstance(value, str):
        turned = "".join(chr(ord(sign) ^ 1) for sign in value[:1]) + value[1:]
        return [
            turned,
            value + "0",
            value[:-1],
            value.upper() if value.upper() != value else value + "x",
            None,
        ]
    return [
        None if value is not None else "x",
        "x",
        [value],
        {"x": value},
        *([not value] if value in (True, False) else [7]),
    ]


def test_no_altered_receipt_passes(a: Home, used: EntityId) -> None:
    receipt = receipt_of(a, used)
    for path in leaves(receipt):
        value: Any = receipt
        for step in path:
            value = value[step]
        for other in altered(value):
            if other != value or type(other) is not type(value):
                try:
                    checked(replaced(receipt, path, other))
                except ReceiptFault:
                    continue
                pytest.fail(f"{path}: {other!r}")


def test_no_proof_can_be_left_out_or_exchanged(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, used: EntityId
) -> None:
    receipt = receipt_of(a, used)
    for number in range(len(receipt["proofs"])):
        with pytest.raises(ReceiptFault):
            checked(receipt | {"proofs": [*receipt["proofs"][:number], *receipt["proofs"][number + 1 :]]})
    other = ask(a, agent, "2")
    decide(a, other, Verdict.REJECTED)
    with pytest.raises(ReceiptFault):
        checked(receipt | {"id": id_to_text(other)})
    with pytest.raises(ReceiptFault):
        checked(receipt_of(a, other) | {"statement": receipt["statement"]})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"format": "placet-receipt"}',
        b'{"format": "placet-receipt", "version": 2}',
        b'{"format": "placet-receipt", "version": 1, "id": 7, "follows": 1, "statement": 1, "proofs": []}',
        b" " * (BYTES_MAX + 1),
    ],
)
def test_what_is_no_receipt_is_refused(text: bytes) -> None:
    with pytest.raises(ReceiptFault):
        check_receipt(text)


def test_files_of_the_second_implementation_hold_or_are_refused_for_what_is_wrong() -> None:
    """The page of the format, docs/reference/receipts.md, is all that it knows."""
    outcomes = {}
    for case in json.loads(generate.path("receipts").read_text("utf-8")):
        text = bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode()
        try:
            check_receipt(text)
            outcome = "ok"
        except ReceiptFault as fault:
            outcome = fault.sentence.id.removeprefix("receipt-").removeprefix("no-")
        if outcome != case["outcome"]:
            outcomes[case["name"]] = outcome
    assert not outcomes


def test_the_number_of_proofs_and_commits_is_bounded(a: Home, used: EntityId) -> None:
    receipt = receipt_of(a, used)
    proof = receipt["proofs"][0]
    beyond = [
        {"proofs": [proof] * (PROOFS_MAX + 1)},
        {"proofs": [proof | {"commits": proof["commits"] * (COMMITS_MAX + 1)}]},
    ]
    for proofs in beyond:
        with pytest.raises(ReceiptFault):
            checked(receipt | proofs)


@given(st.binary(max_size=200), st.integers(0, 1 << 20))
def test_any_bytes_in_the_place_of_a_commit_are_refused(noise: bytes, place: int) -> None:
    text = base64.b64encode(noise).decode()
    proof = {"key": "00" * 32, "nonce": "00" * 32, "commits": [text], "signature": "00" * 64}
    receipt = {
        "format": "placet-receipt",
        "version": 1,
        "id": f"{place:032x}",
        "follows": None,
        "statement": {},
        "proofs": [proof],
    }
    with pytest.raises(ReceiptFault):
        checked(receipt)
