"""Shows the permissions that agents ask for, one at a time; the person decides each by a key.

Never permits what was not shown: the hash of the arguments goes with each verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.commands.proposals.decide import DECISION_TIMEOUT_S
from daemon.cli.commands.proposals.edited_arguments import edit_in_editor
from daemon.cli.framework.error_lines import error_line
from daemon.cli.terminal.keys import InputEnded
from daemon.cli.terminal.output import write_lines
from daemon.cli.views.proposals.asks import ask_list
from daemon.cli.views.proposals.pending import WIDTH_MAX, result_lines
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.keys import KeyReader
    from daemon.shapes.requests import AskDetailsJson

_KEYS: Final = "y,n,d,e,s,j,k,u,q,?"
_FATAL: Final = ("no_daemon", "timeout", "forbidden")
_KEY_WIDTH: Final = 8
_GOOD: Final = ("applied", "already")
# An answer after which the person goes on; what does not count is kept all the same.
_ANSWERED: Final = (*_GOOD, "not_counted", "stale", "not_found")


class AskReview:
    """The asks that waited when the review began, the first to expire at the top."""

    def __init__(self, keys: KeyReader, asks: Sequence[AskDetailsJson], display: Display) -> None:
        self._keys = keys
        self._asks = list(asks)
        self._display = display
        self._place = 0
        self._quit_requested = False
        self._decided: list[str] = []
        self._drafts: dict[str, str] = {}
        # Each action returns whether to show an ask anew; if not, only the question is asked again.
        self._acts: Mapping[str, Callable[[AskDetailsJson], bool]] = {
            "y": self._permit,
            "n": self._reject,
            "d": lambda ask: self._decide("deferred", ask),
            "e": self._edit,
            "s": self._go_on,
            "j": self._next,
            "k": self._previous,
            "u": self._take_back,
            "q": self._quit,
        }

    def run(self) -> bool:
        """Show ask by ask; return False if the person ends the whole review."""
        try:
            while not self._quit_requested and self._place < len(self._asks):
                self._review(self._asks[self._place])
        except InputEnded:
            return False
        finally:
            if self._decided:
                count = len(self._decided)
                words = ngettext("{count} permission decided", "{count} permissions decided", count)
                write_lines([words.format(count=count)])
        return not self._quit_requested

    def _review(self, ask: AskDetailsJson) -> None:
        """Show one ask until it is decided or left."""
        self._keys.discard_pending()
        place = _("Permission {number} of {count}").format(number=self._place + 1, count=len(self._asks))
        write_lines(["", self._display.paint(place, "bold"), *ask_list([ask], self._display)])
        options = _options(ask)
        write_lines(f"  {key}  {escape(option)}" for key, option in options.items())
        keys = ",".join([*options, _KEYS.removeprefix("y,") if options else _KEYS])
        while True:
            pressed = self._keys.read_key(_("Permit it, once? [{keys}] ").format(keys=keys)).lower()
            act = None if pressed == "y" and options else self._acts.get(pressed)
            if pressed in options:
                if self._decide("confirmed", ask, option=options[pressed]):
                    return
            elif act is not None:
                if act(ask):
                    return
            elif pressed:
                self._explain(with_options=bool(options))
            self._keys.discard_pending()

    # -- the place ------------------------------------------------------------------------------------

    def _move(self, step: int) -> bool:
        """Go to the next ask in a direction that is not decided; stay if there is none."""
        place = self._place + step
        while 0 <= place < len(self._asks) and self._asks[place]["ask_id"] in self._decided:
            place += step
        if not 0 <= place < len(self._asks):
            return False
        self._place = place
        return True

    def _next(self, _ask: AskDetailsJson) -> bool:
        return self._move(1) or self._note(_("This is the last one."))

    def _previous(self, _ask: AskDetailsJson) -> bool:
        return self._move(-1) or self._note(_("There is none before this one."))

    def _go_on(self, _ask: AskDetailsJson) -> bool:
        if not self._move(1):
            self._place = len(self._asks)
        return True

    def _quit(self, _ask: AskDetailsJson) -> bool:
        self._quit_requested = True
        return True

    def _note(self, words: str) -> bool:
        """Say something, and return that the ask need not be shown anew."""
        write_lines([self._display.paint(words, "yellow")])
        return False

    # -- decisions ------------------------------------------------------------------------------------

    def _permit(self, ask: AskDetailsJson) -> bool:
        return self._decide("confirmed", ask)

    def _reject(self, ask: AskDetailsJson) -> bool:
        try:
            reason = self._keys.read_line(_("Why? (Enter for no reason) "))
        except InputEnded:
            return False
        return self._decide("rejected", ask, **({"reason": reason} if reason else {}))

    def _edit(self, ask: AskDetailsJson) -> bool:
        """Permit it with arguments that the person writes, and with one of the choices if there are any."""
        self._keys.restore_terminal()
        try:
            args = ask.get("asked_args") or ask.get("args") or {}
            edit = edit_in_editor(args, self._drafts, ask["ask_id"], "permission")
        except CommandError as refusal:
            return self._note(error_line(refusal))
        if not edit:
            return self._note(_("Nothing was changed."))
        more: dict[str, Any] = {"edit": edit}
        if options := _options(ask):
            self._keys.discard_pending()
            pressed = self._keys.read_key(_("Which choice? [{keys}] ").format(keys=",".join(options)))
            if pressed not in options:
                return False
            more["option"] = options[pressed]
        return self._decide("confirmed", ask, **more)

    def _take_back(self, _ask: AskDetailsJson) -> bool:
        """Take the last decision back, and show what it was on as it stands now."""
        if not self._decided:
            return self._note(_("Nothing was decided in this review yet."))
        last = self._decided[-1]
        place = next(index for index, listed in enumerate(self._asks) if listed["ask_id"] == last)
        if not any(fields.get("result") in _GOOD for fields in self._send("reopened", self._asks[place])):
            return False
        self._decided.pop()
        self._place = place
        now: AskDetailsJson | None = client.find(f"/v1/asks/{percent_encode(last)}")
        self._asks[place] = now or self._asks[place]
        return True

    def _decide(self, verdict: str, ask: AskDetailsJson, **more: Any) -> bool:
        """Send a verdict on what was shown; return whether the ask is done with."""
        results = [fields.get("result") for fields in self._send(verdict, ask, **more)]
        if not results or not all(result in _ANSWERED for result in results):
            return False
        if any(result in _GOOD for result in results):
            self._decided.append(ask["ask_id"])
        return self._go_on(ask)

    def _send(self, verdict: str, ask: AskDetailsJson, **more: Any) -> list[dict[str, Any]]:
        """Send a verdict and show its results; none if the daemon refused it."""
        name = ask["ask_id"]
        hashes = {name: ask["asked_hash"]}
        body = {"verdict": verdict, "items": [name], "args_hashes": hashes, "via": "cli", **more}
        try:
            answer = client.post("/v1/decisions", body, DECISION_TIMEOUT_S)
        except CommandError as refusal:
            if refusal.code in _FATAL:
                raise
            self._note(error_line(refusal))
            return []
        write_lines(result_lines(answer.json, self._display))
        results: list[dict[str, Any]] = answer.json
        return results

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
            ("e", _("change its arguments, and permit that, once")),
            ("s", _("leave it as it is, and go on")),
            ("j k", _("look at the next, at the one before")),
            ("u", _("take the last decision of this review back")),
            ("q", _("leave the rest as it is, and end")),
        ):
            head, *rest = wrap_lines(words, min(self._display.width, WIDTH_MAX) - _KEY_WIDTH)
            write_lines([f"  {key:<{_KEY_WIDTH - 2}}{head}", *(" " * _KEY_WIDTH + line for line in rest)])


def _options(ask: AskDetailsJson) -> dict[str, str]:
    """Return the choices that the agent offers, by the key that takes each."""
    return {str(key): option for key, option in enumerate(ask.get("options") or (), 1)}
