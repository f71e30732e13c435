"""The rules in place of a remote model: when they answer, and how a run says so.

Never asks a server.
"""

import pytest

from daemon.agents.running.stand_in import ModelWithStandIn
from daemon.agents.tools.model_interface import BudgetSpent, ModelUnavailable, TaskWithheld
from store.sentence import foreign_text
from syncproto.ids import EntityId
from tests.daemon.agents.running.conversation_steps import log
from tests.support.decision_verbs import waiting
from tests.support.fleet import Home
from tests.support.scripted_runs import Script, Step, new_agent, reports, run_script, says

AWAY = ModelUnavailable(foreign_text("the server cannot be reached"))
SPENT = BudgetSpent(foreign_text("today's budget is spent"))
WITHHELD = TaskWithheld(foreign_text("it stays here"))
ESTIMATE = ("update_task_estimate", {"minutes": 90})


def joined(*steps: Step, answers_outages: bool = True) -> ModelWithStandIn:
    remote, rules = Script([*steps], "remote"), Script([says(ESTIMATE, reports())], "rules")
    return ModelWithStandIn(remote, rules, answers_outages=answers_outages)


@pytest.mark.parametrize("fault", [AWAY, SPENT, WITHHELD])
async def test_the_rules_answer_and_the_log_says_why(a: Home, task: EntityId, fault: Exception):
    agent = new_agent(a, task)
    receipt = await run_script(a, agent, joined(fault))
    assert (receipt.proposals, receipt.cut_short) == (1, "")
    ended = log(a, agent)[-1].ended
    assert (ended["model"], ended["stood_in_because"]) == ("rules", str(fault))


async def test_without_the_setting_only_what_must_stay_here_is_answered(a: Home, task: EntityId):
    agent = new_agent(a, task)
    with pytest.raises(ModelUnavailable):
        await run_script(a, agent, joined(AWAY, answers_outages=False))
    assert not waiting(a)
    receipt = await run_script(a, agent, joined(WITHHELD, answers_outages=False), key="two")
    assert receipt.proposals == 1


async def test_what_the_remote_model_began_the_rules_do_not_go_on_with(a: Home, task: EntityId):
    agent = new_agent(a, task)
    due = says(("update_task_due_date", {"dueDate": "2027-01-01"}))
    receipt = await run_script(a, agent, joined(due, AWAY))
    assert (receipt.proposals, receipt.cut_short) == (1, str(AWAY))
    assert [item.tool for item in waiting(a)] == ["update_task_due_date"]


async def test_a_model_that_answers_says_nothing_of_a_stand_in(a: Home, task: EntityId):
    agent = new_agent(a, task)
    await run_script(a, agent, joined(says(reports())))
    ended = log(a, agent)[-1].ended
    assert ended["model"] == "remote"
    assert "stood_in_because" not in ended
