"""An agent in one line, as the list of agents and the page of its task show it.

Never says what it did: its own page does.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from daemon.agents.person.agent_overview import AgentDetails
from daemon.words import terms
from daemon.words.dates import day_words, parse_time_s, relative_time
from daemon.words.sentences import answer_words
from daemon.words.task_parts import clock_time
from daemon.words.translation import _, ngettext

STATE_TONES: Final = {"active": "green", "destroyed": "red"}


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent of a task; `facts` are when it runs next and what of it waits. `is_active`: it may run."""

    id: str
    name: str
    task_title: str
    state: str
    tone: str
    facts: list[str]
    is_active: bool


def agent_line(details: AgentDetails, now_s: float) -> AgentLine:
    """Return the agent of a task in words."""
    facts = [
        _waiting_words(details.pending_items),
        _next_run_words(details.next_wake_at, now_s)
        or answer_words(cast(Any, msgspec.to_builtins(details)), "next_wake_why"),
        "" if details.at_home else _("on {device}").format(device=details.home_device_name),
    ]
    return AgentLine(
        id=details.id,
        name=details.name or "",
        task_title=details.task_title,
        state=terms.agent_state(details.lifecycle),
        tone=STATE_TONES.get(details.lifecycle, ""),
        facts=[words for words in facts if words],
        is_active=details.lifecycle in ("created", "active"),
    )


def _next_run_words(next_run: str | None, now_s: float) -> str:
    """Say when it runs next, by the clock if it is today: that stays true while the page is open.

    Return "" if it runs now, or if nobody knows.
    """
    next_s = parse_time_s(next_run)
    if next_s is None or next_s <= now_s:
        return ""
    if day_words(next_run) == day_words(now_s * 1000):
        return _("runs at {time}").format(time=clock_time(next_run))
    return _("runs next {when}").format(when=relative_time(next_run, now_s))


def _waiting_words(count: int) -> str:
    words = ngettext("{count} proposal waits", "{count} proposals wait", count)
    return words.format(count=count) if count else ""
