"""A receipt that was checked: who signed what.

Never says more than the signatures show.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.views.proposals.pending import WIDTH_MAX
from daemon.words import terms
from daemon.words.dates import full_time_words
from daemon.words.proposals import VERDICTS_ON_ASKS
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _
from daemon.words.values import in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from daemon.cli.terminal.display import Display

DEVICE_CHARS: Final = 16


def checked_lines(statement: Mapping[str, Any], display: Display) -> Iterator[str]:
    """Draw what a receipt shows, and what it cannot show."""
    width = min(display.width, WIDTH_MAX)
    yield f"{display.paint(display.symbol('✓'), 'green')} {_('The signatures hold, and show this:')}"
    for line in _facts(statement):
        yield from (f"  {part}" for part in wrap_lines(line, width - 2))
    limits = _("It does not show whose devices these are, nor that nothing was decided later.")
    yield from (display.paint(part, "dim") for part in wrap_lines(limits, width))


def _facts(statement: Mapping[str, Any]) -> Iterator[str]:
    is_ask = statement.get("kind") == "ask"
    name = str((statement.get("action") if is_ask else statement.get("tool")) or "")
    yield f"{escape(name)} {escape(json.dumps(statement.get('args'), ensure_ascii=False, sort_keys=True))}"
    origin_words = _("asked {when} on device {device}") if is_ask else _("proposed {when} on device {device}")
    yield origin_words.format(**_origin(statement))
    for rule in statement.get("rules") or ():
        yield _("by a standing rule of {when}, written on device {device}").format(**_origin(rule))
        if rule.get("revoked"):
            yield _("the rule was revoked {when} on device {device}").format(**_origin(rule["revoked"]))
    for passkey in statement.get("passkeys") or ():
        name = escape(str(passkey.get("passkey") or ""))
        words = _("with passkey {passkey}, registered {when} on device {device}")
        yield words.format(passkey=name, **_origin(passkey))
    for verdict in statement.get("verdicts") or ():
        yield _verdict_words(verdict, statement.get("args_hash"), is_ask=is_ask)
    for use in statement.get("uses") or ():
        words = _("used {when} on device {device}").format(**_origin(use))
        yield words if use.get("permitted") else f"{words} ({_('nothing here permits this')})"
    status = str(statement.get("status") or "")
    words = VERDICTS_ON_ASKS.get(status, status) if is_ask else status
    yield _("as far as these signatures show, it is: {status}").format(status=terms.proposal_status(words))


def _verdict_words(verdict: Mapping[str, Any], args_hash: object, *, is_ask: bool) -> str:
    given = str(verdict.get("verdict") or "")
    words = _("{verdict} {when} on device {device}").format(
        verdict=terms.proposal_status(VERDICTS_ON_ASKS.get(given, given) if is_ask else given),
        **_origin(verdict),
    )
    if verdict.get("edited_args"):
        arguments = escape(json.dumps(verdict["edited_args"], ensure_ascii=False, sort_keys=True))
        words = f"{words}, {_('with: {arguments}').format(arguments=arguments)}"
    if verdict.get("reason"):
        words = f"{words}: {in_quotation_marks(escape(str(verdict['reason'])))}"
    notes = []
    if verdict.get("by") != "user" and not verdict.get("rule") and given != "retracted":
        notes.append(_("not by a person"))
    if is_ask and verdict.get("args_hash") not in (None, args_hash):
        notes.append(_("about other arguments"))
    if not verdict.get("counts"):
        notes.append(_("it does not count"))
    return f"{words} ({', '.join(notes)})" if notes else words


def _origin(fact: Mapping[str, Any]) -> dict[str, str]:
    return {
        "when": full_time_words(fact.get("at")),
        "device": escape(str(fact.get("device") or "")[:DEVICE_CHARS]),
    }
