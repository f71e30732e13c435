"""The forms in which a server can be asked for calls: native tools, or one answer bound by a schema.

Never shows a note while it finds out which of them a server understands.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final, Literal

from daemon.agents.models.openai.endpoint import RequestMode
from daemon.agents.models.openai.prompt import data_block
from daemon.agents.models.openai.sorting.note_pieces import (
    Piece,
    pieces_to_sort,
    sorting_days,
    sorting_rules,
    sorting_schema,
)
from daemon.agents.models.openai.text_calls import PROBE_TOOL
from daemon.agents.models.openai.tool_schemas import (
    answer_schema,
    brief_schema,
    portable_schema,
    tool_definitions,
)
from daemon.agents.tools.model_interface import RunContext
from daemon.agents.tools.table import RECORD_OBSERVATIONS, UPDATE_REPORT

RequestForm = Literal["tools", "json_schema", "json_object", "pieces"]
TOOLS_FORM: Final = "tools"
SCHEMA_FORM: Final = "json_schema"
PIECES_FORM: Final = "pieces"
OBJECT_FORM: Final = "json_object"
"""As older servers have it, llama-cpp-python's among them: an object, with the schema beside it."""

FORMS_BY_MODE: dict[RequestMode, tuple[RequestForm, ...]] = {
    "auto": (TOOLS_FORM, SCHEMA_FORM, OBJECT_FORM),
    "tools": (TOOLS_FORM,),
    "actions": (SCHEMA_FORM, OBJECT_FORM),
    "pieces": (PIECES_FORM,),
}
"""What each mode of the settings allows, best first."""

CANARY_BYTES: Final = 6
_CANARY: Final = "code"
_ASK_READY = f'Answer with one JSON object. Its only field, "{_CANARY}", has the value that its schema names.'
_CALL_READY = f"Call the tool `{PROBE_TOOL}` with the {_CANARY} that it takes. Do not answer in words."


def form_fields(
    form: RequestForm, must_call: str, allowed: Collection[str] = (), *, with_evidence: bool = True
) -> dict[str, Any]:
    """Return the part of a request that asks for calls; `must_call` names the only one wanted, if any.

    `allowed` are the tools that an agent's policy leaves it; empty: all. `with_evidence` describes by which
    notes a call may repeat what a person corrected.
    """
    if form != TOOLS_FORM:
        schema = answer_schema(must_call, allowed, with_evidence=with_evidence)
        return _response_format(form, portable_schema(schema))
    tool_choice = {"type": "function", "function": {"name": must_call}}
    return {
        "tools": brief_schema(portable_schema(tool_definitions(allowed, with_evidence=with_evidence))),
        "tool_choice": tool_choice if must_call else "auto",
    }


def tools_as_text(form: RequestForm, allowed: Collection[str] = (), *, with_evidence: bool = True) -> str:
    """Describe the tools and the answer in words if the request lists no tools; else return nothing.

    A model may not see the schema that binds its answer, and some servers bind it to nothing but JSON.
    """
    if form == TOOLS_FORM:
        return ""
    definitions = tool_definitions(allowed, with_evidence=with_evidence)
    by_name = {tool["function"]["name"]: tool["function"] for tool in definitions}
    report = by_name.pop(UPDATE_REPORT, None)
    observes = by_name.pop(RECORD_OBSERVATIONS, None) is not None
    parts = {
        '"actions":[{"tool":NAME,"arguments":{...}}]': bool(by_name),
        '"observations":[TEXT]': observes,
        f'"report":{{{_names_in_words(report)}}}': report is not None,
    }
    shape = ",".join(part for part, is_offered in parts.items() if is_offered)
    lines = [f"Answer with one JSON object and nothing else: {{{shape}}}"]
    lines += ["`observations` are notes for your next wake."] if observes else []
    lines += ["Tools for `actions`, which may be empty; what ends in ? may be left out:"] if by_name else []
    return "\n".join([*lines, *map(_in_words, by_name.values())])


def _in_words(tool: dict[str, Any]) -> str:
    parameters = portable_schema(tool["parameters"])
    return f"- {tool['name']}{{{_names_in_words({'parameters': parameters})}}}: {tool['description']}"


def _names_in_words(tool: dict[str, Any] | None) -> str:
    """Return the names of arguments, each with what it takes, as a model reads them."""
    parameters = {} if tool is None else tool["parameters"]
    needed = parameters.get("required", [])
    return ", ".join(
        (name if name in needed else f"{name}?") + _value_in_words(schema)
        for name, schema in parameters.get("properties", {}).items()
    )


def _value_in_words(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        member = schema["items"]
        inside = f"{{{_names_in_words({'parameters': member})}}}" if "properties" in member else "TEXT"
        return f": [{inside}]"
    if "enum" in schema:
        return f": {'|'.join(schema['enum'])}"
    described = schema.get("description", "").rstrip(".")
    return f" ({described})" if described else ""


def probe_request(form: RequestForm, canary: str) -> dict[str, Any]:
    """Return a request, without any note, whose answer shows whether a server understands a form.

    The words do not tell the `canary`: only who was shown the schema, or is bound by it, can answer with it.
    """
    words = _CALL_READY if form == TOOLS_FORM else _ASK_READY
    request = {"messages": [{"role": "user", "content": words}]}
    # Some servers know only one of the two words for a value that is fixed.
    value = {"type": "string", "const": canary, "enum": [canary]}
    schema = {
        "type": "object",
        "properties": {_CANARY: value},
        "required": [_CANARY],
        "additionalProperties": False,
    }
    if form != TOOLS_FORM:
        return request | _response_format(form, schema)
    ready = {"name": PROBE_TOOL, "description": "Say that you are ready.", "parameters": schema}
    # As runs ask: some servers take a choice by name and refuse to let the model choose.
    return request | {"tools": [{"type": "function", "function": ready}], "tool_choice": "auto"}


def has_canary(arguments: object, canary: str) -> bool:
    """Return whether arguments or an answer have the value that only the schema tells."""
    return isinstance(arguments, dict) and arguments.get(_CANARY) == canary


def obeys_schema(form: RequestForm, answer: dict[str, Any] | None, canary: str) -> bool:
    """Return whether an answer shows that a server understands a form by schema.

    Many servers that know `json_object` bind to nothing but JSON. Its words describe the answer then.
    """
    return answer is not None and (form == OBJECT_FORM or has_canary(answer, canary))


def pieces_request(
    context: RunContext, pieces: Sequence[Piece], kinds: Sequence[Sequence[str]], tag: str
) -> dict[str, Any]:
    """Return a request that asks what each piece of the new notes is, bound by a schema."""
    data = data_block(tag, pieces_to_sort(context, pieces))
    words = f"{sorting_days(context)}\n{data}\nSort the {len(pieces)} pieces."
    messages = [{"role": "system", "content": sorting_rules()}, {"role": "user", "content": words}]
    return {"messages": messages, **_response_format(SCHEMA_FORM, sorting_schema(pieces, kinds))}


def _response_format(form: RequestForm, schema: dict[str, Any]) -> dict[str, Any]:
    if form == OBJECT_FORM:
        return {"response_format": {"type": OBJECT_FORM, "schema": schema}}
    return {"response_format": {"type": SCHEMA_FORM, "json_schema": {"name": "answer", "schema": schema}}}
