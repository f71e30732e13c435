"""The forms in which a server can be asked for calls: native tools, or one answer bound by a schema.

Never shows a note while it finds out which of them a server understands.
"""

from collections.abc import Collection
from typing import Any, Final, Literal

from daemon.agents.models.openai.endpoint import RequestMode
from daemon.agents.models.openai.tool_schemas import answer_schema, portable_schema, tool_definitions
from daemon.agents.tools.table import RECORD_OBSERVATIONS, UPDATE_REPORT

RequestForm = Literal["tools", "json_schema", "json_object"]
TOOLS_FORM: Final = "tools"
SCHEMA_FORM: Final = "json_schema"
OBJECT_FORM: Final = "json_object"
"""As older servers have it, llama-cpp-python's among them: an object, with the schema beside it."""

FORMS_BY_MODE: dict[RequestMode, tuple[RequestForm, ...]] = {
    "auto": (TOOLS_FORM, SCHEMA_FORM, OBJECT_FORM),
    "tools": (TOOLS_FORM,),
    "actions": (SCHEMA_FORM, OBJECT_FORM),
}
"""What each mode of the settings allows, best first."""

PROBE_TOOL: Final = "ready"
_ASK_READY = 'Say that you are ready: {"ready": true}'
_NOTHING = {"type": "object", "properties": {"ready": {"type": "boolean"}}, "required": ["ready"]}


def form_fields(form: RequestForm, must_call: str, allowed: Collection[str] = ()) -> dict[str, Any]:
    """Return the part of a request that asks for calls; `must_call` names the only one wanted, if any.

    `allowed` are the tools that an agent's policy leaves it; empty: all.
    """
    if form != TOOLS_FORM:
        return _response_format(form, portable_schema(answer_schema(must_call, allowed)))
    tool_choice = {"type": "function", "function": {"name": must_call}}
    return {
        "tools": portable_schema(tool_definitions(allowed)),
        "tool_choice": tool_choice if must_call else "auto",
    }


def tools_as_text(form: RequestForm, must_call: str, allowed: Collection[str] = ()) -> str:
    """Describe the tools in words if the request does not list them: a model may not see the schema."""
    if form == TOOLS_FORM or must_call:
        return ""
    tools = [tool["function"] for tool in tool_definitions(allowed)]
    lines = [_in_words(tool) for tool in tools if tool["name"] not in {UPDATE_REPORT, RECORD_OBSERVATIONS}]
    return "\n".join(["", "The tools that `actions` may call; what ends in ? may be left out:", *lines])


def _in_words(tool: dict[str, Any]) -> str:
    needed = tool["parameters"].get("required", [])
    arguments = [name if name in needed else f"{name}?" for name in tool["parameters"]["properties"]]
    return f"- {tool['name']}({', '.join(arguments)}): {tool['description']}"


def probe_request(form: RequestForm) -> dict[str, Any]:
    """Return a request, without any note, whose answer shows whether a server understands a form."""
    request = {"messages": [{"role": "user", "content": _ASK_READY}]}
    if form != TOOLS_FORM:
        return request | _response_format(form, _NOTHING)
    ready = {"name": PROBE_TOOL, "description": "Say that you are ready.", "parameters": _NOTHING}
    tool_choice = {"type": "function", "function": {"name": PROBE_TOOL}}
    return request | {"tools": [{"type": "function", "function": ready}], "tool_choice": tool_choice}


def _response_format(form: RequestForm, schema: dict[str, Any]) -> dict[str, Any]:
    if form == OBJECT_FORM:
        return {"response_format": {"type": OBJECT_FORM, "schema": schema}}
    return {"response_format": {"type": SCHEMA_FORM, "json_schema": {"name": "answer", "schema": schema}}}
