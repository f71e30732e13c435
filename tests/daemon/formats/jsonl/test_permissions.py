"""Files of JSON lines that an agent wrote: importing one gives no agent a permission.

Never asks what else such a file may say: the other tests of this folder do.
"""

import base64
import json
from typing import Any

import pytest

from daemon.agents.asks import ask_requests
from daemon.agents.asks.ask_record import Ask, read_ask, use_id
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.asks.ask_views import state_of
from daemon.agents.person import external_agents, lifecycle, policy_edits, presence_edits, standing_rules
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.agents.standing_rules.argument_pattern import Pattern
from daemon.agents.standing_rules.rule_record import STANDING_RULE, RuleTerms, rule_fields, rule_id, rules_on
from daemon.agents.tools.agent_record import agent_id, external_agent_id
from daemon.refusal import Refused
from store.fold.item_name import Presence, ask_id
from store.fold.verdicts import UNDECIDED
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.assertion import Passkey
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.formats.jsonl.files import exported, imported
from tests.support import outside
from tests.support.fleet import DAY_MS, Fleet, Home


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home) -> EntityId:
    """An agent on `a`, on whose asks only other devices decide."""
    agent = outside.added(a, "Claude", "none")
    fleet.sync()
    a.write(lambda tx: presence_edits.set_presence(tx, agent, "all", "other_device", has_other_devices=True))
    fleet.sync()
    return agent


def ask_on(home: Home, agent: EntityId, **changed: Any) -> EntityId:
    fields: dict[str, Any] = {"name": "run", "args": {"n": 1}, "title": "Run", "key": "k"}
    not_after = home.now_ms() + DAY_MS
    request = NewAsk(agent="x", not_after=not_after, **(fields | changed))
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, request))


def file_with(
    fleet: Fleet, written: dict[EntityId, tuple[str, dict[str, Any]]], by: AuthorKind = AuthorKind.USER
) -> str:
    """Return an export of a journal of the agent's own, in which it is the person."""
    own = fleet.home("own")
    writes = [EntityWrite(entity, kind, fields) for entity, (kind, fields) in written.items()]
    own.write(lambda tx: tx.commit(writes, by=by))
    return exported(own)


def details(home: Home, name: EntityId) -> Ask:
    ask = home.read(lambda snapshot: read_ask(snapshot, name))
    assert ask is not None
    return ask


def test_a_decision_in_a_file_is_none_on_an_ask(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    ask = details(a, ask_on(a, agent))
    fleet.sync()
    yes = {
        "item_id": ask.id,
        "verdict": "confirmed",
        "device": b.signer.device,
        "seen": [],
        "via": "cli",
        "args_hash": ask.args_hash,
    }
    imported(b, file_with(fleet, {EntityId(bytes([7]) * 16): ("decision", yes)}))
    fleet.pull(a, b)

    def state(snapshot: Snapshot) -> str:
        return state_of(snapshot, ask, a.now_ms()).value

    assert {home.read(state) for home in (a, b)} == {"pending"}


def test_a_decision_in_a_file_is_none_on_an_ask_that_any_device_may_decide(fleet: Fleet, a: Home):
    codex = outside.added(a, "Codex", "none")
    ask = details(a, ask_on(a, codex))
    yes = {
        "item_id": ask.id,
        "verdict": "confirmed",
        "device": a.signer.device,
        "seen": [],
        "via": "cli",
        "args_hash": ask.args_hash,
    }
    imported(a, file_with(fleet, {EntityId(bytes([7]) * 16): ("decision", yes)}))
    assert a.read(lambda snapshot: state_of(snapshot, ask, a.now_ms()).value) == "pending"


def test_no_file_permits_by_a_rule_that_stands_or_asks_or_tells_of_a_use(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    """At the home of the agent, and beyond the uses of the day."""
    until = a.now_ms() + DAY_MS
    request = NewStandingRule(agent="x", name="run", exact={"n": 2}, until=until, uses_a_day=1)
    rule = b.write(lambda tx: standing_rules.make_rule(tx, agent, request, until))
    fleet.sync()
    ask_on(a, agent, key="1", args={"n": 2})
    ask = details(a, ask_on(a, agent, key="2", args={"n": 2}))
    yes = {"item_id": ask.id, "verdict": "confirmed", "seen": [], "args_hash": ask.args_hash, "rule": rule}
    written: dict[EntityId, tuple[str, dict[str, Any]]] = {
        EntityId(bytes([7]) * 16): ("decision", yes),
        use_id(ask.id, ask.replica): ("use", {"execution_id": "x", "args_hash": ask.args_hash}),
    }
    question = {"agent_id": agent, "key": "3", "home": a.signer.device, "name": "run", "args": {"n": 3}}
    name = ask_id(agent, "3", a.signer.device, Presence.OTHER_DEVICE)
    written[name] = ("ask", question | {"not_after": until, "presence": "other_device"})
    imported(a, file_with(fleet, written, by=AuthorKind.SYSTEM))
    assert a.read(lambda snapshot: state_of(snapshot, ask, a.now_ms()).value) == "pending"
    assert a.read(lambda snapshot: read_ask(snapshot, name)) is None


def test_no_file_uses_a_rule_up_or_beyond_its_day(fleet: Fleet, a: Home):
    """At the home of an agent whose asks need neither another device nor a passkey."""
    codex = outside.added(a, "Codex", "none")
    until = a.now_ms() + DAY_MS
    request = NewStandingRule(agent="x", name="run", exact={"n": 2}, until=until, uses_a_day=1)
    rule = a.write(lambda tx: standing_rules.make_rule(tx, codex, request, until))
    first, second = (details(a, ask_on(a, codex, key=key, args={"n": 2})) for key in "12")
    yes = {"item_id": second.id, "verdict": "confirmed", "seen": [], "args_hash": second.args_hash}
    name = EntityId(bytes([7]) * 16)
    imported(a, file_with(fleet, {name: ("decision", yes | {"rule": rule})}, by=AuthorKind.SYSTEM))
    assert a.read(lambda snapshot: snapshot.entity(name)) is not None

    def states(snapshot: Snapshot) -> list[str]:
        return [state_of(snapshot, ask, a.now_ms()).value for ask in (first, second)]

    assert a.read(states) == ["permitted", "pending"]


def test_a_verdict_in_a_file_is_none_on_a_proposal_that_needs_another_device(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    task = a.new("task", title="Write to Ana", status="OPEN")
    a.write(lambda tx: external_agents.set_scope(tx, agent, "all"))
    [proposal] = outside.proposed(a, agent, task).items
    assert proposal.item is not None
    item = id_from_text(proposal.item)
    fleet.sync()
    yes = {"item_id": item, "verdict": "confirmed", "device": b.signer.device, "seen": [], "via": "cli"}
    file = file_with(fleet, {EntityId(bytes([7]) * 16): ("decision", yes)})
    assert len(imported(b, file).skipped) == 1
    assert b.read(lambda snapshot: snapshot.item_status(item)) == UNDECIDED
    # In another journal it is history.
    assert imported(fleet.home("elsewhere"), file).skipped == ()


def test_a_rule_in_a_file_is_none(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    terms = RuleTerms(agent, a.signer.device, "run", Pattern({"n": 1}, {}), a.now_ms() + DAY_MS, 5)
    fields = rule_fields(terms, b.signer.device, bytes(16))
    name = rule_id(fields)
    assert name is not None
    imported(b, file_with(fleet, {name: (STANDING_RULE, fields)}))
    assert b.read(lambda snapshot: rules_on(snapshot, agent)) == []


def test_a_passkey_in_a_file_is_none(fleet: Fleet, a: Home, b: Home):
    passkey = Passkey(bytes(32), "localhost")
    fields = {"key": passkey.key, "rp_id": passkey.rp_id}
    imported(b, file_with(fleet, {passkey.id: ("passkey", fields)}))
    assert b.read(lambda snapshot: snapshot.entity(passkey.id)) is None


def agent_in_file(home: Home, agent: EntityId, kind: str = "agent", **changed: Any) -> str:
    """Return an export of a journal in which a person would have changed an agent last, knowing all else."""
    lines = [json.loads(line) for line in exported(home).splitlines()]
    record = next(line for line in lines if line.get("id") == id_to_text(agent))
    record["kind"], record["fields"] = kind, record["fields"] | changed
    own = {"replica": "b9d3626b51a49a019d0aa3cfe88f3791", "counter": 1, "hash": "27" * 32}
    write = {"by": "user", "at_ms": home.now_ms(), "n": 0, "device": home.signer.device.hex(), **own}
    for earlier in record["writes"]:
        earlier["fields"] = [name for name in earlier["fields"] if name not in changed]
    record["writes"].append({**write, "fields": sorted(changed)})
    record["seen"][own["replica"]] = 1
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize("kind", ["agent", "task"])
def test_no_file_says_what_an_agent_may_do(fleet: Fleet, a: Home, b: Home, agent: EntityId, kind: str):
    """Old: an export that was altered took away on the agent's own device that verdicts need another one."""
    a.write(lambda tx: external_agents.set_daily_limits(tx, agent, {"asks": 5}))
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "deploy", "denied"))
    fleet.sync()
    file = agent_in_file(
        a,
        agent,
        kind,
        **{"presence": "any", "scope": "all", "policy/deploy": "deferred", "daily_limit/asks": 99},
    )
    for home in (a, b):
        before = home.read(lambda snapshot: external_agents.external_agent_details(snapshot, agent, 0))
        skipped = imported(home, file).skipped
        after = home.read(lambda snapshot: external_agents.external_agent_details(snapshot, agent, 0))
        assert (after, len(skipped)) == (before, 1)
    assert details(a, ask_on(a, agent)).presence is Presence.OTHER_DEVICE
    # What the journal knows already is nothing new, and in another journal it is history.
    assert imported(a, exported(a)).skipped == ()
    assert imported(fleet.home("elsewhere"), file).skipped == ()


@pytest.mark.parametrize("is_known", [True, False])
def test_no_file_lets_an_agent_in(fleet: Fleet, a: Home, is_known: bool):
    gemini = external_agent_id(a.signer.device, "Gemini")
    if is_known:
        a.write(lambda tx: external_agents.register_external_agent(tx, "Gemini"))
    else:
        a.new("task", title="Write to Ana", status="OPEN")
    fields = {"kind": "external", "name": "Gemini", "home_device_id": a.signer.device}
    file = file_with(fleet, {gemini: ("agent", fields | {"lifecycle": "active", "scope": "all"})})
    assert len(imported(a, file).skipped) == 1
    with pytest.raises(Refused):
        ask_on(a, gemini)


def test_no_file_moves_the_agent_of_a_task_or_loosens_what_it_needs(fleet: Fleet, a: Home, b: Home):
    task = a.new("task", title="Write to Ana", status="OPEN")
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    own = agent_id(task)
    fleet.sync()
    a.write(lambda tx: presence_edits.set_presence(tx, own, "all", "other_device", has_other_devices=True))
    elsewhere = {"$bytes": base64.b64encode(fleet.home("own").signer.device).decode()}
    loosened: list[dict[str, Any]] = [
        {"presence": "any"},
        {"home_device_id": elsewhere},
        {"lifecycle": "destroyed"},
    ]
    for changed in loosened:
        assert len(imported(a, agent_in_file(a, own, **changed)).skipped) == 1, changed
    entity = a.entity(own)
    assert (entity.text("presence"), entity.text("lifecycle")) == ("other_device", "active")
    assert entity.value("home_device_id") == a.signer.device
