"""One history of decisions on proposals and on asks, and the log of both.

Never repeats what the history of proposals alone is asked.
"""

from typing import Any

import pytest

from daemon.agents.asks import ask_decisions, ask_requests
from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.person import standing_rules
from daemon.agents.person.full_history import list_decided
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.journal import change_log
from store.fold.verdicts import Verdict
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.outside import added

ARGS = {"command": "npm test"}


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home) -> EntityId:
    identifier = added(a)
    fleet.sync()
    return identifier


def ask(home: Home, agent: EntityId, key: str, **changed: Any) -> EntityId:
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


def decided(home: Home, **how: Any) -> list[DecisionRecord]:
    return home.read(lambda snapshot: list_decided(snapshot, home.now_ms(), **{"limit": 50, **how}))


def test_asks_stand_among_the_proposals_newest_first_and_page_by_page(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, task: EntityId
) -> None:
    """Old: a yes to an ask was in no history of decisions."""
    fleet.sync()
    item = a.add(task, "Buy paper")
    confirm(a, item)
    first, second = ask(a, agent, "1"), ask(a, agent, "2")
    fleet.sync()
    decide(b, first, Verdict.CONFIRMED, edit={"command": "npm test -- fast"})
    decide(b, second, Verdict.REJECTED, reason="Not now.")
    fleet.sync()
    for home in (a, b):
        records = decided(home)
        assert [(record.is_ask, record.item_id, record.verdict, record.status) for record in records] == [
            (True, id_to_text(second), "rejected", "refused"),
            (True, id_to_text(first), "confirmed", "permitted"),
            (False, id_to_text(item), "confirmed", "confirmed"),
        ]
        assert (records[0].tool, records[0].args, records[0].reason) == ("run", ARGS, "Not now.")
        assert records[1].edited_args == {"command": "npm test -- fast"}
        assert decided(home, before=records[0].seq) == records[1:]
        assert decided(home, limit=1) == records[:1]
        assert [record.is_ask for record in decided(home, task=id_to_text(task))] == [False]


def test_what_a_rule_permitted_names_the_rule(a: Home, agent: EntityId) -> None:
    until = a.now_ms() + DAY_MS
    request = NewStandingRule(agent="x", name="run", exact=ARGS, until=until, uses_a_day=1)
    rule = a.write(lambda tx: standing_rules.make_rule(tx, agent, request, until))
    ask(a, agent, "1")
    (record,) = decided(a)
    assert (record.by, record.rule, record.status, record.counts) == (
        "system",
        id_to_text(rule),
        "permitted",
        True,
    )


def test_what_a_rule_permitted_counts_as_long_as_the_permission_does(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    """Old: it was shown as if it counted after a person had refused, and if no rule permitted anything."""
    until = a.now_ms() + DAY_MS
    request = NewStandingRule(agent="x", name="run", exact=ARGS, until=until, uses_a_day=3)
    rule = a.write(lambda tx: standing_rules.make_rule(tx, agent, request, until))
    used, unused, refused = (ask(a, agent, key) for key in "123")
    other = ask(a, agent, "4")
    stored = a.read(lambda snapshot: read_ask(snapshot, used))
    assert stored is not None
    args_hash = stored.args_hash
    a.write(lambda tx: ask_requests.use_permission(tx, used, args_hash, "once"))
    decide(a, refused, Verdict.REJECTED)
    a.write(lambda tx: standing_rules.revoke_rule(tx, rule))
    fleet.sync()
    forged: dict[str, Any] = {"verdict": "confirmed", "seen": [], "args_hash": args_hash, "rule": rule}
    b.write(
        lambda tx: tx.commit(
            [EntityWrite(tx.new_id(), "decision", {"item_id": other, **forged})], by=AuthorKind.SYSTEM
        )
    )
    fleet.sync()
    named = {id_to_text(name): key for key, name in zip("1234", (used, unused, refused, other), strict=True)}
    for home in (a, b):
        assert [
            (named[record.item_id], record.by, record.status, record.rule is not None, record.counts)
            for record in reversed(decided(home))
        ] == [
            ("1", "system", "used", True, True),
            ("2", "system", "pending", True, False),
            ("3", "system", "refused", True, False),
            ("3", "user", "refused", False, True),
            ("4", "system", "pending", False, False),
        ]


def test_a_verdict_that_was_replaced_does_not_count(a: Home, agent: EntityId) -> None:
    name = ask(a, agent, "1")
    decide(a, name, Verdict.CONFIRMED)
    decide(a, name, Verdict.REJECTED)
    assert [(record.verdict, record.counts) for record in decided(a)] == [
        ("rejected", True),
        ("confirmed", False),
    ]


def test_a_decision_on_what_nobody_asked_is_no_line(a: Home, agent: EntityId) -> None:
    """A member can write an entity of kind `ask` by hand, and decide on it."""

    def forge(tx: Any) -> None:
        name = tx.new_id()
        tx.commit([EntityWrite(name, "ask", {"name": "run", "args": {}})])
        fields = {"item_id": name, "verdict": "confirmed", "device": tx.device, "seen": []}
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)])

    a.write(forge)
    assert decided(a) == []


def test_long_arguments_are_left_out_of_the_history(a: Home, agent: EntityId) -> None:
    decide(a, ask(a, agent, "1", args={"text": "x" * 8_000}), Verdict.REJECTED)
    assert decided(a)[0].args == {}


def test_the_log_knows_what_it_shows_of_asks_and_their_uses(a: Home, agent: EntityId) -> None:
    """Old: every field of an ask was said to be of a newer version."""
    name = ask(a, agent, "1")
    decide(a, name, Verdict.CONFIRMED)
    stored = a.read(lambda snapshot: read_ask(snapshot, name))
    assert stored is not None
    a.write(lambda tx: ask_requests.use_permission(tx, name, stored.args_hash, "once"))
    listed = a.read(lambda snapshot: change_log.list_changes(snapshot, None, limit=200))
    assert not any(change.unknown for change in listed)
    about = {change.kind: (change.title, change.is_about_ask) for change in listed}
    assert about["decision"] == about["use"] == ("Run the tests", True)
    assert about["ask"] == ("Run the tests", False)
