"""The arguments of each tool: one type per tool, which validates them and describes them to a model.

Never looks at the journal: other modules check what an id names, and whether the agent may touch it.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.journal.fields.validation import CLOSED, NEEDS_REASON
from store.sentence import Sentence, sentence

TITLE_CHARS_MAX: Final = 400
SUMMARY_CHARS_MAX: Final = 1000
REASON_CHARS_MAX: Final = 400
OBSERVATION_CHARS_MAX: Final = 1000
MINUTES_MAX: Final = 1440
BATCH_ITEMS_MAX: Final = 20
BATCH_LABELS_MAX: Final = 3
EVIDENCE_MAX: Final = 10
REPORT_LINES_MAX: Final = 25
OBSERVATIONS_PER_CALL_MAX: Final = 20
RETRACTIONS_MAX: Final = 30
NUMBER_MAX: Final = 1_000_000
QUESTION_CHARS_MAX: Final = 300
ANSWER_CHARS_MAX: Final = 120
ANSWERS_MIN: Final = 2
ANSWERS_MAX: Final = 4
RATIONALE_CHARS_MAX: Final = 300  # with the limits above, what one run proposes stays below 256 KiB

Arguments = dict[str, Any]
"""Arguments after validation: names in camelCase, and values of JSON alone."""

Title = Annotated[str, Meta(min_length=1, max_length=TITLE_CHARS_MAX)]
Reason = Annotated[str, Meta(min_length=1, max_length=REASON_CHARS_MAX)]
ReportLine = Annotated[str, Meta(max_length=TITLE_CHARS_MAX)]
Summary = Annotated[str, Meta(max_length=SUMMARY_CHARS_MAX)]
ReportLines = Annotated[list[ReportLine], Meta(max_length=REPORT_LINES_MAX)]
Id = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
Evidence = Annotated[list[Id], Meta(max_length=EVIDENCE_MAX)]
Count = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Confidence = Literal["low", "medium", "high"]


class ArgumentFault(Exception):
    """Arguments that break a rule. The message is for the model, and `why` for a person who edited them."""

    def __init__(self, reason: Sentence, message: str = "") -> None:
        self.why = reason
        super().__init__(message or reason.text)


class _Arguments(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """What all arguments have in common: camelCase for the model, and no unknown fields."""


# -- what a task is -----------------------------------------------------------------------------------


class SetTaskTitle(_Arguments, frozen=True):
    """Rename the task."""

    title: Title


class UpdateTaskEstimate(_Arguments, frozen=True):
    """Set how long the whole task takes."""

    minutes: Annotated[int, Meta(ge=1, le=MINUTES_MAX)]


class UpdateTaskDueDate(_Arguments, frozen=True):
    """Set the due date."""

    due_date: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", description="As YYYY-MM-DD.")]


class ClearTaskDueDate(_Arguments, frozen=True):
    """Take the due date away."""


class ClearTaskEstimate(_Arguments, frozen=True):
    """Take the estimate away."""


class UpdateTaskPriority(_Arguments, frozen=True):
    """Set the priority."""

    priority: Annotated[Literal["P0", "P1", "P2", "P3"], Meta(description="P0 is the highest.")]


class SetTaskStatus(_Arguments, frozen=True):
    """Set the status."""

    status: Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"]
    reason: Reason | UnsetType = UNSET


class SetTaskLanguage(_Arguments, frozen=True):
    """Set the language of the task."""

    language_code: Annotated[
        str,
        Meta(
            pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
            max_length=35,
            description="Such as en, de or pt-BR.",
        ),
    ]
    confidence: Confidence = "high"


class AssignTaskLabel(_Arguments, frozen=True):
    """Give the task a label."""

    id: Annotated[Id, Meta(description="From labelsOffered, such as l1.")]
    confidence: Annotated[Confidence, Meta(description="How sure you are; low is dropped.")]


class AssignTaskLabels(_Arguments, frozen=True):
    """Give the task labels that the notes ask for."""

    labels: Annotated[list[AssignTaskLabel], Meta(min_length=1, max_length=BATCH_LABELS_MAX)]


class RemoveTaskLabel(_Arguments, frozen=True):
    """Take a label away from the task."""

    id: Annotated[Id, Meta(description="From the task's labels, such as l2.")]


# -- checklist items ----------------------------------------------------------------------------------


class AddChecklistItem(_Arguments, frozen=True):
    """Add one item to the checklist."""

    title: Annotated[Title, Meta(description="In a few words.")]
    is_checked: bool = False


class AddMultipleChecklistItems(_Arguments, frozen=True):
    """Add items to the checklist."""

    items: Annotated[list[AddChecklistItem], Meta(min_length=1, max_length=BATCH_ITEMS_MAX)]


_CHECKED = "True: done. If checkedBy is user or unknown, change it only with reason and evidenceIds."


class UpdateChecklistItem(_Arguments, frozen=True):
    """Tick, reword or archive one item of the checklist."""

    id: Annotated[Id, Meta(description="Such as i1.")]
    is_checked: Annotated[bool | UnsetType, Meta(description=_CHECKED)] = UNSET
    title: Annotated[Title | UnsetType, Meta(description="New words.")] = UNSET
    is_archived: Annotated[bool | UnsetType, Meta(description="True: not needed any more.")] = UNSET
    reason: Annotated[Reason | UnsetType, Meta(description="Why the user's tick is wrong.")] = UNSET
    evidence_ids: Annotated[
        Annotated[list[Id], Meta(min_length=1, max_length=EVIDENCE_MAX)] | UnsetType,
        Meta(description="Notes that the user wrote after checkedAt."),
    ] = UNSET


class UpdateChecklistItems(_Arguments, frozen=True):
    """Tick, reword or archive items of the checklist."""

    items: Annotated[list[UpdateChecklistItem], Meta(min_length=1, max_length=BATCH_ITEMS_MAX)]


# -- another task -------------------------------------------------------------------------------------


class AddTask(_Arguments, frozen=True):
    """Make a task of its own, beside this one."""

    title: Annotated[Title, Meta(description="In a few words.")]
    due_date: Annotated[
        Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")] | UnsetType, Meta(description="As YYYY-MM-DD.")
    ] = UNSET
    priority: Annotated[
        Literal["P0", "P1", "P2", "P3"] | UnsetType, Meta(description="P0 is the highest.")
    ] = UNSET
    minutes: Annotated[
        Annotated[int, Meta(ge=1, le=MINUTES_MAX)] | UnsetType, Meta(description="How long it takes.")
    ] = UNSET


# -- questions ----------------------------------------------------------------------------------------


class OfferedAnswer(_Arguments, frozen=True):
    """An answer that the user may choose, and the call of another tool that it stands for, if any."""

    text: Annotated[str, Meta(min_length=1, max_length=ANSWER_CHARS_MAX)]
    tool: Annotated[str, Meta(max_length=60)] | UnsetType = UNSET
    arguments: dict[str, Any] | UnsetType = UNSET


class AskQuestion(_Arguments, frozen=True):
    """Ask instead of guessing: two to four answers, each with its call, if any."""

    question: Annotated[str, Meta(min_length=1, max_length=QUESTION_CHARS_MAX)]
    answers: Annotated[list[OfferedAnswer], Meta(min_length=ANSWERS_MIN, max_length=ANSWERS_MAX)]


class AnswerQuestion(AskQuestion, frozen=True):
    """One answer to a question, by its number from 1. Code makes these calls from a question."""

    number: Annotated[int, Meta(ge=1, le=ANSWERS_MAX)]


# -- the agent's own ----------------------------------------------------------------------------------


class ChecklistProgress(_Arguments, frozen=True):
    """How much of the checklist is done."""

    total: Count = 0
    completed: Count = 0


class UpdateReport(_Arguments, frozen=True):
    """Write the whole report anew, last."""

    tldr: Annotated[Summary, Meta(description="One sentence.")]
    title: ReportLine = ""
    goal: Summary = ""
    status: ReportLine = ""
    priority: ReportLine = ""
    estimate: Count | None = None
    due: ReportLine | None = None
    achieved: ReportLines = []
    remaining: ReportLines = []
    learnings: ReportLines = []
    checklist_progress: ChecklistProgress = ChecklistProgress()
    last_updated: ReportLine = ""


REPORT_FACTS: Final = frozenset(
    {"title", "status", "priority", "estimate", "due", "checklistProgress", "lastUpdated"}
)
"""The parts of a report that code fills in from the task, whatever a model writes there."""


class RecordObservations(_Arguments, frozen=True):
    """Note for your next wake what nobody wrote."""

    observations: Annotated[
        list[Annotated[str, Meta(max_length=OBSERVATION_CHARS_MAX)]],
        Meta(max_length=OBSERVATIONS_PER_CALL_MAX),
    ]


class RetractProposals(_Arguments, frozen=True):
    """Take back open proposals of yours that no longer hold."""

    item_ids: Annotated[
        list[Id],
        Meta(min_length=1, max_length=RETRACTIONS_MAX, description="From openProposals, such as p1."),
    ]
    reason: Annotated[Reason, Meta(description="Why they no longer hold.")]


# -- rules that a type cannot say ---------------------------------------------------------------------


def accept_any(arguments: Arguments) -> None:
    """Apply no rule beyond the type."""
    del arguments


def check_date(arguments: Arguments) -> None:
    """Raise ArgumentFault for a date that no calendar has."""
    if "dueDate" not in arguments:
        return
    try:
        date.fromisoformat(arguments["dueDate"])
    except ValueError as fault:
        due_date = arguments["dueDate"]
        raise ArgumentFault(
            sentence(
                "due-date-not-real", "dueDate {seen} is not a real calendar date (YYYY-MM-DD)", seen=due_date
            )
        ) from fault


def check_reason(arguments: Arguments) -> None:
    """Raise ArgumentFault for a status that nobody understands without its reason."""
    if arguments["status"] in NEEDS_REASON and "reason" not in arguments:
        raise ArgumentFault(
            sentence(
                "proposed-status-needs-reason",
                "{status} needs a reason: say what the task waits for",
                status=str(arguments["status"]),
            )
        )


def check_has_change(arguments: Arguments) -> None:
    """Raise ArgumentFault for an update without anything to update."""
    if not {"isChecked", "title", "isArchived"} & set(arguments):
        raise ArgumentFault(
            sentence("update-without-change", "give at least one of isChecked, title and isArchived")
        )


# -- one spelling for what means the same -------------------------------------------------------------

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_HIGH, _MEDIUM = 0.75, 0.5


def single_line(value: Any) -> Any:
    """Return text as one trimmed line. Another value is returned as it is, so that the type refuses it."""
    return _BREAKS.sub(" ", value).strip() if isinstance(value, str) else value


def _respell(value: Any, spell: Callable[[str], str]) -> Any:
    return spell(single_line(value)) if isinstance(value, str) else value


def _spell_status(text: str) -> str:
    status = re.sub(r"[\s_-]+", " ", text).upper()
    if status in CLOSED:
        raise ArgumentFault(
            sentence(
                "agent-never-closes", "DONE and REJECTED are the user's alone: an agent never closes a task"
            )
        )
    return status


def _spell_language(text: str) -> str:
    """Spell a language code as its parts are spelled: language, then script, then region."""
    first, *rest = re.split("[-_]", text)
    parts = [
        part.upper() if len(part) == 2 else part.title() if len(part) == 4 else part.lower() for part in rest
    ]
    return "-".join([first.lower(), *parts])


def _spell_confidence(value: Any) -> Any:
    """Return a confidence in words; models also give it as a number from 0 to 1."""
    # True is an int in Python, and no confidence.
    if isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1:
        return "high" if value >= _HIGH else "medium" if value >= _MEDIUM else "low"
    return _respell(value, str.lower)


def _distinct_ids(value: Any) -> Any:
    """Return ids in their one spelling, each once. A single id is a list of one."""
    if isinstance(value, str):
        value = [value] if value.strip() else []
    if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
        return value
    return list(dict.fromkeys(element.strip().lower() for element in value))


def _non_blank_observations(value: Any) -> Any:
    """Drop blank observations."""
    if not isinstance(value, list):
        return value
    trimmed = (text.strip() if isinstance(text, str) else text for text in value)
    return [text for text in trimmed if text != ""]


def _spell_answers(value: Any) -> Any:
    """Spell answers in one way; a tool that is blank or "none" is left out, with its arguments."""
    if not isinstance(value, list):
        return value
    return [_spell_answer(answer) if isinstance(answer, dict) else answer for answer in value]


def _spell_answer(answer: Arguments) -> Arguments:
    spelled = {key: single_line(member) for key, member in answer.items() if member is not None}
    if str(spelled.get("tool", "")).lower() in ("", "none", "null"):
        spelled.pop("tool", None)
        if not spelled.get("arguments"):
            spelled.pop("arguments", None)
    return spelled


NORMALISERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "priority": lambda value: _respell(value, str.upper),
    "status": lambda value: _respell(value, _spell_status),
    "languageCode": lambda value: _respell(value, _spell_language),
    "confidence": _spell_confidence,
    "id": lambda value: _respell(value, str.lower),
    "itemIds": _distinct_ids,
    "evidenceIds": _distinct_ids,
    "observations": _non_blank_observations,
    "answers": _spell_answers,
}
"""How an argument of that name is spelled in every tool. Every other text becomes one line."""


def without_nulls(arguments: Arguments, optional: frozenset[str]) -> Arguments:
    """Leave out optional arguments that are null: models write null for what they leave out."""
    return {key: value for key, value in arguments.items() if value is not None or key not in optional}


_MAY_BE_BLANK = frozenset({"reason", "evidenceIds"})


def normalised_arguments(arguments: Arguments, optional: frozenset[str]) -> Arguments:
    """Spell arguments in one way, before their length is checked and anything is hashed.

    Models write null, or a blank, for what they leave out. Such `optional` arguments are left out here.
    """
    fields = {key: NORMALISERS.get(key, single_line)(value) for key, value in arguments.items()}
    blank = {key for key in _MAY_BE_BLANK & optional if fields.get(key) in ("", [])}
    return without_nulls({key: value for key, value in fields.items() if key not in blank}, optional)
