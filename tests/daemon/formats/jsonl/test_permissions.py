"""Files of JSON lines that an agent wrote: importing one gives no agent a permission.

Never asks what else such a file may say: the other tests of this folder do.
"""

from typing import Any

import pytest

from daemon.agents.asks import asking
from daemon.agents.asks.ask_record import Ask, read_ask, use_id
from daemon.agents.asks.ask_views import state_of
from daemon.agents.asks.asking import NewAsk
from daemon.agents.person import external_agents, presence_edits, standing_rules
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.agents.standing.pattern import Pattern
from daemon.agents.standing.rule_record import STANDING_RULE, RuleTerms, rule_fields, rule_id, rules_on
from store.fold.item_name import Presence, ask_id
from store.fold.verdicts import UNDECIDED
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.assertion import Passkey
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text
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
    return home.write(lambda tx: asking.make_ask(tx, agent, request))


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
