"""Receipts of what members signed, put together so that they seem to show another decision than was made."""

import json
from typing import Any

import pytest

from daemon.agents.asks import ask_decisions, ask_requests
from daemon.agents.asks.ask_record import ASK, hash_of_args, read_ask, use_id
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.asks.ask_views import ask_details
from daemon.agents.person import lifecycle, presence_edits, standing_rules
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.agents.receipts.receipt_builder import make_receipt
from daemon.agents.receipts.receipt_check import check_receipt
from daemon.agents.receipts.receipt_form import Fact, ReceiptFault
from daemon.agents.receipts.statement import statement_of
from daemon.agents.tools.agent_record import agent_id
from store.fold.item_name import Presence, ask_id
from store.fold.verdicts import Verdict
from syncproto.commit import AuthorKind, Operation
from syncproto.ids import DeviceId, EntityId, ReplicaId, id_to_text
from syncproto.vector_clock import EMPTY_CLOCK, Head
from tests.support.fleet import DAY_MS, Fleet, Home

HOME, OTHER = DeviceId(bytes([1]) * 32), DeviceId(bytes([2]) * 32)
FIRST, SECOND = ReplicaId(bytes([3]) * 16), ReplicaId(bytes([4]) * 16)
AGENT, RULE = EntityId(bytes([5]) * 16), EntityId(bytes([6]) * 16)
HARMLESS, HARMFUL = {"command": "ls"}, {"command": "rm -r ."}


def name_of(presence: Presence | None = None) -> EntityId:
    return ask_id(AGENT, "k", HOME, presence)


def fact(
    entity: EntityId,
    kind: str,
    fields: dict[str, Any],
    *,
    by: AuthorKind = AuthorKind.AGENT,
    signer: DeviceId = HOME,
    replica: ReplicaId = FIRST,
    ms: int = 1,
) -> Fact:
    operation = Operation(entity, kind, EMPTY_CLOCK, fields, None, by, None)
    return Fact(operation, Head(replica, ms, bytes(32)), ms, 0, signer)


def asked(
    args: dict[str, Any], replica: ReplicaId = FIRST, presence: Presence | None = None, ms: int = 1
) -> Fact:
    fields: dict[str, Any] = {"agent_id": AGENT, "key": "k", "home": HOME, "name": "run", "args": args}
    needed = {} if presence is None else {"presence": presence.value}
    return fact(name_of(presence), ASK, fields | needed | {"not_after": 1 << 40}, replica=replica, ms=ms)


def decided(
    verdict: str,
    args: dict[str, Any],
    *,
    by: AuthorKind = AuthorKind.USER,
    signer: DeviceId = OTHER,
    presence: Presence | None = None,
    **more: Any,
) -> Fact:
    fields = {
        "item_id": name_of(presence),
        "verdict": verdict,
        "seen": [],
        "args_hash": hash_of_args("run", args, FIRST),
        **more,
    }
    return fact(EntityId(bytes([9]) * 16), "decision", fields, by=by, signer=signer, ms=5)


def stated(*facts: Fact, presence: Presence | None = None) -> dict[str, Any]:
    return statement_of(name_of(presence), None, facts)


def test_a_yes_to_other_arguments_under_the_same_id_permits_nothing() -> None:
    """The home device asks again as another replica, and puts the yes to its first ask beside it."""
    yes = decided("confirmed", HARMLESS)
    assert stated(asked(HARMLESS), yes)["status"] == "confirmed"
    forged = stated(asked(HARMFUL, SECOND), yes)
    assert (forged["status"], forged["verdicts"][0]["counts"]) == ("pending", False)
    again = asked(HARMFUL, SECOND, ms=2)
    for order in ([asked(HARMLESS), again], [again, asked(HARMLESS)]):
        both = stated(*order, yes)
        assert (both["args"], both["status"]) == (HARMFUL, "pending")


@pytest.mark.parametrize("by", [AuthorKind.SYSTEM, AuthorKind.AGENT])
@pytest.mark.parametrize("more", [{}, {"rule": RULE}])
def test_no_yes_counts_that_neither_a_person_nor_a_rule_gave(by: AuthorKind, more: dict[str, Any]) -> None:
    for signer in (HOME, OTHER):
        statement = stated(asked(HARMLESS), decided("confirmed", HARMLESS, by=by, signer=signer, **more))
        assert (statement["status"], statement["verdicts"][0]["counts"]) == ("pending", False)


def test_what_was_taken_back_is_stated_so_whatever_verdicts_need() -> None:
    for presence in (None, Presence.OTHER_DEVICE):
        back = decided("retracted", HARMLESS, by=AuthorKind.AGENT, signer=HOME, presence=presence)
        yes = decided("confirmed", HARMLESS, presence=presence)
        ask = asked(HARMLESS, presence=presence)
        assert stated(ask, back, presence=presence)["status"] == "retracted"
        assert stated(ask, yes, back, presence=presence)["status"] == "retracted"


def test_a_use_for_arguments_that_nobody_permitted_is_stated_so() -> None:
    def used(args: dict[str, Any]) -> Fact:
        fields = {"execution_id": "x", "args_hash": hash_of_args("run", args, FIRST)}
        return fact(use_id(name_of(), FIRST), "use", fields, ms=9)

    yes = decided("confirmed", HARMLESS)
    statement = stated(asked(HARMLESS), yes, used(HARMLESS))
    assert ([use["permitted"] for use in statement["uses"]], statement["status"]) == ([True], "used")
    statement = stated(asked(HARMLESS), yes, used(HARMFUL))
    assert [use["permitted"] for use in statement["uses"]] == [False]


# -- receipts that a daemon makes -------------------------------------------------------------------------


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    return agent_id(task)


def make_ask(home: Home, agent: EntityId, key: str = "k") -> EntityId:
    request = NewAsk(
        agent="x", name="run", args=HARMLESS, title="Run", key=key, not_after=home.now_ms() + DAY_MS
    )
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, request))


def make_rule(home: Home, agent: EntityId) -> EntityId:
    until = home.now_ms() + DAY_MS
    request = NewStandingRule(agent="x", name="run", exact=HARMLESS, until=until, uses_a_day=5)
    return home.write(lambda tx: standing_rules.make_rule(tx, agent, request, until))


def use(home: Home, name: EntityId) -> None:
    def spend(tx: Any) -> str:
        ask = read_ask(tx, name)
        assert ask is not None
        return ask_requests.use_permission(tx, name, ask.args_hash, "once").result

    assert home.write(spend) == "granted"


def checked(home: Home, name: EntityId) -> dict[str, Any]:
    receipt = home.read(lambda snapshot: make_receipt(snapshot, name))
    return check_receipt(json.dumps(receipt).encode())


def state(home: Home, name: EntityId) -> str:
    def shown(snapshot: Any) -> str:
        ask = read_ask(snapshot, name)
        assert ask is not None
        return ask_details(snapshot, ask, home.now_ms()).state

    return home.read(shown)


def test_a_rule_that_was_revoked_before_its_use_permits_nothing(
    fleet: Fleet, a: Home, agent: EntityId
) -> None:
    rule, unused = make_rule(a, agent), make_ask(a, agent)
    spent = make_ask(a, agent, "2")
    use(a, spent)
    fleet.now_ms += 1
    assert checked(a, unused)["status"] == "confirmed"
    a.write(lambda tx: standing_rules.revoke_rule(tx, rule))
    assert (state(a, unused), state(a, spent)) == ("pending", "used")
    statement = checked(a, unused)
    assert (statement["status"], statement["verdicts"][0]["counts"]) == ("pending", False)
    assert statement["rules"][0]["revoked"]["device"] == a.signer.device.hex()
    statement = checked(a, spent)
    assert (statement["status"], statement["verdicts"][0]["counts"]) == ("used", True)


def test_what_a_rule_of_another_device_permitted_is_stated_as_permitted(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: presence_edits.set_presence(tx, agent, "all", "other_device", has_other_devices=True))
    fleet.sync()
    make_rule(b, agent)
    fleet.sync()
    name = make_ask(a, agent)
    assert state(a, name) == "permitted"
    statement = checked(a, name)
    assert (statement["status"], statement["verdicts"][0]["counts"]) == ("confirmed", True)


def test_no_rule_is_stated_by_which_nothing_was_permitted(fleet: Fleet, a: Home, agent: EntityId) -> None:
    make_rule(a, agent)
    permitted = make_ask(a, agent)
    other = a.write(
        lambda tx: ask_requests.make_ask(
            tx,
            agent,
            NewAsk(agent="x", name="run", args=HARMFUL, title="R", key="3", not_after=a.now_ms() + DAY_MS),
        )
    )
    a.write(lambda tx: ask_decisions.decide(tx, other, Verdict.CONFIRMED, reason=None, via="cli"))
    with_rule = a.read(lambda snapshot: make_receipt(snapshot, permitted))
    receipt = a.read(lambda snapshot: make_receipt(snapshot, other))
    receipt["proofs"] += with_rule["proofs"]
    assert check_receipt(json.dumps(receipt).encode())["rules"] == []


def test_a_proof_that_is_repeated_is_refused(fleet: Fleet, a: Home, agent: EntityId) -> None:
    """One use, stated as two."""
    name = make_ask(a, agent)
    a.write(lambda tx: ask_decisions.decide(tx, name, Verdict.CONFIRMED, reason=None, via="cli"))
    use(a, name)
    receipt = a.read(lambda snapshot: make_receipt(snapshot, name))
    doubled = {
        "proofs": receipt["proofs"] + receipt["proofs"][-1:],
        "statement": receipt["statement"] | {"uses": receipt["statement"]["uses"] * 2},
    }
    with pytest.raises(ReceiptFault):
        check_receipt(json.dumps(receipt | doubled).encode())
