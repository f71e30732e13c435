"""Answers of any shape: read as calls, or refused in due form, and never anything else.

Never asks a server.
"""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from daemon.agents.models.interface import Exchange, ModelFault
from daemon.agents.models.openai_answers import turn_of
from daemon.agents.models.openai_endpoint import Redactor
from daemon.agents.models.openai_prompt import messages
from daemon.agents.models.openai_refusals import refusal
from tests.daemon.agents.models.fake_openai import call
from tests.daemon.agents.models.remote import KEY, replace_exchanges

REDACTOR = Redactor(KEY)
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
        made = turn_of(json.dumps(answer).encode(), 1, REDACTOR, by_tools=by_tools)
    except ModelFault as fault:
        assert KEY not in str(fault)  # noqa: PT017 - either is right: calls, or a fault
        return
    assert KEY not in repr(made)
    assert len({one.id for one in made.calls}) == len(made.calls)
    context = replace_exchanges(tuple(Exchange(one, "Refused.", 1) for one in made.calls))
    told = messages(context, tag="journal", budget_tokens=60_000, by_tools=by_tools)
    json.dumps(told).encode()
    for said in told:
        for one in said.get("tool_calls", ()):
            assert isinstance(json.loads(one["function"]["arguments"]), dict)
            assert one["function"]["name"].replace("_", "").isalnum()


@given(st.integers(300, 599), ANYTHING | st.builds(lambda inner: {"error": inner}, ANYTHING))
def test_a_refusal_of_any_shape_is_one_line_without_the_key(status: int, body: Any):
    said = str(refusal(status, json.dumps(body).encode(), REDACTOR).fault)
    assert KEY not in said
    assert "\n" not in said
    assert len(said) < 200


@given(st.binary(max_size=40), st.booleans())
def test_bytes_of_any_kind_are_refused(body: bytes, by_tools: bool):
    try:
        turn_of(body, 1, REDACTOR, by_tools=by_tools)
    except ModelFault as fault:
        assert len(str(fault)) < 200  # noqa: PT017 - either is right: calls, or a fault
