"""What a server's answer says: the calls to make, whatever shape a model gave them, and what they cost.

Never trusts a name, an argument or a number, and never mends one: the registry refuses what it does not know.
"""

import re
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from daemon.agents.models.interface import AnswerFault, ModelMisconfigured, ToolCall, Turn, Usage
from daemon.agents.models.openai_endpoint import Redactor
from daemon.agents.models.openai_prompt import EXTRA, OBSERVE
from daemon.agents.recovery import recovered
from daemon.agents.tools import UPDATE_REPORT, ArgumentFault

CALLS_MAX = 200
TOKENS_MAX = 1 << 40
EXTRA_CHARS_MAX = 64 * 1024
_THOUGHT = "</think>"
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class _Made(NamedTuple):
    """A call as it was found in an answer, of any shape."""

    name: object
    arguments: object
    id: object = None
    extra: object = None


def turn_of(body: bytes, number: int, redactor: Redactor, *, by_tools: bool) -> Turn:
    """Read the answer of turn `number`. Raises AnswerFault, ModelMisconfigured where it is none."""
    answer = _object(body)
    message, ended = _message(answer)
    written = message.get("content")
    content = written if isinstance(written, str) else ""
    made = _called(message, content) if by_tools else _acted(content, ended)
    calls = tuple(_call(one, number, at, redactor) for at, one in enumerate(made[:CALLS_MAX]))
    return Turn(_with_ids_apart(calls, number), redactor.text(content), usage_of(answer))


def _object(body: bytes) -> dict[str, Any]:
    if body.lstrip()[:1] == b"<":
        raise ModelMisconfigured(
            "the server answered with a web page; model.base_url mostly ends in /v1, see what the server says"
        )
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise AnswerFault("the server's answer is no JSON") from None
    if not isinstance(found, dict):
        raise AnswerFault("the server's answer is no JSON object")
    return found


def _message(answer: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the message of the first choice, and why it ended there."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise AnswerFault("the server's answer holds no message")
    ended = str(choice.get("finish_reason") or "")
    if ended == "content_filter" or message.get("refusal"):
        raise AnswerFault("the model declined to answer")
    return message, ended


# -- calls --------------------------------------------------------------------------------------------


def _called(message: dict[str, Any], content: str) -> list[_Made]:
    """Return each native call, or the one that a small model wrote as text."""
    listed = message.get("tool_calls")
    if isinstance(listed, list) and listed:
        return [_native(one) for one in listed]
    found = _object_in(content) or {}
    arguments = found.get("arguments", found.get("parameters"))
    if isinstance(found.get("name"), str) and isinstance(arguments, dict | str):
        return [_Made(found["name"], arguments)]
    return []


def _native(one: object) -> _Made:
    call = one if isinstance(one, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return _Made(function.get("name"), function.get("arguments"), call.get("id"), call.get(EXTRA))


def _acted(content: str, ended: str) -> list[_Made]:
    """Return the calls of an answer by schema: its actions, then what it observed, then its report."""
    found = _object_in(content)
    if found is None:
        cut = "was cut off" if ended == "length" else "is not the JSON object that was asked for"
        raise AnswerFault(f"the model's answer {cut}")
    actions = found.get("actions")
    made: list[_Made] = []
    for one in actions if isinstance(actions, list) else ():
        action = one if isinstance(one, dict) else {}
        made.append(_Made(action.get("tool", action.get("name")), action.get("arguments")))
    if isinstance(found.get("observations"), list) and found["observations"]:
        made.append(_Made(OBSERVE, {"observations": found["observations"]}))
    if isinstance(found.get("report"), dict):
        made.append(_Made(UPDATE_REPORT, found["report"]))
    return made


def _object_in(content: str) -> dict[str, Any] | None:
    """Find the object of an answer in words; what a model thought aloud before it does not count."""
    try:
        return recovered(content.rpartition(_THOUGHT)[2])
    except ArgumentFault:
        return None


def _call(made: _Made, number: int, at: int, redactor: Redactor) -> ToolCall:
    known = redactor.text(made.id) if isinstance(made.id, str) else ""
    return ToolCall(
        redactor.text(made.name) if isinstance(made.name, str) else "",
        _arguments(made.arguments, redactor),
        known if _ID.fullmatch(known) else _made_id(number, at),
        _extra(made.extra, redactor),
    )


def _extra(held: object, redactor: Redactor) -> str:
    """Keep what the server wants back with a call, untouched or not at all."""
    if not isinstance(held, dict):
        return ""
    written = msgspec.json.encode(held).decode()
    fits = len(written) <= EXTRA_CHARS_MAX and redactor.text(written) == written
    return written if fits else ""


def _arguments(written: object, redactor: Redactor) -> str | dict[str, Any]:
    """Read arguments where that is possible now; the rest goes on as it is, and is refused in due form."""
    if not isinstance(written, str | dict):
        return "{}" if written is None else f"a {type(written).__name__}"
    try:
        found: dict[str, Any] = redactor.plain(recovered(written))
    except ArgumentFault as fault:
        return redactor.text(written if isinstance(written, str) else str(fault))
    return found


def _with_ids_apart(calls: tuple[ToolCall, ...], number: int) -> tuple[ToolCall, ...]:
    """Give every call an id of its own where two share one."""
    if len({call.id for call in calls}) == len(calls):
        return calls
    return tuple(replace(call, id=_made_id(number, at)) for at, call in enumerate(calls))


def _made_id(number: int, at: int) -> str:
    return f"call_{number}_{at}"


# -- usage --------------------------------------------------------------------------------------------


def told_usage(body: bytes) -> Usage | None:
    """Read what a server says that its answer cost; None where it says nothing."""
    try:
        usage = usage_of(_object(body))
    except (AnswerFault, ModelMisconfigured):
        return None
    return usage if usage.input or usage.output else None


def usage_of(answer: dict[str, Any]) -> Usage:
    """Read what an answer cost; what is missing or no count is nothing.

    What some servers count beside prompt and answer (a model's thoughts) is paid for as output.
    """
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    asked = _count(usage, "prompt_tokens")
    return Usage(
        asked,
        max(_count(usage, "completion_tokens"), _count(usage, "total_tokens") - asked),
        _count(usage.get("prompt_tokens_details"), "cached_tokens"),
        _count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(held: object, name: str) -> int:
    value = held.get(name) if isinstance(held, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < TOKENS_MAX else 0
