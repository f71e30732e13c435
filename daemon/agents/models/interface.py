"""What a run hands to a model, and what a model hands back.

Never holds a store, a clock or a socket: everything that a model may know is in the context.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

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
class NoteView:
    """An entry. `written_at` is when it happened, on the device's own calendar (aware)."""

    id: str
    text: str
    written_at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class LabelView:
    """A label of the journal."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class TaskView:
    """The task as it stood when the run began. `status_reason` says why it is blocked or on hold, if so.

    `labels` are those that it has; `category` is a name.
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


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change since the last wake, from the log. `entity` is what changed, by its title or first words.

    `who` is user, agent or system; `at` is on the device's own calendar (aware). Values are as shown.
    """

    entity: str
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
class LinkedView:
    """A task that is linked with this one. `direction` is "to" where the link begins at this task.

    `tldr` is of its agent's latest report, empty where there is none.
    """

    type: str
    direction: str
    title: str
    status: str
    tldr: str = ""


@dataclass(frozen=True, slots=True)
class DecisionView:
    """What a person made of an earlier proposal; `reason` is theirs, empty where they gave none.

    `line` is the decision in the words that a model reads (DOMAIN.md §4), `about` the name of the item or the
    label that the arguments know by its id.
    """

    tool: str
    args: dict[str, Value]
    verdict: str
    reason: str
    line: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class ProposalView:
    """A proposal of the agent's that waits for the person; `id` is what it is taken back by."""

    id: str
    tool: str
    args: dict[str, Value]
    line: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: a name that may be garbled, arguments as JSON text or already parsed.

    `id` is what a remote model knows the call by; empty where it needs none. `extra` is what its server wants
    back with the call in later turns of the run, as JSON, and nobody else reads.
    """

    name: str
    arguments: str | dict[str, Any]
    id: str = ""
    extra: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call of this run and what it was answered; calls of one answer share their `turn`."""

    call: ToolCall
    answer: str
    turn: int = 0


@dataclass(frozen=True, slots=True)
class RunContext:
    """All that a model may know in one turn, each part within its budget (`context.py`).

    `notes` are the entries that are new since the last wake, `entries` the newest of all, both oldest first.
    `labels` are those that may be proposed. `report` is None before the first one. `proposals` are the
    agent's that wait, `tools` those that its policy leaves it; empty: all.
    `instruction` and `must_call`, a tool's name, are empty but in a turn that asks for one call. `reason_min`
    is how many characters a reason against a person's tick must have.
    """

    run_key: str
    now: datetime
    report: dict[str, Value] | None
    task: TaskView
    notes: tuple[NoteView, ...]
    decisions: tuple[DecisionView, ...]
    exchanges: tuple[Exchange, ...] = ()
    instruction: str = ""
    must_call: str = ""
    first_wake: bool = True
    entries: tuple[NoteView, ...] = ()
    labels: tuple[LabelView, ...] = ()
    changes: tuple[ChangeView, ...] = ()
    changes_left_out: int = 0
    observations: tuple[ObservationView, ...] = ()
    linked: tuple[LinkedView, ...] = ()
    proposals: tuple[ProposalView, ...] = ()
    tools: tuple[str, ...] = ()
    reason_min: int = 20


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a turn cost; all zero for a model that has none."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer: the calls to make, in order. A turn without calls ends the run."""

    calls: tuple[ToolCall, ...]
    text: str = ""
    usage: Usage = Usage()


class ModelFault(Exception):
    """The model could not answer. The run fails, writes nothing and is tried again, ever more rarely.

    The message is one line for people. It holds neither keys nor words of the journal or of a server.
    """


class ModelUnavailable(ModelFault):
    """No model answers on this device for now: that is no fault of the agent's, which stays due.

    `again_s` is in how many seconds it may be asked again, where that is known; `is_known` where another run
    was told the same before.
    """

    again_s: float | None = None
    is_known = False


class ModelMisconfigured(ModelUnavailable):
    """Address, key, name or account are not right: no agent of this device runs until a person acts."""


class BudgetSpent(ModelUnavailable):
    """What models may cost a day has been spent; the message says when it goes on."""


class AnswerFault(ModelFault):
    """The server answered with what is no answer, or could not take what it was asked."""


@runtime_checkable
class Guarded(Protocol):
    """A model that may be out of reach, or of money: it is asked before a run begins."""

    async def require(self, *, asked: bool) -> None:
        """Raise ModelUnavailable where no run may begin now; a person who asks need not wait for a server."""


class Model(Protocol):
    """Something that reads a context and answers with tool calls."""

    @property
    def name(self) -> str:
        """The name that usage is booked under."""

    async def turn(self, context: RunContext) -> Turn:
        """Answer once. Raises ModelFault where it cannot."""
