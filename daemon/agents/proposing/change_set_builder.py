"""The proposals of one run that wait for its end, and the change sets that they become.

Never executes what does not fit: it is refused, and the limit is named.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from daemon.agents.proposing import reach
from daemon.agents.proposing.asking import QUESTIONS_OPEN_MAX, open_questions, question_key
from daemon.agents.proposing.authenticity import known_requirements
from daemon.agents.proposing.baseline import Baseline
from daemon.agents.proposing.persons_word import clearing_objection, later_word_objection
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.proposing.sight import Sight
from daemon.agents.proposing.superseding import (
    LaterWord,
    WrittenFields,
    replaced_items,
    replaces,
    written_fields,
)
from daemon.agents.tools import summaries
from daemon.agents.tools.arguments import REASON_CHARS_MAX, Arguments
from daemon.agents.tools.effects import change_set_id, effect_of, fingerprint_of, item_id, written_entity
from daemon.agents.tools.presence import requirement_on
from daemon.agents.tools.questions import Change, arguments_of_answers, change_of_answer
from daemon.agents.tools.table import ANSWER_QUESTION, TOOLS, WriteTarget
from daemon.journal.fields import positions
from daemon.text_comparison import comparison_key
from store.fold.item import Item, clock_as_value
from store.fold.item_name import ItemName, fields_of_name
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto import codec
from syncproto.codec import Value
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock

CHANGE_SETS_MAX = 3
_WAITS = "is already proposed and waits for the user"
RUN_PROPOSALS_BYTES_MAX = 200 * 1024
"""How long the proposals of a run are together: the commit of its end contains them all, and more."""
REPEATED_PROPOSALS_MAX = 200
"""How often the same thing is proposed for a task: each repetition is found by following all before it."""


@dataclass(frozen=True, slots=True)
class ProposalLimits:
    """How many items a set has, how long they stay open, and how long a reason against a person's tick is."""

    items_per_set: int = 10
    lifetime_ms: int = 7 * 86_400_000
    reason_chars_min: int = 20


@dataclass(frozen=True, slots=True)
class QueuedProposal:
    """One proposal that waits for the end of the run."""

    item_id: EntityId
    tool: str
    args: Arguments
    base: VectorClock
    seen_values: dict[str, Value]
    rationale: str | None
    name: ItemName

    @property
    def fingerprint(self) -> bytes:
        """Return the hash of what is proposed."""
        return self.name.fingerprint


class ProposalLimitReached(Exception):
    """The run proposes more than a person can be asked to read; the message names the limit."""


class PersonsWordRefusal(Exception):
    """The proposal goes back behind what a person said later; the message says what, and what is needed."""


class ChangeSetBuilder:
    """Collects the proposals of a run, each once."""

    def __init__(self, run: RunIdentity, baseline: Baseline, limits: ProposalLimits) -> None:
        self._run = run
        self._baseline = baseline
        self._limits = limits
        self._queued: list[QueuedProposal] = []
        self._last_place = baseline.last_place
        self._bytes = 0
        self._words: list[LaterWord] = []

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is queued."""
        return not self._queued

    def count_of(self, tool: str) -> int:
        """Return how many proposals of a tool wait."""
        return sum(proposal.tool == tool for proposal in self._queued)

    def add_proposal(
        self,
        snapshot: Snapshot,
        tool: str,
        args: Arguments,
        rationale: str | None,
        *,
        taken_back: Container[EntityId] = (),
        evidence: Sequence[EntityId] = (),
    ) -> EntityId | str:
        """Queue a proposal and return its item, or return why it is not proposed again.

        What is queued in this run, waits, has expired, or was rejected or deferred is not proposed again.
        `taken_back` are the items that the run retracts at its end. `evidence` are the entries that the agent
        names. Raises ProposalLimitReached and PersonsWordRefusal.
        """
        fingerprint = fingerprint_of(self._run.task, tool, args)
        if any(queued.fingerprint == fingerprint or _is_twin(queued, tool, args) for queued in self._queued):
            return "is already proposed in this run"
        entity = written_entity(tool, args, self._run.task)
        name, before = self._next_item(fingerprint, entity, snapshot, (tool,))
        # All are checked, not only the last: a verdict on an earlier one may have been reopened since.
        for item in reversed(before):
            repeated = _reason_not_to_repeat(item, self._run.now_ms)
            if repeated is not None:
                is_going = item.id in taken_back
                if repeated == _WAITS and not is_going:
                    # The agent's last word is what waits already, and not what it queued in between.
                    self._drop_queued(written_fields(tool, args, item.id, self._run.task))
                return "is taken back in this run: propose it at a later wake" if is_going else repeated
        sight = Sight(snapshot, self._run.agent)
        objection = later_word_objection(sight, tool, args, before, evidence) or clearing_objection(
            snapshot, tool, args, self._run.task, evidence
        )
        if objection is not None:
            raise PersonsWordRefusal(objection)
        if len(self._queued) >= CHANGE_SETS_MAX * self._limits.items_per_set:
            raise ProposalLimitReached(self.limit_text())
        proposal = self._proposal(name, tool, args, rationale)
        identifier = proposal.item_id
        self._append([proposal])
        self._note_word(snapshot, tool, args, identifier, besides=(identifier,))
        return identifier

    def add_question(
        self, snapshot: Snapshot, args: Arguments, rationale: str | None
    ) -> tuple[EntityId, ...] | str:
        """Queue a question, one item for each answer, and return them, or why it is not asked again.

        `args` are those of `ask_question`. Its answers are decided together, so that they are proposed
        together, too. Raises ProposalLimitReached.
        """
        key, calls = question_key(args), arguments_of_answers(args)
        queued = {question_key(queued.args) for queued in self._queued if queued.tool == ANSWER_QUESTION}
        if key in queued:
            return "is already asked in this run"
        answers = []
        changes = [change for call in calls if (change := change_of_answer(call)) is not None]
        tools = (ANSWER_QUESTION, *(change.tool for change in changes))
        for call in calls:
            fingerprint = fingerprint_of(self._run.task, ANSWER_QUESTION, call)
            entity = written_entity(ANSWER_QUESTION, call, self._run.task)
            name, before = self._next_item(fingerprint, entity, snapshot, tools)
            for item in reversed(before):
                repeated = _reason_not_to_repeat(item, self._run.now_ms)
                if repeated is not None or item.status is DecisionStatus.CONFIRMED:
                    return "was answered by the user" if repeated is None else repeated
            answers.append((name, call))
        waiting = open_questions(snapshot, self._run.agent, self._run.task, self._run.now_ms)
        if len(waiting | queued) >= QUESTIONS_OPEN_MAX:
            raise ProposalLimitReached(
                f"at most {QUESTIONS_OPEN_MAX} questions of yours may wait for the user;"
                " this one was not asked"
            )
        if len(self._queued) + len(answers) > CHANGE_SETS_MAX * self._limits.items_per_set:
            raise ProposalLimitReached(self.limit_text())
        proposals = [self._proposal(name, ANSWER_QUESTION, call, rationale) for name, call in answers]
        self._append(proposals)
        items = tuple(proposal.item_id for proposal in proposals)
        self._note_word(snapshot, ANSWER_QUESTION, calls[0], items[0], besides=items)
        return items

    # -- what replaces what ---------------------------------------------------------------------------

    def note_value_in_place(self, snapshot: Snapshot, tool: str, args: Arguments) -> None:
        """Note that the agent's last word on a field is the value that it has."""
        self._note_word(snapshot, tool, args, self._run.task, besides=())

    def _note_word(
        self, snapshot: Snapshot, tool: str, args: Arguments, item: EntityId, besides: Sequence[EntityId]
    ) -> None:
        fields = written_fields(tool, args, item, self._run.task)
        name = reach.target_name(snapshot, tool, args)
        summary = summaries.proposal_summary(tool, args, name)
        if tool == ANSWER_QUESTION:
            summary = str(args["question"])
        self._drop_queued(fields, besides)
        self._words = [word for word in self._words if not replaces(fields, word.fields)]
        self._words.append(LaterWord(fields, summary))

    def _drop_queued(self, fields: WrittenFields, besides: Sequence[EntityId] = ()) -> None:
        """Drop what this run queued before for the same fields: its last word on them counts."""
        self._queued = [
            queued
            for queued in self._queued
            if queued.item_id in besides or not replaces(fields, self._fields_of(queued))
        ]
        self._words = [word for word in self._words if not replaces(fields, word.fields)]

    def _fields_of(self, queued: QueuedProposal) -> WrittenFields:
        return written_fields(queued.tool, queued.args, queued.item_id, self._run.task)

    def replaced_items(self, snapshot: Snapshot) -> dict[EntityId, str]:
        """Return the agent's open items that this run replaces, with reasons that name the newer ones."""
        queued = {proposal.item_id for proposal in self._queued}
        replaced = replaced_items(snapshot, self._run, self._words, queued)
        return {item.id: f"Replaced by: {summary}"[:REASON_CHARS_MAX] for item, summary in replaced}

    def reason_not_to_offer(
        self, snapshot: Snapshot, change: Change, evidence: Sequence[EntityId] = ()
    ) -> str | None:
        """Return why an answer may not offer a change; None if it may.

        It may not offer what the person rejected or deferred, nor what they corrected without later
        `evidence`. What only waits it may.
        """
        fingerprint = fingerprint_of(self._run.task, *change)
        entity = written_entity(*change, self._run.task)
        _, before = self._next_item(fingerprint, entity, snapshot, (change.tool,))
        decided = (item for item in reversed(before) if item.decisions)
        repeated = next((reason for item in decided if (reason := _reason_not_to_repeat(item, 0))), None)
        sight = Sight(snapshot, self._run.agent)
        return repeated or later_word_objection(sight, *change, before, evidence)

    def _append(self, proposals: Sequence[QueuedProposal]) -> None:
        """Queue proposals, all or none. Raises ProposalLimitReached."""
        weight = sum(len(codec.encode(_as_value(proposal))) for proposal in proposals)
        if self._bytes + weight > RUN_PROPOSALS_BYTES_MAX:
            raise ProposalLimitReached(
                "the proposals of this run are too long together; nothing beyond that was queued or done"
            )
        self._bytes += weight
        self._queued += proposals

    def limit_text(self) -> str:
        """Return the limit in words for the model."""
        return (
            f"a run queues at most {CHANGE_SETS_MAX * self._limits.items_per_set} proposals"
            f" ({CHANGE_SETS_MAX} sets of {self._limits.items_per_set});"
            " nothing beyond that was queued or done"
        )

    def _next_item(
        self, fingerprint: bytes, entity: EntityId | None, snapshot: Snapshot, tools: Sequence[str]
    ) -> tuple[ItemName, list[Item]]:
        """Follow the chain of items that propose the same to its end; `entity` is what they write.

        Returns what the next id follows from, and the items of the chain. `tools` are those that the proposal
        calls. Raises ProposalLimitReached for a chain that is too long.
        """
        before: list[Item] = []
        task, requirements = self._run.task, known_requirements(snapshot, fingerprint)
        for _ in range(REPEATED_PROPOSALS_MAX):
            previous = before[-1].id if before else None
            identifiers = [item_id(fingerprint, previous, task, entity, needed) for needed in requirements]
            # An earlier version made ids without the entity that is written.
            identifiers.append(item_id(fingerprint, previous, task, None))
            stored = (snapshot.item(identifier) for identifier in identifiers)
            item = next((item for item in stored if item is not None), None)
            if item is None:
                needed = requirement_on(snapshot.entity(self._run.agent), tools, snapshot.device)
                return ItemName(fingerprint, previous, entity, needed), before
            before.append(item)
        raise ProposalLimitReached(
            f"this was proposed {REPEATED_PROPOSALS_MAX} times already, and decided or taken back each time"
        )

    def _proposal(self, name: ItemName, tool: str, args: Arguments, rationale: str | None) -> QueuedProposal:
        identifier = name.item_id(time_of=self._run.task)
        effect = effect_of(tool, args, identifier, self._run.task)
        if effect.creates and effect.kind == "task":
            return QueuedProposal(identifier, tool, args, EMPTY_CLOCK, {}, rationale, name)
        if effect.creates:
            # The position is chosen here, once, so that two devices that confirm while apart write the same.
            self._last_place = positions.position_between(self._last_place, None)
            seen_values: dict[str, Value] = {"position": self._last_place}
            return QueuedProposal(identifier, tool, args, EMPTY_CLOCK, seen_values, rationale, name)
        seen_values = {field: self._baseline.seen_value(effect.entity, field) for field in effect.fields}
        return QueuedProposal(
            identifier,
            tool,
            args,
            self._baseline.seen_clock(effect.entity),
            seen_values,
            rationale,
            name,
        )

    # -- the end of the run ---------------------------------------------------------------------------

    def change_sets(self, stamp_ms: int = 0) -> list[EntityWrite]:
        """Return the writes of the run's change sets; none if nothing was queued.

        `stamp_ms` is when their commit is made. It counts if the clock was set back during the run. Otherwise
        the items would expire unseen once the clock is right again, and would not be proposed again.
        """
        size = self._limits.items_per_set
        parts = [self._queued[start : start + size] for start in range(0, len(self._queued), size)]
        ends_ms = max(self._run.now_ms, stamp_ms) + self._limits.lifetime_ms
        return [self._change_set(number, part, ends_ms) for number, part in enumerate(parts)]

    def _change_set(self, number: int, part: list[QueuedProposal], ends_ms: int) -> EntityWrite:
        run = self._run
        fields: dict[str, Value] = {
            "agent_id": run.agent,
            "task_id": run.task,
            "thread_id": run.run_key,
            "run_key": run.run_key,
            "items": [_as_value(queued) for queued in part],
            "expires_at": ends_ms,
        }
        return EntityWrite(change_set_id(run.run_key, number, run.task), "change_set", fields)


def _is_twin(queued: QueuedProposal, tool: str, args: Arguments) -> bool:
    """Report whether two proposals would create items whose titles look the same to people."""
    creating = [name for name in (queued.tool, tool) if TOOLS[name].writes is WriteTarget.NEW_ITEM]
    return len(creating) == 2 and comparison_key(queued.args["title"]) == comparison_key(args["title"])


def _reason_not_to_repeat(item: Item, now_ms: int) -> str | None:
    """Return why something that was proposed before is not proposed again; None if it may be."""
    if item.status is DecisionStatus.REJECTED:
        reasons = [decision.reason for decision in item.decisions if decision.reason]
        reason = f' (reason: "{reasons[-1][:200]}")' if reasons else ""
        return f"was rejected by the user{reason}"
    if item.status is DecisionStatus.DEFERRED:
        return "was deferred by the user"
    # Confirmed and retracted are not listed: such a proposal may be made again, as the next item of the
    # chain.
    if item.status is DecisionStatus.PENDING:
        if not item.decisions and item.expires_ms <= now_ms:
            return "was proposed before and expired without a decision"
        return _WAITS
    return None


def _as_value(queued: QueuedProposal) -> dict[str, Value]:
    """Return an item as its change set stores it."""
    base: dict[str, Value] = {"clock": clock_as_value(queued.base), "value": dict(queued.seen_values)}
    # What the id follows from is shown only if verdicts need something: the fold reads that from there.
    shown = {} if queued.name.requirement is None else fields_of_name(queued.name)
    return {
        "item_id": queued.item_id,
        "fingerprint": queued.name.fingerprint,
        "tool": queued.tool,
        "args": queued.args,
        "base": base,
        "rationale": queued.rationale or "",
        **shown,
    }
