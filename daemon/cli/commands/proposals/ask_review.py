"""Shows the permissions that agents ask for, one at a time; the person decides each by a key.

Never permits what was not shown: the hash of the arguments goes with each verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.api import client
from daemon.cli.api.command_error import CommandError
from daemon.cli.commands.proposals.decide import DECISION_TIMEOUT_S
from daemon.cli.terminal.keys import InputEnded
from daemon.cli.terminal.output import write_lines
from daemon.cli.terminal.text import escape, wrap_lines
from daemon.cli.translation import _, ngettext
from daemon.cli.views.proposals.asks import ask_list
from daemon.cli.views.proposals.pending import WIDTH_MAX, result_lines
from daemon.cli.wording.sentences import error_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.cli.api.request_shapes import AskDetailsJson
    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.keys import KeyReader

_KEYS: Final = "y,n,d,s,q,?"
_FATAL: Final = ("no_daemon", "timeout", "forbidden")
_KEY_WIDTH: Final = 8
# Kept, but it does not count: the person goes on.
_ANSWERED: Final = ("applied", "already", "not_counted")


class AskReview:
    """The asks that waited when the review began, what runs out first in front."""

    def __init__(self, keys: KeyReader, asks: Sequence[AskDetailsJson], display: Display) -> None:
        self._keys = keys
        self._asks = asks
        self._display = display
        self._decided = 0

    def run(self) -> bool:
        """Show ask by ask; return False if the person ends the whole review."""
        try:
            for number, ask in enumerate(self._asks, 1):
                if not self._review(number, ask):
                    return False
        except InputEnded:
            return False
        finally:
            if self._decided:
                count = self._decided
                words = ngettext("{count} permission decided", "{count} permissions decided", count)
                write_lines([words.format(count=count)])
        return True

    def _review(self, number: int, ask: AskDetailsJson) -> bool:
        """Show one ask until it is decided or left; return False to end."""
        self._keys.discard_pending()
        place = _("Permission {number} of {count}").format(number=number, count=len(self._asks))
        write_lines(["", self._display.paint(place, "bold"), *ask_list([ask], self._display)])
        options = {str(key): option for key, option in enumerate(ask.get("options") or (), 1)}
        keys = ",".join([*options, _KEYS.removeprefix("y,") if options else _KEYS])
        for key, option in options.items():
            write_lines([f"  {key}  {escape(option)}"])
        while True:
            pressed = self._keys.read_key(_("Permit it, once? [{keys}] ").format(keys=keys)).lower()
            if pressed in ("q", "s"):
                return pressed == "s"
            if self._answer(pressed, ask, options):
                return True

    def _answer(self, pressed: str, ask: AskDetailsJson, options: dict[str, str]) -> bool:
        """Do what a key says; return whether the ask is done with."""
        if pressed in options:
            return self._decide("confirmed", ask, option=options[pressed])
        if pressed == "y" and not options:
            return self._decide("confirmed", ask)
        if pressed == "d":
            return self._decide("deferred", ask)
        if pressed == "n":
            try:
                reason = self._keys.read_line(_("Why? (Enter for no reason) "))
            except InputEnded:
                return False
            return self._decide("rejected", ask, **({"reason": reason} if reason else {}))
        if pressed:
            self._explain(with_options=bool(options))
        return False

    def _explain(self, *, with_options: bool) -> None:
        first = (
            ("1 2 …", _("permit it with this choice, once"))
            if with_options
            else ("y", _("permit it, once, with exactly these arguments"))
        )
        for key, words in (
            first,
            ("n", _("reject it, and say why")),
            ("d", _("defer it: it stays until it expires")),
            ("s", _("leave it as it is, and go on")),
            ("q", _("leave the rest as it is, and end")),
        ):
            head, *rest = wrap_lines(words, min(self._display.width, WIDTH_MAX) - _KEY_WIDTH)
            write_lines([f"  {key:<{_KEY_WIDTH - 2}}{head}", *(" " * _KEY_WIDTH + line for line in rest)])

    def _decide(self, verdict: str, ask: AskDetailsJson, **more: Any) -> bool:
        """Send a verdict on what was shown; return whether the ask is done with."""
        name = ask["ask_id"]
        body = {
            "verdict": verdict,
            "items": [name],
            "args_hashes": {name: ask["asked_hash"]},
            "via": "cli",
            **more,
        }
        try:
            answer = client.post("/v1/decisions", body, DECISION_TIMEOUT_S)
        except CommandError as refusal:
            if refusal.code in _FATAL:
                raise
            write_lines([self._display.paint(error_line(refusal), "yellow")])
            return False
        write_lines(result_lines(answer.json, self._display))
        self._decided += any(fields.get("result") in _ANSWERED[:2] for fields in answer.json)
        return all(fields.get("result") in (*_ANSWERED, "stale", "not_found") for fields in answer.json)
