"""Who an agent of another maker is, and what it may do if nobody let it in, or if devices disagree.

Never goes through a socket: `tests/daemon/control/routes/test_outside.py` does.
"""

from typing import Any

import pytest

from daemon.agents.person import external_agents
from daemon.agents.proposing.authenticity import authentic_item
from daemon.agents.tools.agent_record import external_agent_id, load_external_agent
from daemon.refusal import Refused
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text
from tests.support import asks, outside
from tests.support.fleet import Fleet, Home


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    """An agent of another maker that works on `a`, known to `b` as well."""
    identifier = outside.added(a)
    fleet.sync()
    return identifier


def wrote(home: Home, agent: EntityId, **fields: Value) -> None:
    home.write(lambda tx: tx.commit([EntityWrite(agent, "agent", dict(fields))]))


def test_what_was_proposed_in_the_name_of_one_that_nobody_let_in_is_no_proposal(
    a: Home, agent: EntityId, task: EntityId
) -> None:
    """A process of the same user writes the set itself, as the daemon would have written it."""
    [proposed] = outside.proposed(a, agent, task).items
    assert proposed.item is not None
    item = a.item(id_from_text(proposed.item))
    assert a.read(lambda snapshot: authentic_item(snapshot, item)) is not None
    waiting = a.write(lambda tx: external_agents.register_external_agent(tx, "Gemini"))
    stored = a.entity(item.occurrences[0].change_set)
    fields: dict[str, Any] = {name: stored.value(name) for name in stored.fields()}
    forged = EntityWrite(EntityId(bytes(15) + b"7"), "change_set", fields | {"agent_id": waiting})
    a.write(lambda tx: tx.commit([forged], by=AuthorKind.AGENT, agent=waiting))

    def proposers() -> set[EntityId]:
        found_item = a.item(item.id)
        genuine = a.read(lambda snapshot: authentic_item(snapshot, found_item))
        assert genuine is not None
        return {occurrence.agent for occurrence in genuine.item.occurrences}

    assert proposers() == {agent}
    a.write(lambda tx: external_agents.admit_external_agent(tx, waiting))
    assert proposers() == {agent, waiting}


def test_an_agent_under_an_id_that_is_not_that_of_its_home_and_name_is_none(
    a: Home, agent: EntityId, task: EntityId
) -> None:
    other = external_agent_id(a.signer.device, "Codex")
    fields: dict[str, Value] = {"kind": "external", "home_device_id": a.signer.device, "scope": "all"}
    wrote(a, other, **fields, name="Claude", lifecycle="active")
    assert a.read(lambda snapshot: load_external_agent(snapshot, other)) is None
    with pytest.raises(Refused, match="no such agent"):
        outside.proposed(a, other, task)
    with pytest.raises(Refused, match="no such agent"):
        asks.asked(a, other)
    wrote(a, other, name="Codex")
    assert outside.proposed(a, other, task).state == "pending"


@pytest.mark.parametrize("scope", ["none", "wide"])
def test_of_scopes_that_were_set_while_apart_the_tightest_applies(
    fleet: Fleet, a: Home, agent: EntityId, task: EntityId, scope: str
) -> None:
    """One that cannot be read is the tightest. The looser one comes later, so it is what the field shows."""
    wrote(a, agent, scope=scope)
    fleet.now_ms += 1000
    wrote(fleet.homes[1], agent, scope="all")
    fleet.sync()
    assert outside.proposed(a, agent, task).items[0].state == "denied"
    a.write(lambda tx: external_agents.set_scope(tx, agent, "all"))
    assert outside.proposed(a, agent, task, key="2").items[0].state == "pending"


def test_of_limits_that_were_set_while_apart_the_lowest_applies(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    for home, limit in ((a, 1), (b, 50)):
        fleet.now_ms += 1000
        wrote(home, agent, **{"daily_limit/asks": limit})
    fleet.sync()
    asks.asked(a, agent, "1")
    with pytest.raises(Refused, match="1 of 1 asks"):
        asks.asked(a, agent, "2")
    # What cannot be read allows nothing.
    wrote(a, agent, **{"daily_limit/asks": "many"})
    with pytest.raises(Refused, match="of 0 asks"):
        asks.asked(a, agent, "2")
