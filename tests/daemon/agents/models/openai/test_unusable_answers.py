"""Every way in which a server says nothing: a fault that is named, never a run that ended well.

Never asks a real model.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from daemon.agents.models.openai.endpoint import RequestMode
from daemon.agents.models.rules.embedded_model import RulesModel
from daemon.agents.running.stand_in import ModelWithStandIn
from daemon.agents.tools.model_interface import AnswerFault, ModelFault
from syncproto.ids import id_to_text
from tests.daemon.agents.models.openai.connected_model import CANARY, CONTEXT, REPORT, connected_model
from tests.daemon.agents.models.openai.fake_server import (
    Step,
    acts,
    answers,
    call,
    calls,
    completion,
    cuts,
    obeys,
    raw,
    says,
)
from tests.daemon.agents.models.openai.turns import ESTIMATE
from tests.daemon.agents.running.conversation_steps import log
from tests.support.decision_verbs import waiting
from tests.support.fleet import Home
from tests.support.scripted_runs import new_agent, run_script

CALL = json.dumps({"name": ESTIMATE[0], "arguments": ESTIMATE[1]})
GOOD = json.dumps(completion({"tool_calls": [call(*ESTIMATE)]})).encode()
ACTIONS = json.dumps({"actions": [{"tool": ESTIMATE[0], "arguments": ESTIMATE[1]}]})
HALF = '"\\ud83d"'
REPORTED = ("update_report", REPORT)
EMPTY, UNPARSED, CUT = "answer is empty", "--tool-call-parser", "cut off"
THOUGHT, WORDS, FORM = "only thought aloud", "in words and called no tool", "not in the form"


def chosen(message: Any, ended: Any = "stop", **more: Any) -> Step:
    return raw(json.dumps({"choices": [{"message": message, "finish_reason": ended, **more}]}).encode())


def streamed(*lines: str) -> Step:
    return raw("\n\n".join(lines).encode(), content_type="text/event-stream")


BY_TOOLS: dict[str, tuple[Step, str]] = {
    "no choices": (raw(b'{"choices": []}'), "no message"),
    "choices that are null": (raw(b'{"choices": null}'), "no message"),
    "no message": (raw(b'{"choices": [{"text": "Hm."}]}'), "no message"),
    "an answer of another interface": (raw(b'{"output": [{"type": "message"}]}'), "no message"),
    "null": (answers({"content": None}), EMPTY),
    "an empty text": (says(""), EMPTY),
    "no calls and no text": (answers({"content": None, "tool_calls": []}), EMPTY),
    "blanks": (says(" \n\t" * 500), EMPTY),
    "blanks without end": (says("\n" * 5000, "length"), CUT),
    "parts without a text": (answers({"content": [{"type": "image_url", "image_url": {}}]}), EMPTY),
    "a cut answer": (says("I would say that", "length"), CUT),
    "thoughts beside an empty answer": (answers({"content": "", "reasoning_content": "Hm."}), EMPTY),
    "a thought without an end": (says(f"<think>I could call {CALL}"), THOUGHT),
    "a thought without an end, in brackets": (says(f"[THINK]I could call {CALL}"), THOUGHT),
    "an analysis alone": (says(f"<|channel|>analysis<|message|>Perhaps {CALL}"), THOUGHT),
    "a thought that ends, and nothing": (says(f"<think>{CALL}</think>\n"), THOUGHT),
    "declined": (answers({"content": None, "refusal": "No."}), "declined"),
    "filtered": (says("", "content_filter"), "declined"),
    "filtered, in capitals": (says("", "SAFETY"), "declined"),
    "an error within the choice": (chosen({"content": ""}, "error"), "broke the model's answer off"),
    "an error beside the message": (
        chosen({"content": ""}, error={"code": 502}),
        "broke the model's answer off",
    ),
    "our own words": (answers({"role": "user", "content": CALL}), "not the model's"),
    "words": (says("I have set the estimate."), WORDS),
    "tags with a function": (
        says("<function=update_task_estimate><parameter=minutes>90"),
        UNPARSED,
    ),
    "tags with keys": (says("<tool_call>update_task_estimate\n<arg_key>minutes</arg_key>"), UNPARSED),
    "an invocation": (says('<invoke name="update_task_estimate"><parameter name="minutes">90'), UNPARSED),
    "Mistral's tokens": (says('[TOOL_CALLS]update_task_estimate[ARGS]{"minutes": 90}'), UNPARSED),
    "DeepSeek's tokens": (says("<｜tool▁calls▁begin｜>function<｜tool▁sep｜>update_task_estimate"), UNPARSED),
    "Kimi's tokens": (says("<|tool_calls_section_begin|><|tool_call_begin|>functions.x:0"), UNPARSED),
    "a call to another channel": (
        says('<|channel|>commentary to=functions.update_task_estimate<|message|>{"minutes": 90}'),
        UNPARSED,
    ),
    "Python": (says("[update_task_estimate(minutes=90)]"), UNPARSED),
    "a web page": (raw(b"\n<!doctype html><p>Welcome", content_type="text/html"), "web page"),
    "a web page behind a mark": (raw(b"\xef\xbb\xbf<html>"), "web page"),
    "nothing": (raw(b" \n"), "no content at all"),
    "a stream": (streamed('data: {"choices": []}', "data: [DONE]"), "streamed"),
    "a stream that names a role and breaks off": (
        streamed('data: {"choices": [{"delta": {"role": "assistant"}}]}'),
        "streamed",
    ),
    "a stream with comments": (streamed(": ping", 'data: {"choices": []}'), "streamed"),
    "lines of JSON": (raw(b'{"message": {"content": "a"}}\n{"message": {"content": "b"}}\n'), "streamed"),
    "an error as an answer": (raw(b'{"error": {"code": 402, "message": "more credits"}}'), "no credit left"),
    "an error that is a text": (raw(b'{"error": "model not loaded"}'), "busy or failing (502)"),
    "an error that is no UTF-8": (raw(b'{"error": "\xff"}'), "no JSON"),
    "an error of another shape": (raw(b'{"object": "error", "message": "x", "code": 500}'), "no message"),
    "half an answer": (raw(json.dumps(completion({"content": "x"})).encode()[:80]), "no JSON"),
    "a connection that breaks": (cuts(), "broke before the answer was whole"),
    "packed": (raw(b"\x1b\x00", Content_Encoding="br"), "packed its answer (br)"),
}
BY_SCHEMA: dict[str, tuple[Step, str]] = {
    "words": (says("I have set the estimate."), FORM),
    "another object": (acts({"estimate": 90}), FORM),
    "the object of a probe": (acts({"ready": True}), FORM),
    "a form without a list": (acts({"actions": None, "report": None}), FORM),
    "a list": (says("[1, 2]"), FORM),
    "half an answer": (says('{"actions": ['), FORM),
    "a cut answer": (says('{"actions": [', "length"), CUT),
    "a thought without an end": (says('<think>{"actions": []}'), THOUGHT),
    "null": (answers({"content": None}), EMPTY),
}
"""Shapes of answers, each with words of what a person is told."""

READ: dict[str, tuple[RequestMode, Step]] = {
    "a mark before the JSON": ("tools", raw(b"\xef\xbb\xbf" + GOOD)),
    "another type of content": ("tools", raw(GOOD, content_type="text/plain")),
    "arguments that are an object": (
        "tools",
        answers({"tool_calls": [{"function": {"name": ESTIMATE[0], "arguments": ESTIMATE[1]}}]}),
    ),
    "the field for one call": (
        "tools",
        answers({"function_call": call(*ESTIMATE)["function"]}),
    ),
    "a second choice that says something": (
        "tools",
        raw(
            json.dumps(
                {"choices": [{"message": {"content": ""}}, {"message": {"tool_calls": [call(*ESTIMATE)]}}]}
            ).encode()
        ),
    ),
    "a tag within a text": (
        "actions",
        acts({"actions": [{"tool": ESTIMATE[0], "arguments": {"minutes": 90, "rationale": "<think>"}}]}),
    ),
    "a thought before the object": ("actions", says('<think>{"actions": [</think>' + ACTIONS)),
    "half an emoji in another call": (
        "actions",
        says(
            '{"actions": [{"tool": "update_task_estimate", "arguments": {"minutes": 90}},'
            ' {"tool": "add_checklist_item", "arguments": {"title": "\\ud83d"}}]}'
        ),
    ),
}


async def outcome(step: Step, mode: RequestMode) -> ModelFault | list[Any]:
    """Return the fault of a server that always answers so, or the minutes of the calls that it made."""
    async with connected_model(mode=mode, attempts_max=1) as connected:
        connected.server.always = step
        try:
            turn = await connected.model.turn(CONTEXT)
        except ModelFault as fault:
            return fault if connected.model.outage is not None else [fault]
    arguments = [call.arguments for call in turn.calls if isinstance(call.arguments, dict)]
    return [fields["minutes"] for fields in arguments if "minutes" in fields]


async def test_every_nothing_is_a_fault_that_is_named_and_every_call_is_read():
    wrong: list[object] = []
    tables: list[tuple[RequestMode, dict[str, tuple[Step, str]]]] = [
        ("tools", BY_TOOLS),
        ("actions", BY_SCHEMA),
        ("pieces", BY_SCHEMA),
    ]
    for mode, shapes in tables:
        for name, (step, words) in shapes.items():
            answered = await outcome(step, mode)
            if not isinstance(answered, ModelFault) or words not in str(answered):
                wrong.append((mode, name, answered))
    wrong += [
        (mode, name, answered)
        for name, (mode, step) in READ.items()
        if (answered := await outcome(step, mode)) != [90]
    ]
    assert wrong == []


async def test_a_model_that_speaks_is_asked_once_more_and_may_then_have_nothing_to_propose():
    async with connected_model(says("Nothing to do."), calls(REPORTED)) as connected:
        turn = await connected.model.turn(CONTEXT)
        first, second = connected.server.asked
    assert [call.name for call in turn.calls] == ["update_report"]
    assert (turn.usage.input, turn.usage.output) == (200, 40)
    assert second.written.startswith(first.written[:-4])
    assert "call update_report alone" in second.written


async def test_an_agent_that_may_not_report_may_say_in_words_that_there_is_nothing():
    silent = replace(CONTEXT, allowed_tools=(ESTIMATE[0],))
    async with connected_model(says("Nothing to do."), says("")) as connected:
        assert (await connected.model.turn(silent)).calls == ()
        with pytest.raises(AnswerFault, match=EMPTY):
            await connected.model.turn(silent)


async def test_who_ignores_schemas_or_tools_is_known_before_any_note_is_sent():
    obedient: dict[str, Step] = {
        "by heart": acts({"ready": True}),
        "the call in the text": says('{"name": "ready", "arguments": {"ready": true}}'),
        "a guess": says('{"code": "ready"}'),
    }
    for name, step in obedient.items():
        async with connected_model(mode="auto") as connected:
            connected.server.always = step
            with pytest.raises(ModelFault):
                await connected.model.turn(CONTEXT)
            formats = [request.body.get("response_format", {}) for request in connected.server.asked]
            forms = [form.get("type") for form in formats[:3]]
        assert forms == [None, "json_schema", "json_object"], name
    steps = [obeys(step) for step in (says("Hm."), says("Hm."), acts({"report": REPORT}))]
    async with connected_model(*steps, mode="auto") as connected:
        assert (await connected.model.turn(CONTEXT)).calls
        assert all(CANARY not in request.written for request in connected.server.asked)


# -- whole runs ---------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[RequestMode, Step]] = {
    "names that nobody knows": ("tools", calls(("", {}), ("estimate", {"minutes": 90}))),
    "as many as a run may have, and then no report": ("tools", calls(*[("estimate", {"minutes": 90})] * 100)),
    "arguments that are none": ("tools", calls((ESTIMATE[0], "[90]"), (ESTIMATE[0], "ninety"))),
    "half an emoji": ("tools", calls(("add_checklist_item", f'{{"title": {HALF}}}'))),
    "half an emoji by schema": (
        "actions",
        says(f'{{"actions": [{{"tool": "add_checklist_item", "arguments": {{"title": {HALF}}}}}]}}'),
    ),
    "actions that are none": ("actions", acts({"actions": [1, {"tool": None}]})),
    "a report that is none": ("actions", acts({"actions": [], "report": {"summary": "Done."}})),
}


async def ran_at(a: Home, step: Step, mode: RequestMode, *, with_rules: bool) -> tuple[str, list[str], Any]:
    """Run an agent on a new task; return its fault, the tools of what waits then, and the end of its log."""
    task = a.new("task", title="Write the report", status="OPEN", priority="P2")
    a.new("entry", task, task_id=task, text="It takes 90 minutes.", source="note")
    agent, fault = new_agent(a, task), ""
    async with connected_model(mode=mode, attempts_max=1) as connected:
        connected.server.always = step
        model = ModelWithStandIn(connected.model, RulesModel(), answers_outages=with_rules)
        try:
            await run_script(a, agent, model, key=id_to_text(agent))
        except ModelFault as raised:
            fault = str(raised)
    return fault, [item.tool for item in waiting(a, task)], log(a, agent)


async def test_a_run_with_nothing_fails_and_with_the_rules_behind_it_they_read_the_notes(a: Home):
    shapes = REFUSED | {"words": ("tools", says("Done.")), "no form": ("actions", says("Done."))}
    wrong: list[object] = []
    for name, (mode, step) in shapes.items():
        fault, items, _ = await ran_at(a, step, mode, with_rules=False)
        if not fault or items:
            wrong.append((name, fault, items))
        later_fault, items, written = await ran_at(a, step, mode, with_rules=True)
        ended = written[-1].ended
        if later_fault or items != ["update_task_estimate"] or ended.get("stood_in_because") != fault:
            wrong.append((name, "with the rules", later_fault, items, ended))
    assert wrong == []
