"""What an agent may do: policies that only tighten, and categories, by whatever name a tool is called.

Never runs a model: the tests contain the calls.
"""

import pytest

from daemon.agents.proposing.tool_answers import QUEUED_TEXT, CallOutcome
from daemon.agents.tools import policy
from daemon.agents.tools.policy import Ruling, allowed_tools, policy_field, ruling_on, settable_policies
from daemon.agents.tools.table import ADD_TASK, TOOLS, TOOLS_ON, CallMode
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import set_policy
from tests.support.fleet import Fleet, Home
from tests.support.tool_calls import At


def agent_of(home: Home, agent: EntityId) -> Entity:
    return home.entity(agent)


def test_without_a_policy_each_tool_has_its_own_mode(a: Home, task: EntityId) -> None:
    agent = agent_of(a, set_policy(a, task))
    at_once = {name for name in TOOLS if ruling_on(agent, name) is Ruling.IMMEDIATE}
    assert at_once == {"set_task_language", "update_report", "record_observations", "retract_proposals"}
    assert {ruling_on(agent, name) for name in set(TOOLS_ON) - at_once} == {Ruling.DEFERRED}
    assert {name for name in TOOLS if ruling_on(agent, name) is Ruling.DENIED} == {ADD_TASK}
    assert [ruling_on(None, name) for name in TOOLS] == [ruling_on(agent, name) for name in TOOLS]


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("words", ["immediate", "", "deferred", "denied", "asked twice", None, 5, [], True])
def test_a_policy_never_loosens(a: Home, task: EntityId, name: str, words: Value) -> None:
    agent = agent_of(a, set_policy(a, task, **{name: words}))
    for text in TOOLS_ON:
        assert ruling_on(agent, text) >= ruling_on(None, text)
    # What is off can be let wait, and nothing else.
    assert (ruling_on(agent, ADD_TASK) is Ruling.DEFERRED) == ((name, words) == (ADD_TASK, "deferred"))


def test_a_tool_that_is_off_stays_off_if_one_of_two_devices_that_were_apart_says_so(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    set_policy(a, task, add_task="deferred")
    fleet.sync()
    fleet.now_ms += 1000
    set_policy(a, task, add_task=None)
    fleet.now_ms += 1000
    agent = set_policy(b, task, add_task="deferred", name="Bob")
    fleet.sync()
    for home in (a, b):
        assert home.entity(agent).value(policy_field("add_task")) == "deferred"
        assert ruling_on(home.entity(agent), "add_task") is Ruling.DENIED


@pytest.mark.parametrize("words", ["denied", "asked twice", "", 5])
def test_a_policy_that_cannot_be_read_denies(a: Home, task: EntityId, words: Value) -> None:
    agent = agent_of(a, set_policy(a, task, set_task_title=words))
    assert ruling_on(agent, "set_task_title") is Ruling.DENIED


def test_a_policy_that_was_emptied_is_none(a: Home, task: EntityId) -> None:
    set_policy(a, task, set_task_title="denied")
    agent = agent_of(a, set_policy(a, task, set_task_title=None))
    assert ruling_on(agent, "set_task_title") is Ruling.DEFERRED


def test_what_writes_no_field_of_the_journal_can_be_denied_and_not_deferred(a: Home, task: EntityId) -> None:
    private = ("update_report", "record_observations", "retract_proposals")
    assert {name for name in TOOLS if settable_policies(name) == ("denied",)} == set(private)
    agent = agent_of(a, set_policy(a, task, **dict.fromkeys(private, "deferred")))
    assert {ruling_on(agent, name) for name in private} == {Ruling.DENIED}


def test_of_policies_that_were_set_while_apart_the_tightest_holds(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    set_policy(a, task)
    fleet.sync()
    fleet.now_ms += 1000
    set_policy(a, task, set_task_title="denied")
    fleet.now_ms += 1000
    agent = set_policy(b, task, set_task_title=None)
    fleet.sync()
    for home in (a, b):
        assert home.entity(agent).value(policy_field("set_task_title")) is None
        assert ruling_on(home.entity(agent), "set_task_title") is Ruling.DENIED


@pytest.mark.parametrize(
    ("denied", "text"),
    [
        (text, other)
        for text, other in [
            ("add_checklist_item", "add_multiple_checklist_items"),
            ("update_checklist_item", "update_checklist_items"),
            ("assign_task_label", "assign_task_labels"),
        ]
    ],
)
def test_a_batch_and_the_tool_of_its_elements_are_one_matter(
    a: Home, task: EntityId, denied: str, text: str
) -> None:
    for first, second in ((denied, text), (text, denied)):
        agent = agent_of(a, set_policy(a, task, **{first: "denied", second: None}))
        assert ruling_on(agent, second) is Ruling.DENIED
        assert not {first, second} & set(allowed_tools(agent))


# -- at the desk --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["set_task_title", "SetTaskTitle", "functions.set-task-title", "tool_setTaskTitle"]
)
def test_what_is_denied_is_answered_and_not_queued_whatever_it_is_called(
    a: Home, task: EntityId, name: str
) -> None:
    set_policy(a, task, set_task_title="denied")
    caller = At(a, task)
    answer = caller.take(name, {"title": "x"})
    assert answer.text == "Denied: the user's policy for this agent denies set_task_title."
    assert (answer.outcome, answer.tool) == (CallOutcome.DENIED, "set_task_title")
    assert caller.desk.change_sets() == []


def test_a_denied_report_leaves_none(a: Home, task: EntityId) -> None:
    set_policy(a, task, update_report="denied")
    caller = At(a, task)
    assert caller.take("update_report", {"title": "x", "tldr": "y"}).outcome is CallOutcome.DENIED
    assert caller.desk.report is None


def test_a_policy_holds_from_the_next_call_on(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    assert caller.ask("set_task_title", {"title": "One"}) == QUEUED_TEXT
    set_policy(a, task, set_task_title="denied")
    assert caller.take("set_task_title", {"title": "Two"}).outcome is CallOutcome.DENIED


def test_an_immediate_tool_that_is_deferred_becomes_an_item(a: Home, task: EntityId) -> None:
    set_policy(a, task, set_task_language="deferred")
    caller = At(a, task)
    answer = caller.take("set_task_language", {"languageCode": "de", "confidence": "high"})
    assert (answer.text, answer.outcome) == (QUEUED_TEXT, CallOutcome.QUEUED)
    assert [item.tool for item in caller.end()] == ["set_task_language"]
    assert a.value(task, "language") is None


def test_allowed_tools_are_in_the_order_of_the_table(a: Home, task: EntityId) -> None:
    agent = agent_of(a, set_policy(a, task, update_report="denied"))
    assert allowed_tools(None) == TOOLS_ON
    assert allowed_tools(agent) == tuple(name for name in TOOLS_ON if name != "update_report")
    assert all(TOOLS[name].mode in CallMode for name in allowed_tools(None))


# -- categories ---------------------------------------------------------------------------------------


def refused(home: Home, agent: EntityId, task: EntityId) -> str | None:
    def use(snapshot: Snapshot) -> str | None:
        reason = policy.category_refusal(snapshot, snapshot.entity(agent), snapshot.entity(task))
        return None if reason is None else reason.text

    return home.read(use)


def test_an_agent_works_on_tasks_of_its_categories_and_no_others(a: Home, task: EntityId) -> None:
    work, private = a.new("category", name="Work"), a.new("category", name="Private")
    agent = set_policy(a, task)
    assert refused(a, agent, task) is None
    a.set(task, category_id=work)
    assert refused(a, agent, task) == 'this agent may not work on tasks of the category "Work"'
    set_policy(a, task, **{f"{policy.CATEGORIES_FIELD}/{id_to_text(work)}": True})
    assert refused(a, agent, task) is None
    a.set(task, category_id=private)
    assert refused(a, agent, task) == 'this agent may not work on tasks of the category "Private"'
    a.set(task, category_id=None)
    assert refused(a, agent, task) == "this agent may not work on tasks without a category"
    set_policy(a, task, **{f"{policy.CATEGORIES_FIELD}/{id_to_text(work)}": False})
    assert refused(a, agent, task) is None


def test_a_category_that_is_not_known_here_is_told_as_such(a: Home, task: EntityId) -> None:
    agent = set_policy(a, task)
    a.set(task, category_id=EntityId(bytes(16)))
    assert refused(a, agent, task) == 'this agent may not work on tasks of the category "unknown"'


def test_in_a_category_that_is_not_its_own_an_agent_does_nothing(a: Home, task: EntityId) -> None:
    set_policy(a, task)
    caller = At(a, task)
    a.set(task, category_id=a.new("category", name="Work"))
    for name in TOOLS_ON:
        answer = caller.take(name, {})
        assert answer.outcome is CallOutcome.DENIED
        assert answer.text == 'Denied: this agent may not work on tasks of the category "Work".'


def test_an_agent_or_a_task_that_is_not_there_is_not_refused_for_its_category(
    a: Home, task: EntityId
) -> None:
    nobody = EntityId(bytes(16))
    assert refused(a, nobody, task) is None
    assert refused(a, set_policy(a, task), nobody) is None
