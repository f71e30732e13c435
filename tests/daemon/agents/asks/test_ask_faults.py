"""Asks if something goes wrong: answers that were lost, members that write what they like, many asks."""

from typing import Any

import pytest

from daemon.agents.asks import ask_decisions, ask_requests, ask_views
from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_requests import NewAsk, UsedPermission
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.person import lifecycle, presence_edits
from daemon.agents.person.policy_edits import POLICY_TOOLS
from daemon.agents.tools.agent_record import agent_id
from daemon.refusal import Refused
from store.fold.entity_state import DELETED
from store.fold.item_name import ask_id
from store.fold.verdicts import Verdict
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import DAY_MS, Fleet, Home

ARGS = {"to": "ana@example.org", "text": "See you"}


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    """An agent that works on `a`, known to `b` as well."""
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    return agent_id(task)


def ask(home: Home, agent: EntityId, **changed: Any) -> EntityId:
    fields: dict[str, Any] = {
        "agent": "x",
        "name": "send_mail",
        "args": ARGS,
        "title": "Send Ana a mail",
        "key": "mail 1",
        "not_after": home.now_ms() + DAY_MS,
    }
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, NewAsk(**(fields | changed))))


def decide(home: Home, ask: EntityId, verdict: Verdict, **how: Any) -> DecisionResult:
    how = {"reason": None, "via": "cli", **how}
    return home.write(lambda tx: ask_decisions.decide(tx, ask, verdict, **how))


def details(home: Home, ask: EntityId) -> ask_views.AskDetails:
    listed = home.read(lambda snapshot: ask_views.list_asks(snapshot, home.now_ms(), waiting=False))
    (entry,) = [listed_ask for listed_ask in listed if listed_ask.ask_id == id_to_text(ask)]
    return entry


def use(home: Home, ask: EntityId, args_hash: str, execution: str = "run 1") -> UsedPermission:
    return home.write(lambda tx: ask_requests.use_permission(tx, ask, bytes.fromhex(args_hash), execution))


@pytest.mark.parametrize(
    "late",
    [
        {"verdict": Verdict.CONFIRMED, "edit": {"text": "Never"}, "option": "now"},
        {"verdict": Verdict.CONFIRMED, "option": "tomorrow"},
        {"verdict": Verdict.REJECTED},
    ],
)
@pytest.mark.parametrize("is_first_known", [False, True])
def test_a_retry_is_granted_what_the_use_was(
    fleet: Fleet, b: Home, agent: EntityId, late: dict[str, Any], is_first_known: bool
):
    """The answer was lost; another device says something else, having seen the first yes or not."""
    a, _ = fleet.homes
    identifier = ask(a, agent, options=["now", "tomorrow"])
    fleet.sync()
    if not is_first_known:
        fleet.now_ms += 5
        decide(b, identifier, **late)
        fleet.now_ms -= 5
    decide(a, identifier, Verdict.CONFIRMED, option="now")
    if is_first_known:
        fleet.sync()
        decide(b, identifier, **late)
    shown = details(a, identifier).args_hash
    granted = use(a, identifier, shown)
    assert granted == UsedPermission(result=UseResult.GRANTED, args=dict(ARGS), args_hash=shown, option="now")
    fleet.sync()
    assert use(a, identifier, shown) == granted
    for home in (a, b):
        view = details(home, identifier)
        assert (view.state, view.args, view.args_hash, view.option) == (
            "used",
            ARGS,
            shown,
            "now",
        )


@pytest.mark.parametrize(
    "edit",
    [{"n": 1 << 60}, {"n": 1 << 70}, {"text": "x" * 17_000}, {"deep": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}],
)
def test_an_edit_that_cannot_be_kept_is_refused(a: Home, agent: EntityId, edit: dict[str, Any]):
    identifier = ask(a, agent)
    with pytest.raises(Refused):
        decide(a, identifier, Verdict.CONFIRMED, edit=edit)
    assert details(a, identifier).state == "pending"


@pytest.mark.parametrize("content", [b"bytes", 1 << 60, -(1 << 62)])
def test_what_a_member_wrote_hides_no_other_ask(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, content: Value
):
    """Another program, or a member that went wrong, asks with arguments that have no hash."""
    identifier = ask(a, agent)
    forged = ask_id(agent, "forged", b.signer.device, None)
    fields: dict[str, Value] = {
        "agent_id": agent,
        "key": "forged",
        "home": b.signer.device,
        "name": "x",
        "args": {"content": content},
        "title": "x",
        "not_after": b.now_ms() + DAY_MS,
    }
    b.write(lambda tx: tx.commit([EntityWrite(forged, "ask", fields)], by=AuthorKind.AGENT))
    fleet.sync()
    assert details(a, identifier).state == "pending"


@pytest.mark.parametrize("content", [b"bytes", 1 << 60])
def test_a_yes_with_arguments_that_have_no_hash_grants_nothing(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, content: Value
):
    identifier = ask(a, agent)
    fleet.sync()

    def forge(tx: Any) -> None:
        stored = read_ask(tx, identifier)
        assert stored is not None
        fields: dict[str, Value] = {
            "item_id": identifier,
            "verdict": "confirmed",
            "device": b.signer.device,
            "seen": [],
            "args_hash": stored.args_hash,
            "edited_args": {"content": content},
        }
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)])

    b.write(forge)
    fleet.sync()
    view = details(a, identifier)
    assert view.state == "pending"
    assert use(a, identifier, view.args_hash).result is UseResult.PENDING


def test_the_agents_device_loosens_asks_in_no_way(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    """First each tool gets a setting of its own, then the one for all others falls, which is that of asks."""

    def set_presence(tool: str, presence: str) -> None:
        a.write(lambda tx: presence_edits.set_presence(tx, agent, tool, presence, has_other_devices=True))

    set_presence("all", "other_device")
    for tool in POLICY_TOOLS:
        set_presence(tool, "other_device")
    with pytest.raises(Refused):
        set_presence("all", "any")
    with pytest.raises(Refused):
        set_presence("all", "default")
    assert details(a, ask(a, agent)).presence == "other_device"


def test_a_verdict_that_does_not_count_makes_no_room_for_more_asks(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ask_requests, "OPEN_ASKS_MAX", 2)
    a.write(lambda tx: presence_edits.set_presence(tx, agent, "all", "other_device", has_other_devices=True))
    for number in range(2):
        identifier = ask(a, agent, key=f"mail {number}")
        assert decide(a, identifier, Verdict.DEFERRED).result is DecisionOutcome.NOT_COUNTED
    with pytest.raises(Refused):
        ask(a, agent, key="mail 2")


def test_what_another_member_wrote_takes_no_place_among_an_agents_asks(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ask_requests, "OPEN_ASKS_MAX", 1)
    fields: dict[str, Value] = {"agent_id": agent, "not_after": (1 << 62)}
    b.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "ask", fields)], by=AuthorKind.AGENT))
    fleet.sync()
    assert details(a, ask(a, agent)).state == "pending"


def test_nothing_is_used_once_the_task_of_the_agent_is_removed(a: Home, agent: EntityId, task: EntityId):
    identifier = ask(a, agent)
    decide(a, identifier, Verdict.CONFIRMED)
    a.set(task, **{DELETED: True})
    assert use(a, identifier, details(a, identifier).args_hash).result is UseResult.POLICY_CHANGED


def test_a_later_write_of_the_agents_own_device_asks_nothing_else(a: Home, agent: EntityId):
    """It says all that an ask says, under its id, and is signed by its home: but it creates nothing."""
    identifier = ask(a, agent)
    decide(a, identifier, Verdict.CONFIRMED)
    stored = a.entity(identifier)
    fields = {name: stored.value(name) for name in stored.fields()} | {"args": {"to": "eve@example.org"}}
    a.write(lambda tx: tx.commit([EntityWrite(identifier, "ask", fields)], by=AuthorKind.AGENT, agent=agent))
    view = details(a, identifier)
    assert (view.state, view.args) == ("permitted", ARGS)
    assert use(a, identifier, view.args_hash).args == ARGS
