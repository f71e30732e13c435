"""The one entry for an undo: it tells whether a change is a person's edit or a verdict on a proposal.

Never writes back what a confirmation replaced: the verdict is taken back, and what it covered shows again by
itself.
"""

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from daemon.agents.asks import ask_decisions
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.passkey_proof import PasskeyProof
from daemon.agents.deciding.verdict_requests import VerdictRequest, apply_verdict
from daemon.agents.person.shown_verdicts import is_ask
from daemon.journal.references.names import shown_name
from daemon.journal.undo.changes import TAKEN_BACK_BY, VerdictOn, read_change
from daemon.journal.undo.undo import ChangePart, UndoOfEdits
from daemon.journal.undo.undo_answer import SHOWN_MAX, LeftChange, Undone
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.fold.entity_state import DELETED
from store.fold.item import Decision
from store.fold.verdicts import deciding_opinions
from store.sentence import sentence, sentence_fields
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import id_to_text


class UndoResult(Undone, frozen=True, kw_only=True):
    """What an undo did; if the change was verdicts, what became of each.

    Verdicts that were taken back are decided on again: of them, `undo` names nothing.
    """

    verdicts: tuple[DecisionResult, ...] = ()


class VerdictRules(Struct, frozen=True):
    """How verdicts are taken back: through which face, and with which proof if it can ask for a passkey."""

    via: str
    reason_min: int
    proof: PasskeyProof | None = None


class UndoOfChange:
    """The undo of a change: an edit by writing back what it replaced, a verdict by another one.

    It is done part by part, each in a transaction, and nothing before all that the name stands for was looked
    at. Raises Refused for what cannot be undone.
    """

    def __init__(self, snapshot: Snapshot, name: str, rules: VerdictRules) -> None:
        self._change = read_change(snapshot, name)
        if any(on.verdict not in TAKEN_BACK_BY for on in self._change.verdicts):
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("verdict-was-taken-back", "this change took a verdict back"),
                sentence("decide-again", "decide again: `placet confirm ITEM` or `placet reject ITEM`"),
            )
        self._rules = rules
        self._edits = UndoOfEdits(self._change)
        self._verdicts: list[DecisionResult] = []
        self._left: list[LeftChange] = []
        self.parts: list[ChangePart] = self._edits.parts or [[]]

    def undo_part(self, tx: Transaction, part: ChangePart) -> None:
        """Undo a part of the edits; with the last one, take the verdicts back."""
        self._edits.undo_part(tx, part)
        if part is not self.parts[-1]:
            return
        if part or not self._change.verdicts:
            self._edits.require_effect()
        for on in self._change.verdicts:
            later = _later_decision(tx, on)
            if later is None:
                self._verdicts.append(_take_back(tx, on, self._rules))
            else:
                self._left.append(_left_verdict(tx, on, later))

    def answer(self) -> UndoResult:
        """Say what was undone, and what was left."""
        undone = self._edits.answer()
        fields = {field: getattr(undone, field) for field in undone.__struct_fields__}
        fields["already"] = undone.already and not self._change.verdicts
        fields["left"] = [*undone.left, *self._left][:SHOWN_MAX]
        fields["left_count"] = undone.left_count + len(self._left)
        return UndoResult(**fields, verdicts=tuple(self._verdicts))


async def undo_change(
    store: StoreThreads, name: Callable[[Snapshot], str], rules: VerdictRules
) -> UndoResult:
    """Undo the change that has a name; other writes get their turn between its parts. Raises Refused."""
    work = await store.read(lambda snapshot: UndoOfChange(snapshot, name(snapshot), rules))
    for count, part in enumerate(work.parts):
        try:
            await store.write(partial(work.undo_part, part=part))
        except StoreError as fault:
            if not count:
                raise
            raise _undone_by_half(count, len(work.parts), fault) from fault
    return work.answer()


def _undone_by_half(count: int, total: int, fault: StoreError) -> Refused:
    return Refused(
        RefusalCode.PARTLY,
        sentence(
            "undone-by-half",
            "{done} of {total} parts of the change are undone, then: {fault}",
            done=count,
            total=total,
            fault=fault.sentence,
        ),
        sentence("undo-again", "{hint}; undo it again: it goes on from there", hint=fault.hint_sentence),
    )


def _later_decision(tx: Transaction, on: VerdictOn) -> Decision | None:
    """Return the newest other decision that the status of an item rests on, None if a verdict still decides.

    What took this verdict back already is no other one: asked again, the item says so itself.
    """
    decisions = tx.decisions_on(on.item)
    deciding = {opinion.decision for opinion in deciding_opinions(decision.opinion for decision in decisions)}
    others = [
        decision
        for decision in decisions
        if decision.id in deciding
        and decision.id != on.decision
        and decision.verdict.value != TAKEN_BACK_BY[on.verdict][0]
    ]
    return max(others, key=lambda decision: (decision.stamp_ms, decision.n, decision.id), default=None)


def _left_verdict(tx: Transaction, on: VerdictOn, later: Decision) -> LeftChange:
    names, entity = NameLookup(tx), tx.entity(on.item)
    item = None if entity is not None else tx.item(on.item)
    shown = tx.entity(item.task) if item is not None and item.task is not None else entity
    device = names.device_name(later.device) or later.device.hex()[:8]
    why = sentence("decided-since", "it was decided on since, on {device}", device=device)
    return LeftChange(
        entity=id_to_text(on.item),
        kind="decision",
        title="" if shown is None else shown_name(shown),
        field=DELETED,
        **sentence_fields("why", why),
    )


def _take_back(tx: Transaction, on: VerdictOn, rules: VerdictRules) -> DecisionResult:
    verdict, proof = TAKEN_BACK_BY[on.verdict], rules.proof
    if is_ask(tx, on.item):
        return ask_decisions.decide(tx, on.item, verdict, reason=None, via=rules.via, proof=proof)
    request = VerdictRequest(verdict=verdict, via=rules.via, reason_min=rules.reason_min, proof=proof)
    return apply_verdict(tx, on.item, request)
