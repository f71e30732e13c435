"""What an agent knows from earlier runs: its report, its observations, its proposals, people's decisions.

Never repeats a turn: the messages of earlier runs are kept for audit alone.
"""

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any, NamedTuple

from daemon.agents.context.local_time import to_local
from daemon.agents.proposing.authenticity import AuthenticItem, authentic_item
from daemon.agents.tools import budgets
from daemon.agents.tools.agent_record import Agent, current_report
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.model_interface import DecisionView, ObservationView, ProposalView
from daemon.agents.tools.questions import answer_text
from daemon.agents.tools.table import ASK_QUESTION
from daemon.journal import preferences
from daemon.journal.references.names import shown_name
from store.fold.entity import Entity
from store.fold.item import Decision, Item
from store.fold.verdicts import DecisionStatus, Verdict
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text, id_to_text

OBSERVATION_KIND = "agent_observation"
OBSERVATIONS_READ_MAX = 500
"""How many of an agent's newest observations are read: beyond them, those left out are not counted."""
EXPIRED_VERDICT = "expired"
_REPORT_LISTS = ("learnings", "achieved", "remaining")
_WORDS_CHARS_MAX = 120
_BEGINNING_CHARS_MAX = 80
_SIGNS = {Verdict.CONFIRMED.value: "✓", Verdict.REJECTED.value: "✗", Verdict.UNDONE.value: "✗"}
_UNQUOTED = frozenset({"dueDate", "priority", "status", "languageCode"})
_NOT_SHOWN = frozenset({"reason", "evidenceIds", "confidence"})


# -- the report ---------------------------------------------------------------------------------------


def trimmed_report(snapshot: Snapshot, agent: Agent) -> dict[str, Any] | None:
    """Return the current report, None before the first.

    The lists of a very long one are cut at their ends.
    """
    content = current_report(snapshot, agent)
    return None if content is None else trim_report(content, budgets.REPORT.tokens)


def trim_report(content: dict[str, Any], tokens_max: int) -> dict[str, Any]:
    """Return a report of at most this many tokens, with shorter lists if it is longer."""
    fields = dict(content)
    for name in _REPORT_LISTS:
        while (
            budgets.json_tokens(fields) > tokens_max and isinstance(lines := fields.get(name), list) and lines
        ):
            fields[name] = lines[: len(lines) // 2]
    return fields


# -- observations -------------------------------------------------------------------------------------


class ToldObservations(NamedTuple):
    """What a run is told of its agent's observations, oldest first, and those that it is not told."""

    views: tuple[ObservationView, ...]
    untold: tuple[ObservationView, ...]


def told_observations(snapshot: Snapshot, agent: Agent, zone: tzinfo | None) -> ToldObservations:
    """Return what the agent noted for itself.

    If there is too much, the newest come in full, then the beginnings of older ones, and of the oldest their
    number. What is cut here stays whole in the journal.
    """
    messages = _observation_messages(snapshot, agent)
    every = [_observation_view(snapshot, message, zone) for message in messages]
    views = _views_within_budget(every)
    return ToldObservations(tuple(reversed(views)), tuple(reversed(every[len(views) :])))


def _views_within_budget(views: list[ObservationView]) -> list[ObservationView]:
    """Return the first of the views, which come newest first: those in full, then those cut short."""
    whole = budgets.within_budget(views, budgets.OBSERVATIONS, _observation_tokens)
    if len(whole) < len(views):
        whole = budgets.within_budget(views, budgets.RECENT_OBSERVATIONS, _observation_tokens)
    left = budgets.OBSERVATIONS.tokens - sum(map(_observation_tokens, whole))
    beginnings = [
        ObservationView(budgets.truncate(view.text, _BEGINNING_CHARS_MAX), view.at)
        for view in views[len(whole) :]
    ]
    room = budgets.PartBudget(left, budgets.OBSERVATIONS.members - len(whole))
    fitting = budgets.within_budget(beginnings, room, _observation_tokens) if left > 0 else []
    # Of a part, the first member is kept whatever it weighs: here, what is whole was.
    if fitting and sum(map(_observation_tokens, fitting)) > left:
        fitting = []
    return [*whole, *fitting]


def known_observations(snapshot: Snapshot, agent: Agent) -> set[str]:
    """Return the whole words of what the agent noted and a run is told, at least in part.

    What it is not told any more counts as new if it is noted again, so that it is told again.
    """
    messages = _observation_messages(snapshot, agent)
    views = _views_within_budget([_observation_view(snapshot, message, None) for message in messages])
    return {message.text("text") for message in messages[: len(views)]}


def _observation_messages(snapshot: Snapshot, agent: Agent) -> list[Entity]:
    """Return the messages of the newest observations, the newest first, each text once."""
    newest = snapshot.newest_ids_pointing_at(agent.id, OBSERVATION_KIND, OBSERVATIONS_READ_MAX)
    messages = (message for name in newest if (message := snapshot.entity(name)) is not None)
    # Two devices that both were the agent's home may have noted the same: the newest one is shown for both.
    distinct: dict[str, Entity] = {}
    for message in messages:
        distinct.setdefault(message.text("text"), message)
    return list(distinct.values())


def _observation_tokens(view: ObservationView) -> int:
    return budgets.estimated_tokens(view.text) + 10


def _observation_view(snapshot: Snapshot, message: Entity, zone: tzinfo | None) -> ObservationView:
    made_ms = 0 if message.created is None else snapshot.shown_ms(message.created.ms)
    return ObservationView(message.text("text"), to_local(made_ms, zone))


# -- preferences --------------------------------------------------------------------------------------


def preferences_of(snapshot: Snapshot, task: Entity) -> tuple[str, ...]:
    """Return what the person prefers for a task, oldest first; if there is too much, the newest lines."""
    lines = preferences.lines_for_task(snapshot, task)
    newest = budgets.within_budget(
        reversed(lines), budgets.PREFERENCES, lambda line: budgets.estimated_tokens(line) + 4
    )
    return tuple(reversed(newest))


# -- decisions ----------------------------------------------------------------------------------------


class _Outcome(NamedTuple):
    """One decision, or an expiry without one, with its position in time.

    `answer` are the arguments of `answer_question`, if the item is an answer to a question.
    """

    place: tuple[int, int]
    item: Item
    decision: Decision | None
    answer: Arguments | None = None


def decision_views(snapshot: Snapshot, task: EntityId, now_ms: int) -> tuple[DecisionView, ...]:
    """Return people's last decisions on the task's proposals, and expiries, oldest first."""
    settled = _authentic(snapshot, snapshot.settled_items(task, now_ms, budgets.DECISIONS.members))
    outcomes = sorted(
        (outcome for authentic in settled for outcome in _outcomes(authentic)),
        key=lambda outcome: outcome.place,
    )
    views = (_decision_view(snapshot, outcome) for outcome in reversed(outcomes))
    within_budgets = budgets.within_budget(
        views, budgets.DECISIONS, lambda outcome: budgets.estimated_tokens(outcome.prompt_line) - 7
    )
    return tuple(reversed(within_budgets))


def _authentic(snapshot: Snapshot, items: Iterable[Item]) -> Iterator[AuthenticItem]:
    """Leave out items that no agent of this task ever proposed, but that another device wrote by hand."""
    for item in items:
        authentic = authentic_item(snapshot, item)
        if authentic is not None:
            yield authentic


def _outcomes(authentic: AuthenticItem) -> list[_Outcome]:
    """Return what became of an item; of the answers to a question, what became of the question once."""
    item, _, answer = authentic
    if not item.decisions:
        is_first = answer is None or answer["number"] == 1
        return [_Outcome((item.expires_ms, 0), item, None, answer)] if is_first else []
    return [
        _Outcome((decision.stamp_ms, decision.n), item, decision, answer)
        for decision in item.decisions
        if decision.by is AuthorKind.USER and decision.companion_of is None
    ]


def _decision_on_question(outcome: _Outcome, answer: Arguments) -> DecisionView:
    """Return what became of a question: the answer that the person chose, or none."""
    call_text, decision = f'{ASK_QUESTION}("{_one_line(answer["question"])}")', outcome.decision
    verdict = EXPIRED_VERDICT if decision is None else decision.verdict.value
    reason = "" if decision is None else decision.reason
    words = "no decision" if decision is None else verdict
    if decision is not None and decision.verdict is Verdict.CONFIRMED:
        words = f'answered "{_one_line(answer_text(answer))}"'
    because = f' (reason: "{_one_line(reason)}")' if reason else ""
    line = f"- {_SIGNS.get(verdict, '·')} {call_text} — {words}{because}"
    return DecisionView(ASK_QUESTION, {"question": answer["question"]}, verdict, reason, line)


def _decision_view(snapshot: Snapshot, outcome: _Outcome) -> DecisionView:
    item, decision = outcome.item, outcome.decision
    if outcome.answer is not None:
        return _decision_on_question(outcome, outcome.answer)
    if decision is None:
        line = f"- · {_call_text(snapshot, item.tool, item.args)} — no decision"
        return DecisionView(item.tool, item.args, EXPIRED_VERDICT, "", line)
    called = _call_text(snapshot, item.tool, decision.edited_args or item.args)
    verdict, edited = decision.verdict.value, ""
    if decision.edited_args is not None:
        edited = f" (edited by the user; proposed: {_arguments(snapshot, item.args)})"
    reason = f' (reason: "{_one_line(decision.reason)}")' if decision.reason else ""
    line = f"- {_SIGNS.get(verdict, '·')} {called} — {verdict}{edited}{reason}"
    named_id = item.args.get("id")
    name = "" if named_id is None else _name_of(snapshot, str(named_id))
    subject = "" if name == named_id else _one_line(name)
    return DecisionView(item.tool, item.args, verdict, decision.reason, line, subject)


def proposal_views(snapshot: Snapshot, agent: Agent, now_ms: int) -> tuple[ProposalView, ...]:
    """Return the agent's undecided proposals, oldest first: those that it may retract."""
    waiting = [
        _proposal_view(snapshot, authentic)
        for authentic in _authentic(snapshot, snapshot.open_items(now_ms, agent.task))
        if authentic.item.status is DecisionStatus.PENDING
        and any(occurrence.agent == agent.id for occurrence in authentic.item.occurrences)
        and (authentic.answer is None or authentic.answer["number"] == 1)
    ]
    return tuple(
        budgets.within_budget(
            waiting, budgets.PROPOSALS, lambda view: budgets.estimated_tokens(view.prompt_line) + 12
        )
    )


def _proposal_view(snapshot: Snapshot, authentic: AuthenticItem) -> ProposalView:
    item, args, answer = authentic
    identifier = id_to_text(item.id)
    if answer is None:
        return ProposalView(identifier, item.tool, args, _call_text(snapshot, item.tool, args))
    args = {"question": answer["question"]}
    answers = ", ".join(f'"{_one_line(offered["text"])}"' for offered in answer["answers"])
    line = f'{ASK_QUESTION}("{_one_line(answer["question"])}": {answers})'
    return ProposalView(identifier, ASK_QUESTION, args, line)


def _call_text(snapshot: Snapshot, tool: str, args: dict[str, Any]) -> str:
    """Return a call as decision lines show it, such as `update_task_estimate(120 min)`."""
    return f"{tool}({_arguments(snapshot, args)})"


def _arguments(snapshot: Snapshot, args: dict[str, Value]) -> str:
    parts = [_argument(snapshot, name, value) for name, value in args.items() if name not in _NOT_SHOWN]
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
        return f'"{_one_line(_name_of(snapshot, str(value)))}"'
    return _one_line(str(value)) if name in _UNQUOTED else f'"{_one_line(str(value))}"'


def _name_of(snapshot: Snapshot, identifier: str) -> str:
    """Return the name of an item or a label; its id if it is not known here."""
    try:
        entity = snapshot.entity(id_from_text(identifier))
    except ValueError:
        entity = None
    return identifier if entity is None else shown_name(entity) or identifier


def _one_line(text: str) -> str:
    """Return words on one line of bounded length."""
    return budgets.truncate(" ".join(text.split()), _WORDS_CHARS_MAX)
