"""The history of what was decided, on proposals and on asks, in one list.

Never shows a model's words as what was decided on: an ask is shown by its action and its arguments.
"""

from functools import cache
from typing import Any

from daemon.agents.asks.ask_outcome import outcome_of
from daemon.agents.asks.ask_record import Ask, genuine_use, grant_of_use, read_ask
from daemon.agents.asks.ask_views import state_of
from daemon.agents.asks.standing_permission import rule_behind
from daemon.agents.deciding.decision_history import DecisionRecord, list_decisions
from daemon.agents.running.note_evidence import with_note_evidence
from daemon.journal.fields.provenance import AUTHOR_NAMES
from daemon.journal.views.lookup import NameLookup, json_value
from daemon.timestamps import stamp_utc
from store.fold.verdicts import deciding_opinions
from store.queries.decisions import DecisionEntry
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text

_ARGS_BYTES_MAX = 4096
"""Arguments are shown with each decision on an ask, of which there may be many: longer ones are left out."""


def list_decided(
    snapshot: Snapshot, now_ms: int, *, task: str | None = None, before: int | None = None, limit: int
) -> list[DecisionRecord]:
    """List about `limit` decisions, newest first: on the items of a task, or on all items and asks.

    `before` is the `seq` of the last one of the previous page. Raises Refused if the reference names no task.
    """
    presenter = _AskDecisionPresenter(snapshot, now_ms)
    records = list_decisions(
        snapshot, now_ms, task=task, before=before, limit=limit, present_other=presenter.record
    )
    return with_note_evidence(snapshot, records)


def list_decided_on_ask(snapshot: Snapshot, now_ms: int, ask: EntityId) -> list[DecisionRecord]:
    """List the decisions on one ask, in the order in which they came here; `seq` is their place in it."""
    presenter = _AskDecisionPresenter(snapshot, now_ms)
    entries = [
        DecisionEntry(number, ask, decision.id)
        for number, decision in enumerate(snapshot.decisions_on(ask), 1)
    ]
    return [record for entry in entries if (record := presenter.record(entry)) is not None]


class _AskDecisionPresenter:
    """Turns decisions on asks into records; reads each ask once."""

    def __init__(self, snapshot: Snapshot, now_ms: int) -> None:
        self._snapshot = snapshot
        self._now_ms = now_ms
        self._names = NameLookup(snapshot)
        self._ask = cache(lambda name: read_ask(snapshot, name))
        self._decisions = cache(snapshot.decisions_on)
        self._deciding_of: dict[EntityId, frozenset[EntityId]] = {}

    def record(self, entry: DecisionEntry) -> DecisionRecord | None:
        """Return the record of one decision; None if it is on nothing that an agent has asked."""
        ask = self._ask(entry.item)
        if ask is None:
            return None
        decisions = self._decisions(ask.id)
        decision = next(candidate for candidate in decisions if candidate.id == entry.decision)
        rule = rule_behind(self._snapshot, ask, decision)
        args = _bounded_args(ask)
        lacks = None if decision.counts or decision.rule is not None or ask.presence is None else ask.presence
        return DecisionRecord(
            seq=entry.seq,
            decision_id=id_to_text(decision.id),
            item_id=id_to_text(ask.id),
            task_id="",
            task_title="",
            agent_id=id_to_text(ask.agent),
            tool=ask.name,
            args=json_value(args),
            subject=None,
            summary=ask.name,
            verdict=decision.verdict.value,
            by=AUTHOR_NAMES[decision.by],
            device=decision.device.hex(),
            device_name=self._names.device_name(decision.device),
            at=stamp_utc(decision.stamp_ms, self._now_ms),
            reason=decision.reason or None,
            via=decision.via or None,
            edited_args=json_value(decision.edited_args),
            counts=decision.id in self._ids_that_decide(ask),
            status=state_of(self._snapshot, ask, self._now_ms).value,
            disputed=self._snapshot.item_status(ask.id).disputed,
            without_effect=False,
            lacks=None if lacks is None else lacks.value,
            is_ask=True,
            rule=None if rule is None else id_to_text(rule.id),
        )

    def _ids_that_decide(self, ask: Ask) -> frozenset[EntityId]:
        """Return the decisions that make the state of an ask; a rule's only if it permits, or was used."""
        if ask.id not in self._deciding_of:
            decisions = self._decisions(ask.id)
            outcome, use = outcome_of(self._snapshot, ask, decisions), genuine_use(self._snapshot, ask)
            grants = (outcome.grant, None if use is None else grant_of_use(ask, use, decisions))
            opinions = deciding_opinions(decision.opinion for decision in decisions)
            by_people = {opinion.decision for opinion in opinions if opinion.by is not AuthorKind.SYSTEM}
            granted = {grant.decision.id for grant in grants if grant is not None}
            self._deciding_of[ask.id] = frozenset(by_people | granted)
        return self._deciding_of[ask.id]


def _bounded_args(ask: Ask) -> dict[str, Any]:
    return ask.args if len(codec.encode(ask.args)) <= _ARGS_BYTES_MAX else {}
