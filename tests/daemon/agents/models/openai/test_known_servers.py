"""Servers that people use, each with the quirks that its documentation and its users tell of.

A run against each ends with the proposal that it should. Never reaches beyond loopback.
"""

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web

from daemon.agents.models.openai.endpoint import RequestSettings
from daemon.agents.person import lifecycle
from daemon.agents.tools.budgets import estimated_tokens
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.models.openai.connected_model import CANARY, REPORT
from tests.daemon.agents.models.openai.fake_server import Step, acts, answers, call, calls, raw, refuses, says
from tests.daemon.agents.models.openai.remote_runs import report_of, running
from tests.support.decision_verbs import waiting
from tests.support.fleet import Home

ESTIMATE = ("update_task_estimate", {"minutes": 90})
REPORTED = ("update_report", REPORT)
READY = calls(("ready", {"code": CANARY}))
ACTIONS = acts({"actions": [{"tool": ESTIMATE[0], "arguments": ESTIMATE[1]}], "report": REPORT})
SET = RequestSettings(0.2, 8192, None, None, {"top_k": 20})
Body = dict[str, Any]
Rule = Callable[[Body], Step]


def knows(rule: Rule) -> Step:
    """Return a step that answers every request by one rule."""

    async def step(request: web.Request) -> web.StreamResponse:
        answer: Awaitable[web.StreamResponse] = rule(await request.json())(request)
        return await answer

    return step


def names_of(body: Body) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def is_probe(body: Body) -> bool:
    return '"report"' not in json.dumps(body["response_format"])


def assistants(body: Body) -> list[Body]:
    return [message for message in body["messages"] if message["role"] == "assistant"]


def in_two_turns(first: Step) -> Rule:
    """Return the rule of a server whose model reports in a turn of its own."""

    def rule(body: Body) -> Step:
        if "ready" in names_of(body):
            return READY
        return calls(REPORTED) if assistants(body) else first

    return rule


def openai(body: Body) -> Step:
    """A reasoning model: no temperature but its own, and another name for the limit of an answer."""
    if "temperature" in body:
        return refuses(400, code="unsupported_value", message="'temperature' does not support 0.2")
    if "max_tokens" in body:
        words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return refuses(400, code="unsupported_parameter", message=words)
    if "top_k" in body:
        return refuses(400, code="unknown_parameter", message="Unknown parameter: 'top_k'.")
    return in_two_turns(calls(ESTIMATE))(body)


def gemini(body: Body) -> Step:
    """Errors in a list, and calls that want their signature back."""
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    for message in assistants(body):
        if message["tool_calls"][0].get("extra_content") != signed["extra_content"]:
            error = {"code": 400, "message": "missing a thought_signature", "status": "INVALID_ARGUMENT"}
            return raw(json.dumps([{"error": error}]).encode(), 400)
    first = answers({"tool_calls": [call(*ESTIMATE, "call_a") | signed]}, "tool_calls")
    return in_two_turns(first)(body)


def anthropic() -> Rule:
    """Overloaded at first, with a status of its own; no schema for an answer binds it."""
    bodies: list[Body] = []

    def rule(body: Body) -> Step:
        bodies.append(body)
        if len(bodies) == 1:
            return refuses(529, kind="overloaded_error", message="Overloaded")
        return in_two_turns(calls(ESTIMATE))(body)

    return rule


def mistral(body: Body) -> Step:
    """Ids of nine letters and digits, no field that it does not know, and parts in place of a text."""
    roles = [message["role"] for message in body["messages"]]
    if ("tool", "user") in pairwise(roles):
        return refuses(400, message="Unexpected role 'user' after role 'tool'")
    if "top_k" in body:
        detail = [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs"}]
        return raw(json.dumps({"object": "error", "detail": detail}).encode(), 422)
    for message in assistants(body):
        for made in message["tool_calls"]:
            if len(made["id"]) != 9 or not made["id"].isalnum():
                return refuses(400, message="Tool call id must be a-z, A-Z, 0-9, with a length of 9.")
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    first = answers({"content": parts, "tool_calls": [call(*ESTIMATE, None)]}, "tool_calls")
    return in_two_turns(first)(body)


def deepseek(body: Body) -> Step:
    """Thoughts that must come back with their calls, and no choice of a tool by name."""
    if isinstance(body.get("tool_choice"), dict):
        return refuses(400, message="deepseek-reasoner does not support this tool_choice")
    for message in assistants(body):
        if message.get("reasoning_content") != "The note says 90.":
            return refuses(400, message="The `reasoning_content` must be passed back to the API.")
    first = {"content": "", "reasoning_content": "The note says 90.", "tool_calls": [call(*ESTIMATE)]}
    if "ready" in names_of(body):
        return READY
    done = [message for message in body["messages"] if message["role"] == "tool"]
    if not done:
        return answers(first, "tool_calls")
    # The model forgets its report, and is then asked for it by name.
    return calls(REPORTED) if "update_report now" in str(done[-1]["content"]) else says("Done.")


def ollama(body: Body) -> Step:
    """It reads the end of what is too long, in silence, and so knows no task and no tools."""
    if estimated_tokens(json.dumps(body["messages"]) + json.dumps(body.get("tools", []))) > 4096:
        return says("How can I help you?")
    return in_two_turns(calls(ESTIMATE))(body)


def vllm(body: Body) -> Step:
    """Started without a parser of calls: it takes no choice of the model's own, but schemas."""
    if body.get("tool_choice") == "auto":
        words = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        return refuses(400, kind="BadRequestError", message=words)
    return acts({"code": CANARY}) if is_probe(body) else ACTIONS


def llama_cpp(body: Body) -> Step:
    """Started without templates, and with less room than question and answer need together."""
    if "tools" in body:
        return refuses(500, kind="server_error", message="tools param requires --jinja flag")
    if body["max_tokens"] > 2048:
        words = "the request exceeds the available context size, try increasing it"
        return refuses(400, kind="exceed_context_size_error", message=words)
    return acts({"code": CANARY}) if is_probe(body) else ACTIONS


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    a.new("entry", task, task_id=task, text="It takes 90 minutes.", source="note")
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


@pytest.mark.parametrize(
    ("rule", "requests"),
    [
        (openai, SET),
        (gemini, RequestSettings(0.2, 8192)),
        (anthropic(), RequestSettings(0.2, 8192)),
        (mistral, SET),
        (deepseek, RequestSettings(0.2, 8192)),
        (ollama, RequestSettings(0.2, 1024, 4096)),
        (vllm, RequestSettings(0.2, 8192)),
        (llama_cpp, RequestSettings(0.2, 8192)),
    ],
    ids=["openai", "gemini", "anthropic", "mistral", "deepseek", "ollama", "vllm", "llama.cpp"],
)
async def test_a_run_at_a_known_server_ends_with_what_the_note_says(
    a: Home, agent: EntityId, rule: Rule, requests: RequestSettings
):
    async with running(a, *[knows(rule)] * 30, mode="auto", requests=requests) as (_, service):
        (run,) = await service.completed(agent, 1)
    assert run.error == ""
    assert [item.args for item in waiting(a)] == [{"minutes": 90}]
    assert REPORT["tldr"] in str(report_of(a, agent))
