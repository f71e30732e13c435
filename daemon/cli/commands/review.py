"""Review: proposals one at a time, each decided by a key.

Never decides on what was not shown, and never asks where nobody is there to answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.client import quoted
from daemon.cli.commands.decide import WAIT_S
from daemon.cli.edits import arguments_from
from daemon.cli.grammar import command, pass_output
from daemon.cli.keys import Ended, is_watched, keys
from daemon.cli.output import write_lines
from daemon.cli.refusals import DONE, NOT_FOUND, Refusal
from daemon.cli.reviewing import Review
from daemon.cli.short import shorts
from daemon.cli.text import shown
from daemon.cli.views.pending import item_lines, pending_rows, verdict_lines
from daemon.cli.views.review import closing, help_lines, review_page
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from daemon.cli.keys import Keys
    from daemon.cli.look import Look
    from daemon.cli.output import Output
    from daemon.cli.shapes import PendingItem, Task

_PENDING: Final = "/v1/pending"
_KEYS: Final = "y,n,d,e,s,j,k,a,u,q,?"
_GOOD: Final = ("applied", "already")
_FATAL: Final = ("no_daemon", "timeout", "forbidden")


@command("review")
@click.argument("task", nargs=-1)
@pass_output
def review_command(output: Output, task: tuple[str, ...]) -> int:
    """Decide on proposals one by one, everywhere or on a task, with the keys of `git add -p`.

    y confirms, n rejects and asks why, d puts off, e edits the arguments, s leaves it, j and k look around,
    a confirms what is left of the task, u takes the last decision back, q ends, ? explains.
    """
    query = {"task": " ".join(task) or None}
    answer = client.get(_PENDING, query)
    if not answer.json:
        output.show(answer, lambda _items, _look: (), pending_rows)
        output.say(_("Nothing waits for you."))
        return DONE
    if not output.for_people or not is_watched():
        raise _nobody_there(len(answer.json))
    with keys() as asked:
        _Session(output, asked, query, answer).run()
    return DONE


def _nobody_there(count: int) -> Refusal:
    seen = ngettext(
        "{count} proposal waits, and a review needs a terminal",
        "{count} proposals wait, and a review needs a terminal",
        count,
    )
    hint = _("see placet pending, then placet confirm ITEM or --set SET, or placet reject")
    return Refusal("needs_confirmation", seen.format(count=count), hint)


class _Session:
    """One review at the terminal: what was open when it began, an item at a time."""

    def __init__(
        self, output: Output, asked: Keys, query: Mapping[str, str | None], answer: client.Answer
    ) -> None:
        self._output = output
        self._keys = asked
        self._query = query
        self._review = Review(answer.json)
        self._look: Look = output.look(answer)
        self._drafts: dict[str, str] = {}
        self._is_left = False
        # Each says whether to draw anew: else the question is asked again where it stands.
        self._acts: Mapping[str, Callable[[PendingItem], bool]] = {
            "y": lambda item: self._decide("confirmed", item),
            "n": self._reject,
            "d": lambda item: self._decide("deferred", item),
            "e": self._edit,
            "s": self._skip,
            "j": self._next,
            "k": self._previous,
            "a": self._all,
            "u": self._take_back,
            "q": self._quit,
        }

    def run(self) -> None:
        """Show item by item until the end, or until the person leaves; then tell what was decided."""
        try:
            while not (self._is_left or self._review.is_over):
                self._step()
        except (Ended, KeyboardInterrupt):
            write_lines([""])
        finally:
            self._keys.give_back()
            write_lines(closing(self._review, self._came()))

    def _came(self) -> int:
        """Count what was proposed meanwhile; none where nobody answers any more."""
        try:
            return len(self._review.beside(client.get(_PENDING, self._query).json))
        except Refusal:
            return 0

    # -- one item -------------------------------------------------------------------------------------

    def _step(self) -> None:
        self._keys.clear()
        if not self._shown():
            return
        item = self._review.current
        while True:
            pressed = self._keys.key(_("Confirm it? [{keys}] ").format(keys=_KEYS)).lower()
            act = self._acts.get(pressed)
            if act is None:
                write_lines(help_lines(self._look) if pressed else ())
            elif act(item):
                return
            self._keys.clear()

    def _shown(self) -> bool:
        """Draw the item as it is now; say whether it is still open."""
        answer = client.get(_PENDING, self._query)
        now: dict[str, PendingItem] = {one["item_id"]: one for one in answer.json}
        self._look = self._output.look(answer)
        item = self._review.current
        if item["item_id"] not in now:
            short = shown(shorts(self._review.items, "item_id")[item["item_id"]])
            self._note(_("{item} waits no more: see placet decisions").format(item=short))
            self._review.drop(item["item_id"])
            self._review.forward()
            return False
        self._review.renew(now)
        task = _task(item.get("task_id") or "")
        write_lines(review_page(self._review, task, answer.json, self._look))
        return True

    def _note(self, words: str) -> None:
        write_lines([self._look.paint(shown(words), "yellow")])

    # -- what each key does ---------------------------------------------------------------------------

    def _skip(self, _item: PendingItem) -> bool:
        self._review.forward()
        return True

    def _quit(self, _item: PendingItem) -> bool:
        self._is_left = True
        return True

    def _next(self, _item: PendingItem) -> bool:
        if self._review.has_next():
            self._review.forward()
            return True
        self._note(_("This is the last one."))
        return False

    def _previous(self, _item: PendingItem) -> bool:
        if self._review.backward():
            return True
        self._note(_("There is none before this one."))
        return False

    def _reject(self, item: PendingItem) -> bool:
        try:
            reason = self._keys.line(_("Why? (Enter for no reason) "))
        except Ended:
            return False
        return self._decide("rejected", item, **({"reason": reason} if reason else {}))

    def _edit(self, item: PendingItem) -> bool:
        from daemon.cli.editor import written

        args, key = item.get("args") or {}, item["item_id"]
        self._keys.give_back()
        try:
            with written(self._drafts.get(key) or _draft(args), "proposal", ".json") as text:
                self._drafts[key] = text
            lines = (line for line in text.splitlines() if not line.startswith("#"))
            edit = arguments_from("\n".join(lines), _("what you wrote"))
        except Refusal as refusal:
            self._note(refusal.as_line())
            return False
        if all(args.get(name) == value for name, value in edit.items()):
            self._note(_("Nothing was changed."))
            return False
        return self._decide("confirmed", item, edit=edit)

    def _all(self, _item: PendingItem) -> bool:
        rest = self._review.rest_of_task()
        ids = shorts(rest, "item_id")
        for one in rest:
            write_lines(item_lines(one, ids[one["item_id"]], self._look))
        count = len(rest)
        asks = ngettext("Confirm this {count}? [y,n] ", "Confirm these {count}? [y,n] ", count)
        if not self._agreed(asks.format(count=count)):
            return False
        for told in self._sent("confirmed", rest):
            if told.get("result") in _GOOD:
                self._review.decide(str(told.get("item_id")), "confirmed")
        self._go_on()
        return True

    def _take_back(self, _item: PendingItem) -> bool:
        last = self._review.last_decided
        if last is None:
            self._note(_("Nothing was decided in this review yet."))
            return False
        if any(told.get("result") in _GOOD for told in self._sent("reopened", [last])):
            self._review.take_back()
            return True
        return False

    # -- decisions ------------------------------------------------------------------------------------

    def _decide(self, verdict: str, item: PendingItem, **more: Any) -> bool:
        for told in self._sent(verdict, [item], **more):
            if "--force" in str(told.get("message")) and not more.get("force"):
                if self._agreed(_("Apply it all the same? [y,n] ")):
                    return self._decide(verdict, item, **more, force=True)
            elif told.get("result") in _GOOD:
                self._review.decide(item["item_id"], verdict)
        self._go_on()
        return True

    def _go_on(self) -> None:
        """Go to the next open item, where this one is decided."""
        if self._review.current["item_id"] in self._review.decided:
            self._review.forward()

    def _sent(self, verdict: str, items: Sequence[PendingItem], **more: Any) -> list[dict[str, Any]]:
        """Send a verdict on what was shown, and tell what came of it; nothing where it was refused whole."""
        hashes = {one["item_id"]: one["args_hash"] for one in items if one.get("args_hash")}
        asked = {"verdict": verdict, "items": [one["item_id"] for one in items], "via": "cli", **more}
        try:
            answer = client.post("/v1/decisions", asked | ({"args_hashes": hashes} if hashes else {}), WAIT_S)
        except Refusal as refusal:
            if refusal.code in _FATAL:
                raise
            self._note(refusal.as_line())
            return []
        except KeyboardInterrupt:
            self._note(_("whether the last decision was taken shows in placet decisions"))
            raise
        write_lines(verdict_lines(answer.json, self._look))
        told: list[dict[str, Any]] = answer.json
        return told

    def _agreed(self, question: str) -> bool:
        self._keys.clear()
        return self._keys.key(question).lower() == "y"


def _draft(args: Mapping[str, Any]) -> str:
    words = _("# The arguments; what you leave as it is stays.")
    return f"{words}\n{json.dumps(args, indent=2, ensure_ascii=False)}\n"


def _task(ref: str) -> Task | None:
    """Read the task that an item is about; None where it was removed."""
    try:
        task: Task = client.get(f"/v1/tasks/{quoted(ref)}").json
    except Refusal as refusal:
        if refusal.status == NOT_FOUND:
            return None
        raise
    return task
