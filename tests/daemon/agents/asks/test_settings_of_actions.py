"""What a person sets for one action of an agent of another maker: a denial, and what verdicts need."""

import pytest

from daemon.agents.asks import ask_requests
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.person import external_agents, lifecycle, policy_edits, presence_edits, standing_rules
from daemon.agents.person.external_agents import find_external_agent
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.agents.tools.agent_record import agent_id
from daemon.refusal import Refused
from store.fold.verdicts import Verdict
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.asks.test_asks import ask, decide, details
from tests.support.fleet import DAY_MS, Fleet, Home

SPELLINGS = (
    "Deploy now",
    "deploy  NOW",
    " deploy now ",
    "de\u200bploy now\u2060",
    "deploy\u00a0now",
    "\uff24eploy now",
    "d\u034feploy n\ufe0fo\u00adw",
)


@pytest.fixture
def claude(fleet: Fleet, a: Home, b: Home) -> EntityId:
    a.write(lambda tx: external_agents.add_external_agent(tx, "Claude", None))
    fleet.sync()
    return a.read(lambda snapshot: find_external_agent(snapshot, "Claude"))


def set_presence(home: Home, agent: EntityId, name: str, presence: str) -> None:
    home.write(lambda tx: presence_edits.set_presence(tx, agent, name, presence, has_other_devices=True))


def set_policy(home: Home, agent: EntityId, name: str, policy: str) -> None:
    home.write(lambda tx: policy_edits.set_tool_policy(tx, agent, name, policy))


def shown_settings(home: Home, agent: EntityId) -> tuple[dict[str, str], dict[str, str]]:
    shown = home.read(lambda snapshot: external_agents.external_agent_details(snapshot, agent, 0))
    tools = dict.fromkeys(policy_edits.POLICY_TOOLS)
    return {name: policy for name, policy in shown.policy.items() if name not in tools}, shown.presence


def result_of_use(home: Home, ask_id: EntityId) -> UseResult:
    args_hash = bytes.fromhex(details(home, ask_id).args_hash)
    return home.write(lambda tx: ask_requests.use_permission(tx, ask_id, args_hash, "run 1")).result


def test_an_action_needs_more_than_the_others_however_it_is_spelled(a: Home, claude: EntityId):
    set_presence(a, claude, SPELLINGS[0], "other_device")
    for number, name in enumerate(SPELLINGS):
        assert details(a, ask(a, claude, name=name, key=f"{number}")).presence == "other_device"
    assert details(a, ask(a, claude, key="mail")).presence == "any"
    assert shown_settings(a, claude) == (
        {"deploy now": "deferred"},
        {"all": "any", "deploy now": "other_device"},
    )


def test_an_action_needs_less_than_the_others_if_another_device_says_so(
    fleet: Fleet, a: Home, b: Home, claude: EntityId
):
    set_presence(a, claude, "all", "other_device")
    fleet.sync()
    with pytest.raises(Refused, match="only be tightened"):
        set_presence(a, claude, "read_file", "any")
    set_presence(b, claude, "read_file", "any")
    fleet.sync()
    identifier = ask(a, claude, name="read_file")
    assert decide(a, identifier, Verdict.CONFIRMED).result is DecisionOutcome.APPLIED
    assert details(a, ask(a, claude, key="mail")).presence == "other_device"


def test_what_an_action_needs_is_not_loosened_where_the_agent_works(
    fleet: Fleet, a: Home, b: Home, claude: EntityId
):
    set_presence(a, claude, "deploy", "other_device")
    for presence in ("any", "default"):
        with pytest.raises(Refused, match="only be tightened"):
            set_presence(a, claude, "DEPLOY", presence)
    fleet.sync()
    set_presence(b, claude, "deploy", "default")
    fleet.sync()
    assert shown_settings(a, claude) == ({}, {"all": "any"})


def test_a_yes_is_not_used_if_the_action_needs_more_since(a: Home, claude: EntityId):
    mail, other = ask(a, claude), ask(a, claude, name="deploy", key="deploy")
    decide(a, mail, Verdict.CONFIRMED)
    decide(a, other, Verdict.CONFIRMED)
    set_presence(a, claude, "deploy", "other_device")
    assert result_of_use(a, other) is UseResult.POLICY_CHANGED
    assert result_of_use(a, mail) is UseResult.GRANTED


def test_an_action_that_is_denied_is_neither_asked_for_nor_used(a: Home, claude: EntityId):
    before = ask(a, claude, name="deploy", key="before")
    decide(a, before, Verdict.CONFIRMED)
    set_policy(a, claude, "Deploy", "denied")
    with pytest.raises(Refused, match="denied this agent the action 'DEPLOY'"):
        ask(a, claude, name="DEPLOY", key="after")
    with pytest.raises(Refused, match="denied"):
        ask(a, claude, name="deploy", key="before")
    assert result_of_use(a, before) is UseResult.POLICY_CHANGED
    assert shown_settings(a, claude)[0] == {"deploy": "denied"}
    set_policy(a, claude, "deploy", "default")
    assert result_of_use(a, before) is UseResult.GRANTED


def test_what_is_set_for_a_tool_says_nothing_of_an_ask_of_that_name(
    fleet: Fleet, a: Home, b: Home, claude: EntityId
):
    """Else what a person loosens for a change to the journal would loosen what lies outside."""
    set_presence(b, claude, "all", "other_device")
    set_presence(b, claude, "update_task_estimate", "any")
    fleet.sync()
    assert details(a, ask(a, claude, name="Update-Task-Estimate")).presence == "other_device"
    set_policy(a, claude, "update_task_estimate", "denied")
    assert details(a, ask(a, claude, name="update_task_estimate", key="2")).state == "pending"


@pytest.mark.parametrize("name", ["mcp__tracker__add_task", "tracker.add_task", "addTask"])
def test_a_tool_of_another_server_has_settings_of_its_own(a: Home, claude: EntityId, name: str):
    """A hook names it so. Else its denial would deny the journal's tool, and let the hook's call through."""
    before = ask(a, claude, name=name, key="before")
    decide(a, before, Verdict.CONFIRMED)
    set_policy(a, claude, name, "denied")
    shown = a.read(lambda snapshot: external_agents.external_agent_details(snapshot, claude, 0))
    assert shown.policy["add_task"] == "deferred"
    assert result_of_use(a, before) is UseResult.POLICY_CHANGED
    with pytest.raises(Refused, match="a person denied"):
        ask(a, claude, name=name.upper(), key="after")


def test_no_rule_permits_an_action_that_needs_a_passkey_or_is_denied(
    fleet: Fleet, a: Home, b: Home, claude: EntityId
):
    def make_rule(name: str) -> EntityId:
        request = NewStandingRule(agent="x", name=name, exact={"to": "ana"}, until=0, uses_a_day=3)
        return a.write(lambda tx: standing_rules.make_rule(tx, claude, request, a.now_ms() + DAY_MS))

    mail = make_rule("send_mail")
    set_policy(a, claude, "send_mail", "denied")
    listed = a.read(lambda snapshot: standing_rules.list_rules(snapshot, a.now_ms()))
    assert [(rule.rule_id, rule.state) for rule in listed] == [(id_to_text(mail), "idle")]
    set_presence(a, claude, "deploy", "other_device")
    with pytest.raises(Refused, match="another device"):
        make_rule("deploy")


def test_an_action_of_a_tasks_own_agent_has_no_settings(a: Home, task: EntityId):
    """It is asked for over the API alone, so an unknown name is a mistake in the name of a tool."""
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    agent = agent_id(task)
    with pytest.raises(Refused, match="no tool is called"):
        set_policy(a, agent, "send_mail", "denied")


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "all", " ALL"])
def test_no_setting_is_kept_for_what_names_no_action(a: Home, claude: EntityId, name: str):
    with pytest.raises(Refused, match="no tool is called"):
        set_policy(a, claude, name, "denied")
    with pytest.raises(Refused, match="waits, or is denied"):
        set_policy(a, claude, "deploy", "immediate")


@pytest.mark.parametrize("setting", ["any ", "ANY", "", 1, True, ["any"], b"any"])
def test_a_setting_that_cannot_be_read_asks_for_the_most_and_a_policy_denies(
    a: Home, claude: EntityId, setting: Value
):
    """As a newer version may write it, or a member that went wrong."""
    a.write(lambda tx: tx.commit([EntityWrite(claude, "agent", {"presence/send_mail": setting})]))
    assert details(a, ask(a, claude, name="send_mail")).presence == "passkey"
    a.write(lambda tx: tx.commit([EntityWrite(claude, "agent", {"policy/deploy": setting})]))
    with pytest.raises(Refused, match="denied this agent the action"):
        ask(a, claude, name="deploy", key="2")
