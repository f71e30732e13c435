"""Answers of any shape: read as calls, or refused in due form, and never anything else.

Never asks a server.
"""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from daemon.agents.models.openai.answer_parser import parse_turn, reported_usage
from daemon.agents.models.openai.endpoint import KeyRedactor
from daemon.agents.models.openai.http_errors import classify_refusal
from daemon.agents.models.openai.prompt import chat_messages
from daemon.agents.tools.model_interface import ModelFault, ToolExchange
from tests.daemon.agents.models.openai.connected_model import KEY, replace_exchanges
from tests.daemon.agents.models.openai.fake_server import call

REDACTOR = KeyRedactor(KEY)
NAMES = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "usage",
        "error",
        "code",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just(f"x{KEY}x")
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "id": ANYTHING,
        "function": st.fixed_dictionaries({}, optional={"name": ANYTHING, "arguments": ANYTHING}),
    },
)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"content": ANYTHING, "tool_calls": st.lists(CALLS | ANYTHING, max_size=4) | ANYTHING}
)
ANSWERS = st.builds(
    lambda message, usage: {"choices": [{"message": message}], "usage": usage}, MESSAGES, ANYTHING
)


@settings(max_examples=max(500, settings().max_examples))
@example(answer={"choices": [{"message": {"tool_calls": [{"id": KEY}]}}]}, by_tools=True)
@example(answer={"choices": [{"message": {"tool_calls": [call("a", {KEY: 1 << 70})]}}]}, by_tools=True)
@given(answer=ANSWERS | ANYTHING, by_tools=st.booleans())
def test_an_answer_of_any_shape_is_read_or_refused_and_can_be_repeated(answer: Any, by_tools: bool):
    try:
        turn = parse_turn(json.dumps(answer).encode(), 1, REDACTOR, by_tools=by_tools)
    except ModelFault as fault:
        assert KEY not in str(fault)  # noqa: PT017 - either is right: calls, or a fault
        return
    assert KEY not in repr(turn)
    assert len({listed_call.id for listed_call in turn.calls}) == len(turn.calls)
    context = replace_exchanges(tuple(ToolExchange(listed_call, "Refused.", 1) for listed_call in turn.calls))
    prompt = chat_messages(context, tag="journal", budget_tokens=60_000, by_tools=by_tools)
    json.dumps(prompt).encode()
    for prompt_message in prompt:
        for tool_call in prompt_message.get("tool_calls", ()):
            assert isinstance(json.loads(tool_call["function"]["arguments"]), dict)
            assert tool_call["function"]["name"].replace("_", "").isalnum()


@given(st.integers(300, 599), ANYTHING | st.builds(lambda inner: {"error": inner}, ANYTHING))
def test_a_refusal_of_any_shape_is_one_line_without_the_key(status: int, body: Any):
    text = str(classify_refusal(status, json.dumps(body).encode(), REDACTOR).fault)
    assert KEY not in text
    assert "\n" not in text
    assert len(text) < 200


@example(body=b'{"choices": "\xff"}', by_tools=True)
@example(body=b'{"choices": [{"message": {"content": "\xed\xa0\x80"}}]}', by_tools=False)
@example(body=b'{"\xff": 1}', by_tools=True)
@given(st.binary(max_size=40), st.booleans())
def test_bytes_of_any_kind_are_refused(body: bytes, by_tools: bool):
    try:
        parse_turn(body, 1, REDACTOR, by_tools=by_tools)
    except ModelFault as fault:
        assert len(str(fault)) < 200  # noqa: PT017 - either is right: calls, or a fault
    assert reported_usage(body) is None
    assert len(str(classify_refusal(400, body, REDACTOR).fault)) < 200
