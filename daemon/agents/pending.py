"""What waits for a person: open, deferred and disputed proposals, each with what it would change.

Never writes, and never shows a model's words as the summary.
"""

from typing import Any

from msgspec import Struct

from daemon.agents import comparing, judging, targets, wording
from daemon.agents.effects import args_hash, change_set_id
from daemon.agents.judging import Case, Shown
from daemon.agents.queueing import SETS_MAX
from daemon.journal.provenance import iso
from store.item import Occurrence
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text


class PendingItem(Struct, frozen=True, kw_only=True):
    """One line: what is proposed, why, over which value, and how it stands.

    `args` are those that would run: the person's own (`edited`) where an edited confirmation is in dispute.
    Sent back with a decision, `args_hash` makes sure that nothing else runs. `subject` is what the checklist
    item or label is called. `base`, `current` and `proposed` are values, or maps from field to value.
    """

    item_id: str
    set_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: dict[str, Any]
    args_hash: str
    edited: bool
    subject: str | None
    summary: str
    rationale: str | None
    base: Any
    current: Any
    proposed: Any
    status: str
    disputed: bool
    stale: bool
    created_at: str
    expires_at: str


_WAITING = frozenset({Shown.PENDING, Shown.DEFERRED})


def pending(
    snapshot: Snapshot, now_ms: int, *, task: EntityId | None = None, closed: bool = False
) -> list[PendingItem]:
    """List the proposals that wait, in the order in which they were made.

    What has expired or become obsolete waits no more; `closed` lists it too, with all that is decided.
    """
    items = snapshot.items(task) if closed else snapshot.open_items(now_ms, task)
    found = (judging.case(snapshot, item) for item in items)
    shown = [(case, judging.shown(snapshot, case, now_ms)) for case in found if case is not None]
    waiting = [(case, status) for case, status in shown if closed or _waits(case, status)]
    waiting.sort(key=lambda one: _made(one[0]))
    return [_line(snapshot, case, status) for case, status in waiting]


def _waits(case: Case, status: Shown) -> bool:
    return status in _WAITING or case.item.disputed


def _made(case: Case) -> tuple[int, str, int, int]:
    """Return the key by which items are in the order of their making, the same on every device."""
    return min((one.created_ms, one.run_key, _number(one), one.position) for one in case.item.occurrences)


def _number(occurrence: Occurrence) -> int:
    """Return which of its run's sets an occurrence is in: the sets of one run have one time."""
    numbers = range(SETS_MAX)
    sets = [change_set_id(occurrence.run_key, number, occurrence.task) for number in numbers]
    return sets.index(occurrence.change_set) if occurrence.change_set in sets else SETS_MAX


def _line(snapshot: Snapshot, case: Case, status: Shown) -> PendingItem:
    item = case.item
    newest = max(item.occurrences, key=lambda one: (one.created_ms, one.change_set))
    compared = comparing.compared(case)
    subject = targets.name(snapshot, item.tool, case.args)
    return PendingItem(
        item_id=text(item.id),
        set_id=text(newest.change_set),
        task_id=text(item.task),
        task_title="" if case.task is None else case.task.text("title"),
        agent_id=text(newest.agent),
        tool=item.tool,
        args=case.args,
        args_hash=args_hash(item.tool, case.args).hex(),
        edited=case.is_edited,
        subject=subject,
        summary=wording.summary(item.tool, case.args, subject),
        rationale=newest.rationale or None,
        base=compared.base,
        current=compared.current,
        proposed=compared.proposed,
        status=status.value,
        disputed=item.disputed,
        stale=comparing.is_stale(snapshot, case),
        created_at=iso(min(one.created_ms for one in item.occurrences)),
        expires_at=iso(item.expires_ms),
    )
