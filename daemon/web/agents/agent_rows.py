"""An agent in words, for its template: its state, its report, its runs and what it did last.

Never shows a model's words as Placet's own.
"""

from dataclasses import dataclass
from typing import Any, cast

import msgspec

from daemon.agents.person.activity import AgentMessage
from daemon.agents.person.agent_overview import AgentDetails, RunSummary
from daemon.cli.translation import _
from daemon.cli.wording import terms
from daemon.cli.wording.activity import activity_kind, kind_words, message_parts
from daemon.cli.wording.agents import recurrence_words, report_age_words, report_fields, report_list_words
from daemon.cli.wording.dates import full_time_words, relative_time
from daemon.cli.wording.sentences import answer_words

_REPORT_LINES = ("tldr", "goal")


@dataclass(frozen=True, slots=True)
class AgentPage:
    """One agent. `facts` are pairs of a name and what is true; `report` is its paragraphs, then its lists."""

    id: str
    task_id: str
    task_title: str
    name: str
    state: str
    tone: str
    facts: list[tuple[str, str]]
    report: list[str]
    report_lists: list[tuple[str, list[str]]]
    report_age: str
    runs: list[tuple[str, str]]
    log: list[tuple[str, list[str]]]
    is_active: bool
    is_dormant: bool


def agent_page(details: AgentDetails, messages: list[AgentMessage], now_s: float) -> AgentPage:
    """Return an agent in words; the newest run and message first."""
    agent: Any = msgspec.to_builtins(details)
    report = report_fields(details.report or {})
    lists = report_list_words()
    return AgentPage(
        id=details.id,
        task_id=details.task_id,
        task_title=details.task_title,
        name=details.name or _("Agent"),
        state=terms.agent_state(details.lifecycle),
        tone={"active": "green", "dormant": "", "destroyed": "red"}.get(details.lifecycle, ""),
        facts=_facts(details, agent, now_s),
        report=[str(report[key]) for key in _REPORT_LINES if report.get(key)],
        report_lists=[
            (word, [str(line) for line in report[key]]) for key, word in lists.items() if report.get(key)
        ],
        report_age=" · ".join(report_age_words(agent)),
        runs=[_run(run, now_s) for run in details.runs],
        log=[row for message in reversed(messages) if any((row := _message(message, now_s))[1])],
        is_active=details.lifecycle in ("created", "active"),
        is_dormant=details.lifecycle == "dormant",
    )


def _facts(details: AgentDetails, agent: Any, now_s: float) -> list[tuple[str, str]]:
    wake = full_time_words(details.next_wake_at) if details.next_wake_at else ""
    again = recurrence_words(agent, details.next_wake_at or "")
    facts = [
        (_("Why"), answer_words(agent, "lifecycle_reason") if details.lifecycle_reason else ""),
        (_("Paused until"), full_time_words(details.paused_until) if details.paused_until else ""),
        (_("Runs next"), " · ".join(filter(None, [wake, again, answer_words(agent, "next_wake_why")]))),
        (_("Ran last"), relative_time(details.last_wake_at, now_s) if details.last_wake_at else ""),
        (_("Works on"), details.home_device_name),
        (_("Model"), details.model),
        (_("Waits for you"), str(details.pending_items) if details.pending_items else ""),
        (_("Verdicts need"), _presence(details.presence)),
    ]
    return [(name, words) for name, words in facts if words]


def _presence(presence: dict[str, str]) -> str:
    needed = {tool: word for tool, word in presence.items() if word != "any"}
    return ", ".join(
        terms.presence_name(word) if tool == "all" else f"{tool}: {terms.presence_name(word)}"
        for tool, word in needed.items()
    )


def _run(run: RunSummary, now_s: float) -> tuple[str, str]:
    fields: Any = msgspec.to_builtins(run)
    words = [terms.run_status(run.status), answer_words(fields, "reason"), run.error or ""]
    return relative_time(run.started_at, now_s), ": ".join(filter(None, words))


def _message(message: AgentMessage, now_s: float) -> tuple[str, list[str]]:
    """Return what kind of message it is, and its parts; none if a model only called tools."""
    fields = cast(Any, msgspec.to_builtins(message))
    kind = activity_kind(fields)
    parts = [] if kind == "said" and not message.text else message_parts(fields, now_s)
    return kind_words(kind), [part for part in parts if part]
