"""The forms in which a server can be asked for calls: native tools, or one answer bound by a schema.

Never shows a note while it finds out which of them a server understands.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from daemon.agents.models.openai_endpoint import Mode
from daemon.agents.models.openai_prompt import OBSERVE, answer_schema, tool_list
from daemon.agents.tools import UPDATE_REPORT

Form = Literal["tools", "json_schema", "json_object"]
TOOLS: Final = "tools"
SCHEMA: Final = "json_schema"
OBJECT: Final = "json_object"
"""As older servers have it, llama-cpp-python's among them: an object, with the schema beside it."""

FORMS: dict[Mode, tuple[Form, ...]] = {
    "auto": (TOOLS, SCHEMA, OBJECT),
    "tools": (TOOLS,),
    "actions": (SCHEMA, OBJECT),
}
"""What each mode of the settings allows, best first."""

READY: Final = "ready"
_SHARED: Final = "$defs"
_NONE: Mapping[str, Any] = {}
_LENGTHS = frozenset({"minLength", "maxLength"})
_ASK_READY = 'Say that you are ready: {"ready": true}'
_NOTHING = {"type": "object", "properties": {"ready": {"type": "boolean"}}, "required": ["ready"]}


def asked_in(form: Form, must_call: str, allowed: Collection[str] = ()) -> dict[str, Any]:
    """Return the part of a request that asks for calls; `must_call` names the only one wanted, if any.

    `allowed` are the tools that an agent's policy leaves it; empty: all.
    """
    if form != TOOLS:
        return _formatted(form, lean(answer_schema(must_call, allowed)))
    named = {"type": "function", "function": {"name": must_call}}
    return {"tools": lean(tool_list(allowed)), "tool_choice": named if must_call else "auto"}


def in_words(form: Form, must_call: str, allowed: Collection[str] = ()) -> str:
    """Name the tools where the request does not: a schema that binds an answer need not be shown."""
    if form == TOOLS or must_call:
        return ""
    tools = [tool["function"] for tool in tool_list(allowed)]
    lines = [_in_words(tool) for tool in tools if tool["name"] not in {UPDATE_REPORT, OBSERVE}]
    return "\n".join(["", "The tools that `actions` may call; what ends in ? may be left out:", *lines])


def _in_words(tool: dict[str, Any]) -> str:
    needed = tool["parameters"].get("required", [])
    arguments = [name if name in needed else f"{name}?" for name in tool["parameters"]["properties"]]
    return f"- {tool['name']}({', '.join(arguments)}): {tool['description']}"


def lean(described: Any, shared: Mapping[str, Any] = _NONE) -> Any:
    r"""Return a schema without references and without bounds on texts, which the registry sees to.

    Servers that bind an answer by a grammar write such a bound out, character by character, look for what is
    referred to in vain, and know no `\d`: llama-cpp-python's process ends on each of these.
    """
    if isinstance(described, list):
        return [lean(member, shared) for member in described]
    if not isinstance(described, dict):
        return described
    shared = {**shared, **described.get(_SHARED, {})}
    if isinstance(written := described.get("$ref"), str):
        found = shared[written.removeprefix(f"#/{_SHARED}/")]
        described = {**found, **{key: value for key, value in described.items() if key != "$ref"}}
    left_out = {_SHARED, *(_LENGTHS if described.get("type") == "string" else ())}
    kept = {key: lean(value, shared) for key, value in described.items() if key not in left_out}
    if isinstance(pattern := kept.get("pattern"), str):
        kept["pattern"] = pattern.replace("\\d", "[0-9]")
    return kept


def probe(form: Form) -> dict[str, Any]:
    """Return a request, without any note, whose answer shows whether a server understands a form."""
    asked = {"messages": [{"role": "user", "content": _ASK_READY}]}
    if form != TOOLS:
        return asked | _formatted(form, _NOTHING)
    ready = {"name": READY, "description": "Say that you are ready.", "parameters": _NOTHING}
    named = {"type": "function", "function": {"name": READY}}
    return asked | {"tools": [{"type": "function", "function": ready}], "tool_choice": named}


def _formatted(form: Form, schema: dict[str, Any]) -> dict[str, Any]:
    if form == OBJECT:
        return {"response_format": {"type": OBJECT, "schema": schema}}
    return {"response_format": {"type": SCHEMA, "json_schema": {"name": "answer", "schema": schema}}}
