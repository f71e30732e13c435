"""The tools that a model may call: one table that says of each what becomes of a call and what it writes.

Never runs anything: a tool says what a call means, `proposals.py` and `decisions.py` say what becomes of it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import msgspec

from daemon.agents import arguments as args
from daemon.agents.arguments import (
    BATCH_ITEMS_MAX,
    MINUTES_MAX,
    RATIONALE_CHARS_MAX,
    TITLE_CHARS_MAX,
    ArgumentFault,
    Arguments,
)
from daemon.journal.labels import ASSIGN

__all__ = [
    "BATCH_ITEMS_MAX",
    "MINUTES_MAX",
    "TITLE_CHARS_MAX",
    "TOOLS",
    "ArgumentFault",
    "Arguments",
    "Mode",
    "Tool",
    "Writes",
    "described",
    "effective",
    "elements",
    "family",
    "is_effective",
    "normalised_name",
    "validated",
    "without_words",
]


class Mode(Enum):
    """What becomes of a call: it waits for a person, waits element by element, or is done at once."""

    DEFERRED = "deferred"
    EXPLODED = "exploded"
    IMMEDIATE = "immediate"


class Writes(Enum):
    """What a tool writes of the journal: fields of its task, a member of a set of it, an item, or nothing."""

    NOTHING = "nothing"
    TASK = "task"
    MEMBER = "member"
    NEW_ITEM = "new item"
    ITEM = "item"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the type of its arguments, what becomes of a call, and what it writes.

    `sets` maps a field to the argument that gives its value (of a set, the argument that names the member).
    `element` is, for an exploded tool, the tool that each member of `list_argument` becomes, at most
    `members_max` of them. `check` holds what the type cannot say.
    """

    name: str
    arguments: type[msgspec.Struct]
    mode: Mode = Mode.DEFERRED
    writes: Writes = Writes.NOTHING
    sets: Mapping[str, str] = field(default_factory=dict)
    element: str | None = None
    list_argument: str = ""
    members_max: int = 0
    check: Callable[[Arguments], None] = args.anything

    @property
    def deferrable(self) -> bool:
        """Say whether a call can wait as an item: it writes the journal, and is no batch."""
        return self.writes is not Writes.NOTHING

    @property
    def optional(self) -> frozenset[str]:
        """Return the arguments that may be left out."""
        return _optional(self.arguments)


@cache
def _optional(arguments: type[msgspec.Struct]) -> frozenset[str]:
    """Return the arguments of a type that may be left out, read from it once."""
    fields = msgspec.structs.fields(arguments)
    return frozenset(one.encode_name for one in fields if not one.required)


SET_TASK_STATUS: Final = "set_task_status"
SET_TASK_LANGUAGE: Final = "set_task_language"
ASSIGN_TASK_LABEL: Final = ASSIGN
ASSIGN_TASK_LABELS: Final = "assign_task_labels"
ADD_CHECKLIST_ITEM: Final = "add_checklist_item"
ADD_MULTIPLE: Final = "add_multiple_checklist_items"
UPDATE_CHECKLIST_ITEM: Final = "update_checklist_item"
UPDATE_CHECKLIST_ITEMS: Final = "update_checklist_items"
UPDATE_REPORT: Final = "update_report"
RECORD_OBSERVATIONS: Final = "record_observations"
RETRACT_PROPOSALS: Final = "retract_proposals"

_ITEM_FIELDS = {"is_checked": "isChecked", "title": "title", "is_archived": "isArchived"}
_NEW_FIELDS = {"title": "title", "is_checked": "isChecked"}


def _of_task(
    name: str, arguments: type[msgspec.Struct], sets: Mapping[str, str], check: Any = args.anything
) -> Tool:
    return Tool(name, arguments, writes=Writes.TASK, sets=sets, check=check)


def _batch(
    name: str,
    arguments: type[msgspec.Struct],
    element: str,
    members: str = "items",
    most: int = BATCH_ITEMS_MAX,
) -> Tool:
    return Tool(name, arguments, Mode.EXPLODED, element=element, list_argument=members, members_max=most)


_ALL = (
    _of_task("set_task_title", args.SetTaskTitle, {"title": "title"}),
    _of_task("update_task_estimate", args.UpdateTaskEstimate, {"estimate_minutes": "minutes"}),
    _of_task("update_task_due_date", args.UpdateTaskDueDate, {"due": "dueDate"}, args.real_date),
    _of_task("update_task_priority", args.UpdateTaskPriority, {"priority": "priority"}),
    _of_task(
        SET_TASK_STATUS,
        args.SetTaskStatus,
        {"status": "status", "reason": "reason"},
        args.reason_where_needed,
    ),
    Tool(ASSIGN_TASK_LABEL, args.AssignTaskLabel, writes=Writes.MEMBER, sets={"label_ids": "id"}),
    _batch(ASSIGN_TASK_LABELS, args.AssignTaskLabels, ASSIGN_TASK_LABEL, "labels", args.BATCH_LABELS_MAX),
    Tool(SET_TASK_LANGUAGE, args.SetTaskLanguage, Mode.IMMEDIATE, Writes.TASK, {"language": "languageCode"}),
    Tool(ADD_CHECKLIST_ITEM, args.AddChecklistItem, writes=Writes.NEW_ITEM, sets=_NEW_FIELDS),
    _batch(ADD_MULTIPLE, args.AddMultipleChecklistItems, ADD_CHECKLIST_ITEM),
    Tool(
        UPDATE_CHECKLIST_ITEM,
        args.UpdateChecklistItem,
        writes=Writes.ITEM,
        sets=_ITEM_FIELDS,
        check=args.some_change,
    ),
    _batch(UPDATE_CHECKLIST_ITEMS, args.UpdateChecklistItems, UPDATE_CHECKLIST_ITEM),
    Tool(UPDATE_REPORT, args.UpdateReport, Mode.IMMEDIATE),
    Tool(RECORD_OBSERVATIONS, args.RecordObservations, Mode.IMMEDIATE),
    Tool(RETRACT_PROPOSALS, args.RetractProposals, Mode.IMMEDIATE),
)
TOOLS: Final[Mapping[str, Tool]] = MappingProxyType({tool.name: tool for tool in _ALL})


def family(name: str) -> frozenset[str]:
    """Return the names by which the same can be asked for: a batch and the tool of its elements."""
    batches = {tool.name for tool in _ALL if name in (tool.name, tool.element)}
    return frozenset(batches | {element for one in batches if (element := TOOLS[one].element)})


# -- names --------------------------------------------------------------------------------------------

_PREFIXES = ("functions_", "function_", "tools_", "tool_", "default_api_", "api_", "placet_")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SCOPES = re.compile(r"[./:]+|__")
_APART = re.compile(r"[^A-Za-z0-9]+")


def normalised_name(garbled: str) -> str:
    """Undo what models do to names: other case, dashes, dots, prefixes; the name may still be unknown.

    Policies are read by the name that comes out, so that no alias slips past them (DOMAIN.md §2).
    """
    qualified = _snake(garbled)
    name = qualified if qualified in TOOLS else _snake(_SCOPES.split(garbled.strip("./: "))[-1])
    while name not in TOOLS:
        prefix = next((p for p in _PREFIXES if name.startswith(p)), None)
        if prefix is None:
            break
        name = name[len(prefix) :]
    return name


def _snake(written: str) -> str:
    return _APART.sub("_", _CAMEL.sub("_", written.strip()[:200])).strip("_").lower()


# -- what a model is shown ----------------------------------------------------------------------------


def described(name: str) -> dict[str, Any]:
    """Describe a tool to a model: name, description, and the JSON schema of its arguments."""
    tool = TOOLS[name]
    _, components = msgspec.json.schema_components([tool.arguments], ref_template="#/$defs/{name}")
    parameters = dict(components[tool.arguments.__name__])
    nested = {key: value for key, value in components.items() if key != tool.arguments.__name__}
    if nested:
        parameters["$defs"] = nested
    if tool.deferrable or tool.mode is Mode.EXPLODED:
        words = {"type": "string", "description": "Why, in a sentence for the person who decides."}
        parameters["properties"] = {**parameters["properties"], "rationale": words}
    return {"name": name, "description": parameters.pop("description", ""), "parameters": parameters}


# -- arguments ----------------------------------------------------------------------------------------

FAULT_CHARS_MAX = 300
"""How much is said of what is wrong: it quotes what the model wrote, which then reads it with every turn."""
_WORDS = ("rationale", "humanSummary", "human_summary")
_NOT_EFFECTIVE = frozenset({"reason", "evidenceIds", "confidence", *_WORDS})


def without_words(arguments: Arguments) -> tuple[Arguments, str | None]:
    """Set a model's own words aside before anything is hashed or run: the arguments; the words or None."""
    words = [arguments[key] for key in _WORDS if isinstance(arguments.get(key), str)]
    rest = {key: value for key, value in arguments.items() if key not in _WORDS}
    return rest, (str(words[0]).strip()[:RATIONALE_CHARS_MAX] or None) if words else None


def validated(name: str, arguments: Arguments) -> Arguments:
    """Check arguments against the tool's type and rules and return them normalised, defaults filled in.

    Raises ArgumentFault with a message that says what was wrong and what is accepted.
    """
    tool = TOOLS[name]
    try:
        # A report is the agent's own words, which nothing is compared with.
        spell = args.without_nulls if name == UPDATE_REPORT else args.spelled
        written = spell(arguments, tool.optional)
        typed = msgspec.convert(written, tool.arguments, strict=False)
        plain: Arguments = msgspec.to_builtins(typed)
        tool.check(plain)
    except (msgspec.ValidationError, ArgumentFault) as fault:
        raise ArgumentFault(f"{name}: {fault}"[:FAULT_CHARS_MAX]) from fault
    return plain


def elements(name: str, arguments: Arguments) -> list[Any]:
    """Take a batch apart, unchecked. Raises ArgumentFault where it is no batch, empty or too long."""
    tool = TOOLS[name]
    members, most = arguments.get(tool.list_argument), tool.members_max
    unknown = sorted(set(arguments) - {tool.list_argument})
    if unknown:
        raise ArgumentFault(f"{name}: unknown argument {unknown[0][:60]!r}")
    if not isinstance(members, list) or not members:
        raise ArgumentFault(f"{name}: `{tool.list_argument}` must be a list of 1 to {most} objects")
    if len(members) > most:
        raise ArgumentFault(f"{name}: {len(members)} {tool.list_argument}, at most {most} in one call")
    return members


def is_effective(argument: str) -> bool:
    """Say whether an argument is part of what is proposed, and not of how it is argued."""
    return argument not in _NOT_EFFECTIVE


def effective(arguments: Arguments) -> Arguments:
    """Return what a proposal comes down to: rewording it is not a new one (DOMAIN.md §2)."""
    return {key: value for key, value in arguments.items() if is_effective(key)}
