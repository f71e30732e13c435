"""The content of a server's answer: the calls to make, in whatever shape a model gave them, and their cost.

Never trusts a name, an argument or a number, and never mends one: the registry refuses what it does not know.
"""

import json
import re
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from daemon.agents.models.openai.endpoint import KeyRedactor
from daemon.agents.models.openai.prompt import EXTRA_KEY, THOUGHT_KEYS
from daemon.agents.models.openai.text_calls import PROBE_TOOL, calls_in_text
from daemon.agents.models.openai.unusable_answers import (
    nothing_called,
    require_model_message,
    spoken_text,
)
from daemon.agents.tools.argument_recovery import find_object, recover_arguments
from daemon.agents.tools.arguments import ArgumentFault
from daemon.agents.tools.model_interface import (
    AnswerFault,
    ModelMisconfigured,
    ModelTurn,
    TokenUsage,
    ToolCall,
)
from daemon.agents.tools.table import RECORD_OBSERVATIONS, UPDATE_REPORT
from store.sentence import sentence

CALLS_MAX = 200
USAGE_TOKENS_MAX = 1 << 40
EXTRA_CHARS_MAX = 64 * 1024
_STREAM = re.compile(rb"(?:data|event|id|retry) ?:|:")
_HALF_SIGN = re.compile("[\ud800-\udfff]")
_FORM_FIELDS = frozenset({"actions", "observations", "report"})
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class _RawCall(NamedTuple):
    """A call as it was found in an answer, of any shape."""

    name: object
    arguments: object
    id: object = None
    extra: object = None


def parse_turn(body: bytes, number: int, redactor: KeyRedactor, *, by_tools: bool) -> ModelTurn:
    """Read the answer of turn `number`.

    Raises NothingCalled for an answer without any call, AnswerFault or ModelMisconfigured if it is none. An
    answer by schema that says that there is nothing to do is no fault, and has no call.
    """
    answer = _object(body)
    message, ended = _message(answer)
    content = _text(message.get("content"))
    raw_calls = _calls_by_tools(message, content) if by_tools else _calls_by_schema(content)
    calls = tuple(
        _call(raw_call, number, index, redactor)
        for index, raw_call in enumerate((raw_calls or [])[:CALLS_MAX])
    )
    if calls:
        calls = (replace(calls[0], server_thought=_thought_json(message, redactor)), *calls[1:])
    turn = ModelTurn(_with_ids_apart(calls, number), redactor.redact_text(content), parse_usage(answer))
    if raw_calls is None:
        raise nothing_called(turn, content, ended, by_tools=by_tools)
    return turn


def _text(content: object) -> str:
    """Return the words of a content: a text, or a list of parts of which those of type `text` count."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _thought_json(message: dict[str, Any], redactor: KeyRedactor) -> str:
    """Return, as JSON, what the model thought before its calls, if the server wants that back with them."""
    thoughts = {key: message[key] for key in THOUGHT_KEYS if isinstance(message.get(key), str)}
    return _extra(thoughts, redactor) if thoughts else ""


def parse_answer_object(body: bytes, redactor: KeyRedactor) -> tuple[dict[str, Any], ModelTurn]:
    """Read an answer that is one object: its fields, and the turn without calls. Raises as `parse_turn`."""
    answer = _object(body)
    message, ended = _message(answer)
    content = redactor.redact_text(_text(message.get("content")))
    turn = ModelTurn((), content, parse_usage(answer))
    fields = _object_in(content)
    if not fields:
        raise nothing_called(turn, content, ended, by_tools=False)
    return fields, turn


def answered_object(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object that an answer is in words; None if it is none. Raises as `parse_turn` does."""
    message, _ = _message(_object(body))
    return _object_in(_text(message.get("content")))


def _object(body: bytes) -> dict[str, Any]:
    start = body.lstrip()
    if start[:1] == b"<":
        raise ModelMisconfigured(
            sentence(
                "model-server-web-page",
                "the server answered with a web page; model.base_url mostly ends in /v1,"
                " see what the server says",
            )
        )
    if not start:
        raise AnswerFault(sentence("model-server-silent", "the server's answer has no content at all"))
    text = _json_in(body)
    if text is None and (_STREAM.match(start) or _is_in_pieces(start)):
        raise AnswerFault(
            sentence(
                "model-answer-streamed",
                "the server streamed its answer in pieces, which was not asked for: turn streaming off there,"
                " or at the proxy before it",
            )
        )
    if text is None:
        raise AnswerFault(sentence("model-answer-no-json", "the server's answer is no JSON"))
    if not isinstance(text, dict):
        raise AnswerFault(sentence("model-answer-no-object", "the server's answer is no JSON object"))
    return text


def _json_in(body: bytes) -> Any:
    """Return an answer's JSON, None if it is none. One half of a sign that takes two becomes U+FFFD."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _whole_signs(json.loads(body))
    except (ValueError, RecursionError):
        return None


def _whole_signs(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole_signs(key): _whole_signs(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_whole_signs(member) for member in value]
    return _HALF_SIGN.sub("\ufffd", value) if isinstance(value, str) else value


def _is_in_pieces(body: bytes) -> bool:
    """Return whether there is more than one line, and the first is an object by itself."""
    first, _, rest = body.partition(b"\n")
    return bool(rest.strip()) and isinstance(_json_in(first), dict)


def _message(answer: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the message of the first choice that says anything, else of the first, and why it ended."""
    choices = answer.get("choices")
    listed = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    messages = [choice.get("message") for choice in listed]
    telling = (
        index for index, message in enumerate(messages) if isinstance(message, dict) and _says(message)
    )
    index = next(telling, 0)
    message = messages[index] if messages else None
    if not isinstance(message, dict):
        raise AnswerFault(sentence("model-answer-no-message", "the server's answer holds no message"))
    return message, require_model_message(listed[index], message)


def _says(message: dict[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("refusal") or _text(message.get("content")).strip())


# -- calls --------------------------------------------------------------------------------------------


def _calls_by_tools(message: dict[str, Any], content: str) -> list[_RawCall] | None:
    """Return each native call, or those that a small model wrote as text; None if there are none."""
    listed = message.get("tool_calls")
    if isinstance(listed, list) and listed:
        return [_native_call(listed_call) for listed_call in listed]
    # As servers had it before there were several calls.
    if isinstance(message.get("function_call"), dict):
        return [_native_call({"function": message["function_call"]})]
    # Small models write their calls as JSON text in place of native ones.
    written = calls_in_text(content, frozenset({PROBE_TOOL}))
    if written:
        return [_RawCall(call.name, call.arguments) for call in written]
    fields = _object_in(content) or {}
    arguments = fields.get("arguments", fields.get("parameters"))
    if isinstance(fields.get("name"), str) and isinstance(arguments, dict | str):
        return [_RawCall(fields["name"], arguments)]
    return None


def _native_call(listed_call: object) -> _RawCall:
    call = listed_call if isinstance(listed_call, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return _RawCall(function.get("name"), function.get("arguments"), call.get("id"), call.get(EXTRA_KEY))


def _calls_by_schema(content: str) -> list[_RawCall] | None:
    """Return the calls of an answer by schema: its actions, then what it observed, then its report.

    None if the answer has nothing of the form that was asked for; a list without calls proposes nothing.
    """
    fields = _object_in(content)
    if fields is None or _FORM_FIELDS.isdisjoint(fields):
        return None
    actions = fields.get("actions")
    raw_calls: list[_RawCall] = []
    for written_action in actions if isinstance(actions, list) else ():
        action = written_action if isinstance(written_action, dict) else {}
        raw_calls.append(_RawCall(action.get("tool", action.get("name")), action.get("arguments")))
    if isinstance(fields.get("observations"), list) and fields["observations"]:
        raw_calls.append(_RawCall(RECORD_OBSERVATIONS, {"observations": fields["observations"]}))
    if isinstance(fields.get("report"), dict):
        raw_calls.append(_RawCall(UPDATE_REPORT, fields["report"]))
    return raw_calls if raw_calls or isinstance(actions, list) else None


def _object_in(content: str) -> dict[str, Any] | None:
    """Find the object of an answer in words; what a model thought aloud before it does not count.

    Each call in it is checked by itself, so one that the journal cannot store costs none of the others.
    """
    try:
        return find_object(spoken_text(content))
    except ArgumentFault:
        return None


def _call(raw_call: _RawCall, number: int, index: int, redactor: KeyRedactor) -> ToolCall:
    redact_text = redactor.redact_text(raw_call.id) if isinstance(raw_call.id, str) else ""
    return ToolCall(
        redactor.redact_text(_whole_signs(raw_call.name)) if isinstance(raw_call.name, str) else "",
        _arguments(raw_call.arguments, redactor),
        redact_text if _ID.fullmatch(redact_text) else _made_id(number, index),
        _extra(raw_call.extra, redactor),
    )


def _extra(value: object, redactor: KeyRedactor) -> str:
    """Return what the server wants back with a call, either unchanged or not at all."""
    if not isinstance(value, dict):
        return ""
    text = msgspec.json.encode(value).decode()
    # With the key in it, it must not be stored. Changed, the server would refuse it.
    fits = len(text) <= EXTRA_CHARS_MAX and redactor.redact_text(text) == text
    return text if fits else ""


def _arguments(arguments: object, redactor: KeyRedactor) -> str | dict[str, Any]:
    """Parse arguments if that is possible. The registry refuses the others, which are passed on unchanged."""
    if not isinstance(arguments, str | dict):
        return "{}" if arguments is None else f"a {type(arguments).__name__}"
    try:
        fields: dict[str, Any] = redactor.redact_json(recover_arguments(arguments))
    except ArgumentFault as fault:
        return redactor.redact_text(_whole_signs(arguments) if isinstance(arguments, str) else str(fault))
    return fields


def _with_ids_apart(calls: tuple[ToolCall, ...], number: int) -> tuple[ToolCall, ...]:
    """Give every call an id of its own if two share one."""
    if len({call.id for call in calls}) == len(calls):
        return calls
    return tuple(replace(call, id=_made_id(number, index)) for index, call in enumerate(calls))


def _made_id(number: int, index: int) -> str:
    # Mistral takes no id but one of nine letters and digits.
    return f"c{number:03d}{index:05d}"


# -- usage --------------------------------------------------------------------------------------------


def reported_usage(body: bytes) -> TokenUsage | None:
    """Return the usage that a server reports for its answer; None if it reports none."""
    try:
        usage = parse_usage(_object(body))
    except (AnswerFault, ModelMisconfigured):
        return None
    return usage if usage.input or usage.output else None


def parse_usage(answer: dict[str, Any]) -> TokenUsage:
    """Read what an answer cost; what is missing or no count is nothing.

    What some servers count beside prompt and answer (a model's thoughts) is paid for as output.
    """
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return TokenUsage()
    count = _count(usage, "prompt_tokens")
    return TokenUsage(
        count,
        max(_count(usage, "completion_tokens"), _count(usage, "total_tokens") - count),
        _count(usage.get("prompt_tokens_details"), "cached_tokens"),
        _count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(raw_count: object, name: str) -> int:
    value = raw_count.get(name) if isinstance(raw_count, dict) else None
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < USAGE_TOKENS_MAX
        else 0
    )
