"""The tools that a model may call: one typed structure each, which validates and describes it.

Never runs anything: a tool says what a call means, `proposals.py` and `decisions.py` say what becomes of it.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from enum import Enum
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

TITLE_CHARS_MAX = 400
MINUTES_MAX = 1440
BATCH_ITEMS_MAX = 20
REPORT_LINES_MAX = 25
RATIONALE_CHARS_MAX = 300  # with the limits above, what one run commits stays below a commit's 256 KiB

Arguments = dict[str, Any]
"""Arguments after validation: camelCase, JSON values only."""

Title = Annotated[str, msgspec.Meta(min_length=1, max_length=TITLE_CHARS_MAX)]
Line = Annotated[str, msgspec.Meta(max_length=TITLE_CHARS_MAX)]
Lines = Annotated[list[Line], msgspec.Meta(max_length=REPORT_LINES_MAX)]


class Mode(Enum):
    """What becomes of a call: it waits for a person, waits element by element, or is done at once."""

    DEFERRED = "deferred"
    EXPLODED = "exploded"
    IMMEDIATE = "immediate"


class ArgumentFault(Exception):
    """A call whose arguments break a rule; the message is for the model (or for the person who edited)."""


class SetTaskTitle(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Give the task a title that says better what it is about."""

    title: Title


class UpdateTaskEstimate(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Set how many minutes the task takes."""

    minutes: Annotated[int, msgspec.Meta(ge=1, le=MINUTES_MAX)]


class UpdateTaskDueDate(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Set the calendar date on which the task is due, as YYYY-MM-DD."""

    due_date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class UpdateTaskPriority(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Set the priority, from P0 (drop everything) to P3 (some day)."""

    priority: Literal["P0", "P1", "P2", "P3"]


class AddChecklistItem(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Add one item to the task's checklist."""

    title: Title
    is_checked: bool = False


class AddMultipleChecklistItems(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Add items to the task's checklist, each decided on by itself."""

    items: Annotated[list[AddChecklistItem], msgspec.Meta(min_length=1, max_length=BATCH_ITEMS_MAX)]


class ChecklistProgress(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """How much of the checklist is done."""

    total: Annotated[int, msgspec.Meta(ge=0)] = 0
    completed: Annotated[int, msgspec.Meta(ge=0)] = 0


class UpdateReport(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Replace your report on the task. The last call of a run counts."""

    title: Line
    tldr: Line
    goal: Line = ""
    status: Line = ""
    priority: Line = ""
    estimate: Annotated[int, msgspec.Meta(ge=0)] | None = None
    due: Line | None = None
    achieved: Lines = []
    remaining: Lines = []
    learnings: Lines = []
    checklist_progress: ChecklistProgress = ChecklistProgress()
    last_updated: Line = ""


def _anything(arguments: Arguments) -> None:
    """Hold no rule beyond the type."""
    del arguments


def _real_date(arguments: Arguments) -> None:
    """Raise ArgumentFault for a day that no calendar has."""
    try:
        date.fromisoformat(arguments["dueDate"])
    except ValueError as fault:
        seen = arguments["dueDate"]
        raise ArgumentFault(f"dueDate {seen} is not a real calendar date (YYYY-MM-DD)") from fault


class Tool(NamedTuple):
    """A tool: its name, what becomes of a call, the type of its arguments, the task fields that it sets.

    `sets` maps a field to the argument that gives its value; it is empty for tools that make something.
    `element` is, for an exploded tool, the tool that each member of `items` becomes.
    """

    name: str
    mode: Mode
    arguments: type[msgspec.Struct]
    sets: Mapping[str, str] = MappingProxyType({})
    element: str | None = None
    check: Callable[[Arguments], None] = _anything


ADD_CHECKLIST_ITEM = "add_checklist_item"
ADD_MULTIPLE = "add_multiple_checklist_items"
UPDATE_REPORT = "update_report"

_ALL = (
    Tool("set_task_title", Mode.DEFERRED, SetTaskTitle, {"title": "title"}),
    Tool("update_task_estimate", Mode.DEFERRED, UpdateTaskEstimate, {"estimate_minutes": "minutes"}),
    Tool("update_task_due_date", Mode.DEFERRED, UpdateTaskDueDate, {"due": "dueDate"}, check=_real_date),
    Tool("update_task_priority", Mode.DEFERRED, UpdateTaskPriority, {"priority": "priority"}),
    Tool(ADD_CHECKLIST_ITEM, Mode.DEFERRED, AddChecklistItem),
    Tool(ADD_MULTIPLE, Mode.EXPLODED, AddMultipleChecklistItems, element=ADD_CHECKLIST_ITEM),
    Tool(UPDATE_REPORT, Mode.IMMEDIATE, UpdateReport),
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}

_WORDS = ("rationale", "humanSummary", "human_summary")
_PREFIXES = ("functions_", "function_", "tools_", "tool_", "default_api_", "api_", "placet_")
_UPPER_CASE = frozenset({"update_task_priority"})
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


def described(name: str) -> dict[str, Any]:
    """Describe a tool to a model: name, description, and the JSON schema of its arguments."""
    tool = TOOLS[name]
    _, components = msgspec.json.schema_components([tool.arguments], ref_template="#/$defs/{name}")
    parameters = dict(components[tool.arguments.__name__])
    nested = {key: value for key, value in components.items() if key != tool.arguments.__name__}
    if nested:
        parameters["$defs"] = nested
    if tool.mode is not Mode.IMMEDIATE:
        words = {"type": "string", "description": "Why, in a sentence for the person who decides."}
        parameters["properties"] = {**parameters["properties"], "rationale": words}
    return {"name": name, "description": parameters.pop("description", ""), "parameters": parameters}


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
        typed = msgspec.convert(_trimmed(name, arguments), tool.arguments, strict=False)
    except msgspec.ValidationError as fault:
        raise ArgumentFault(f"{name}: {fault}") from fault
    plain: Arguments = msgspec.to_builtins(typed)
    tool.check(plain)
    return plain


def elements(name: str, arguments: Arguments) -> list[Any]:
    """Take a batch apart, unchecked. Raises ArgumentFault where it is no batch, empty or too long."""
    members = arguments.get("items")
    unknown = sorted(set(arguments) - {"items"})
    if unknown:
        raise ArgumentFault(f"{name}: unknown argument {unknown[0]!r}")
    if not isinstance(members, list) or not members:
        raise ArgumentFault(f"{name}: `items` must be a list of 1 to {BATCH_ITEMS_MAX} objects")
    if len(members) > BATCH_ITEMS_MAX:
        raise ArgumentFault(f"{name}: {len(members)} items, at most {BATCH_ITEMS_MAX} in one call")
    return members


def effective(arguments: Arguments) -> Arguments:
    """Return what a proposal comes down to: rewording it is not a new one (DOMAIN.md §2)."""
    return {key: value for key, value in arguments.items() if key not in _NOT_EFFECTIVE}


_NOT_EFFECTIVE = frozenset({"reason", "evidenceIds", "confidence", *_WORDS})


def _trimmed(name: str, arguments: Arguments) -> Arguments:
    """Trim text, which models pad, before its length is judged."""
    upper = name in _UPPER_CASE

    def trimmed(value: Any) -> Any:
        return (value.strip().upper() if upper else value.strip()) if isinstance(value, str) else value

    return {key: trimmed(value) for key, value in arguments.items()}
