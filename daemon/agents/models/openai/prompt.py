"""The messages to a remote model: its role, the rules, and the task as data, within a bound.

Never puts a word of a note where an instruction could be: notes are JSON in a randomly named block.
"""

import json
from collections.abc import Collection
from typing import Any

from daemon.agents.models.openai.prompt_json import prompt_json_within
from daemon.agents.models.openai.system_message import (
    calendar_text,
    closing_instruction,
    report_instruction,
    system_prompt,
)
from daemon.agents.tools.argument_recovery import recover_arguments
from daemon.agents.tools.arguments import ArgumentFault
from daemon.agents.tools.budgets import as_json, estimated_tokens
from daemon.agents.tools.model_interface import RunContext, ToolExchange
from daemon.agents.tools.table import TOOLS, normalised_name

ChatMessage = dict[str, Any]

EXTRA_KEY = "extra_content"
"""What a server adds to a call and wants back with it in the next turns: the signature of a thought."""
THOUGHT_KEYS = ("reasoning_content", "reasoning")
"""What servers call the thoughts of a model. Some refuse later turns that lack them."""
REPEATED_ARGUMENTS_CHARS_MAX = 4000


def chat_messages(
    context: RunContext,
    *,
    tag: str,
    budget_tokens: int,
    by_tools: bool,
    offered: Collection[str] = (),
    tools_text: str = "",
    extra: int = 0,
) -> list[ChatMessage]:
    """Return the conversation so far, without the oldest notes if it would be too long.

    What is the same for every task comes first, then what is the same for a day, then the task, in a block
    that `tag` names. `offered` are the tools of the request, `tools_text` their description in words if there
    is one, and `extra` the rest of the request in tokens. Raises AnswerFault if even the task does not fit.
    """
    system = system_prompt(offered=offered or tuple(TOOLS), tools_text=tools_text)
    turns = _turns(context.tool_exchanges) if by_tools else _results(context.tool_exchanges, tag)
    days = calendar_text(context.now.date())
    now = closing_instruction(context, by_tools=by_tools)
    instruction = report_instruction(context.instruction, by_tools=by_tools)
    room = (
        budget_tokens
        - extra
        - estimated_tokens(system + days + now)
        - estimated_tokens(as_json(turns) + instruction)
    )
    text = f"{days}\n{data_block(tag, prompt_json_within(context, room))}\n{now}"
    first = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return _in_strict_order([*first, *turns], instruction)


def _in_strict_order(messages: list[ChatMessage], instruction: str) -> list[ChatMessage]:
    """Return the messages as strict servers want them, with the instruction at the end of the last one.

    Some servers refuse a user's message after that of a tool, and two of one role in a row.
    """
    ordered: list[ChatMessage] = []
    for message in messages:
        if message["role"] == "user" and ordered and ordered[-1]["role"] == "user":
            ordered[-1] = _append_text(ordered[-1], message["content"])
        else:
            ordered.append(message)
    return [*ordered[:-1], _append_text(ordered[-1], instruction)] if instruction else ordered


def _append_text(message: ChatMessage, text: str) -> ChatMessage:
    return message | {"content": f"{message['content']}\n\n{text}"}


def data_block(tag: str, content: Any) -> str:
    """Put data in its block. No text in it can end the block, as every angle bracket is escaped."""
    written_json = as_json(content).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<{tag}>\n{written_json}\n</{tag}>"


# -- what was called, and answered --------------------------------------------------------------------


def _turns(exchanges: tuple[ToolExchange, ...]) -> list[ChatMessage]:
    """Return the earlier turns as the server expects them: calls, then one answer for each.

    The content beside the calls is empty rather than null, which some servers refuse.
    """
    messages: list[ChatMessage] = []
    for number in sorted({exchange.turn for exchange in exchanges}):
        tool_exchanges = [exchange for exchange in exchanges if exchange.turn == number]
        messages.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [_call(tool_exchange) for tool_exchange in tool_exchanges],
                **_thought_fields(tool_exchanges),
            }
        )
        messages.extend(
            {"role": "tool", "tool_call_id": tool_exchange.call.id, "content": tool_exchange.answer}
            for tool_exchange in tool_exchanges
        )
    return messages


def _thought_fields(exchanges: list[ToolExchange]) -> dict[str, Any]:
    """Return what the model thought before the calls of a turn, under the names that the server gave it."""
    texts = [exchange.call.server_thought for exchange in exchanges if exchange.call.server_thought]
    return json.loads(texts[0]) if texts else {}


def _call(exchange: ToolExchange) -> dict[str, Any]:
    """Repeat a call in the form that servers accept: a plain name, and arguments that are JSON."""
    name = normalised_name(exchange.call.name)[:64] or "unknown"
    try:
        arguments_json = as_json(recover_arguments(exchange.call.arguments))
    except ArgumentFault:
        arguments_json = "{}"
    arguments = arguments_json if len(arguments_json) <= REPEATED_ARGUMENTS_CHARS_MAX else "{}"
    called = {"id": exchange.call.id, "type": "function", "function": {"name": name, "arguments": arguments}}
    extra = exchange.call.server_extra
    return called | {EXTRA_KEY: json.loads(extra)} if extra else called


def _results(exchanges: tuple[ToolExchange, ...], tag: str) -> list[ChatMessage]:
    """Return what became of the actions of an answer; answers quote the journal, and so are data too."""
    if not exchanges:
        return []
    answers = [
        {"tool": normalised_name(exchange.call.name)[:64], "answer": exchange.answer}
        for exchange in exchanges
    ]
    return [{"role": "user", "content": f"Your actions were answered:\n{data_block(tag, answers)}"}]
