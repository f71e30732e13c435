"""Which asks wait for a person, and that finding them does not read the history of those that are over."""

from typing import Any

import pytest

from daemon.agents.asks import ask_decisions, ask_requests, ask_views
from daemon.agents.asks.ask_record import ASK, read_ask
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.person import lifecycle
from daemon.agents.tools.agent_record import agent_id
from store.fold.operations import operations_on
from store.fold.verdicts import Verdict
from store.transaction import EntityWrite
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import DAY_MS, Fleet, Home

HOUR_MS = DAY_MS // 24


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    return agent_id(task)


def ask(home: Home, agent: EntityId, key: str, lifetime_ms: int = DAY_MS) -> EntityId:
    request = NewAsk(
        agent="x",
        name="send_mail",
        args={"to": "ana@example.org"},
        title="Send Ana a mail",
        key=key,
        not_after=home.now_ms() + lifetime_ms,
    )
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, request))


def decide(home: Home, ask: EntityId, verdict: Verdict) -> None:
    home.write(lambda tx: ask_decisions.decide(tx, ask, verdict, reason=None, via="cli"))


def waiting(home: Home, now_ms: int) -> set[str]:
    """Return the asks that are listed as waiting; they are those that wait by the state of each."""

    def read(snapshot: Any) -> set[str]:
        listed = {ask.ask_id for ask in ask_views.list_asks(snapshot, now_ms, waiting=True)}
        every = [read_ask(snapshot, entity.id) for entity in snapshot.entities(ASK)]
        assert listed == {
            id_to_text(ask.id)
            for ask in every
            if ask is not None and ask_views.state_of(snapshot, ask, now_ms) in ask_views.OPEN_STATES
        }
        assert ask_views.count_open_asks(snapshot, now_ms) == len(listed)
        return listed

    return home.read(read)


def test_what_waits_is_found_whatever_was_decided(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    named = {
        key: ask(a, agent, key)
        for key in ("open", "deferred", "permitted", "refused", "disputed", "withdrawn")
    }
    named["short"] = ask(a, agent, "short", HOUR_MS)
    fleet.sync()
    decide(a, named["deferred"], Verdict.DEFERRED)
    decide(a, named["permitted"], Verdict.CONFIRMED)
    decide(a, named["refused"], Verdict.REJECTED)
    decide(a, named["disputed"], Verdict.CONFIRMED)
    decide(b, named["disputed"], Verdict.REJECTED)
    a.write(lambda tx: ask_requests.withdraw(tx, named["withdrawn"]))
    fleet.sync()
    open_now = {id_to_text(named[key]) for key in ("open", "deferred", "disputed", "short")}
    for home in (a, b):
        assert waiting(home, a.now_ms()) == open_now
        assert waiting(home, a.now_ms() + 2 * HOUR_MS) == open_now - {id_to_text(named["short"])}
        assert waiting(home, a.now_ms() + 2 * DAY_MS) == {id_to_text(named["disputed"])}


def test_what_runs_out_within_a_day_is_what_nobody_has_in_hand(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    late, second, first, deferred, refused = (
        ask(a, agent, key, hours * HOUR_MS)
        for key, hours in (("late", 25), ("second", 24), ("first", 1), ("deferred", 1), ("refused", 1))
    )
    decide(a, deferred, Verdict.DEFERRED)
    decide(a, refused, Verdict.REJECTED)
    fleet.sync()

    def expiring(home: Home, now_ms: int) -> list[EntityId]:
        return [ask.id for ask in home.read(lambda snapshot: ask_views.list_expiring_asks(snapshot, now_ms))]

    for home in (a, b):
        assert expiring(home, a.now_ms()) == [first, second]
        assert expiring(home, a.now_ms() + 2 * HOUR_MS) == [second, late]
        assert expiring(home, a.now_ms() + 2 * DAY_MS) == []


def test_another_device_cannot_let_an_ask_run_out(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    identifier = ask(a, agent, "open")
    fleet.sync()
    b.write(lambda tx: tx.commit([EntityWrite(identifier, ASK, {"not_after": 1})]))
    fleet.sync()
    for home in (a, b):
        assert waiting(home, a.now_ms()) == {id_to_text(identifier)}


def test_the_history_of_an_ask_that_is_over_is_not_read(
    a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
):
    for number in range(20):
        decide(a, ask(a, agent, f"refused {number}"), Verdict.REJECTED)
        ask(a, agent, f"short {number}", HOUR_MS)
    open_ask = ask(a, agent, "open")
    histories: list[EntityId] = []

    def recorded(db: Any, entity: EntityId, log: Any) -> Any:
        histories.append(entity)
        return operations_on(db, entity, log)

    monkeypatch.setattr("store.queries.asks.operations_on", recorded)
    later_ms = a.now_ms() + 2 * HOUR_MS
    assert a.read(lambda snapshot: ask_views.count_open_asks(snapshot, later_ms)) == 1
    # Its own, and that of its use.
    assert len(histories) == 2
    assert histories[0] == open_ask
