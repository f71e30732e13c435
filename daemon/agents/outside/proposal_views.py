"""What became of the changes that an agent of another maker proposed, as that agent reads it.

Never shows an agent what another one proposed.
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from daemon.agents.asks.ask_views import POLL_AFTER_MS
from daemon.agents.deciding.item_state import displayed_status, edited_arguments_of, item_state_of
from daemon.agents.proposing import reach
from daemon.agents.proposing.change_set_builder import CHANGE_SETS_MAX
from daemon.agents.proposing.sight import Sight
from daemon.agents.tools import summaries
from daemon.agents.tools.effects import args_hash, change_set_id
from daemon.journal.views.lookup import json_value
from daemon.timestamps import iso_utc, stamp_utc
from store.fold.entity import Entity
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.ids import ID_BYTES, EntityId, id_from_text, id_to_text

_OPEN: Final = frozenset({"pending", "deferred"})


class ProposedItem(Struct, frozen=True, kw_only=True):
    """What became of one change, or of one element of a change that is a batch.

    `change` is the number of the change in the request, from 1. `state` is pending, deferred, confirmed,
    rejected, retracted, expired or obsolete; skipped, refused or denied for what does not wait. `args` are
    the person's if `edited`, a text if compaction dropped them, and `args_hash` is a hash of them. `reason`
    is the person's, or why nothing waits.
    """

    change: int
    item: str | None
    tool: str | None
    state: str
    summary: str
    reason: str | None = None
    args: dict[str, Any] | str | None = None
    args_hash: str | None = None
    edited: bool = False
    disputed: bool = False


class ProposedSet(Struct, frozen=True, kw_only=True):
    """The changes of one request. `state` is pending while one of them waits, else decided, or refused.

    `task` is null if they are new tasks beside no task. Ask again after `poll_after_ms` milliseconds, null if
    nothing waits. `changed_at` is when somebody last decided on one of them, else `made_at`. Times are ISO
    8601 in UTC.
    """

    set: str
    task: str | None
    state: str
    items: list[ProposedItem]
    expires_at: str | None
    poll_after_ms: int | None
    made_at: str
    changed_at: str


def set_ids(run_key: str, task: EntityId) -> list[EntityId]:
    """Return the ids that the change sets of a request can have."""
    return [change_set_id(run_key, number, task) for number in range(CHANGE_SETS_MAX)]


def proposed_set(
    snapshot: Snapshot, agent: EntityId, run_key: str, task: EntityId, now_ms: int
) -> ProposedSet:
    """Return the changes of a request that was stored, as its agent may know of them."""
    sets = [stored for name in set_ids(run_key, task) if (stored := snapshot.entity(name)) is not None]
    items = list(_items(snapshot, Sight(snapshot, agent), sets[0], now_ms))
    born = sets[0].created
    made_ms = 0 if born is None else born.ms
    waits = any(item.state in _OPEN or item.disputed for item in items)
    proposals = [snapshot.item(id_from_text(item.item)) for item in items if item.item is not None]
    expires_ms = [stored.expires_ms for stored in proposals if stored is not None and not stored.decisions]
    return ProposedSet(
        set=id_to_text(sets[0].id),
        task=None if sets[0].value("agent_id") == task else id_to_text(task),
        state="pending" if waits else "decided" if proposals else "refused",
        items=items,
        expires_at=iso_utc(max(expires_ms)) if waits and expires_ms else None,
        poll_after_ms=POLL_AFTER_MS if waits else None,
        made_at=stamp_utc(made_ms, now_ms),
        changed_at=stamp_utc(max([made_ms, *_decided_ms(snapshot, items)]), now_ms),
    )


def _decided_ms(snapshot: Snapshot, items: list[ProposedItem]) -> list[int]:
    names = [id_from_text(item.item) for item in items if item.item is not None]
    return [decision.stamp_ms for name in names for decision in snapshot.decisions_on(name)]


def set_of_agent(snapshot: Snapshot, change_set: Entity, agent: EntityId, now_ms: int) -> ProposedSet | None:
    """Return the changes of a request by its first change set; None if that is not this agent's."""
    task, run_key = change_set.value("task_id"), change_set.text("run_key")
    if not isinstance(task, bytes) or not _is_id(task) or change_set.value("agent_id") != agent:
        return None
    if set_ids(run_key, EntityId(task))[0] != change_set.id:
        return None
    return proposed_set(snapshot, agent, run_key, EntityId(task), now_ms)


def _items(snapshot: Snapshot, sight: Sight, first: Entity, now_ms: int) -> Iterator[ProposedItem]:
    answers = first.value("answers")
    for number, answer in enumerate(_list(answers), 1):
        if not isinstance(answer, dict):
            continue
        names = [EntityId(name) for name in _list(answer.get("items")) if _is_id(name)]
        tool = answer.get("tool")
        for name in names:
            item = snapshot.item(name)
            if item is not None:
                yield _item(snapshot, sight, number, item, now_ms)
        text = str(answer.get("text") or "")
        if not names:
            yield ProposedItem(
                change=number,
                item=None,
                tool=tool if isinstance(tool, str) else None,
                state=str(answer.get("outcome") or "refused"),
                summary="",
                reason=text or None,
            )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_id(value: Any) -> bool:
    return isinstance(value, bytes) and len(value) == ID_BYTES


def _item(snapshot: Snapshot, sight: Sight, number: int, item: Item, now_ms: int) -> ProposedItem:
    state = item_state_of(snapshot, item)
    if state is None:
        return ProposedItem(
            change=number, item=id_to_text(item.id), tool=item.tool, state=item.status.value, summary=""
        )
    args = state.args if item.status is DecisionStatus.CONFIRMED else state.proposed
    return ProposedItem(
        change=number,
        item=id_to_text(item.id),
        tool=state.item.tool,
        state=displayed_status(snapshot, state, now_ms).value,
        summary=summaries.proposal_summary(
            state.item.tool, args, reach.name_in_sight(snapshot, sight, item.task, state.item.tool, args)
        ),
        reason=_persons_reason(item),
        args=json_value(args),
        args_hash=args_hash(state.item.tool, args).hex(),
        edited=edited_arguments_of(item) is not None,
        disputed=item.disputed,
    )


def _persons_reason(item: Item) -> str | None:
    reasons = [decision.reason for decision in item.decisions if decision.by is AuthorKind.USER]
    return next((reason for reason in reversed(reasons) if reason), None)
