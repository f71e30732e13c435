"""Standing rules on real stores: what they permit, how often, until when, and what ends them."""

import shutil
from typing import Any

import pytest

from daemon.agents.asks import ask_decisions, ask_requests, ask_views
from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_requests import NewAsk, UsedPermission
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.person import lifecycle, presence_edits, standing_rules
from daemon.agents.person.standing_rules import NewStandingRule, StandingRuleDetails
from daemon.agents.standing_rules.argument_pattern import Pattern
from daemon.agents.standing_rules.rule_record import STANDING_RULE, RuleTerms, read_rule, rule_fields, rule_id
from daemon.agents.tools.agent_record import agent_id
from daemon.refusal import Refused
from daemon.timestamps import iso_utc
from store.fold.operations import operations_on
from store.fold.verdicts import Verdict
from store.queries import asks
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from store.upkeep.verification import verify_store
from syncproto.commit import AuthorKind
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import EntityId, id_to_text
from tests.simulation.device import forget_replica
from tests.support.fleet import DAY_MS, Fleet, Home

ARGS = {"command": "npm test", "in": "/srv"}


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    return agent_id(task)


def make_rule(home: Home, agent: EntityId, **changed: Any) -> EntityId:
    fields: dict[str, Any] = {
        "agent": "x",
        "name": "run",
        "exact": {"in": "/srv"},
        "begins": {"command": "npm test"},
        "until": home.now_ms() + 10 * DAY_MS,
        "uses_a_day": 2,
    }
    request = NewStandingRule(**(fields | changed))
    assert isinstance(request.until, int)
    until = request.until
    return home.write(lambda tx: standing_rules.make_rule(tx, agent, request, until))


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


def details(home: Home, ask: EntityId) -> ask_views.AskDetails:
    def read(snapshot: Snapshot) -> ask_views.AskDetails:
        stored = read_ask(snapshot, ask)
        assert stored is not None
        return ask_views.ask_details(snapshot, stored, home.now_ms())

    return home.read(read)


def state(home: Home, ask: EntityId) -> str:
    return details(home, ask).state


def rule_of(home: Home, rule: EntityId) -> StandingRuleDetails:
    def read(snapshot: Snapshot) -> StandingRuleDetails:
        return standing_rules.rule_details(
            snapshot, standing_rules.require_rule(snapshot, rule), home.now_ms()
        )

    return home.read(read)


def use(home: Home, ask: EntityId, execution: str = "run 1") -> UsedPermission:
    wanted = bytes.fromhex(details(home, ask).args_hash)
    return home.write(lambda tx: ask_requests.use_permission(tx, ask, wanted, execution))


def need_another_device(home: Home, agent: EntityId) -> None:
    home.write(
        lambda tx: presence_edits.set_presence(tx, agent, "all", "other_device", has_other_devices=True)
    )


def test_a_rule_permits_an_ask_that_it_covers_and_is_shown_with_it(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    rule = make_rule(b, agent)
    fleet.sync()
    permitted = ask(a, agent, "1")
    verdict = details(a, permitted).verdict
    assert verdict is not None
    assert (state(a, permitted), verdict.rule) == ("permitted", id_to_text(rule))
    granted = use(a, permitted)
    assert (granted.result, granted.args) == (UseResult.GRANTED, ARGS)
    assert use(a, permitted, "run 2").result is UseResult.ALREADY_USED
    fleet.sync()
    for home in (a, b):
        shown = rule_of(home, rule)
        assert (shown.state, shown.uses_today) == ("stands", 1)
        assert [entry.ask_id for entry in shown.uses] == [id_to_text(permitted)]
        assert state(home, permitted) == "used"
        assert home.read(lambda snapshot: verify_store(snapshot, lambda *_: None)).findings == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "Run"},
        {"args": {**ARGS, "as": "root"}},
        {"args": {"command": "npm test"}},
        {"args": {**ARGS, "command": "npm test\nrm -rf ~"}},
        {"args": {**ARGS, "in": "/srv/"}},
        {"options": ["now", "later"]},
    ],
)
def test_another_action_waits_for_a_person(a: Home, agent: EntityId, changed: dict[str, Any]):
    make_rule(a, agent)
    assert state(a, ask(a, agent, "1", **changed)) == "pending"


def test_a_rule_of_one_agent_is_none_of_another(fleet: Fleet, a: Home, agent: EntityId):
    task = a.new("task", title="Another")
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    make_rule(a, agent)
    assert state(a, ask(a, agent_id(task), "1")) == "pending"


def test_uses_are_counted_by_day_of_utc_in_the_log(fleet: Fleet, a: Home, agent: EntityId):
    rule = make_rule(a, agent)
    to_midnight = DAY_MS - fleet.now_ms % DAY_MS
    states = [state(a, ask(a, agent, key)) for key in "123"]
    assert states == ["permitted", "permitted", "pending"]
    a.close()
    a.store = a.opened()
    assert state(a, ask(a, agent, "4")) == "pending"
    fleet.now_ms += to_midnight - 1
    assert state(a, ask(a, agent, "5")) == "pending"
    fleet.now_ms += 1
    assert state(a, ask(a, agent, "6")) == "permitted"
    assert rule_of(a, rule).uses_today == 1


def test_a_clock_set_back_gives_no_uses_back(fleet: Fleet, a: Home, agent: EntityId):
    make_rule(a, agent, uses_a_day=1)
    fleet.now_ms += DAY_MS
    assert state(a, ask(a, agent, "1")) == "permitted"
    fleet.now_ms -= DAY_MS
    assert state(a, ask(a, agent, "2")) == "pending"


def test_a_clock_that_was_decades_ahead_ends_no_rule_that_is_made_later_and_gives_no_uses_back(
    fleet: Fleet, a: Home, agent: EntityId
):
    before = make_rule(a, agent, exact={"in": "/before"}, begins={})
    a.skew_ms = 40 * 365 * DAY_MS
    a.new("task", title="Written by a wrong clock")
    a.skew_ms = 0
    # The device knows no more whether a rule of before has ended: it stays closed.
    assert state(a, ask(a, agent, "0", args={"in": "/before"})) == "pending"
    assert rule_of(a, before).state == "idle"
    a.write(lambda tx: standing_rules.revoke_rule(tx, before))
    assert rule_of(a, before).revoked_at == iso_utc(a.now_ms())
    later = make_rule(a, agent, uses_a_day=1)
    assert rule_of(a, later).made_at == iso_utc(a.now_ms())
    assert [state(a, ask(a, agent, key)) for key in "12"] == ["permitted", "pending"]
    assert rule_of(a, later).uses_today == 1
    fleet.now_ms += DAY_MS
    assert [state(a, ask(a, agent, key)) for key in "34"] == ["permitted", "pending"]
    fleet.now_ms += 10 * DAY_MS
    assert state(a, ask(a, agent, "5")) == "pending"
    # What a clock decades behind makes is over as soon as the clock is right.
    a.skew_ms = -40 * 365 * DAY_MS
    make_rule(a, agent)
    assert state(a, ask(a, agent, "6")) == "permitted"
    a.skew_ms = 0
    assert state(a, ask(a, agent, "7")) == "pending"


def test_a_rule_is_shown_as_the_gate_treats_it_while_stamps_lie_ahead(fleet: Fleet, a: Home, agent: EntityId):
    a.skew_ms = 5 * DAY_MS
    a.new("task", title="Written by a wrong clock")
    a.skew_ms = 0
    rule = make_rule(a, agent, uses_a_day=1)
    assert (rule_of(a, rule).state, rule_of(a, rule).uses_today) == ("stands", 0)
    assert state(a, ask(a, agent, "1")) == "permitted"
    fleet.now_ms += DAY_MS
    assert state(a, ask(a, agent, "2")) == "pending"
    shown = rule_of(a, rule)
    assert (shown.state, shown.uses_today) == ("idle", 1)
    assert [use.at for use in shown.uses] == [iso_utc(a.now_ms())]
    # Once the clock has come up to the stamps, its uses are those of a new day.
    fleet.now_ms += 5 * DAY_MS
    assert rule_of(a, rule).state == "stands"
    assert state(a, ask(a, agent, "3")) == "permitted"


@pytest.mark.parametrize(("lead_ms", "back_ms"), [(0, 0), (LEAD_MS_MAX, 0), (0, DAY_MS)])
def test_a_database_that_was_put_back_applies_no_rule_on_a_day_whose_uses_it_may_lack(
    agent: EntityId, fleet: Fleet, lead_ms: int, back_ms: int
):
    a, b = fleet.homes
    fleet.now_ms += DAY_MS - fleet.now_ms % DAY_MS - lead_ms  # the stamps are those of midnight
    make_rule(a, agent, uses_a_day=1)
    a.close()
    shutil.copyfile(a.path, a.path.with_suffix(".copy"))
    a.store = a.opened()
    # The clock of b leads, and so do then the stamps of a.
    b.skew_ms = lead_ms
    b.new("task", title="Ahead")
    fleet.pull(a, b)
    assert state(a, ask(a, agent, "1")) == "permitted"
    a.close()
    shutil.copyfile(a.path.with_suffix(".copy"), a.path)
    forget_replica(a.path)
    a.skew_ms = -back_ms
    a.store = a.opened()
    a.new("task", title="After the restore")
    a.skew_ms = 0
    fleet.pull(a, b)
    assert state(a, ask(a, agent, "2")) == "pending"
    fleet.now_ms += DAY_MS + lead_ms
    assert state(a, ask(a, agent, "3")) == "permitted"


def test_a_rule_is_for_the_device_where_the_agent_worked_when_it_was_written(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    rule = make_rule(a, agent)
    fleet.sync()
    b.write(lambda tx: lifecycle.move_agent(tx, agent, tx.device))
    need_another_device(b, agent)
    # The old home does not know yet that it is none, and permits once more.
    assert state(a, ask(a, agent, "1")) == "permitted"
    assert state(b, ask(b, agent, "2")) == "pending"
    fleet.sync()
    assert state(b, ask(b, agent, "3")) == "pending"
    assert {rule_of(home, rule).state for home in (a, b)} == {"idle"}
    make_rule(a, agent)
    fleet.sync()
    assert state(b, ask(b, agent, "4")) == "permitted"


def test_a_rule_and_what_it_permits_end_together(fleet: Fleet, a: Home, agent: EntityId):
    make_rule(a, agent, until=a.now_ms() + 1000)
    permitted = ask(a, agent, "1")
    fleet.now_ms += 1001
    assert use(a, permitted).result is UseResult.EXPIRED
    assert state(a, permitted) == "too_late"
    assert state(a, ask(a, agent, "2")) == "pending"


def test_revoking_elsewhere_holds_as_soon_as_it_is_known(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    rule = make_rule(a, agent)
    fleet.sync()
    used, unused = ask(a, agent, "1"), ask(a, agent, "2")
    assert use(a, used).result is UseResult.GRANTED
    b.write(lambda tx: standing_rules.revoke_rule(tx, rule))
    fleet.sync()
    assert (state(a, used), state(a, unused)) == ("used", "pending")
    assert use(a, unused).result is UseResult.PENDING
    assert use(a, used).result is UseResult.GRANTED
    fleet.now_ms += DAY_MS
    assert state(a, ask(a, agent, "3")) == "pending"
    assert {rule_of(home, rule).state for home in (a, b)} == {"revoked"}


def test_no_write_brings_a_revoked_rule_back(fleet: Fleet, a: Home, agent: EntityId):
    rule = make_rule(a, agent)
    a.write(lambda tx: standing_rules.revoke_rule(tx, rule))
    a.write(lambda tx: tx.commit([EntityWrite(rule, STANDING_RULE, {"revoked": False})]))
    assert rule_of(a, rule).state == "revoked"
    assert state(a, ask(a, agent, "1")) == "pending"


def test_asks_that_ran_out_cost_the_next_one_no_history(
    fleet: Fleet, a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
):
    """Old: it read all that an agent had ever asked; a rule lets through a hundred asks a day."""
    make_rule(a, agent, uses_a_day=100)
    histories = []

    def read_history(*arguments: Any) -> Any:
        histories.append(arguments)
        return operations_on(*arguments)

    monkeypatch.setattr(asks, "operations_on", read_history)
    costs = []
    for day in range(3):
        for number in range(12):
            histories.clear()
            permitted = ask(a, agent, f"{day} {number}", not_after=a.now_ms() + 1000)
            costs.append(len(histories))
            assert state(a, permitted) == "permitted"
        fleet.now_ms += DAY_MS
    assert costs[0] == costs[12] == costs[24]


def test_a_rule_that_comes_later_leaves_the_ask_to_a_person(a: Home, agent: EntityId):
    early = ask(a, agent, "1")
    make_rule(a, agent)
    assert ask(a, agent, "1") == early
    assert state(a, early) == "pending"


def test_a_person_outranks_a_rule(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    make_rule(a, agent)
    permitted = ask(a, agent, "1")
    fleet.sync()
    b.write(lambda tx: ask_decisions.decide(tx, permitted, Verdict.REJECTED, reason="No.", via="cli"))
    fleet.sync()
    assert use(a, permitted).result is UseResult.REJECTED
    assert {state(home, permitted) for home in (a, b)} == {"refused"}


def test_with_other_device_only_a_rule_of_another_device_counts(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
):
    own = make_rule(a, agent)
    need_another_device(a, agent)
    fleet.sync()
    assert state(a, ask(a, agent, "1")) == "pending"
    assert rule_of(b, own).state == "idle"
    with pytest.raises(Refused):
        make_rule(a, agent)
    make_rule(b, agent)
    fleet.sync()
    permitted = ask(a, agent, "2")
    granted = use(a, permitted)
    assert (granted.result, granted.args) == (UseResult.GRANTED, ARGS)
    fleet.sync()
    assert state(b, permitted) == "used"
    assert details(b, permitted).idle_verdicts == []


@pytest.mark.parametrize("widened", [{"uses_a_day": 100}, {"exact": {}}, {"maker": bytes(32)}])
def test_what_is_not_as_its_id_says_is_no_rule(a: Home, agent: EntityId, widened: dict[str, Any]):
    def forge(tx: Transaction) -> EntityId:
        standing = read_rule(tx, make)
        assert standing is not None
        terms = RuleTerms(agent, tx.device, "run", standing.pattern, standing.until_ms, standing.uses_a_day)
        fields = rule_fields(terms, tx.device, tx.new_id())
        identifier = rule_id(fields)
        assert identifier is not None
        tx.commit([EntityWrite(identifier, STANDING_RULE, fields | widened)])
        return identifier

    make = make_rule(a, agent)
    forged = a.write(forge)
    assert a.read(lambda snapshot: read_rule(snapshot, forged)) is None


@pytest.mark.parametrize(
    "fields", [{"revoked": False}, {"until": 1 << 50}, {"uses_a_day": 100}, {"note": ""}]
)
def test_any_later_write_ends_a_rule(fleet: Fleet, a: Home, b: Home, agent: EntityId, fields: dict[str, Any]):
    rule = make_rule(a, agent)
    fleet.sync()
    b.write(lambda tx: tx.commit([EntityWrite(rule, STANDING_RULE, fields)]))
    assert state(a, ask(a, agent, "1")) == "permitted"
    fleet.sync()
    assert {rule_of(home, rule).state for home in (a, b)} == {"revoked"}
    assert state(a, ask(a, agent, "2")) == "pending"


def test_no_device_writes_a_rule_in_the_name_of_another(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    other = b.read(lambda snapshot: snapshot.device)

    def forge(tx: Transaction) -> EntityId:
        terms = RuleTerms(agent, tx.device, "run", Pattern(ARGS, {}), tx.now_ms() + DAY_MS, 9)
        fields = rule_fields(terms, other, tx.new_id())
        rule = rule_id(fields)
        assert rule is not None
        tx.commit([EntityWrite(rule, STANDING_RULE, fields)])
        return rule

    need_another_device(a, agent)
    rule = a.write(forge)
    assert a.read(lambda snapshot: read_rule(snapshot, rule)) is None
    assert state(a, ask(a, agent, "1")) == "pending"


def test_no_other_device_applies_a_rule(fleet: Fleet, a: Home, b: Home, agent: EntityId):
    rule = make_rule(a, agent, uses_a_day=1)
    ask(a, agent, "1")
    pending = ask(a, agent, "2")
    fleet.sync()
    stored = b.read(lambda snapshot: read_ask(snapshot, pending))
    assert stored is not None
    decision: dict[str, Any] = {
        "item_id": pending, "verdict": "confirmed", "seen": [], "args_hash": stored.args_hash, "rule": rule,
    }  # fmt: skip
    b.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "decision", decision)], by=AuthorKind.SYSTEM))
    fleet.sync()
    assert {state(home, pending) for home in (a, b)} == {"pending"}
    assert use(a, pending).result is UseResult.PENDING


def test_an_agent_writes_no_rule_and_a_daemons_word_without_one_permits_nothing(a: Home, agent: EntityId):
    pending = ask(a, agent, "1")

    def forge(tx: Transaction) -> EntityId:
        stored = read_ask(tx, pending)
        assert stored is not None
        pattern = Pattern(ARGS, {})
        fields = rule_fields(
            RuleTerms(agent, tx.device, "run", pattern, tx.now_ms() + DAY_MS, 9), tx.device, tx.new_id()
        )
        rule = rule_id(fields)
        assert rule is not None
        tx.commit([EntityWrite(rule, STANDING_RULE, dict(fields))], by=AuthorKind.AGENT, agent=agent)
        decision: dict[str, Any] = {
            "item_id": pending, "verdict": "confirmed", "seen": [], "args_hash": stored.args_hash,
            "rule": rule,
        }  # fmt: skip
        tx.commit([EntityWrite(tx.new_id(), "decision", decision)], by=AuthorKind.SYSTEM)
        return rule

    rule = a.write(forge)
    assert a.read(lambda snapshot: read_rule(snapshot, rule)) is None
    assert state(a, pending) == "pending"
    assert use(a, pending).result is UseResult.PENDING


@pytest.mark.parametrize(
    "changed",
    [
        {"exact": {}, "begins": {"command": "", "in": ""}},
        {"exact": {"command": "x"}, "begins": {"command": "x"}},
        {"begins": {"command": "sh -c "}},
        {"name": " "},
        {"until": 1},
        {"until": 1 << 50},
    ],
)
def test_a_rule_has_bounds(a: Home, agent: EntityId, changed: dict[str, Any]):
    with pytest.raises(Refused):
        make_rule(a, agent, **changed)


def test_a_wide_rule_of_an_earlier_version_permits_nothing_and_is_shown_as_idle(a: Home, agent: EntityId):
    """Old: "sudo " permitted every command of plain words."""

    def write(tx: Transaction) -> EntityId:
        terms = RuleTerms(agent, tx.device, "run", Pattern({}, {"command": "sudo "}), tx.now_ms() + DAY_MS, 9)
        fields = rule_fields(terms, tx.device, tx.new_id())
        rule = rule_id(fields)
        assert rule is not None
        tx.commit([EntityWrite(rule, STANDING_RULE, dict(fields))])
        return rule

    rule = a.write(write)
    assert state(a, ask(a, agent, "1", args={"command": "sudo reboot"})) == "pending"
    assert rule_of(a, rule).state == "idle"
