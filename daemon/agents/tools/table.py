"""The tools that a model may call: one table with the mode of each tool and what it writes.

Never runs anything: `daemon/agents/proposing/call_handler.py` queues what a call proposes, and
`daemon/agents/deciding/decisions.py` applies it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import msgspec

from daemon.agents.tools import arguments as args
from daemon.agents.tools import questions
from daemon.agents.tools.argument_faults import argument_choices, argument_fault
from daemon.agents.tools.arguments import (
    BATCH_ITEMS_MAX,
    RATIONALE_CHARS_MAX,
    ArgumentFault,
    Arguments,
)
from daemon.journal.labels import ASSIGN_LABEL_TOOL
from store.sentence import sentence


class CallMode(Enum):
    """What becomes of a call: it waits for a person, waits element by element, or is done at once."""

    DEFERRED = "deferred"
    EXPLODED = "exploded"
    IMMEDIATE = "immediate"


class WriteTarget(Enum):
    """What a tool writes: fields of its task, a member of a set of it, an item, another task, or nothing.

    An answer to a question writes what its own change writes.
    """

    NOTHING = "nothing"
    TASK = "task"
    MEMBER = "member"
    NEW_ITEM = "new item"
    ITEM = "item"
    NEW_TASK = "new task"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the type of its arguments, its mode, and what it writes.

    `argument_by_field` maps a field to the argument that gives its value. For a set, the argument names the
    member. For an exploded tool, `element` is the tool that each member of `list_argument` becomes, with at
    most `members_max` members. `check` applies the rules that the type cannot express. The agent of a task
    may call a tool without `is_on` only if a person lets it.
    """

    name: str
    arguments: type[msgspec.Struct]
    mode: CallMode = CallMode.DEFERRED
    writes: WriteTarget = WriteTarget.NOTHING
    argument_by_field: Mapping[str, str] = field(default_factory=dict)
    element: str | None = None
    list_argument: str = ""
    members_max: int = 0
    check: Callable[[Arguments], None] = args.accept_any
    is_on: bool = True

    @property
    def deferrable(self) -> bool:
        """Report whether a call can wait as an item: it writes the journal, and is no batch."""
        return self.writes is not WriteTarget.NOTHING

    @property
    def optional(self) -> frozenset[str]:
        """Return the arguments that may be left out."""
        return _optional(self.arguments)


@cache
def _optional(arguments: type[msgspec.Struct]) -> frozenset[str]:
    """Return the arguments of a type that may be left out, read from it once."""
    fields = msgspec.structs.fields(arguments)
    return frozenset(member.encode_name for member in fields if not member.required)


SET_TASK_STATUS: Final = "set_task_status"
CLEAR_TASK_DUE_DATE: Final = "clear_task_due_date"
CLEAR_TASK_ESTIMATE: Final = "clear_task_estimate"
REMOVE_TASK_LABEL: Final = "remove_task_label"
CLEARING_TOOLS: Final = frozenset({CLEAR_TASK_DUE_DATE, CLEAR_TASK_ESTIMATE, REMOVE_TASK_LABEL})
"""The tools that take a value away. An agent needs evidence to propose that for what a person set."""
SET_TASK_LANGUAGE: Final = "set_task_language"
ASSIGN_TASK_LABEL: Final = ASSIGN_LABEL_TOOL
ASSIGN_TASK_LABELS: Final = "assign_task_labels"
LABEL_TOOLS: Final = frozenset({ASSIGN_TASK_LABEL, ASSIGN_TASK_LABELS, REMOVE_TASK_LABEL})
ADD_CHECKLIST_ITEM: Final = "add_checklist_item"
ADD_MULTIPLE: Final = "add_multiple_checklist_items"
UPDATE_CHECKLIST_ITEM: Final = "update_checklist_item"
UPDATE_CHECKLIST_ITEMS: Final = "update_checklist_items"
ADD_TASK: Final = "add_task"
ASK_QUESTION: Final = "ask_question"
ANSWER_QUESTION: Final = "answer_question"
UPDATE_REPORT: Final = "update_report"
RECORD_OBSERVATIONS: Final = "record_observations"
RETRACT_PROPOSALS: Final = "retract_proposals"

_ITEM_FIELDS = {"is_checked": "isChecked", "title": "title", "is_archived": "isArchived"}
_NEW_FIELDS = {"title": "title", "is_checked": "isChecked"}
_TASK_FIELDS = {"title": "title", "due": "dueDate", "priority": "priority", "estimate_minutes": "minutes"}


def _task_tool(
    name: str, arguments: type[msgspec.Struct], sets: Mapping[str, str], check: Any = args.accept_any
) -> Tool:
    return Tool(name, arguments, writes=WriteTarget.TASK, argument_by_field=sets, check=check)


def _batch(
    name: str,
    arguments: type[msgspec.Struct],
    element: str,
    members: str = "items",
    most: int = BATCH_ITEMS_MAX,
) -> Tool:
    return Tool(name, arguments, CallMode.EXPLODED, element=element, list_argument=members, members_max=most)


_ALL_TOOLS = (
    _task_tool("set_task_title", args.SetTaskTitle, {"title": "title"}),
    _task_tool("update_task_estimate", args.UpdateTaskEstimate, {"estimate_minutes": "minutes"}),
    _task_tool("update_task_due_date", args.UpdateTaskDueDate, {"due": "dueDate"}, args.check_date),
    _task_tool(CLEAR_TASK_DUE_DATE, args.ClearTaskDueDate, {"due": ""}),
    _task_tool(CLEAR_TASK_ESTIMATE, args.ClearTaskEstimate, {"estimate_minutes": ""}),
    _task_tool("update_task_priority", args.UpdateTaskPriority, {"priority": "priority"}),
    _task_tool(
        SET_TASK_STATUS,
        args.SetTaskStatus,
        {"status": "status", "reason": "reason"},
        args.check_reason,
    ),
    Tool(
        ASSIGN_TASK_LABEL,
        args.AssignTaskLabel,
        writes=WriteTarget.MEMBER,
        argument_by_field={"label_ids": "id"},
    ),
    Tool(
        REMOVE_TASK_LABEL,
        args.RemoveTaskLabel,
        writes=WriteTarget.MEMBER,
        argument_by_field={"label_ids": "id"},
    ),
    _batch(ASSIGN_TASK_LABELS, args.AssignTaskLabels, ASSIGN_TASK_LABEL, "labels", args.BATCH_LABELS_MAX),
    Tool(
        SET_TASK_LANGUAGE,
        args.SetTaskLanguage,
        CallMode.IMMEDIATE,
        WriteTarget.TASK,
        {"language": "languageCode"},
    ),
    Tool(
        ADD_CHECKLIST_ITEM, args.AddChecklistItem, writes=WriteTarget.NEW_ITEM, argument_by_field=_NEW_FIELDS
    ),
    _batch(ADD_MULTIPLE, args.AddMultipleChecklistItems, ADD_CHECKLIST_ITEM),
    Tool(
        UPDATE_CHECKLIST_ITEM,
        args.UpdateChecklistItem,
        writes=WriteTarget.ITEM,
        argument_by_field=_ITEM_FIELDS,
        check=args.check_has_change,
    ),
    _batch(UPDATE_CHECKLIST_ITEMS, args.UpdateChecklistItems, UPDATE_CHECKLIST_ITEM),
    Tool(
        ADD_TASK,
        args.AddTask,
        writes=WriteTarget.NEW_TASK,
        argument_by_field=_TASK_FIELDS,
        check=args.check_date,
        is_on=False,
    ),
    Tool(
        ANSWER_QUESTION,
        args.AnswerQuestion,
        writes=WriteTarget.ANSWER,
        check=questions.check_chosen_answer,
    ),
    Tool(
        ASK_QUESTION,
        args.AskQuestion,
        CallMode.EXPLODED,
        element=ANSWER_QUESTION,
        list_argument="answers",
        members_max=args.ANSWERS_MAX,
        check=questions.check_answers,
    ),
    Tool(UPDATE_REPORT, args.UpdateReport, CallMode.IMMEDIATE),
    Tool(RECORD_OBSERVATIONS, args.RecordObservations, CallMode.IMMEDIATE),
    Tool(RETRACT_PROPOSALS, args.RetractProposals, CallMode.IMMEDIATE),
)
TOOLS: Final[Mapping[str, Tool]] = MappingProxyType({tool.name: tool for tool in _ALL_TOOLS})
TOOLS_ON: Final = tuple(tool.name for tool in _ALL_TOOLS if tool.is_on)
"""The tools that the agent of a task may call unless a person denies them."""


def is_change(name: str) -> bool:
    """Report whether a call of a tool is a change that waits for a person: an answer may stand for it."""
    tool = TOOLS.get(name)
    return tool is not None and tool.mode is CallMode.DEFERRED and tool.writes is not WriteTarget.ANSWER


def equivalent_names(name: str) -> frozenset[str]:
    """Return the tools that ask for the same: a batch and its element, or all that write the same field.

    What is no tool stands alone.
    """
    tool = TOOLS.get(name)
    if tool is not None and tool.writes is WriteTarget.TASK:
        fields = tool.argument_by_field.keys()
        return frozenset(
            other.name
            for other in _ALL_TOOLS
            if other.writes is WriteTarget.TASK and other.argument_by_field.keys() == fields
        )
    if name in LABEL_TOOLS:
        return LABEL_TOOLS
    batches = {tool.name for tool in _ALL_TOOLS if name in (tool.name, tool.element)}
    elements = {element for batch in batches if (element := TOOLS[batch].element)}
    return frozenset({name} | batches | elements)


# -- names --------------------------------------------------------------------------------------------

_PREFIXES = ("functions_", "function_", "tools_", "tool_", "default_api_", "api_", "placet_")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SCOPES = re.compile(r"[./:]+|__")
_APART = re.compile(r"[^A-Za-z0-9]+")


def normalised_name(garbled: str) -> str:
    """Undo what models do to names: other case, dashes, dots, prefixes. The result may still be unknown.

    Policies are looked up by the result, so that no alias slips past them.
    """
    qualified = _snake(garbled)
    name = qualified if qualified in TOOLS else _snake(_SCOPES.split(garbled.strip("./: "))[-1])
    while name not in TOOLS:
        prefix = next((candidate for candidate in _PREFIXES if name.startswith(candidate)), None)
        if prefix is None:
            break
        name = name[len(prefix) :]
    return name


def _snake(text: str) -> str:
    return _APART.sub("_", _CAMEL.sub("_", text.strip()[:200])).strip("_").lower()


# -- what a model is shown ----------------------------------------------------------------------------


def tool_description(name: str, *, with_evidence: bool = True) -> dict[str, Any]:
    """Return the description of a tool for a model: name, description, JSON schema of its arguments.

    `with_evidence` adds the entries that a call may name to propose what a person corrected.
    """
    tool = TOOLS[name]
    _, components = msgspec.json.schema_components([tool.arguments], ref_template="#/$defs/{name}")
    parameters = dict(components[tool.arguments.__name__])
    nested = {
        # What an element is, its tool's own description says already.
        key: {name: part for name, part in value.items() if name != "description"}
        for key, value in components.items()
        if key != tool.arguments.__name__
    }
    if nested:
        parameters["$defs"] = nested
    if tool.mode is not CallMode.IMMEDIATE and name != ASK_QUESTION:
        words = {"type": "string"}
        parameters["properties"] = {**parameters["properties"], "rationale": words}
    if (
        (with_evidence or name in CLEARING_TOOLS)
        and takes_evidence(tool)
        and (tool.mode is not CallMode.EXPLODED or name == ASK_QUESTION)
    ):
        parameters["properties"].setdefault("evidenceIds", dict(_EVIDENCE_SCHEMA))
    if name == UPDATE_REPORT:
        parameters["properties"] = {
            argument: schema
            for argument, schema in parameters["properties"].items()
            if argument not in args.REPORT_FACTS
        }
        parameters.pop("$defs", None)
    return {"name": name, "description": parameters.pop("description", ""), "parameters": parameters}


_EVIDENCE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "To repeat what the user corrected: notes that they wrote after that.",
}


# -- arguments ----------------------------------------------------------------------------------------

FAULT_CHARS_MAX = 300
"""The longest message about wrong arguments. It quotes what the model wrote, and is in every later turn."""
_RATIONALE_NAMES = ("rationale", "humanSummary", "human_summary")
_NOT_EFFECTIVE = frozenset({"reason", "evidenceIds", "confidence", *_RATIONALE_NAMES})


def split_rationale(arguments: Arguments) -> tuple[Arguments, str | None]:
    """Separate a model's own words from its arguments, before anything is hashed or run.

    Returns the arguments, and the words or None.
    """
    words = [arguments[key] for key in _RATIONALE_NAMES if isinstance(arguments.get(key), str)]
    rest = {key: value for key, value in arguments.items() if key not in _RATIONALE_NAMES}
    return rest, (str(words[0]).strip()[:RATIONALE_CHARS_MAX] or None) if words else None


def takes_evidence(tool: Tool) -> bool:
    """Report whether a call of a tool may name entries as evidence: it proposes a value or an item."""
    if tool.name == ASK_QUESTION:
        return True
    if tool.element is not None:
        return takes_evidence(TOOLS[tool.element])
    guarded = (WriteTarget.TASK, WriteTarget.NEW_ITEM, WriteTarget.ITEM, WriteTarget.NEW_TASK)
    if tool.name in CLEARING_TOOLS:
        return True
    return tool.mode is CallMode.DEFERRED and tool.writes in guarded


def split_evidence(name: str, arguments: Arguments) -> tuple[Arguments, list[str]]:
    """Separate the entries that a call names as evidence from its arguments.

    An update of a checklist item keeps them too: they are checked again when a person confirms. Raises
    ArgumentFault for what is no list of ids.
    """
    tool = TOOLS[name]
    if "evidenceIds" not in arguments or not takes_evidence(tool):
        return arguments, []
    try:
        by_name = msgspec.convert(
            args.NORMALISERS["evidenceIds"](arguments["evidenceIds"]) or [], args.Evidence
        )
    except msgspec.ValidationError as fault:
        raise ArgumentFault(
            sentence("evidence-not-ids", "evidenceIds: {fault}", fault=str(fault)[:FAULT_CHARS_MAX])
        ) from fault
    if tool.writes is WriteTarget.ITEM:
        return arguments, by_name
    return {key: value for key, value in arguments.items() if key != "evidenceIds"}, by_name


def validate_arguments(name: str, arguments: Arguments) -> Arguments:
    """Check arguments against the tool's type and rules, and return them normalised, with defaults filled in.

    Raises ArgumentFault with what was wrong and what is accepted.
    """
    tool = TOOLS[name]
    try:
        # A report is the agent's own words, which nothing is compared with.
        spell = args.without_nulls if name == UPDATE_REPORT else args.normalised_arguments
        fields = spell(arguments, tool.optional)
        typed = msgspec.convert(fields, tool.arguments, strict=False)
        plain: Arguments = msgspec.to_builtins(typed)
        tool.check(plain)
    except (msgspec.ValidationError, ArgumentFault) as fault:
        report = str(fault)
        reason = fault.why if isinstance(fault, ArgumentFault) else argument_fault(report, tool.arguments)
        choices = argument_choices(report, tool.arguments)
        hint = f"; one of {', '.join(choices)}" if choices else ""
        raise ArgumentFault(reason, f"{name}: {report}{hint}"[:FAULT_CHARS_MAX]) from fault
    return plain


def batch_elements(name: str, arguments: Arguments) -> list[Any]:
    """Return the elements of a batch, unchecked.

    Raises ArgumentFault if the arguments are no batch, or if it is empty or too long.
    """
    tool = TOOLS[name]
    members, most = arguments.get(tool.list_argument), tool.members_max
    unknown = sorted(set(arguments) - {tool.list_argument})
    if unknown:
        raise ArgumentFault(
            sentence(
                "tool-argument-unknown",
                "{tool}: unknown argument {argument!r}",
                tool=name,
                argument=unknown[0][:60],
            )
        )
    if not isinstance(members, list) or not members:
        raise ArgumentFault(
            sentence(
                "tool-argument-not-list",
                "{tool}: `{argument}` must be a list of 1 to {most} objects",
                tool=name,
                argument=tool.list_argument,
                most=most,
            )
        )
    if len(members) > most:
        raise ArgumentFault(
            sentence(
                "tool-list-too-long",
                "{tool}: {count} {argument}, at most {most} in one call",
                tool=name,
                count=len(members),
                argument=tool.list_argument,
                most=most,
            )
        )
    return members


def is_effective_argument(argument: str) -> bool:
    """Report whether an argument is part of what is proposed, and not of how the agent argues for it."""
    return argument not in _NOT_EFFECTIVE


def effective_arguments(arguments: Arguments) -> Arguments:
    """Return what a proposal comes down to: a proposal in other words is the same proposal."""
    return {key: value for key, value in arguments.items() if is_effective_argument(key)}
