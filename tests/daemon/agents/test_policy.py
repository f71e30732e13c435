"""What an agent may do: policies that only tighten, and categories, by whatever name a tool is called.

Never runs a model: the calls are written here.
"""

import pytest

from daemon.agents import policy
from daemon.agents.policy import Ruling, allowed_tools, field_of, ruling, tightenings
from daemon.agents.proposals import QUEUED, Taken
from daemon.agents.tools import TOOLS, Mode
from store.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, text
from tests.daemon.agents.asking import At
from tests.daemon.agents.fleet import Fleet, Home


def set_policy(home: Home, task: EntityId, **fields: Value) -> EntityId:
    """Write fields of a task's agent, `policy/` before the names of tools."""
    agent = derived_id("agent", text(task), time_of=task)
    values = {field_of(name) if name in TOOLS else name: value for name, value in fields.items()}

    def use(tx: Transaction) -> None:
        tx.commit([Write(agent, "agent", {"task_id": task, **values})])

    home.write(use)
    return agent


def agent_of(home: Home, agent: EntityId) -> Entity:
    return home.entity(agent)


def test_without_a_policy_each_tool_has_its_own_mode(a: Home, task: EntityId) -> None:
    agent = agent_of(a, set_policy(a, task))
    at_once = {name for name in TOOLS if ruling(agent, name) is Ruling.IMMEDIATE}
    assert at_once == {"set_task_language", "update_report", "record_observations", "retract_proposals"}
    assert {ruling(agent, name) for name in set(TOOLS) - at_once} == {Ruling.DEFERRED}
    assert [ruling(None, name) for name in TOOLS] == [ruling(agent, name) for name in TOOLS]


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("said", ["immediate", "", "deferred", "denied", "asked twice", None, 5, [], True])
def test_a_policy_never_loosens(a: Home, task: EntityId, name: str, said: Value) -> None:
    agent = agent_of(a, set_policy(a, task, **{name: said}))
    for one in TOOLS:
        assert ruling(agent, one) >= ruling(None, one)


@pytest.mark.parametrize("said", ["denied", "asked twice", "", 5])
def test_a_policy_that_cannot_be_read_denies(a: Home, task: EntityId, said: Value) -> None:
    agent = agent_of(a, set_policy(a, task, set_task_title=said))
    assert ruling(agent, "set_task_title") is Ruling.DENIED


def test_a_policy_that_was_emptied_is_none(a: Home, task: EntityId) -> None:
    set_policy(a, task, set_task_title="denied")
    agent = agent_of(a, set_policy(a, task, set_task_title=None))
    assert ruling(agent, "set_task_title") is Ruling.DEFERRED


def test_what_writes_no_field_of_the_journal_can_be_denied_and_not_deferred(a: Home, task: EntityId) -> None:
    private = ("update_report", "record_observations", "retract_proposals")
    assert {name for name in TOOLS if tightenings(name) == ("denied",)} == set(private)
    agent = agent_of(a, set_policy(a, task, **dict.fromkeys(private, "deferred")))
    assert {ruling(agent, name) for name in private} == {Ruling.DENIED}


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
        assert home.entity(agent).value(field_of("set_task_title")) is None
        assert ruling(home.entity(agent), "set_task_title") is Ruling.DENIED


@pytest.mark.parametrize(
    ("denied", "asked"),
    [
        (one, other)
        for one, other in [
            ("add_checklist_item", "add_multiple_checklist_items"),
            ("update_checklist_item", "update_checklist_items"),
            ("assign_task_label", "assign_task_labels"),
        ]
    ],
)
def test_a_batch_and_the_tool_of_its_elements_are_one_matter(
    a: Home, task: EntityId, denied: str, asked: str
) -> None:
    for first, second in ((denied, asked), (asked, denied)):
        agent = agent_of(a, set_policy(a, task, **{first: "denied", second: None}))
        assert ruling(agent, second) is Ruling.DENIED
        assert not {first, second} & set(allowed_tools(agent))


# -- at the desk --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["set_task_title", "SetTaskTitle", "functions.set-task-title", "tool_setTaskTitle"]
)
def test_what_is_denied_is_answered_and_not_queued_whatever_it_is_called(
    a: Home, task: EntityId, name: str
) -> None:
    set_policy(a, task, set_task_title="denied")
    at = At(a, task)
    answer = at.take(name, {"title": "x"})
    assert answer.text == "Denied: the user's policy for this agent denies set_task_title."
    assert (answer.taken, answer.tool) == (Taken.DENIED, "set_task_title")
    assert at.desk.change_sets() == []


def test_a_denied_report_leaves_none(a: Home, task: EntityId) -> None:
    set_policy(a, task, update_report="denied")
    at = At(a, task)
    assert at.take("update_report", {"title": "x", "tldr": "y"}).taken is Taken.DENIED
    assert at.desk.report is None


def test_a_policy_holds_from_the_next_call_on(a: Home, task: EntityId) -> None:
    at = At(a, task)
    assert at.ask("set_task_title", {"title": "One"}) == QUEUED
    set_policy(a, task, set_task_title="denied")
    assert at.take("set_task_title", {"title": "Two"}).taken is Taken.DENIED


def test_an_immediate_tool_that_is_deferred_becomes_an_item(a: Home, task: EntityId) -> None:
    set_policy(a, task, set_task_language="deferred")
    at = At(a, task)
    answer = at.take("set_task_language", {"languageCode": "de", "confidence": "high"})
    assert (answer.text, answer.taken) == (QUEUED, Taken.QUEUED)
    assert [item.tool for item in at.end()] == ["set_task_language"]
    assert a.value(task, "language") is None


def test_allowed_tools_are_in_the_order_of_the_table(a: Home, task: EntityId) -> None:
    agent = agent_of(a, set_policy(a, task, update_report="denied"))
    assert allowed_tools(None) == tuple(TOOLS)
    assert allowed_tools(agent) == tuple(name for name in TOOLS if name != "update_report")
    assert all(TOOLS[name].mode in Mode for name in allowed_tools(None))


# -- categories ---------------------------------------------------------------------------------------


def refused(home: Home, agent: EntityId, task: EntityId) -> str | None:
    def use(snapshot: Snapshot) -> str | None:
        return policy.category_refusal(snapshot, snapshot.entity(agent), snapshot.entity(task))

    return home.read(use)


def test_an_agent_works_on_tasks_of_its_categories_and_no_others(a: Home, task: EntityId) -> None:
    work, private = a.new("category", name="Work"), a.new("category", name="Private")
    agent = set_policy(a, task)
    assert refused(a, agent, task) is None
    a.set(task, category_id=work)
    assert refused(a, agent, task) == 'this agent may not work on tasks of the category "Work"'
    set_policy(a, task, **{f"{policy.CATEGORIES}/{text(work)}": True})
    assert refused(a, agent, task) is None
    a.set(task, category_id=private)
    assert refused(a, agent, task) == 'this agent may not work on tasks of the category "Private"'
    a.set(task, category_id=None)
    assert refused(a, agent, task) == "this agent may not work on tasks without a category"
    set_policy(a, task, **{f"{policy.CATEGORIES}/{text(work)}": False})
    assert refused(a, agent, task) is None


def test_a_category_that_is_not_known_here_is_told_as_such(a: Home, task: EntityId) -> None:
    agent = set_policy(a, task)
    a.set(task, category_id=EntityId(bytes(16)))
    assert refused(a, agent, task) == 'this agent may not work on tasks of the category "unknown"'


def test_in_a_category_that_is_not_its_own_an_agent_does_nothing(a: Home, task: EntityId) -> None:
    set_policy(a, task)
    at = At(a, task)
    a.set(task, category_id=a.new("category", name="Work"))
    for name in TOOLS:
        answer = at.take(name, {})
        assert answer.taken is Taken.DENIED
        assert answer.text == 'Denied: this agent may not work on tasks of the category "Work".'


def test_an_agent_or_a_task_that_is_not_there_is_not_refused_for_its_category(
    a: Home, task: EntityId
) -> None:
    nobody = EntityId(bytes(16))
    assert refused(a, nobody, task) is None
    assert refused(a, set_policy(a, task), nobody) is None
