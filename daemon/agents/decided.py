"""The history of decisions: who said what to which proposal, when, on which device, and what became of it.

Never shows a model's words: what was proposed is told by tool and arguments.
"""

from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from daemon.agents import judging, targets, wording
from daemon.agents.tools import Arguments
from daemon.journal import refs
from daemon.journal.provenance import AUTHORS, iso
from daemon.journal.show import Shown, plain
from store.decisions import Made, decisions_before
from store.item import Decision, Item
from store.snapshot import Snapshot
from store.verdicts import deciding
from syncproto.ids import EntityId, text

LISTED_MAX = 500


class Decided(Struct, frozen=True, kw_only=True):
    """One decision. `status` and `disputed` are the item's as they are now.

    `counts` says whether this decision still makes that status: no later one has seen it, and it is a
    person's, or no person has decided. `seq` is where an earlier page goes on. `args` are the agent's,
    `edited_args` the person's in their place.
    """

    seq: int
    decision_id: str
    item_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: Any
    subject: str | None
    summary: str
    verdict: str
    by: str
    device: str
    device_name: str
    at: str
    reason: str | None
    via: str | None
    edited_args: Any
    counts: bool
    status: str
    disputed: bool


def decided(
    snapshot: Snapshot, now_ms: int, *, task: str | None = None, before: int | None = None, limit: int
) -> list[Decided]:
    """List about `limit` decisions, newest first, those on the items of the task that `task` names, or all.

    They are in the order in which they came here; `before` is the `seq` of the last one of the page before.
    Raises Refused as a reference does.
    """
    about = None if task is None else refs.task(snapshot, task, removed=True).id
    made = decisions_before(snapshot, task=about, before=before, limit=max(1, min(limit, LISTED_MAX)))
    told = _Told(snapshot, now_ms)
    return [told.line(one) for one in made]


class _Read(NamedTuple):
    """An item, and what is told of it beside each of its decisions."""

    item: Item
    task_title: str
    args: Arguments
    subject: str | None
    decisions: dict[EntityId, Decision]
    standing: frozenset[EntityId]
    status: str


class _Told:
    """Turns decisions into lines; reads each item once."""

    def __init__(self, snapshot: Snapshot, now_ms: int) -> None:
        self._snapshot = snapshot
        self._now_ms = now_ms
        self._shown = Shown(snapshot)
        self._item = cache(self._read)

    def line(self, made: Made) -> Decided:
        """Tell of one decision."""
        read = self._item(made.item)
        item, one = read.item, read.decisions[made.decision]
        return Decided(
            seq=made.seq,
            decision_id=text(one.id),
            item_id=text(item.id),
            task_id=text(item.task),
            task_title=read.task_title,
            agent_id=text(item.occurrences[0].agent),
            tool=item.tool,
            args=plain(read.args),
            subject=read.subject,
            summary=wording.summary(item.tool, read.args, read.subject),
            verdict=one.verdict.value,
            by=AUTHORS[one.by],
            device=one.device.hex(),
            device_name=self._shown.device_names.get(one.device, ""),
            at=iso(one.stamp_ms),
            reason=one.reason or None,
            via=one.via or None,
            edited_args=plain(one.edited_args),
            counts=one.id in read.standing,
            status=read.status,
            disputed=item.disputed,
        )

    def _read(self, name: EntityId) -> _Read:
        held = self._snapshot.item(name)
        assert held is not None
        case = judging.case(self._snapshot, held)
        item, args = (held, held.args) if case is None else (case.item, case.proposed)
        task = self._snapshot.entity(item.task)
        return _Read(
            item,
            "" if task is None else task.text("title"),
            args,
            None if case is None else targets.name(self._snapshot, item.tool, args),
            {one.id: one for one in held.decisions},
            frozenset(one.decision for one in deciding(one.opinion for one in held.decisions)),
            held.status.value if case is None else judging.shown(self._snapshot, case, self._now_ms).value,
        )
