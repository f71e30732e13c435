"""The arguments of each tool: one type each, which validates them and describes them to a model.

Never looks at the journal: what an id names, and whether it may be touched, is asked elsewhere.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.journal.values import CLOSED, NEEDS_REASON

TITLE_CHARS_MAX: Final = 400
SUMMARY_CHARS_MAX: Final = 1000
REASON_CHARS_MAX: Final = 400
OBSERVATION_CHARS_MAX: Final = 1000
MINUTES_MAX: Final = 1440
BATCH_ITEMS_MAX: Final = 20
BATCH_LABELS_MAX: Final = 3
EVIDENCE_MAX: Final = 10
REPORT_LINES_MAX: Final = 25
OBSERVATIONS_MAX: Final = 20
RETRACTED_MAX: Final = 30
NUMBER_MAX: Final = 1_000_000
RATIONALE_CHARS_MAX: Final = 300  # with the limits above, what one run proposes stays below 256 KiB

Arguments = dict[str, Any]
"""Arguments after validation: camelCase, JSON values only."""

Title = Annotated[str, Meta(min_length=1, max_length=TITLE_CHARS_MAX)]
Reason = Annotated[str, Meta(min_length=1, max_length=REASON_CHARS_MAX)]
Line = Annotated[str, Meta(max_length=TITLE_CHARS_MAX)]
Summary = Annotated[str, Meta(max_length=SUMMARY_CHARS_MAX)]
Lines = Annotated[list[Line], Meta(max_length=REPORT_LINES_MAX)]
Id = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
Count = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Confidence = Literal["low", "medium", "high"]


class ArgumentFault(Exception):
    """A call whose arguments break a rule; the message is for the model (or for the person who edited)."""


class _Arguments(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """What all arguments share: camelCase for the model, and nothing that is not named."""


# -- what a task is -----------------------------------------------------------------------------------


class SetTaskTitle(_Arguments, frozen=True):
    """Give the task a title that says better what it is about."""

    title: Title


class UpdateTaskEstimate(_Arguments, frozen=True):
    """Set how many minutes the task takes."""

    minutes: Annotated[int, Meta(ge=1, le=MINUTES_MAX)]


class UpdateTaskDueDate(_Arguments, frozen=True):
    """Set the calendar date on which the task is due, as YYYY-MM-DD."""

    due_date: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class UpdateTaskPriority(_Arguments, frozen=True):
    """Set the priority, from P0 (drop everything) to P3 (some day)."""

    priority: Literal["P0", "P1", "P2", "P3"]


class SetTaskStatus(_Arguments, frozen=True):
    """Set where the task stands. BLOCKED and ON HOLD need a reason; only the user closes a task."""

    status: Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"]
    reason: Annotated[Reason | UnsetType, Meta(description="What it waits for.")] = UNSET


class SetTaskLanguage(_Arguments, frozen=True):
    """Set the language that the task is written in, as a code such as en, de or pt-BR."""

    language_code: Annotated[str, Meta(pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)]
    confidence: Confidence


class AssignTaskLabel(_Arguments, frozen=True):
    """Give the task one of the labels that it may have."""

    id: Id
    confidence: Confidence


class AssignTaskLabels(_Arguments, frozen=True):
    """Give the task labels that it may have, each decided on by itself. Low confidence is dropped."""

    labels: Annotated[list[AssignTaskLabel], Meta(min_length=1, max_length=BATCH_LABELS_MAX)]


# -- checklist items ----------------------------------------------------------------------------------


class AddChecklistItem(_Arguments, frozen=True):
    """Add one item to the task's checklist."""

    title: Title
    is_checked: bool = False


class AddMultipleChecklistItems(_Arguments, frozen=True):
    """Add items to the task's checklist, each decided on by itself."""

    items: Annotated[list[AddChecklistItem], Meta(min_length=1, max_length=BATCH_ITEMS_MAX)]


_WHY = "To tick or untick what the user set: a sentence that says why."
_EVIDENCE = "To tick or untick what the user set: ids of entries that the user wrote after that."


class UpdateChecklistItem(_Arguments, frozen=True):
    """Tick, reword or archive one item of the task's checklist."""

    id: Id
    is_checked: bool | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    reason: Annotated[Reason | UnsetType, Meta(description=_WHY)] = UNSET
    evidence_ids: Annotated[
        Annotated[list[Id], Meta(min_length=1, max_length=EVIDENCE_MAX)] | UnsetType,
        Meta(description=_EVIDENCE),
    ] = UNSET


class UpdateChecklistItems(_Arguments, frozen=True):
    """Tick, reword or archive items of the task's checklist, each decided on by itself."""

    items: Annotated[list[UpdateChecklistItem], Meta(min_length=1, max_length=BATCH_ITEMS_MAX)]


# -- the agent's own ----------------------------------------------------------------------------------


class ChecklistProgress(_Arguments, frozen=True):
    """How much of the checklist is done."""

    total: Count = 0
    completed: Count = 0


class UpdateReport(_Arguments, frozen=True):
    """Replace your report on the task. The last call of a run counts."""

    title: Line
    tldr: Summary
    goal: Summary = ""
    status: Line = ""
    priority: Line = ""
    estimate: Count | None = None
    due: Line | None = None
    achieved: Lines = []
    remaining: Lines = []
    learnings: Lines = []
    checklist_progress: ChecklistProgress = ChecklistProgress()
    last_updated: Line = ""


class RecordObservations(_Arguments, frozen=True):
    """Note what you want to know at your next wake and nobody else needs to read."""

    observations: Annotated[
        list[Annotated[str, Meta(max_length=OBSERVATION_CHARS_MAX)]], Meta(max_length=OBSERVATIONS_MAX)
    ]


class RetractProposals(_Arguments, frozen=True):
    """Take back proposals of yours that wait for the user and no longer hold."""

    item_ids: Annotated[list[Id], Meta(min_length=1, max_length=RETRACTED_MAX)]
    reason: Reason


# -- rules that a type cannot say ---------------------------------------------------------------------


def anything(arguments: Arguments) -> None:
    """Hold no rule beyond the type."""
    del arguments


def real_date(arguments: Arguments) -> None:
    """Raise ArgumentFault for a day that no calendar has."""
    try:
        date.fromisoformat(arguments["dueDate"])
    except ValueError as fault:
        seen = arguments["dueDate"]
        raise ArgumentFault(f"dueDate {seen} is not a real calendar date (YYYY-MM-DD)") from fault


def reason_where_needed(arguments: Arguments) -> None:
    """Raise ArgumentFault for a status that is not understood without its reason."""
    if arguments["status"] in NEEDS_REASON and "reason" not in arguments:
        raise ArgumentFault(f"{arguments['status']} needs a reason: say what the task waits for")


def some_change(arguments: Arguments) -> None:
    """Raise ArgumentFault for an update that names nothing to update."""
    if not {"isChecked", "title", "isArchived"} & set(arguments):
        raise ArgumentFault("give at least one of isChecked, title and isArchived")


# -- one spelling for what means the same -------------------------------------------------------------

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_HIGH, _MEDIUM = 0.75, 0.5


def line(value: Any) -> Any:
    """Bring text to one trimmed line; what is no text stays as it is, for the type to refuse."""
    return _BREAKS.sub(" ", value).strip() if isinstance(value, str) else value


def _spelled(value: Any, spell: Callable[[str], str]) -> Any:
    return spell(line(value)) if isinstance(value, str) else value


def _status(written: str) -> str:
    status = re.sub(r"[\s_-]+", " ", written).upper()
    if status in CLOSED:
        raise ArgumentFault("DONE and REJECTED are the user's alone: an agent never closes a task")
    return status


def _language(written: str) -> str:
    """Spell a language code as its parts are spelled: language, then script, then region."""
    first, *rest = re.split("[-_]", written)
    parts = [one.upper() if len(one) == 2 else one.title() if len(one) == 4 else one.lower() for one in rest]
    return "-".join([first.lower(), *parts])


def _confidence(value: Any) -> Any:
    """Return a confidence in words; models also give it as a number from 0 to 1."""
    if isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1:
        return "high" if value >= _HIGH else "medium" if value >= _MEDIUM else "low"
    return _spelled(value, str.lower)


def _ids(value: Any) -> Any:
    """Return ids in their one spelling, each once."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return value
    return list(dict.fromkeys(one.strip().lower() for one in value))


def _observations(value: Any) -> Any:
    """Drop blank observations."""
    if not isinstance(value, list):
        return value
    trimmed = (one.strip() if isinstance(one, str) else one for one in value)
    return [one for one in trimmed if one != ""]


SPELLINGS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "priority": lambda value: _spelled(value, str.upper),
    "status": lambda value: _spelled(value, _status),
    "languageCode": lambda value: _spelled(value, _language),
    "confidence": _confidence,
    "id": lambda value: _spelled(value, str.lower),
    "itemIds": _ids,
    "evidenceIds": _ids,
    "observations": _observations,
}
"""How an argument of that name is spelled, whichever tool takes it; every other text becomes one line."""


def without_nulls(arguments: Arguments, optional: frozenset[str]) -> Arguments:
    """Leave out what models write as null where they have nothing to say."""
    return {key: value for key, value in arguments.items() if value is not None or key not in optional}


_MAY_BE_BLANK = frozenset({"reason", "evidenceIds"})


def spelled(arguments: Arguments, optional: frozenset[str]) -> Arguments:
    """Spell arguments in one way before their length is judged and anything is hashed.

    Models write null, or a blank, for what they leave out: `optional` ones are then left out.
    """
    written = {key: SPELLINGS.get(key, line)(value) for key, value in arguments.items()}
    blank = {key for key in _MAY_BE_BLANK & optional if written.get(key) in ("", [])}
    return without_nulls({key: value for key, value in written.items() if key not in blank}, optional)
