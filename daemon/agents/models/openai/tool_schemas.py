"""The tools as JSON schemas that the servers of models accept.

Never adds a tool or widens what one takes: `daemon.agents.tools.table` decides both.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from daemon.agents.tools.model_interface import RunContext
from daemon.agents.tools.table import (
    CLEAR_TASK_DUE_DATE,
    CLEAR_TASK_ESTIMATE,
    LABEL_TOOLS,
    RECORD_OBSERVATIONS,
    REMOVE_TASK_LABEL,
    RETRACT_PROPOSALS,
    SET_TASK_LANGUAGE,
    TOOLS,
    TOOLS_ON,
    UPDATE_CHECKLIST_ITEM,
    UPDATE_REPORT,
    equivalent_names,
    tool_description,
)

ACTIONS_MAX = 30
_SHARED: Final = "$defs"
_NONE: Mapping[str, Any] = {}
_LENGTHS = frozenset({"minLength", "maxLength"})
_CHECKED_HERE = frozenset({"additionalProperties", "minItems", "maxItems", "minimum", "maximum", "pattern"})
"""What the table of tools checks itself, so that a request with native tools need not pay for it."""
_DEPENDING_ON_THE_TASK: Final = frozenset(
    {
        SET_TASK_LANGUAGE,
        RETRACT_PROPOSALS,
        CLEAR_TASK_DUE_DATE,
        CLEAR_TASK_ESTIMATE,
        *equivalent_names(UPDATE_CHECKLIST_ITEM),
        *LABEL_TOOLS,
    }
)


def offered_tools(context: RunContext) -> tuple[str, ...]:
    """Return the tools that the policy allows and that can succeed now.

    Of a batch and the tool of its elements only the batch is offered, unless the policy denies it: it does
    the same, and every tool is paid for in every turn. What depends on the task comes last, so that requests
    about different tasks begin with the same bytes, which servers keep.
    """
    allowed = context.allowed_tools or TOOLS_ON
    useless = {TOOLS[name].element for name in allowed}
    if not context.task.items:
        useless |= equivalent_names(UPDATE_CHECKLIST_ITEM)
    if not context.labels:
        useless |= LABEL_TOOLS - {REMOVE_TASK_LABEL}
    if not context.task.labels or context.is_first_wake:
        useless.add(REMOVE_TASK_LABEL)
    if not context.proposals:
        useless.add(RETRACT_PROPOSALS)
    # At a first wake nothing of what the notes say can have been taken back since.
    if context.task.due is None or context.is_first_wake:
        useless.add(CLEAR_TASK_DUE_DATE)
    if context.task.estimate_minutes is None or context.is_first_wake:
        useless.add(CLEAR_TASK_ESTIMATE)
    # Code reads the language of the notes anew in each run; what it cannot read the model may tell.
    if context.task.language or context.writing_language:
        useless.add(SET_TASK_LANGUAGE)
    offered = [name for name in TOOLS if name in allowed and name not in useless]
    return tuple(sorted(offered, key=lambda name: name in _DEPENDING_ON_THE_TASK))


def may_repeat(context: RunContext) -> bool:
    """Return whether the model may have to name notes as evidence, since a proposal of its was confirmed."""
    return any(decision.verdict == "confirmed" for decision in context.decisions)


def tool_definitions(offered: Collection[str] = (), *, with_evidence: bool = True) -> list[dict[str, Any]]:
    """Describe the tools for a request, in the order in which they are offered; empty means all."""
    return [
        {"type": "function", "function": tool_description(name, with_evidence=with_evidence)}
        for name in offered or TOOLS
    ]


def answer_schema(
    must_call: str, allowed: Collection[str] = (), *, with_evidence: bool = True
) -> dict[str, Any]:
    """Describe the one answer of the mode `actions`; only the report, if `must_call` names it."""
    shared: dict[str, Any] = {}
    offered = allowed or TOOLS
    properties = {"report": _parameters(UPDATE_REPORT, shared)} if UPDATE_REPORT in offered else {}
    if must_call != UPDATE_REPORT:
        if RECORD_OBSERVATIONS in offered:
            properties["observations"] = {"type": "array", "items": {"type": "string"}}
        one_of = [
            _action(name, shared, with_evidence=with_evidence)
            for name in offered
            if name not in {UPDATE_REPORT, RECORD_OBSERVATIONS}
        ]
        if one_of:
            actions = {"type": "array", "maxItems": ACTIONS_MAX, "items": {"anyOf": one_of}}
            properties = {"actions": actions, **properties}
    return _strict(properties) | ({"$defs": shared} if shared else {})


def _action(name: str, shared: dict[str, Any], *, with_evidence: bool) -> dict[str, Any]:
    arguments = _parameters(name, shared, with_evidence=with_evidence)
    return _strict({"tool": {"type": "string", "enum": [name]}, "arguments": arguments})


def _strict(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _parameters(name: str, shared: dict[str, Any], *, with_evidence: bool = True) -> dict[str, Any]:
    """Return a tool's parameters. What they refer to moves to `shared`, the root where references point."""
    parameters: dict[str, Any] = tool_description(name, with_evidence=with_evidence)["parameters"]
    shared.update(parameters.pop("$defs", {}))
    return parameters


def brief_schema(described: Any) -> Any:
    """Return the schema of a native tool without what the table of tools checks itself."""
    if isinstance(described, list):
        return [brief_schema(member) for member in described]
    if not isinstance(described, dict):
        return described
    return {key: brief_schema(value) for key, value in described.items() if key not in _CHECKED_HERE}


def portable_schema(described: Any, shared: Mapping[str, Any] = _NONE) -> Any:
    r"""Return a schema without references, without bounds on texts, and without `\d`.

    Servers that bind an answer by a grammar cannot use any of the three: llama-cpp-python's process ends on
    each of them. The registry checks the lengths of texts itself. Titles and defaults are left out too: they
    say nothing that names and requirements do not, and a small model pays for them in every turn.
    """
    if isinstance(described, list):
        return [portable_schema(member, shared) for member in described]
    if not isinstance(described, dict):
        return described
    shared = {**shared, **described.get(_SHARED, {})}
    if isinstance(reference := described.get("$ref"), str):
        target = shared[reference.removeprefix(f"#/{_SHARED}/")]
        described = {**target, **{key: value for key, value in described.items() if key != "$ref"}}
    left_out = {_SHARED, "default", *(_LENGTHS if described.get("type") == "string" else ())}
    portable = {
        key: portable_schema(value, shared)
        for key, value in described.items()
        if key not in left_out and not _is_title(key, value)
    }
    if isinstance(pattern := portable.get("pattern"), str):
        portable["pattern"] = pattern.replace("\\d", "[0-9]")
    return portable


def _is_title(key: str, value: Any) -> bool:
    """Return whether this is the title of a schema; a property of that name has a schema as its value."""
    return key == "title" and isinstance(value, str)
