"""Permissions that agents ask for: the action and its arguments, verbatim, and how each ask stands.

Never shortens an argument, and marks an agent's words as the agent's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.views.journal.agent_words import agent_quote_lines
from daemon.cli.views.proposals.pending import WIDTH_MAX, idle_verdict_lines
from daemon.words import terms
from daemon.words.dates import relative_future_time, relative_time
from daemon.words.proposals import need_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _
from daemon.words.values import in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.requests import AskDetailsJson

RULE_ID_CHARS: Final = 8
"""Rules live long: the fewest characters that would do need the whole store."""
_INDENT: Final = " " * 8
_STYLES: Final = {"pending": "yellow", "disputed": "red", "permitted": "green", "used": "green"}
_ROW_KEYS: Final = ("ask_id", "agent_id", "state", "name", "title", "not_after", "presence")
_WAITING: Final = ("pending", "deferred", "disputed", "permitted")


def ask_rows(asks: Iterable[AskDetailsJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet asks --help` names."""
    for ask in asks:
        yield (
            *(
                ask.get(key)
                for key in ("ask_id", "agent_id", "state", "name", "title", "not_after", "presence")
            ),
            _arguments(ask.get("args")),
        )


def ask_list(asks: Sequence[AskDetailsJson], display: Display) -> Iterator[str]:
    """Draw asks: what is to be done, with which arguments, and how each stands."""
    ids = short_ids_of(asks, "ask_id")
    for ask in asks:
        short = escape(ids.get(str(ask.get("ask_id") or ""), ""))
        state = str(ask.get("state") or "")
        word = display.paint(terms.proposal_status(state), _STYLES.get(state, "dim"))
        title = escape(ask.get("title") or "")
        yield f"  {display.paint(short, 'cyan')}{' ' * max(1, 6 - len(short))}{title}  {word}"
        for line in _details(ask, min(display.width, WIDTH_MAX) - len(_INDENT), display):
            yield _INDENT + line


def _details(ask: AskDetailsJson, width: int, display: Display) -> Iterator[str]:
    # What is to be done is shown as it is: control characters and marks that turn text are spelled out.
    action = f"{escape(ask.get('name') or '')} {escape(_arguments(ask.get('args')))}"
    yield from wrap_lines(action, width)
    yield from agent_quote_lines(str(ask.get("why") or ""), width, display)
    facts = [escape(ask.get("agent_name") or "")]
    if ask.get("state") in _WAITING:
        facts.append(
            _("expires {when}").format(when=relative_future_time(ask.get("not_after"), display.now_s))
        )
    if ask.get("used_at"):
        facts.append(_("used {when}").format(when=relative_time(ask.get("used_at"), display.now_s)))
    if ask.get("options"):
        facts.append(_("choices: {options}").format(options=", ".join(map(escape, ask["options"]))))
    if ask.get("option"):
        facts.append(_("chosen: {option}").format(option=escape(ask.get("option") or "")))
    facts.append(need_words(ask.get("presence")))
    separator = f" {display.symbol('·')} "
    yield from (display.paint(line, "dim") for line in wrap_lines(separator.join(filter(None, facts)), width))
    yield from (
        display.paint(line, "dim") for line in wrap_lines(_verdict_words(ask, display), width) if line
    )
    idle: Any = ask
    yield from idle_verdict_lines(idle, width, display)


def _verdict_words(ask: AskDetailsJson, display: Display) -> str:
    """Say on which device it was permitted or refused, when, and why; "" if nobody decided."""
    verdict = ask.get("verdict")
    if not verdict:
        return ""
    if verdict.get("rule"):
        return _("permitted by your rule {rule} on {device}, {when}").format(
            rule=escape(str(verdict["rule"])[:RULE_ID_CHARS]),
            device=escape(verdict.get("device_name") or ""),
            when=relative_time(verdict.get("at"), display.now_s),
        )
    words = _("{verdict} on {device}, {when}").format(
        verdict=terms.proposal_status("refused" if ask.get("state") == "refused" else "permitted"),
        device=escape(verdict.get("device_name") or ""),
        when=relative_time(verdict.get("at"), display.now_s),
    )
    reason = verdict.get("reason")
    return f"{words}: {in_quotation_marks(escape(reason))}" if reason else words


def _arguments(args: object) -> str:
    return json.dumps(args, ensure_ascii=False, sort_keys=True)
