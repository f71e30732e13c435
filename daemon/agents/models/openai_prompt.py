"""What a remote model is shown: its part, the rules, and the task as data, within a bound.

Never lets a word of a note stand where an instruction could: it travels as JSON in a randomly named block.
"""

import json
from collections.abc import Collection
from typing import Any

from daemon.agents.models.interface import Exchange, RunContext
from daemon.agents.models.role import instruction, role
from daemon.agents.models.told import told_within
from daemon.agents.recovery import recovered
from daemon.agents.room import as_json, tokens
from daemon.agents.tools import TOOLS, UPDATE_REPORT, ArgumentFault, described, normalised_name

Message = dict[str, Any]

__all__ = ["answer_schema", "messages", "tokens", "tool_list"]

OBSERVE = "record_observations"
EXTRA = "extra_content"
"""What a server adds to a call and wants back with it in the next turns: the signature of a thought."""
ARGUMENTS_CHARS_MAX = 4000
ACTIONS_MAX = 30


def messages(
    context: RunContext, *, tag: str, budget_tokens: int, by_tools: bool, extra: int = 0
) -> list[Message]:
    """Return the conversation so far; the oldest notes stay out where it would be too long.

    `extra` is what else the request weighs, in tokens. Raises AnswerFault where even the task does not fit.
    """
    system = role(context, tag=tag, by_tools=by_tools)
    turns = _turns(context.exchanges) if by_tools else _results(context.exchanges, tag)
    asked = [{"role": "user", "content": context.instruction}] if context.instruction else []
    now = instruction(context)
    room = budget_tokens - extra - tokens(system + now) - tokens(as_json([*turns, *asked]))
    told = f"{_block(tag, told_within(context, room))}\n\n{now}"
    first = [{"role": "system", "content": system}, {"role": "user", "content": told}]
    return [*first, *turns, *asked]


def _block(tag: str, told: Any) -> str:
    """Put data in its block; no text in it can end the block, as it holds no angle bracket."""
    written = as_json(told).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<{tag}>\n{written}\n</{tag}>"


# -- what was called, and answered --------------------------------------------------------------------


def _turns(exchanges: tuple[Exchange, ...]) -> list[Message]:
    """Return the earlier turns as the server wants them: calls, then one answer for each.

    Where nothing was said beside the calls, the content is empty: some servers take no null.
    """
    told: list[Message] = []
    for number in sorted({exchange.turn for exchange in exchanges}):
        made = [exchange for exchange in exchanges if exchange.turn == number]
        told.append({"role": "assistant", "content": "", "tool_calls": [_call(one) for one in made]})
        told.extend({"role": "tool", "tool_call_id": one.call.id, "content": one.answer} for one in made)
    return told


def _call(exchange: Exchange) -> dict[str, Any]:
    """Repeat a call in the form that servers accept: a plain name, and arguments that are JSON."""
    name = normalised_name(exchange.call.name)[:64] or "unknown"
    try:
        written = as_json(recovered(exchange.call.arguments))
    except ArgumentFault:
        written = "{}"
    arguments = written if len(written) <= ARGUMENTS_CHARS_MAX else "{}"
    called = {"id": exchange.call.id, "type": "function", "function": {"name": name, "arguments": arguments}}
    extra = exchange.call.extra
    return called | {EXTRA: json.loads(extra)} if extra else called


def _results(exchanges: tuple[Exchange, ...], tag: str) -> list[Message]:
    """Return what became of the actions of an answer; answers quote the journal, and so are data too."""
    if not exchanges:
        return []
    told = [{"tool": normalised_name(one.call.name)[:64], "answer": one.answer} for one in exchanges]
    return [{"role": "user", "content": f"Your actions were answered:\n{_block(tag, told)}"}]


# -- tools --------------------------------------------------------------------------------------------


def tool_list(allowed: Collection[str] = ()) -> list[dict[str, Any]]:
    """Describe the registry as tools of a request; `allowed` are those of an agent's policy, empty: all."""
    return [{"type": "function", "function": described(name)} for name in _offered(allowed)]


def _offered(allowed: Collection[str]) -> list[str]:
    return [name for name in TOOLS if not allowed or name in allowed]


def answer_schema(must_call: str, allowed: Collection[str] = ()) -> dict[str, Any]:
    """Describe the one answer of the mode `actions`; where the report is asked for by name, nothing else."""
    shared: dict[str, Any] = {}
    offered = _offered(allowed)
    properties = {"report": _parameters(UPDATE_REPORT, shared)} if UPDATE_REPORT in offered else {}
    if must_call != UPDATE_REPORT:
        if OBSERVE in offered:
            properties["observations"] = {"type": "array", "items": {"type": "string"}}
        one_of = [_action(name, shared) for name in offered if name not in {UPDATE_REPORT, OBSERVE}]
        if one_of:
            actions = {"type": "array", "maxItems": ACTIONS_MAX, "items": {"anyOf": one_of}}
            properties = {"actions": actions, **properties}
    return _strict(properties) | ({"$defs": shared} if shared else {})


def _action(name: str, shared: dict[str, Any]) -> dict[str, Any]:
    arguments = _parameters(name, shared)
    return _strict({"tool": {"type": "string", "enum": [name]}, "arguments": arguments})


def _strict(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _parameters(name: str, shared: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's parameters; what they refer to goes to the root, where references look for it."""
    parameters: dict[str, Any] = described(name)["parameters"]
    shared.update(parameters.pop("$defs", {}))
    return parameters
