"""Shows proposals one at a time; the person decides each by a key.

Never decides on what was not shown, and never asks if no person is present to answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import EXIT_DONE, EXIT_NOT_FOUND, CommandError
from daemon.cli.commands.proposals.ask_review import AskReview
from daemon.cli.commands.proposals.decide import DECISION_TIMEOUT_S
from daemon.cli.commands.proposals.edited_arguments import edit_in_editor
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.framework.error_lines import error_line
from daemon.cli.terminal.keys import InputEnded, is_interactive, key_reader
from daemon.cli.terminal.output import write_lines
from daemon.cli.views.proposals.pending import item_lines, pending_rows, result_lines
from daemon.cli.views.proposals.review import closing_lines, help_lines, open_answers, review_page
from daemon.cli.views.proposals.review_progress import ReviewProgress
from daemon.words.proposals import question_id, without_held_back, without_other_answers
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.keys import KeyReader
    from daemon.cli.terminal.output import Output
    from daemon.shapes.answers import PendingItemJson, TaskJson

_PENDING: Final = "/v1/pending"
_ASKS: Final = "/v1/asks"
_KEYS: Final = "y,n,d,e,s,j,k,a,u,q,?"
_KEYS_OF_QUESTION: Final = "n,d,s,j,k,u,q,?"
_GOOD: Final = ("applied", "already")
_FATAL: Final = ("no_daemon", "timeout", "forbidden")


@command("review")
@click.argument("task", nargs=-1)
@click.option("--agent", metavar="AGENT", help="Only what this agent proposes or asks permission for.")
@click.option("--asks", "asks_alone", is_flag=True, help="Decide on permissions alone.")
@click.option("--all", "whole", is_flag=True, help="Hold nothing back, however much an agent proposes.")
@pass_output
def review_command(
    output: Output, task: tuple[str, ...], agent: str | None, asks_alone: bool, whole: bool
) -> int:
    """Decide on proposals one by one, everywhere or on a task, with the keys of `git add -p`.

    Permissions come first, the soonest to expire at the top. If an agent proposes more in a
    day than the setting proposals.open_per_day, the rest waits behind, unless you name the task or the agent.

    y confirms, n rejects and asks why, d defers, e edits the arguments, s skips it. j and k show the next and
    the one before. a confirms what is left of the task. u takes the last decision back, q ends, ? explains.
    """
    query = {"task": " ".join(task) or None, "agent": agent}
    answer = client.ApiAnswer([], "") if asks_alone else client.get(_PENDING, query)
    # A daemon of an earlier version knows no asks.
    asks = [] if task else client.find(_asks_of(agent)) or []
    if not answer.json and not asks:
        output.write_answer(answer, lambda _items, _display: (), pending_rows)
        output.write_remark(_("Nothing waits for you."))
        return EXIT_DONE
    if not output.is_for_people or not is_interactive():
        raise _nobody_there(len(without_other_answers(answer.json)) + len(asks))
    with key_reader() as keys:
        try:
            goes_on = AskReview(keys, asks, output.display(answer)).run()
        finally:
            keys.restore_terminal()
        if goes_on and answer.json:
            _Session(output, keys, query, answer, whole=whole).run()
    return EXIT_DONE


def _asks_of(agent: str | None) -> str:
    return _ASKS if agent is None else f"{_ASKS}?agent={percent_encode(agent)}"


def _nobody_there(count: int) -> CommandError:
    message = ngettext(
        "{count} proposal waits, and a review needs a terminal",
        "{count} proposals wait, and a review needs a terminal",
        count,
    )
    hint = _("see placet pending, then placet confirm ITEM or --set SET, or placet reject")
    return CommandError("needs_confirmation", message.format(count=count), hint)


def _name(item: PendingItemJson) -> str:
    return question_id(item) or item["item_id"]


class _Session:
    """One review at the terminal: it shows, one by one, the items that were open when it began."""

    def __init__(
        self,
        output: Output,
        keys: KeyReader,
        query: Mapping[str, str | None],
        answer: client.ApiAnswer,
        *,
        whole: bool,
    ) -> None:
        self._output = output
        self._keys = keys
        self._query = query
        first = answer.json if whole else without_held_back(answer.json)
        self._review = ReviewProgress(first)
        self._held_back = {_name(item) for item in self._review.new_items(answer.json)}
        self._display: Display = output.display(answer)
        self._drafts: dict[str, str] = {}
        self._quit_requested = False
        self._open_answers: dict[str, PendingItemJson] = {}
        # Each action returns whether to draw the item anew; if not, only the question is asked again.
        self._acts: Mapping[str, Callable[[PendingItemJson], bool]] = {
            "y": lambda item: self._decide("confirmed", item),
            "n": self._reject,
            "d": lambda item: self._decide("deferred", item),
            "e": self._edit,
            "s": self._skip,
            "j": self._next,
            "k": self._previous,
            "a": self._confirm_all,
            "u": self._take_back,
            "q": self._quit,
        }

    def run(self) -> None:
        """Show item by item until the end, or until the person leaves; then report the decisions."""
        try:
            while not (self._quit_requested or self._review.is_over):
                self._step()
        except (InputEnded, KeyboardInterrupt):
            write_lines([""])
        finally:
            self._keys.restore_terminal()
            write_lines(closing_lines(self._review, *self._count_others()))

    def _count_others(self) -> tuple[int, int]:
        """Return how many wait behind these, and came meanwhile; 0 if the daemon does not answer any more."""
        try:
            others = [_name(item) for item in self._review.new_items(client.get(_PENDING, self._query).json)]
        except CommandError:
            return 0, 0
        behind = len(self._held_back.intersection(others))
        return behind, len(others) - behind

    # -- one item -------------------------------------------------------------------------------------

    def _step(self) -> None:
        self._keys.discard_pending()
        if not self._show_current():
            return
        item = self._review.current
        acts = {**self._acts, **self._answers(item)}
        asks = _("Your answer? [{keys}] ") if self._open_answers else _("Confirm it? [{keys}] ")
        keys = ",".join([*self._open_answers, _KEYS_OF_QUESTION]) if self._open_answers else _KEYS
        while True:
            pressed = self._keys.read_key(asks.format(keys=keys)).lower()
            act = acts.get(pressed)
            if act is None:
                write_lines(help_lines(self._display) if pressed else ())
            elif act(item):
                return
            self._keys.discard_pending()

    def _show_current(self) -> bool:
        """Draw the item as it is now, and return whether it is still open."""
        item = self._review.current
        # Thousands may wait on other tasks: what is drawn beside the item is about the same one.
        answer = _items_of_task(item.get("task_id") or "")
        now: dict[str, PendingItemJson] = {listed["item_id"]: listed for listed in answer.json}
        self._display = self._output.display(answer)
        if item["item_id"] not in now:
            short = escape(self._review.short_ids[item["item_id"]])
            self._note(_("{item} no longer waits: see placet decisions").format(item=short))
            self._review.mark_gone(item["item_id"])
            self._review.go_forward()
            return False
        self._review.refresh(now)
        task = _task(item.get("task_id") or "")
        self._open_answers = open_answers(self._review.current, answer.json)
        write_lines(review_page(self._review, task, answer.json, self._display))
        return True

    def _answers(self, item: PendingItemJson) -> dict[str, Callable[[PendingItemJson], bool]]:
        """Return what the keys do that are others for a question: each number chooses an answer."""
        if not self._open_answers:
            return {}

        def choose(answer: PendingItemJson) -> Callable[[PendingItemJson], bool]:
            return lambda _item: self._decide("confirmed", answer, place=item)

        chosen_by_key = {key: choose(answer) for key, answer in self._open_answers.items()}
        return {**dict.fromkeys("yea", self._ask_for_number), **chosen_by_key}

    def _ask_for_number(self, _item: PendingItemJson) -> bool:
        self._note(_("Press the number of the answer that you choose."))
        return False

    def _note(self, words: str) -> None:
        write_lines([self._display.paint(escape(words), "yellow")])

    # -- what each key does ---------------------------------------------------------------------------

    def _skip(self, _item: PendingItemJson) -> bool:
        self._review.go_forward()
        return True

    def _quit(self, _item: PendingItemJson) -> bool:
        self._quit_requested = True
        return True

    def _next(self, _item: PendingItemJson) -> bool:
        if self._review.has_next():
            self._review.go_forward()
            return True
        self._note(_("This is the last one."))
        return False

    def _previous(self, _item: PendingItemJson) -> bool:
        if self._review.go_backward():
            return True
        self._note(_("There is none before this one."))
        return False

    def _reject(self, item: PendingItemJson) -> bool:
        try:
            reason = self._keys.read_line(_("Why? (Enter for no reason) "))
        except InputEnded:
            return False
        more: dict[str, Any] = {"reason": reason} if reason else {}
        return self._decide("rejected", item, **more)

    def _edit(self, item: PendingItemJson) -> bool:
        self._keys.restore_terminal()
        try:
            edit = edit_in_editor(item.get("args") or {}, self._drafts, item["item_id"], "proposal")
        except CommandError as refusal:
            self._note(error_line(refusal))
            return False
        if not edit:
            self._note(_("Nothing was changed."))
            return False
        return self._decide("confirmed", item, edit=edit)

    def _confirm_all(self, _item: PendingItemJson) -> bool:
        rest = self._review.open_of_task()
        ids = short_ids_of(rest, "item_id")
        for item in rest:
            write_lines(item_lines(item, ids[item["item_id"]], self._display))
        count = len(rest)
        asks = ngettext("Confirm this {count}? [y,n] ", "Confirm these {count}? [y,n] ", count)
        if not self._ask_yes_no(asks.format(count=count)):
            return False
        for fields in self._send("confirmed", rest):
            if fields.get("result") in _GOOD:
                self._review.decide(str(fields.get("item_id")), "confirmed")
        self._go_on()
        return True

    def _take_back(self, _item: PendingItemJson) -> bool:
        last = self._review.last_decided
        if last is None:
            self._note(_("Nothing was decided in this review yet."))
            return False
        if any(fields.get("result") in _GOOD for fields in self._send("reopened", [last])):
            self._review.undo_last()
            return True
        return False

    # -- decisions ------------------------------------------------------------------------------------

    def _decide(
        self, verdict: str, item: PendingItemJson, *, place: PendingItemJson | None = None, **more: Any
    ) -> bool:
        """Decide on an item; `place` is the one at which the review is, if it shows a question for it."""
        for fields in self._send(verdict, [item], **more):
            if fields.get("can_force") and not more.get("force"):
                if self._ask_yes_no(_("Apply it all the same? [y,n] ")):
                    return self._decide(verdict, item, place=place, **more, force=True)
            elif fields.get("result") in _GOOD:
                self._review.decide((place or item)["item_id"], verdict)
        self._go_on()
        return True

    def _go_on(self) -> None:
        """Go to the next open item if this one is decided."""
        if self._review.current["item_id"] in self._review.decided:
            self._review.go_forward()

    def _send(self, verdict: str, items: Sequence[PendingItemJson], **more: Any) -> list[dict[str, Any]]:
        """Send a verdict on the items shown and return the results; none if the daemon refused it."""
        hashes = {item["item_id"]: item["args_hash"] for item in items if item.get("args_hash")}
        keys = {"verdict": verdict, "items": [item["item_id"] for item in items], "via": "cli", **more}
        try:
            answer = client.post(
                "/v1/decisions", keys | ({"args_hashes": hashes} if hashes else {}), DECISION_TIMEOUT_S
            )
        except CommandError as refusal:
            if refusal.code in _FATAL:
                raise
            self._note(error_line(refusal))
            return []
        except KeyboardInterrupt:
            self._note(_("placet decisions shows whether the last decision was taken"))
            raise
        write_lines(result_lines(answer.json, self._display))
        decisions: list[dict[str, Any]] = answer.json
        return decisions

    def _ask_yes_no(self, question: str) -> bool:
        """Ask a question and return whether the answer is y; keys that were typed before it do not count."""
        self._keys.discard_pending()
        return self._keys.read_key(question).lower() == "y"


def _items_of_task(task: str) -> client.ApiAnswer:
    """Return what waits on a task, by its id; nothing if it was removed, or nothing waits there."""
    try:
        return client.get(_PENDING, {"task": task})
    except CommandError as refusal:
        if refusal.exit_status != EXIT_NOT_FOUND:
            raise
        return client.ApiAnswer([], "")


def _task(ref: str) -> TaskJson | None:
    """Return the task that an item is about; None if it was removed."""
    task: TaskJson | None = client.find(f"/v1/tasks/{percent_encode(ref)}")
    return task
