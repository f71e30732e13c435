"""An agent in one line, as the list of agents and the page of its task show it.

Never says what it did: its own page does.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from daemon.agents.person.agent_overview import AgentDetails
from daemon.cli.translation import _, ngettext
from daemon.cli.wording import terms
from daemon.cli.wording.dates import relative_time
from daemon.cli.wording.sentences import answer_words

STATE_TONES: Final = {"active": "green", "destroyed": "red"}


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent of a task; `facts` are when it runs next and what of it waits."""

    id: str
    name: str
    task_title: str
    state: str
    tone: str
    facts: list[str]


def agent_line(details: AgentDetails, now_s: float) -> AgentLine:
    """Return the agent of a task in words."""
    facts = [
        _waiting_words(details.pending_items),
        _("runs next {when}").format(when=relative_time(details.next_wake_at, now_s))
        if details.next_wake_at
        else answer_words(cast(Any, msgspec.to_builtins(details)), "next_wake_why"),
        "" if details.at_home else _("on {device}").format(device=details.home_device_name),
    ]
    return AgentLine(
        id=details.id,
        name=details.name or "",
        task_title=details.task_title,
        state=terms.agent_state(details.lifecycle),
        tone=STATE_TONES.get(details.lifecycle, ""),
        facts=[words for words in facts if words],
    )


def _waiting_words(count: int) -> str:
    words = ngettext("{count} proposal waits", "{count} proposals wait", count)
    return words.format(count=count) if count else ""
