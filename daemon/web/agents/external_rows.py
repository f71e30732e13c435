"""Agents of other makers in words, for their templates.

Never shows a name as a program sent it: the templates isolate it, and signs that cannot be seen are visible.
"""

from dataclasses import dataclass
from typing import Any, cast

import msgspec

from daemon.agents.person.external_agents import ExternalAgentDetails
from daemon.agents.tools.policy import SCOPES
from daemon.web.decide.agent_line import STATE_TONES
from daemon.words import terms
from daemon.words.dates import full_time_words
from daemon.words.sentences import answer_words
from daemon.words.translation import _, ngettext


@dataclass(frozen=True, slots=True)
class ExternalLine:
    """An agent of another maker in the list. `waits` is whether a person has to let it in."""

    id: str
    name: str
    state: str
    tone: str
    waits: bool
    facts: list[str]


@dataclass(frozen=True, slots=True)
class LimitRow:
    """A daily limit: its field, what it is called, how much a day, and how much of that today."""

    field: str
    label: str
    limit: int
    spent: str


@dataclass(frozen=True, slots=True)
class ExternalPage:
    """One agent of another maker. `facts` are pairs of a name and what is true; `scopes` those to choose."""

    id: str
    name: str
    state: str
    tone: str
    facts: list[tuple[str, str]]
    scope: str
    scopes: list[tuple[str, str]]
    limits: list[LimitRow]
    waits: bool
    is_active: bool
    is_dormant: bool


def external_lines(agents: list[ExternalAgentDetails]) -> list[ExternalLine]:
    """Return agents as a list shows them, but for those that were ended."""
    return [_external_line(details) for details in agents if details.lifecycle != "destroyed"]


def _external_line(details: ExternalAgentDetails) -> ExternalLine:
    count = details.pending_items
    waiting = ngettext("{count} proposal waits", "{count} proposals wait", count).format(count=count)
    facts = [
        waiting if count else "",
        scope_words(details) if details.lifecycle != "created" else "",
        "" if details.at_home else _("on {device}").format(device=details.home_device_name),
    ]
    return ExternalLine(
        id=details.id,
        name=details.name,
        state=terms.agent_state(details.lifecycle),
        tone=STATE_TONES.get(details.lifecycle, ""),
        waits=details.lifecycle == "created",
        facts=[words for words in facts if words],
    )


def scope_words(details: ExternalAgentDetails) -> str:
    """Say what an agent may work on."""
    if details.scope == "categories":
        return ", ".join(details.allowed_categories) or _("tasks without a category")
    return _scope_name(details.scope)


def _scope_name(scope: str) -> str:
    return {
        "all": _("all tasks"),
        "categories": _("tasks of the categories that are ticked below"),
        "none": _("no task: it only asks for permissions"),
    }.get(scope, scope)


def external_page(details: ExternalAgentDetails) -> ExternalPage:
    """Return an agent of another maker in words."""
    agent: Any = cast(Any, msgspec.to_builtins(details))
    count, waits = details.pending_items, details.lifecycle == "created"
    facts = [
        (_("Why"), answer_words(agent, "hindered") if details.hindered and not waits else ""),
        (_("Paused until"), full_time_words(details.paused_until) if details.paused_until else ""),
        (_("Works on"), scope_words(details)),
        (_("Device"), details.home_device_name),
        (_("Waits for you"), str(count) if count else ""),
    ]
    return ExternalPage(
        id=details.id,
        name=details.name,
        state=terms.agent_state(details.lifecycle),
        tone=STATE_TONES.get(details.lifecycle, ""),
        facts=[(name, words) for name, words in facts if words],
        scope=details.scope,
        scopes=[(scope, _scope_name(scope)) for scope in SCOPES],
        limits=_limit_rows(details),
        waits=waits,
        is_active=details.lifecycle == "active",
        is_dormant=details.lifecycle == "dormant",
    )


def _limit_rows(details: ExternalAgentDetails) -> list[LimitRow]:
    names = {"proposals": _("proposals a day"), "asks": _("permissions a day"), "bytes": _("bytes a day")}
    return [
        LimitRow(
            f"limit/{kind}",
            names.get(kind, kind),
            limit,
            _("{count} today").format(count=details.spent_today.get(kind, 0)),
        )
        for kind, limit in details.daily_limits.items()
    ]
