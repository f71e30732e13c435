"""What an agent knows from earlier runs: its report, what it noted for itself, what people decided.

Never replays a turn: what was said in earlier runs is kept for audit alone.
"""

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any, NamedTuple

from daemon.agents import room
from daemon.agents.genuine import genuine
from daemon.agents.models.interface import DecisionView, ObservationView, ProposalView
from daemon.agents.moments import local
from daemon.agents.records import Agent, report_of
from store.entity import Entity
from store.item import Decision, Item
from store.snapshot import Snapshot
from store.verdicts import Status, Verdict
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId, from_text, text

OBSERVED = "agent_observation"
EXPIRED = "expired"
_REPORT_LISTS = ("learnings", "achieved", "remaining")
_WORDS_CHARS_MAX = 120
_SIGNS = {Verdict.CONFIRMED.value: "✓", Verdict.REJECTED.value: "✗", Verdict.UNDONE.value: "✗"}
_BARE = frozenset({"dueDate", "priority", "status", "languageCode"})
_ASIDE = frozenset({"reason", "evidenceIds", "confidence"})


# -- the report ---------------------------------------------------------------------------------------


def report(snapshot: Snapshot, agent: Agent) -> dict[str, Any] | None:
    """Return the current report, None before the first; of a very long one the ends of its lists go."""
    content = report_of(snapshot, agent)
    return None if content is None else within_room(content, room.REPORT.tokens)


def within_room(content: dict[str, Any], tokens_max: int) -> dict[str, Any]:
    """Return a report of at most so many tokens, its lists shorter where it is longer."""
    kept = dict(content)
    for name in _REPORT_LISTS:
        while room.weight(kept) > tokens_max and isinstance(lines := kept.get(name), list) and lines:
            kept[name] = lines[: len(lines) // 2]
    return kept


# -- observations -------------------------------------------------------------------------------------


def observations(snapshot: Snapshot, agent: Agent, zone: tzinfo | None) -> tuple[ObservationView, ...]:
    """Return what the agent noted for itself, oldest first; of very much, the newest."""
    newest = snapshot.newest_referring(agent.id, OBSERVED, room.OBSERVATIONS.members)
    held = (one for name in newest if (one := snapshot.entity(name)) is not None)
    # Two devices that were home at once may have noted the same: the newest says it for both.
    distinct: dict[str, Entity] = {}
    for one in held:
        distinct.setdefault(one.text("text"), one)
    kept = room.within(distinct.values(), room.OBSERVATIONS, lambda one: room.tokens(one.text("text")) + 10)
    return tuple(_observation(one, zone) for one in reversed(kept))


def _observation(held: Entity, zone: tzinfo | None) -> ObservationView:
    return ObservationView(held.text("text"), local(0 if held.created is None else held.created.ms, zone))


# -- decisions ----------------------------------------------------------------------------------------


class _Told(NamedTuple):
    """One decision, or that there was none in time, with its place among the others."""

    place: tuple[int, int]
    item: Item
    decision: Decision | None


def decisions(snapshot: Snapshot, task: EntityId, now_ms: int) -> tuple[DecisionView, ...]:
    """Return what people decided last on the task's proposals, oldest first; expired ones among them."""
    settled = _genuine(snapshot, snapshot.settled_items(task, now_ms, room.DECISIONS.members))
    told = sorted((one for item in settled for one in _told(item)), key=lambda one: one.place)
    views = (_decision(snapshot, one) for one in reversed(told))
    kept = room.within(views, room.DECISIONS, lambda one: room.tokens(one.line) - 7)
    return tuple(reversed(kept))


def _genuine(snapshot: Snapshot, items: Iterable[Item]) -> Iterator[Item]:
    """Leave out what another device wrote by hand: no agent of this task ever proposed it."""
    for item in items:
        found = genuine(snapshot, item)
        if found is not None:
            yield found.item


def _told(item: Item) -> list[_Told]:
    if not item.decisions:
        return [_Told((item.expires_ms, 0), item, None)]
    by_people = (one for one in item.decisions if one.by is By.USER)
    return [_Told((one.stamp_ms, one.n), item, one) for one in by_people]


def _decision(snapshot: Snapshot, told: _Told) -> DecisionView:
    item, decision = told.item, told.decision
    if decision is None:
        line = f"- · {_called(snapshot, item.tool, item.args)} — no decision"
        return DecisionView(item.tool, item.args, EXPIRED, "", line)
    called = _called(snapshot, item.tool, decision.edited_args or item.args)
    verdict, edited = decision.verdict.value, ""
    if decision.edited_args is not None:
        edited = f" (edited by the user; proposed: {_arguments(snapshot, item.args)})"
    why = f' (reason: "{_words(decision.reason)}")' if decision.reason else ""
    line = f"- {_SIGNS.get(verdict, '·')} {called} — {verdict}{edited}{why}"
    named = item.args.get("id")
    known = "" if named is None else _name_of(snapshot, str(named))
    about = "" if known == named else _words(known)
    return DecisionView(item.tool, item.args, verdict, decision.reason, line, about)


def proposals(snapshot: Snapshot, agent: Agent, now_ms: int) -> tuple[ProposalView, ...]:
    """Return the agent's proposals that wait undecided, oldest first: those that it may take back."""
    waiting = [
        ProposalView(text(one.id), one.tool, one.args, _called(snapshot, one.tool, one.args))
        for one in _genuine(snapshot, snapshot.open_items(now_ms, agent.task))
        if one.status is Status.PENDING and any(made.agent == agent.id for made in one.occurrences)
    ]
    return tuple(room.within(waiting, room.PROPOSALS, lambda one: room.tokens(one.line) + 12))


def _called(snapshot: Snapshot, tool: str, args: dict[str, Any]) -> str:
    """Write a call as the decision history has it: `update_task_estimate(120 min)` (DOMAIN.md §4)."""
    return f"{tool}({_arguments(snapshot, args)})"


def _arguments(snapshot: Snapshot, args: dict[str, Value]) -> str:
    parts = [_argument(snapshot, name, value) for name, value in args.items() if name not in _ASIDE]
    ticked = args.get("isChecked")
    if isinstance(ticked, bool) and (ticked or "id" in args):
        parts.append("checked" if ticked else "not checked")
    return ", ".join(part for part in parts if part)


def _argument(snapshot: Snapshot, name: str, value: Value) -> str:
    if value is None or name == "isChecked":
        return ""
    if name == "isArchived":
        return "archived" if value is True else "not archived"
    if name == "minutes":
        return f"{value!s} min"
    if name == "id":
        return f'"{_words(_name_of(snapshot, str(value)))}"'
    return _words(str(value)) if name in _BARE else f'"{_words(str(value))}"'


def _name_of(snapshot: Snapshot, identifier: str) -> str:
    """Name an item or a label by its words; one that is not held by its id."""
    try:
        held = snapshot.entity(from_text(identifier))
    except ValueError:
        held = None
    return identifier if held is None else held.text("title") or held.text("name") or identifier


def _words(written: str) -> str:
    """Put words into one line that ends."""
    return room.shortened(" ".join(written.split()), _WORDS_CHARS_MAX)
