"""Agents of other makers: the page of one, and its daily limits.

Never shows a name as a program sent it: signs that cannot be seen are made visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words import terms
from daemon.words.dates import full_time_words
from daemon.words.sentences import answer_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, pad_right
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.requests import ExternalAgentJson

_FIELD_WIDTH: Final = 22


def _head(agent: ExternalAgentJson, display: Display) -> str:
    short = escape(short_ids_of([agent]).get(agent.get("id", ""), ""))
    return f"{display.paint(escape(agent.get('name') or ''), 'bold')}  {display.paint(short, 'cyan')}"


def _line(name: str, words: str, display: Display) -> str:
    return f"  {display.paint(pad_right(name, _FIELD_WIDTH), 'dim')} {words}"


def external_agent_page(agent: ExternalAgentJson, display: Display) -> Iterator[str]:
    """Draw all that is known of an agent of another maker."""
    yield _head(agent, display)
    home = _("here") if agent.get("at_home") else escape(agent.get("home_device_name") or "")
    presence = ", ".join(
        terms.presence_name(needed) if tool == "all" else f"{escape(tool)}: {terms.presence_name(needed)}"
        for tool, needed in (agent.get("presence") or {}).items()
    )
    yield _line(_("life"), terms.agent_state(agent.get("lifecycle")), display)
    if agent.get("hindered"):
        yield _line("", escape(answer_words(agent, "hindered")), display)
    if until := agent.get("paused_until"):
        yield _line(_("paused until"), full_time_words(until), display)
    yield _line(_("home"), home, display)
    yield _line(_("works on"), _scope_words(agent), display)
    yield _line(_("verdicts need"), presence, display)
    yield _line(_("waiting for you"), str(agent.get("pending_items") or 0), display)
    yield from _limit_lines(agent, display)


def _scope_words(agent: ExternalAgentJson) -> str:
    categories = ", ".join(escape(category) for category in agent.get("allowed_categories") or ())
    return {
        "all": _("all tasks"),
        "categories": categories or _("tasks without a category"),
        "none": _("no task: it only asks for permissions"),
    }.get(str(agent.get("scope")), escape(agent.get("scope") or ""))


def limits_rows(agent: ExternalAgentJson) -> Iterator[Sequence[object]]:
    """Give the plain columns: what, how much a day, how much of it today."""
    spent = agent.get("spent_today") or {}
    return ((kind, limit, spent.get(kind, 0)) for kind, limit in (agent.get("daily_limits") or {}).items())


def limits_page(agent: ExternalAgentJson, display: Display) -> Iterator[str]:
    """Draw what an agent may work on, and how much it may do in a day."""
    yield _head(agent, display)
    yield _line(_("works on"), _scope_words(agent), display)
    yield from _limit_lines(agent, display)


def _limit_lines(agent: ExternalAgentJson, display: Display) -> Iterator[str]:
    names = {"proposals": _("proposals a day"), "asks": _("permissions a day"), "bytes": _("bytes a day")}
    for kind, limit, spent in limits_rows(agent):
        words = _("{limit}, {spent} today").format(limit=limit, spent=spent)
        yield _line(names.get(str(kind), escape(str(kind))), words, display)
