"""Asks in words, for the template: the action and its arguments as they are, with the agent's words.

Never shortens an argument.
"""

import json
from dataclasses import dataclass
from typing import Any

from daemon.agents.asks.ask_views import AskDetails
from daemon.cli.translation import _
from daemon.cli.wording import terms
from daemon.cli.wording.dates import relative_future_time, relative_time
from daemon.cli.wording.proposals import need_words


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """An ask: `action` is its name and arguments, `facts` are who asks, until when, and what a verdict needs.

    `hash` is that of what is shown; a verdict sends it back. `idle` says which verdicts did not count.
    """

    id: str
    hash: str
    title: str
    state: str
    action: str
    args: str
    why: str
    facts: list[str]
    options: list[str]
    idle: list[str]


def permission_row(ask: AskDetails, now_s: float) -> PermissionRow:
    """Return an ask in words."""
    facts = [
        ask.agent_name or _("an agent"),
        ask.home_device_name,
        _("expires {when}").format(when=relative_future_time(ask.not_after, now_s)),
        need_words(ask.presence),
    ]
    idle = [
        _("{verdict} on {device} ({when}): it does not count").format(
            verdict=terms.proposal_status(verdict.verdict),
            device=verdict.device_name,
            when=relative_time(verdict.at, now_s),
        )
        for verdict in ask.idle_verdicts
    ]
    return PermissionRow(
        id=ask.ask_id,
        hash=ask.asked_hash,
        title=ask.title,
        state="" if ask.state == "pending" else terms.proposal_status(ask.state),
        action=ask.name,
        args=_as_json(ask.asked_args),
        why=ask.why,
        facts=[fact for fact in facts if fact],
        options=ask.options,
        idle=idle,
    )


def _as_json(args: Any) -> str:
    return json.dumps(args, ensure_ascii=False, sort_keys=True)
