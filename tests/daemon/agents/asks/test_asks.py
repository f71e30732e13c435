"""Asks: permission for something outside the journal, given by a person, used at most once."""

from dataclasses import replace
from typing import Any

import pytest

from daemon.agents.asks import ask_decisions, ask_requests, ask_views
from daemon.agents.asks.ask_record import grant_on, read_ask, use_id
from daemon.agents.asks.ask_requests import NewAsk, UsedPermission
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.person import lifecycle, presence_edits
from daemon.agents.tools.agent_record import agent_id
from daemon.refusal import RefusalCode, Refused
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from store.upkeep.verification import verify_store
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, ReplicaId, id_to_text
from tests.support.fleet import DAY_MS, Fleet, Home


def an_ask(home: Home, **changed: Any) -> NewAsk:
    fields: dict[str, Any] = {
        "agent": "x",
        "name": "send_mail",
        "args": {"to": "ana@example.org", "text": "See you"},
        "title": "Send Ana a mail",
        "key": "mail 1",
        "not_after": home.now_ms() + DAY_MS,
    }
    return NewAsk(**(fields | changed))


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    return agent_id(task)


def ask(home: Home, agent: EntityId, **changed: Any) -> EntityId:
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, an_ask(home, **changed)))


def decide(home: Home, ask: EntityId, verdict: Verdict, **how: Any) -> DecisionResult:
    how = {"reason": None, "via": "cli", **how}
    return home.write(lambda tx: ask_decisions.decide(tx, ask, verdict, **how))


def details(home: Home, ask: EntityId) -> ask_views.AskDetails:
    def read(snapshot: Any) -> ask_views.AskDetails:
        stored = read_ask(snapshot, ask)
        assert stored is not None
        return ask_views.ask_details(snapshot, stored, home.now_ms())

    return home.read(read)


def use(home: Home, ask: EntityId, execution: str = "run 1", args_hash: str | None = None) -> UsedPermission:
    wanted = bytes.fromhex(args_hash or details(home, ask).args_hash)
    return home.write(lambda tx: ask_requests.use_permission(tx, ask, wanted, execution))


def test_a_yes_from_another_device_is_used_once(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    identifier = ask(a, agent, options=["now", "tomorrow"])
    assert use(a, identifier).result is UseResult.PENDING
    fleet.sync()
    assert details(b, identifier).state == "pending"
    assert decide(b, identifier, Verdict.CONFIRMED, option="tomorrow").result is DecisionOutcome.APPLIED
    fleet.sync()
    granted = use(a, identifier)
    assert (granted.result, granted.option) == (UseResult.GRANTED, "tomorrow")
    assert granted.args == {"to": "ana@example.org", "text": "See you"}
    assert use(a, identifier).result is UseResult.GRANTED
    assert use(a, identifier, "run 2").result is UseResult.ALREADY_USED
    fleet.sync()
    assert {details(home, identifier).state for home in (a, b)} == {"used"}
    assert details(b, identifier).execution_id == "run 1"
    assert use(b, identifier, "run 3").result is UseResult.RESTORED
    for home in (a, b):
        assert home.read(lambda snapshot: verify_store(snapshot, lambda *_: None)).findings == ()


def test_the_same_key_is_the_same_ask_and_no_other(a: Home, agent: EntityId):
    identifier = ask(a, agent)
    assert ask(a, agent) == identifier
    with pytest.raises(Refused):
        ask(a, agent, args={"to": "eve@example.org"})
    assert ask(a, agent, key="mail 2", args={"to": "eve@example.org"}) != identifier


def test_what_a_person_edited_is_what_is_granted(fleet: Fleet, a: Home, agent: EntityId):
    identifier = ask(a, agent)
    before = details(a, identifier).args_hash
    decide(a, identifier, Verdict.CONFIRMED, edit={"text": "See you at eight"})
    assert use(a, identifier, args_hash=before).result is UseResult.CHANGED
    granted = use(a, identifier)
    assert (granted.result, granted.args) == (
        UseResult.GRANTED,
        {"to": "ana@example.org", "text": "See you at eight"},
    )
    verdict = details(a, identifier).verdict
    assert verdict is not None
    assert verdict.edited


def device_of(home: Home) -> str:
    def read(snapshot: Snapshot) -> str:
        assert snapshot.replica is not None
        return snapshot.device_of(snapshot.replica).hex()

    return home.read(read)


def test_an_agent_reads_why_it_was_refused(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    identifier = ask(a, agent)
    assert details(a, identifier).verdict is None
    fleet.sync()
    decide(b, identifier, Verdict.REJECTED, reason="Not before the weekend.")
    fleet.sync()
    verdict = details(a, identifier).verdict
    assert verdict is not None
    assert (verdict.device, verdict.reason) == (device_of(b), "Not before the weekend.")
    decide(a, identifier, Verdict.REOPENED)
    assert details(a, identifier).verdict is None
    decide(a, identifier, Verdict.REJECTED)
    verdict = details(a, identifier).verdict
    assert verdict is not None
    assert (verdict.device, verdict.reason) == (device_of(a), None)


def test_a_yes_that_comes_late_is_kept_and_not_used(fleet: Fleet, a: Home, agent: EntityId):
    identifier = ask(a, agent)
    fleet.now_ms += 2 * DAY_MS
    assert details(a, identifier).state == "expired"
    result = decide(a, identifier, Verdict.CONFIRMED)
    assert (result.result, result.message_id) == (DecisionOutcome.APPLIED, "ask-permitted-late")
    assert details(a, identifier).state == "too_late"
    assert use(a, identifier).result is UseResult.EXPIRED


def test_verdicts_of_two_devices_that_differ_grant_nothing(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    identifier = ask(a, agent)
    fleet.sync()
    decide(a, identifier, Verdict.CONFIRMED)
    decide(b, identifier, Verdict.REJECTED)
    fleet.sync()
    assert use(a, identifier).result is UseResult.DISPUTED
    decide(b, identifier, Verdict.REJECTED)
    fleet.sync()
    assert use(a, identifier).result is UseResult.REJECTED


def test_a_yes_that_was_taken_back_or_withdrawn_grants_nothing(fleet: Fleet, a: Home, agent: EntityId):
    identifier, other = ask(a, agent), ask(a, agent, key="mail 2")
    for element in (identifier, other):
        decide(a, element, Verdict.CONFIRMED)
    decide(a, identifier, Verdict.UNDONE)
    assert use(a, identifier).result is UseResult.REJECTED
    a.write(lambda tx: ask_requests.withdraw(tx, other, "not needed"))
    assert use(a, other).result is UseResult.WITHDRAWN
    assert decide(a, other, Verdict.CONFIRMED).result is DecisionOutcome.OBSOLETE


def test_what_was_used_is_neither_taken_back_nor_withdrawn(a: Home, agent: EntityId):
    identifier = ask(a, agent)
    decide(a, identifier, Verdict.CONFIRMED)
    use(a, identifier)
    assert decide(a, identifier, Verdict.UNDONE).result is DecisionOutcome.OBSOLETE
    a.write(lambda tx: ask_requests.withdraw(tx, identifier))
    assert details(a, identifier).state == "used"
    assert use(a, identifier).result is UseResult.GRANTED


def test_an_agent_that_may_not_act_any_more_uses_nothing(a: Home, agent: EntityId):
    identifier, other = ask(a, agent), ask(a, agent, key="mail 2")
    decide(a, identifier, Verdict.CONFIRMED)
    decide(a, other, Verdict.CONFIRMED)
    presence = {"tool_name": "all", "presence": "other_device", "has_other_devices": True}
    a.write(lambda tx: presence_edits.set_presence(tx, agent, **presence))  # type: ignore[arg-type]
    assert use(a, identifier).result is UseResult.POLICY_CHANGED
    a.write(lambda tx: lifecycle.pause_agent(tx, agent, None))
    assert use(a, other).result is UseResult.POLICY_CHANGED
    with pytest.raises(Refused):
        ask(a, agent, key="mail 3")


def test_a_yes_on_the_agents_device_does_not_count_if_another_is_needed(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    presence = {"tool_name": "all", "presence": "other_device", "has_other_devices": True}
    a.write(lambda tx: presence_edits.set_presence(tx, agent, **presence))  # type: ignore[arg-type]
    identifier = ask(a, agent)
    assert decide(a, identifier, Verdict.CONFIRMED).result is DecisionOutcome.NOT_COUNTED
    assert use(a, identifier).result is UseResult.PENDING
    assert [idle.lacks for idle in details(a, identifier).idle_verdicts] == ["other_device"]
    assert details(a, identifier).poll_after_ms == ask_views.POLL_AFTER_MS
    fleet.sync()
    decide(b, identifier, Verdict.CONFIRMED)
    fleet.sync()
    permitted = details(a, identifier)
    assert permitted.verdict is not None
    assert (permitted.verdict.presence, permitted.poll_after_ms) == ("other_device", None)
    assert use(a, identifier).result is UseResult.GRANTED


def test_a_yes_from_before_a_restore_is_none_to_what_is_asked_after_it(a: Home, agent: EntityId):
    identifier = ask(a, agent)
    decide(a, identifier, Verdict.CONFIRMED)
    stored = a.read(lambda snapshot: read_ask(snapshot, identifier))
    assert stored is not None
    again = replace(stored, replica=ReplicaId(bytes(16)))
    decisions = a.read(lambda snapshot: snapshot.decisions_on(identifier))
    assert grant_on(stored, decisions) is not None
    assert grant_on(again, decisions) is None


def test_nobody_changes_what_was_asked_or_tells_of_a_use(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    identifier = ask(a, agent)
    decide(a, identifier, Verdict.CONFIRMED)
    fleet.sync()
    stored = b.read(lambda snapshot: read_ask(snapshot, identifier))
    assert stored is not None
    forged: dict[str, Any] = {
        "ask_id": identifier,
        "execution_id": "eve",
        "args_hash": stored.args_hash,
        "home": stored.home,
    }
    b.write(
        lambda tx: tx.commit(
            [
                EntityWrite(identifier, "ask", {"args": {"to": "eve@example.org"}}),
                EntityWrite(use_id(identifier, stored.replica), "use", dict(forged)),
            ],
            by=AuthorKind.AGENT,
        )
    )
    fleet.sync()
    assert details(a, identifier).state == details(b, identifier).state == "permitted"
    granted = use(a, identifier, "run 1")
    assert (granted.result, granted.args) == (
        UseResult.GRANTED,
        {"to": "ana@example.org", "text": "See you"},
    )
    assert use(a, identifier, "eve").result is UseResult.ALREADY_USED


@pytest.mark.parametrize(
    "changed",
    [
        {"not_after": 1},
        {"not_after": 253402300799000},
        {"title": " "},
        {"title": "x" * 201},
        {"key": ""},
        {"key": "k" * 201},
        {"options": [str(number) for number in range(7)]},
        {"options": ["yes", "yes"]},
        {"args": {"text": "\u202e" * 9000}},
        {"args": {"number": 1 << 70}},
        {"args": {"deep": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}},
    ],
)
def test_an_ask_beyond_a_bound_is_refused(a: Home, agent: EntityId, changed: dict[str, Any]):
    with pytest.raises(Refused):
        ask(a, agent, **changed)


def test_what_was_shown_is_what_is_permitted(a: Home, agent: EntityId):
    identifier = ask(a, agent)
    assert decide(a, identifier, Verdict.CONFIRMED, shown=bytes(32)).result is DecisionOutcome.STALE
    with pytest.raises(Refused):
        decide(a, identifier, Verdict.CONFIRMED, option="never")
    listed = a.read(lambda snapshot: ask_views.list_asks(snapshot, a.now_ms(), waiting=True))
    assert [element.ask_id for element in listed] == [id_to_text(identifier)]


def test_a_yes_chooses_if_the_agent_offers_a_choice(a: Home, agent: EntityId):
    identifier = ask(a, agent, options=["now", "tomorrow"])
    before = a.read(lambda snapshot: snapshot.counts().commits)
    for how in ({}, {"edit": {"text": "Bye"}}):
        with pytest.raises(Refused) as refused:
            decide(a, identifier, Verdict.CONFIRMED, **how)
        assert refused.value.code is RefusalCode.USAGE
        assert refused.value.message == "a yes to 'Send Ana a mail' has to choose one of: 'now', 'tomorrow'"
        assert refused.value.hint == f"choose one: placet confirm {id_to_text(identifier)} --option CHOICE"
    assert (details(a, identifier).state, a.read(lambda snapshot: snapshot.counts().commits)) == (
        "pending",
        before,
    )
    decide(a, identifier, Verdict.DEFERRED)
    decide(a, identifier, Verdict.CONFIRMED, option="now")
    assert decide(a, identifier, Verdict.CONFIRMED).result is DecisionOutcome.ALREADY
    # A no chooses nothing.
    assert decide(a, identifier, Verdict.REJECTED).result is DecisionOutcome.APPLIED
    with pytest.raises(Refused):
        decide(a, identifier, Verdict.CONFIRMED)


def test_a_yes_without_a_choice_from_an_older_device_counts(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    identifier = ask(a, agent, options=["now", "tomorrow"])
    fleet.sync()
    stored = b.read(lambda snapshot: read_ask(snapshot, identifier))
    assert stored is not None
    fields: dict[str, Any] = {
        "item_id": identifier,
        "verdict": "confirmed",
        "device": b.signer.device,
        "seen": [],
        "via": "cli",
        "args_hash": stored.args_hash,
    }
    b.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "decision", fields)]))
    fleet.sync()
    shown = details(a, identifier)
    assert (shown.state, shown.option, details(b, identifier).state) == ("permitted", None, "permitted")
    granted = use(a, identifier)
    assert (granted.result, granted.option) == (UseResult.GRANTED, None)
