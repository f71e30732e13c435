"""What a person set of each request, and what a server does not take of it.

Never checks what a request asks for: `test_prompt.py` and `test_request_forms.py` do.
"""

import json
from dataclasses import replace

import pytest

from daemon.agents.models.openai.chat_model import PROMPT_TOKENS_MAX, TOTAL_PER_ANSWER, ChatCompletionsModel
from daemon.agents.models.openai.endpoint import Endpoint, RequestSettings, read_endpoint
from daemon.agents.tools.budgets import estimated_tokens
from daemon.agents.tools.model_interface import AnswerFault, EntryView, LinkedTaskView, TaskWithheld
from daemon.config import ConfigError, ServerSettings
from syncproto.ids import EntityId
from tests.daemon.agents.models.openai.connected_model import CONTEXT, NOW, SteppedClock, connected_model
from tests.daemon.agents.models.openai.fake_server import calls, raw, refuses
from tests.daemon.agents.models.openai.turns import ESTIMATE
from tests.support.fleet import Home
from tests.support.scripted_runs import Script, gathered_inputs, new_agent, reports, run_script, says

SET = RequestSettings(0.2, 8192, None, None, {"top_k": 20})


async def test_what_is_set_is_sent_with_each_request():
    async with connected_model(calls(ESTIMATE), requests=SET) as connected:
        await connected.model.turn(CONTEXT)
        (request,) = connected.server.asked
    sent = {name: request.body[name] for name in ("temperature", "max_tokens", "top_k")}
    assert sent == {"temperature": 0.2, "max_tokens": 8192, "top_k": 20}


async def test_without_settings_nothing_is_added():
    async with connected_model(calls(ESTIMATE)) as connected:
        await connected.model.turn(CONTEXT)
        assert set(connected.server.asked[0].body) == {"model", "messages", "tools", "tool_choice"}


async def test_a_parameter_that_the_server_refuses_is_left_out_from_then_on():
    refusal = refuses(400, code="unsupported_value", message="Unsupported value: 'temperature' is not 0.2.")
    async with connected_model(refusal, calls(ESTIMATE), calls(ESTIMATE), requests=SET) as connected:
        await connected.model.turn(CONTEXT)
        await connected.model.turn(CONTEXT)
        bodies = [request.body for request in connected.server.asked]
    assert [body.get("temperature") for body in bodies] == [0.2, None, None]
    assert [body["top_k"] for body in bodies] == [20, 20, 20]


async def test_the_limit_of_an_answer_goes_under_the_name_that_the_server_asks_for():
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    refusal = refuses(400, code="unsupported_parameter", message=words)
    async with connected_model(refusal, calls(ESTIMATE), requests=SET) as connected:
        await connected.model.turn(CONTEXT)
        last = connected.server.asked[-1].body
    assert ("max_tokens" in last, last["max_completion_tokens"]) == (False, 8192)


async def test_a_refusal_that_names_nothing_of_ours_is_the_fault_it_was():
    async with connected_model(refuses(400, message="bad messages"), mode="tools", requests=SET) as connected:
        with pytest.raises(Exception, match="cannot take what it was sent"):
            await connected.model.turn(CONTEXT)
        assert len(connected.server.asked) == 1


async def test_the_task_is_cut_to_what_the_model_reads():
    long = replace(
        CONTEXT, new_entries=tuple(EntryView(f"n{i}", "word " * 300, NOW, "user") for i in range(40))
    )
    small = RequestSettings(None, 1024, 4096)
    async with connected_model(calls(ESTIMATE), requests=small) as connected:
        await connected.model.turn(long)
        (request,) = connected.server.asked
    assert estimated_tokens(str(request.body)) <= 4096 - 1024
    assert '"notesLeftOut":' in request.body["messages"][1]["content"]


async def test_an_answer_gets_less_room_before_the_task_is_halved():
    overflow = refuses(400, code="context_length_exceeded", message="maximum context length is 4096 tokens")
    async with connected_model(overflow, calls(ESTIMATE), requests=SET) as connected:
        await connected.model.turn(CONTEXT)
        first, second = (request.body for request in connected.server.asked)
    assert (first["max_tokens"], second["max_tokens"]) == (8192, 1024)
    assert first["messages"] == second["messages"]


def test_the_time_for_an_answer_bounds_a_turn():
    endpoint = Endpoint("http://127.0.0.1:9/v1", "m", "tools", requests=RequestSettings(timeout_s=10))
    model = ChatCompletionsModel(endpoint, SteppedClock())
    assert (model._patience.read_s, model._patience.total_s) == (10, 10 * TOTAL_PER_ANSWER)
    assert model._budget == PROMPT_TOKENS_MAX


@pytest.mark.parametrize("name", ["messages", "tools", "model", "stream"])
def test_what_is_sent_is_no_setting(name: str):
    server = ServerSettings(base_url="http://127.0.0.1:9/v1", name="m", extra={name: 1})
    with pytest.raises(ConfigError, match=rf"model\.extra must not contain {name}"):
        read_endpoint(server, {})


async def test_refused_runs_are_told_until_one_is_answered():
    """`doctor` is red while the server is there and refuses what it is sent."""
    refusal = refuses(400, message="bad messages")
    async with connected_model(refusal, calls(ESTIMATE), mode="tools") as connected:
        with pytest.raises(AnswerFault):
            await connected.model.turn(CONTEXT)
        assert connected.model.outage is not None
        await connected.model.require_available(by_person=False)
        await connected.model.turn(CONTEXT)
        assert connected.model.outage is None


@pytest.mark.parametrize("code", [503, "overloaded", None])
async def test_an_error_that_is_answered_as_if_all_were_well_is_one(code: object):
    error = raw(json.dumps({"error": {"message": "overloaded", "code": code}}).encode())
    async with connected_model(error, calls(ESTIMATE)) as connected:
        turn = await connected.model.turn(CONTEXT)
        assert len(turn.calls) == 1
        assert len(connected.world.pauses) == 1


# -- what must not leave this machine -----------------------------------------------------------------

HEALTH = replace(CONTEXT, task=replace(CONTEXT.task, category="Health"))
AWAY = frozenset({"health"})


async def test_a_task_of_a_category_that_stays_here_is_not_sent_not_even_by_a_probe():
    async with connected_model(calls(ESTIMATE), withheld=AWAY, mode="auto") as connected:
        with pytest.raises(TaskWithheld):
            await connected.model.turn(HEALTH)
        assert connected.server.asked == []
        assert connected.model.outage is None


async def test_nor_is_such_a_task_that_another_one_is_linked_with():
    links = (
        LinkedTaskView("blocks", "to", "Blood test", "OPEN", "Anaemia", "HEALTH"),
        LinkedTaskView("blocks", "to", "Buy paper", "OPEN", "", "Office"),
    )
    async with connected_model(calls(ESTIMATE), withheld=AWAY) as connected:
        await connected.model.turn(replace(CONTEXT, linked_tasks=links))
        written = connected.server.asked[0].written
    assert "Buy paper" in written
    assert "Blood test" not in written
    assert "Anaemia" not in written


async def test_nor_does_a_change_name_another_task_that_may_have_to_stay(a: Home, task: EntityId):
    agent = new_agent(a, task)
    await run_script(a, agent, Script([says(reports())]))
    other = a.new("task", title="Blood test", status="OPEN", priority="P2")
    a.new("link", task, from_id=task, to_id=other, type="blocks")
    note = a.new("entry", other, task_id=other, text="Buy paper")
    a.set(note, task_id=task)
    context = gathered_inputs(a, agent, "later").context
    assert "Blood test" in str(context.changes)
    async with connected_model(calls(ESTIMATE), withheld=AWAY) as connected:
        await connected.model.turn(replace(context, linked_tasks=()))
        written = connected.server.asked[0].written
    assert "Buy paper" in written
    assert "Blood test" not in written


@pytest.mark.parametrize(
    ("address", "withheld"),
    [("https://api.example.org/v1", frozenset({"health"})), ("http://127.0.0.1:9/v1", frozenset())],
)
def test_a_server_on_this_machine_may_have_everything(address: str, withheld: frozenset[str]):
    server = ServerSettings(base_url=address, name="m")
    assert read_endpoint(server, {}, withheld=[" Health "]).withheld_categories == withheld
