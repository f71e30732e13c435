"""Standing rules: what each lets an agent do, until when, how often, and how often it did.

Never shortens an argument that a rule allows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from daemon.cli.views.proposals.pending import WIDTH_MAX
from daemon.words.dates import full_time_words, relative_time
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import StandingRuleDetailsJson

_INDENT: Final = " " * 8
_STATES: Final = {
    "revoked": gettext_noop("revoked"),
    "over": gettext_noop("over"),
    "idle": gettext_noop(
        "permits nothing: the agent was moved, verdicts on it need more by now, "
        "its beginning would be refused today, or a clock was wrong here"
    ),
}


def rule_rows(rules: Iterable[StandingRuleDetailsJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet rule list --help` names."""
    for rule in rules:
        yield (
            rule.get("rule_id"),
            rule.get("agent_name"),
            rule.get("name"),
            _json(rule.get("exact")),
            _json(rule.get("begins")),
            rule.get("until"),
            rule.get("uses_a_day"),
            rule.get("uses_today"),
            rule.get("state"),
        )


def rule_line(did: str, rule: StandingRuleDetailsJson, display: Display) -> Iterator[str]:
    """Say what was done with a rule, and draw it."""
    short = escape(short_ids_of([rule], "rule_id").get(rule.get("rule_id", ""), ""))
    yield f"{did} {display.paint(short, 'cyan')}"
    yield from (_INDENT + line for line in _details(rule, display))
    yield from (_INDENT + line for line in _examples(rule, display))


def rule_list(
    rules: Sequence[StandingRuleDetailsJson], display: Display, *, with_uses: bool = False
) -> Iterator[str]:
    """Draw rules: whom each allows what, and with `with_uses` what it permitted last."""
    ids = short_ids_of(rules, "rule_id")
    for rule in rules:
        short = escape(ids.get(rule.get("rule_id", ""), ""))
        agent, action = escape(rule.get("agent_name") or ""), escape(rule.get("name") or "")
        head = _("{agent} may {action}").format(agent=agent, action=action)
        yield f"  {display.paint(short, 'cyan')}{' ' * max(1, 6 - len(short))}{display.paint(head, 'bold')}"
        yield from (_INDENT + line for line in _details(rule, display))
        if with_uses:
            yield from (_INDENT + line for line in _examples(rule, display))
        for use in rule.get("uses") or () if with_uses else ():
            words = _("used {when}: ask {id}").format(
                when=relative_time(use.get("at"), display.now_s), id=escape(use.get("ask_id") or "")
            )
            yield _INDENT + words


def _details(rule: StandingRuleDetailsJson, display: Display) -> Iterator[str]:
    width = min(display.width, WIDTH_MAX) - len(_INDENT)
    begins = rule.get("begins") or {}
    if rule.get("exact") or not begins:
        yield from wrap_lines(escape(_json(rule.get("exact") or {})), width)
    for name, text in begins.items():
        words = _("{name} begins with {text}").format(name=escape(name), text=escape(_json(text)))
        yield from wrap_lines(words, width)
    facts = [
        _("until {when}").format(when=full_time_words(rule.get("until"))),
        _("{used} of {count} uses today").format(
            used=rule.get("uses_today", 0), count=rule.get("uses_a_day", 0)
        ),
        _("written on {device}, {when}").format(
            device=escape(rule.get("device_name") or ""),
            when=relative_time(rule.get("made_at"), display.now_s),
        ),
    ]
    line = f" {display.symbol('·')} ".join(facts)
    yield from (display.paint(part, "dim") for part in wrap_lines(line, width))
    state = str(rule.get("state") or "")
    if state in _STATES:
        words = _(_STATES[state])
        if rule.get("revoked_at"):
            words = _("revoked on {device}, {when}").format(
                device=escape(rule.get("revoked_on") or ""),
                when=relative_time(rule.get("revoked_at"), display.now_s),
            )
        yield from (display.paint(part, "yellow") for part in wrap_lines(words, width))


def _examples(rule: StandingRuleDetailsJson, display: Display) -> Iterator[str]:
    """Say by an example each what fits the rule, and what does not."""
    width = min(display.width, WIDTH_MAX) - len(_INDENT)
    for words in (
        _("lets through, for example: {args}").format(args=_json(rule.get("lets_through"))),
        _("still asks you, for example: {args}").format(args=_json(rule.get("still_asks"))),
    ):
        yield from wrap_lines(escape(words), width)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
