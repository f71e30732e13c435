"""What a server's answer says: the calls to make, whatever shape a model gave them, and what they cost.

Never trusts a name, an argument or a number, and never mends one: the registry refuses what it does not know.
"""

import re
from typing import Any

import msgspec

from daemon.agents.models.interface import AnswerFault, ModelMisconfigured, ToolCall, Turn, Usage
from daemon.agents.models.openai_endpoint import Redactor
from daemon.agents.models.openai_prompt import OBSERVE
from daemon.agents.recovery import recovered
from daemon.agents.tools import UPDATE_REPORT, ArgumentFault

CALLS_MAX = 200
TOKENS_MAX = 1 << 40
_THOUGHT = "</think>"
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


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


def _called(message: dict[str, Any], content: str) -> list[tuple[object, object, object]]:
    """Return (name, arguments, id) of each native call, or of the one that a small model wrote as text."""
    listed = message.get("tool_calls")
    if isinstance(listed, list) and listed:
        return [_native(one) for one in listed]
    found = _object_in(content) or {}
    arguments = found.get("arguments", found.get("parameters"))
    if isinstance(found.get("name"), str) and isinstance(arguments, dict | str):
        return [(found["name"], arguments, None)]
    return []


def _native(one: object) -> tuple[object, object, object]:
    call = one if isinstance(one, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return function.get("name"), function.get("arguments"), call.get("id")


def _acted(content: str, ended: str) -> list[tuple[object, object, object]]:
    """Return the calls of an answer by schema: its actions, then what it observed, then its report."""
    found = _object_in(content)
    if found is None:
        cut = "was cut off" if ended == "length" else "is not the JSON object that was asked for"
        raise AnswerFault(f"the model's answer {cut}")
    actions = found.get("actions")
    made: list[tuple[object, object, object]] = []
    for one in actions if isinstance(actions, list) else ():
        action = one if isinstance(one, dict) else {}
        made.append((action.get("tool", action.get("name")), action.get("arguments"), None))
    if isinstance(found.get("observations"), list) and found["observations"]:
        made.append((OBSERVE, {"observations": found["observations"]}, None))
    if isinstance(found.get("report"), dict):
        made.append((UPDATE_REPORT, found["report"], None))
    return made


def _object_in(content: str) -> dict[str, Any] | None:
    """Find the object of an answer in words; what a model thought aloud before it does not count."""
    try:
        return recovered(content.rpartition(_THOUGHT)[2])
    except ArgumentFault:
        return None


def _call(made: tuple[object, object, object], number: int, at: int, redactor: Redactor) -> ToolCall:
    name, arguments, identifier = made
    known = redactor.text(identifier) if isinstance(identifier, str) else ""
    written = redactor.text(name) if isinstance(name, str) else ""
    return ToolCall(
        written, _arguments(arguments, redactor), known if _ID.fullmatch(known) else _made_id(number, at)
    )


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
    return tuple(ToolCall(call.name, call.arguments, _made_id(number, at)) for at, call in enumerate(calls))


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
