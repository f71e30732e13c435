"""An agent in words, for its template: its state, its report, its runs and what it did last.

Never shows a model's words as Placet's own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, cast

import msgspec

from daemon.agents.person.activity import AgentMessage
from daemon.agents.person.agent_overview import AgentDetails, RunSummary
from daemon.agents.person.token_use import RunTokens
from daemon.web.decide.agent_line import STATE_TONES
from daemon.web.decide.argument_words import argument_lines
from daemon.words import terms
from daemon.words.activity import activity_kind, asked_words, kind_words, message_parts, woken_words
from daemon.words.agents import (
    recurrence_words,
    report_age_words,
    report_fields,
    report_list,
    report_list_words,
)
from daemon.words.dates import day_words, full_time_words, relative_time
from daemon.words.run_sentences import confirmation_words, run_words
from daemon.words.sentences import answer_words
from daemon.words.terminal_text import truncate
from daemon.words.tool_names import tool_words
from daemon.words.translation import _, ngettext

_MICRO = 1_000_000
CostOf = Callable[[RunTokens], int | None]
"""Says what a run cost, in millionths of the currency; None if its model has no price."""
_REPORT_LINES = ("tldr", "goal")
_DAYS_SHOWN = 14
_TITLE_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class LogRow:
    """A message of an agent, or a call with its `answer`: its kind, its parts, and what it touched.

    `touched` are pairs of an address and words. `tone` colours what became of a call. `arguments` are pairs
    of a name and a value.
    """

    kind: str
    parts: list[str]
    touched: list[tuple[str, str]]
    answer: str = ""
    tone: str = ""
    arguments: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A run in a sentence, with when and why it began, and its messages; or what a person did, without."""

    id: str
    sentence: str
    facts: list[str]
    rows: list[LogRow]


@dataclass(frozen=True, slots=True)
class ReportNotes:
    """What is said of a report beside its words: its age, what it rests on, and its checklist's progress."""

    age: str
    doubt: str
    confidence: str
    done: int
    total: int
    progress: str


@dataclass(frozen=True, slots=True)
class AgentPage:
    """One agent. `facts` are pairs of a name and what is true; `report` is its paragraphs, then its lists.

    `tokens` are pairs of a day and what the model of its runs took then, the newest first.
    """

    id: str
    task_id: str
    task_title: str
    name: str
    state: str
    tone: str
    facts: list[tuple[str, str]]
    report: list[str]
    report_lists: list[tuple[str, list[str]]]
    report_notes: ReportNotes
    runs: list[tuple[str, str]]
    log: list[LogEntry]
    tokens: list[tuple[str, str]]
    home: str
    waiting: int
    is_active: bool
    is_dormant: bool


def agent_page(
    details: AgentDetails,
    messages: list[AgentMessage],
    tokens: list[RunTokens],
    now_s: float,
    cost_of: CostOf = lambda _run: None,
) -> AgentPage:
    """Return an agent in words; the newest run and message first."""
    agent: Any = msgspec.to_builtins(details)
    report = report_fields(details.report or {})
    lists_by_key = report_list_words()
    return AgentPage(
        id=details.id,
        task_id=details.task_id,
        task_title=details.task_title,
        name=details.name
        or _("The agent of {task}").format(task=truncate(details.task_title, _TITLE_COLUMNS)),
        state=terms.agent_state(details.lifecycle),
        tone=STATE_TONES.get(details.lifecycle, ""),
        facts=_facts(details, agent, now_s),
        report=[str(report[key]) for key in _REPORT_LINES if report.get(key)],
        report_lists=[
            (word, lines) for key, word in lists_by_key.items() if (lines := report_list(report, key))
        ],
        report_notes=_report_notes(agent, report, now_s),
        runs=[_run(run, now_s) for run in details.runs],
        log=_log(messages, details.task_id, now_s),
        tokens=_tokens(tokens, cost_of),
        home=details.home_device_id,
        waiting=details.pending_items,
        is_active=details.lifecycle in ("created", "active"),
        is_dormant=details.lifecycle == "dormant",
    )


def _facts(details: AgentDetails, agent: Any, now_s: float) -> list[tuple[str, str]]:
    wake = full_time_words(details.next_wake_at) if details.next_wake_at else ""
    again = recurrence_words(agent, details.next_wake_at or "")
    kinds = [terms.agent_state(words) for words in (details.kind, details.mode)]
    ran = [relative_time(details.last_wake_at, now_s), *map(_reason, details.runs[:1])]
    facts = [
        (_("Kind"), " · ".join(kinds)),
        (_("Why"), answer_words(agent, "lifecycle_reason") if details.lifecycle_reason else ""),
        (_("Paused until"), full_time_words(details.paused_until) if details.paused_until else ""),
        (
            _("Runs next") if wake else _("Does not run now"),
            " · ".join(filter(None, [wake, again, answer_words(agent, "next_wake_why")])),
        ),
        (_("Ran last"), " · ".join(filter(None, ran)) if details.last_wake_at else ""),
        (_("Works on"), details.home_device_name),
        (_("Model"), details.model),
        (_("Verdicts need"), _presence(details.presence)),
    ]
    return [(name, words) for name, words in facts if words]


def _presence(presence: dict[str, str]) -> str:
    needed = {tool: word for tool, word in presence.items() if word != "any"}
    return ", ".join(
        terms.presence_name(word) if tool == "all" else f"{tool_words(tool)}: {terms.presence_name(word)}"
        for tool, word in needed.items()
    )


def _reason(run: RunSummary) -> str:
    fields: Any = msgspec.to_builtins(run)
    return answer_words(fields, "reason")


def _run(run: RunSummary, now_s: float) -> tuple[str, str]:
    words = [terms.run_status(run.status), _reason(run), run.error or ""]
    return relative_time(run.started_at, now_s), ": ".join(filter(None, words))


def _report_notes(agent: Any, report: dict[str, Any], now_s: float) -> ReportNotes:
    progress, written = report.get("checklistProgress"), report.get("lastUpdated")
    counts = progress if isinstance(progress, dict) else {}
    total, done = (_count(counts.get(key)) for key in ("total", "completed"))
    when = relative_time(written, now_s) if isinstance(written, str) and written else ""
    age = [_("written {when}").format(when=when) if when else "", *report_age_words(agent)]
    words = ngettext("{done} of {count} checklist item done", "{done} of {count} checklist items done", total)
    return ReportNotes(
        age=" · ".join(filter(None, age)),
        doubt=_("It may lack something, or say it wrongly.") if agent["report_confidence"] == "low" else "",
        confidence=_confidence_words(agent["report_confidence"]),
        done=min(done, total),
        total=total,
        progress=words.format(done=min(done, total), count=total) if total else "",
    )


def _confidence_words(confidence: str | None) -> str:
    """Say how far a report can be relied on, and what that rests on; "" if nobody knows."""
    return {
        "high": _("Confidence: high. Its run saw the whole task, and wrote it unasked."),
        "low": _("Confidence: low. It was asked for or corrected, or its run did not see or do everything."),
    }.get(confidence or "", "")


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value < 1 << 31 else 0


def first_whole_run(messages: list[AgentMessage]) -> int:
    """Return where the first run begins that is surely among the messages as a whole; 0 for only one run."""
    first = _run_of(messages[0]) if messages else None
    return next((index for index, message in enumerate(messages) if _run_of(message) != first), 0)


def _run_of(message: AgentMessage) -> tuple[str, bool]:
    """Return what the messages of a run have in common, and what a person did with its proposals has not."""
    return message.thread_id, message.item_id is not None


def _log(messages: list[AgentMessage], task: str, now_s: float) -> list[LogEntry]:
    """Return what an agent did, run by run, and what a person confirmed of it; the newest first."""
    entries: list[LogEntry] = []
    for (_thread, is_persons), group in groupby(messages, key=_run_of):
        together = list(group)
        if is_persons:
            entries += [_confirmation(message, now_s) for message in together if message.kind == "action"]
        else:
            entries.append(_run_entry(together, task, now_s))
    return [entry for entry in entries if entry.sentence or entry.rows][::-1]


def _confirmation(message: AgentMessage, now_s: float) -> LogEntry:
    words = confirmation_words(cast(Any, msgspec.to_builtins(message)))
    return LogEntry(message.id, words, [relative_time(message.at, now_s)], [])


def _run_entry(messages: list[AgentMessage], task: str, now_s: float) -> LogEntry:
    fields = cast(Any, msgspec.to_builtins(messages))
    first, last = messages[0], messages[-1]
    wish = "" if first.kind != "user" else asked_words(fields[0], now_s)
    why = answer_words(fields[0], "trigger") if first.trigger else ""
    facts = [relative_time(last.at, now_s), why]
    sentence = run_words(fields) or wish or _("It began.")
    return LogEntry(first.id, sentence, [fact for fact in facts if fact], _rows(messages, task, now_s))


def _rows(messages: list[AgentMessage], task: str, now_s: float) -> list[LogRow]:
    """Return messages as rows, the oldest first; a call and the answer right after it are one."""
    rows: list[LogRow] = []
    call: AgentMessage | None = None
    for message in messages:
        row = _message(message, task, now_s)
        is_answer = message.kind == "tool_result" and message.item_id is None
        if (
            is_answer
            and call is not None
            and (call.thread_id, call.tool) == (message.thread_id, message.tool)
        ):
            call_row = rows.pop()
            row = replace(
                row,
                kind=call_row.kind,
                parts=call_row.parts,
                arguments=call_row.arguments,
                answer=" ".join(row.parts),
            )
        call = message if message.kind == "action" and message.item_id is None else None
        if row.parts:
            rows.append(row)
        else:
            call = None
    return rows


def _message(message: AgentMessage, task: str, now_s: float) -> LogRow:
    """Return a message with its parts; none if a model only called tools."""
    fields = cast(Any, msgspec.to_builtins(message))
    kind = activity_kind(fields)
    if message.trigger:
        return LogRow("", [woken_words(fields, now_s)], [])
    if message.kind == "user":
        return LogRow("", [asked_words(fields, now_s)], [])
    parts = [] if kind == "said" and not message.text else list(message_parts(fields, now_s))
    touched = []
    if kind == "answered" and message.item_ids:
        count = len(message.item_ids)
        words = ngettext("its proposal", "its {count} proposals", count).format(count=count)
        touched.append((f"/reviews/{task}", words))
    arguments = _arguments(message) if kind == "called" else None
    if arguments is not None:
        parts = [str(message.tool)]
    tone = "doubt" if message.error or message.denied or message.outcome == "dropped" else ""
    return LogRow(
        kind_words(kind), [part for part in parts if part], touched, tone=tone, arguments=arguments or []
    )


def _arguments(message: AgentMessage) -> list[tuple[str, str]] | None:
    """Return the arguments of a call, a line each; None of a report, which is shown by itself, or if cut."""
    if message.tool == "update_report" or not message.tool:
        return None
    try:
        arguments = msgspec.json.decode(message.text)
    except msgspec.DecodeError:
        return None
    return argument_lines(arguments) if isinstance(arguments, dict) else None


def _tokens(runs: list[RunTokens], cost_of: CostOf) -> list[tuple[str, str]]:
    """Return what was sent and received, and what it cost, a day of this machine each, the newest first."""
    days: dict[str, list[RunTokens]] = {}
    for run in runs:
        days.setdefault(day_words(run.at), []).append(run)
    return [(day, _day_of_tokens(taken, cost_of)) for day, taken in list(days.items())[:_DAYS_SHOWN]]


def _day_of_tokens(runs: list[RunTokens], cost_of: CostOf) -> str:
    words = ngettext(
        "{count} run: {sent} tokens sent, {received} received",
        "{count} runs: {sent} tokens sent, {received} received",
        len(runs),
    ).format(count=len(runs), sent=sum(run.sent for run in runs), received=sum(run.received for run in runs))
    costs = [cost for cost in map(cost_of, runs) if cost is not None]
    cost = _("cost {amount} at today's prices").format(amount=f"{sum(costs) / _MICRO:.2f}") if costs else ""
    return " · ".join(filter(None, [words, cost]))
