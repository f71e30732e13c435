"""What a run hands to a model, and what a model hands back.

Never holds a store, a clock or a socket: everything that a model may know is in the context.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Protocol, runtime_checkable

from daemon.agents.tools.table import UPDATE_REPORT
from store.sentence import Sentence, sentence
from syncproto.codec import Value


@dataclass(frozen=True, slots=True)
class ChecklistItemView:
    """A checklist item as a model sees it. `checked_by` is user, agent or unknown."""

    id: str
    title: str
    is_checked: bool
    is_archived: bool
    checked_by: str
    checked_at_ms: int | None


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry. `written_at` is the time at which it happened, aware, in the device's own time zone.

    `source` says where the text comes from, such as "transcript"; it is empty for a note that was typed.
    `is_wish` is True for words that the person put to the agent; no import can bring such ones.
    """

    id: str
    text: str
    written_at: datetime
    by: str
    source: str = ""
    is_wish: bool = False


@dataclass(frozen=True, slots=True)
class LabelView:
    """A label of the journal."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class TaskView:
    """The task as it was when the run began. `status_reason` says why it is blocked or on hold, if it is.

    `labels` are those that the task has; `category` is a name. `further` are the values of fields that no
    code here needs to know, by what a prompt calls them.
    """

    id: str
    title: str
    status: str
    priority: str
    estimate_minutes: int | None
    due: str | None
    language: str | None
    items: tuple[ChecklistItemView, ...]
    status_reason: str = ""
    category: str | None = None
    labels: tuple[LabelView, ...] = ()
    time_spent_minutes: int = 0
    further: Mapping[str, str | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change since the last wake, from the log.

    `entity_title` is the title or the first words of the entity. `who` is user, agent or system. `at` is
    aware, in the device's own time zone. Values are as people see them.
    """

    entity_title: str
    kind: str
    field: str
    before: Value
    after: Value
    who: str
    device: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ObservationView:
    """Something that the agent noted for itself in an earlier run."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ObservationsSummary:
    """What several observations have in common: when they were noted, and words that are in many of them.

    `words` are small letters, each with the number of observations that have it, the most frequent first.
    """

    first_day: date
    last_day: date
    words: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class LinkedTaskView:
    """A task that is linked with this one. `direction` is "to" if the link begins at this task.

    `tldr` is from its agent's latest report; it is empty if there is none. `category` is a name.
    """

    type: str
    direction: str
    title: str
    status: str
    tldr: str = ""
    category: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A person's decision on an earlier proposal. `reason` is the person's; it is empty if none was given.

    `prompt_line` is the decision in the words that a model reads. `subject_name` is the name of the item or
    the label that the arguments name by its id.
    """

    tool: str
    args: dict[str, Value]
    verdict: str
    reason: str
    prompt_line: str = ""
    subject_name: str = ""


@dataclass(frozen=True, slots=True)
class ProposalView:
    """A proposal of the agent's that waits for the person; `id` is the id to retract it by."""

    id: str
    tool: str
    args: dict[str, Value]
    prompt_line: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: a name that may be garbled, arguments as JSON text or already parsed.

    `id` is the remote model's id of the call; it is empty if the model needs none. `server_extra` is JSON
    that the server wants back with the call in later turns of the run; nobody else reads it. `server_thought`
    is the same for what the model thought before the calls of its turn; the first of them has it.
    """

    name: str
    arguments: str | dict[str, Any]
    id: str = ""
    server_extra: str = field(default="", repr=False)
    server_thought: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """A call of this run and its answer; calls of one answer of the model have the same `turn`.

    `is_refused` is True if nothing of the call could be used.
    """

    call: ToolCall
    answer: str
    turn: int = 0
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class RunContext:
    """All that a model may know in one turn, each part within its budget (`budgets.py`).

    `new_entries` are the entries since the last wake, or all of them if they are to be read anew, and the
    wishes that no run has read. `entries` are the newest entries of all. Both are oldest first. `labels` are
    those that may be proposed. `report` is None before the first one. `proposals` are the agent's waiting
    ones. `allowed_tools` are those that its policy leaves it; empty means all.

    `writing_language` is the code of the language that the model writes in; empty if it is not clear.

    `instruction` and `required_tool` are empty except in a turn that asks for one call. `reason_chars_min` is
    how many characters a reason against a person's tick must have.
    """

    run_key: str
    now: datetime
    report: dict[str, Value] | None
    task: TaskView
    new_entries: tuple[EntryView, ...]
    decisions: tuple[DecisionView, ...]
    tool_exchanges: tuple[ToolExchange, ...] = ()
    instruction: str = ""
    required_tool: str = ""
    is_first_wake: bool = True
    entries: tuple[EntryView, ...] = ()
    labels: tuple[LabelView, ...] = ()
    changes: tuple[ChangeView, ...] = ()
    changes_left_out: int = 0
    observations: tuple[ObservationView, ...] = ()
    observations_left_out: int = 0
    observations_summary: ObservationsSummary | None = None
    linked_tasks: tuple[LinkedTaskView, ...] = ()
    proposals: tuple[ProposalView, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    reason_chars_min: int = 20
    preferences: tuple[str, ...] = ()
    agent_name: str = ""
    agent_description: str = ""
    writing_language: str = ""


def may_report(context: RunContext) -> bool:
    """Return whether the agent's policy leaves it its report, without which no answer is complete then."""
    return not context.allowed_tools or UPDATE_REPORT in context.allowed_tools


def anything_taken(context: RunContext) -> bool:
    """Return whether anything that was called in this run so far could be used."""
    return any(not exchange.is_refused for exchange in context.tool_exchanges)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a turn took; all are zero for a model that takes none."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


def total_usage(first: TokenUsage, second: TokenUsage) -> TokenUsage:
    """Return what two answers took together."""
    return TokenUsage(
        first.input + second.input,
        first.output + second.output,
        first.cached + second.cached,
        first.reasoning + second.reasoning,
    )


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One answer of a model: the calls to make, in order. A turn without calls ends the run.

    `answered_by` names another model that answered in place of the one that was asked, and
    `stood_in_because` is why; both are empty otherwise.
    """

    calls: tuple[ToolCall, ...]
    text: str = ""
    usage: TokenUsage = TokenUsage()
    answered_by: str = ""
    stood_in_because: str = ""


class ModelFault(Exception):
    """The model could not answer. The run fails and is tried again, after longer and longer pauses.

    `words` are one line for people. They contain neither keys nor words of the journal or of a server.
    """

    def __init__(self, words: Sentence) -> None:
        super().__init__(words.text)
        self.words = words


class ModelUnavailable(ModelFault):
    """No model answers on this device for now. That is not the agent's fault, and the agent stays due.

    `retry_after_s` is in how many seconds the model may be asked again, if that is known.
    `is_already_reported` is True if another run already met the same fault.
    """

    retry_after_s: float | None = None
    is_already_reported = False


class ModelMisconfigured(ModelUnavailable):
    """Address, key, name or account are wrong: no agent of this device runs until a person acts."""


class BudgetSpent(ModelUnavailable):
    """What models may cost per day has been spent; the message says when the budget begins anew."""


class TaskWithheld(ModelFault):
    """The task must not leave this machine, and the model is elsewhere: nothing was sent."""


class AnswerFault(ModelFault):
    """The server gave an answer that cannot be used, or could not handle the request."""


def all_refused() -> AnswerFault:
    """Return the fault of a model that called nothing but what cannot be used."""
    return AnswerFault(
        sentence(
            "model-calls-all-refused",
            "nothing that the model called could be used; placet agent log says what was wrong",
        )
    )


@runtime_checkable
class AvailabilityGuard(Protocol):
    """A model that may be unreachable or over budget: it is asked before a run begins."""

    async def require_available(self, *, by_person: bool) -> None:
        """Raise ModelUnavailable if no run may begin now.

        A person's request (`by_person`) skips the wait for a server.
        """


@runtime_checkable
class StandInAnswers(Protocol):
    """A model in whose place another one may answer a run from its beginning."""

    async def stand_in_turn(self, context: RunContext, fault: ModelFault) -> ModelTurn:
        """Answer in the model's place because of its fault. Raises the fault if nobody does."""


class Model(Protocol):
    """Something that reads a context and answers with tool calls."""

    @property
    def name(self) -> str:
        """The name under which usage is recorded."""

    async def turn(self, context: RunContext) -> ModelTurn:
        """Answer once. Raises ModelFault if the model cannot answer."""
