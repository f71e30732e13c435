"""The `rules` model on notes that nobody wrote by hand: it stays quick, and keeps nothing.

Never measures a machine: time is measured by how much longer eight times as much takes.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from daemon.agents.models.rules import embedded_model
from daemon.agents.models.rules.clauses import NOTE_CHARS_MAX
from daemon.agents.models.rules.embedded_model import RulesModel, RunReading, proposed_calls, read_run
from daemon.agents.tools.model_interface import ChecklistItemView, LabelView, RunContext
from tests.daemon.agents.models.rules.sample_notes import context
from tests.support.growth import GROWTH, assert_linear

ITEMS = tuple(
    ChecklistItemView(f"{index:032x}", f"Write chapter {index} of the handbook", False, False, "user", None)
    for index in range(300)
)
LABELS = tuple(LabelView(f"{index:032x}", f"Label number {index}") for index in range(200))
HOSTILE = (
    "x",
    "- ",
    "due ",
    "by 1 ",
    "(",
    '"',
    "“a",
    "„",
    "1",
    ".",
    ". ",
    "." * 30_000 + "x",
    "todo" + " " * 30_000 + "x",
    " ",
    "\n",
    "#",
    "✓",
    "✓ handbook ",
    "a\u0301",
    "İ",
    "about 1 ",
    "takes about about about ",
    "takes  ",
    "~ ",
    "priority : ",
    "todo: ",
    "todo: a, ",
    "done: chapter handbook, ",
    "within within the next ",
    "arbeite x y ",
    "l'",
    "i have to ",
    "i have to buy a, ",
    "ich muss den, ",
    "i still also really just ",
    "deadline moved to ",
    "deadline moved from monday to friday ",
    "Tom: ",
    "Tom Tom Tom Tom ",
    "[09:14] Tom: ",
    "a-",
    "[ ] ",
    "```\n",
    'rename it to "',
    "label number 1 ",
    "- [x] write chapter 1 of the handbook\n",
)
HOSTILE_SENTENCES = (
    "I have to buy a and b and Tom buys c. ",
    "Tom: we need to call x\n",
    "- item number one of the list\n",
    "steps to reproduce\n- ",
    "due by friday; takes about 2 hours, blocked by bob and done with chapter 1 of the handbook! ",
)
"""What takes long to read, in proportion: a quarter of the longest note tells as much."""


def hostile(piece: str, chars: int, language: str | None = None) -> RunContext:
    reported_context = context((piece * (chars // len(piece) + 1))[:chars], items=ITEMS, language=language)
    return replace(reported_context, labels=LABELS)


def assert_read_in_proportion(piece: str, language: str, *sizes: int) -> None:
    calls = []

    def reading(chars: int) -> Callable[[], object]:
        note = hostile(piece, chars, language)
        return lambda: calls.append(len(proposed_calls(note)))

    for size in sizes:
        assert_linear(reading, size)
    assert max(calls) <= 10


def test_a_hostile_note_of_eight_times_the_length_is_read_in_about_eight_times_the_time(
    subtests: pytest.Subtests,
) -> None:
    whole, beyond_it, part = NOTE_CHARS_MAX // GROWTH, NOTE_CHARS_MAX // 2, NOTE_CHARS_MAX // (4 * GROWTH)
    for language, piece in product(("en", "de"), HOSTILE):
        with subtests.test(f"{language}: {piece[:40]!r}"):
            assert_read_in_proportion(piece, language, whole, beyond_it)
    for language, piece in product(("en", "de"), HOSTILE_SENTENCES):
        with subtests.test(f"{language}: {piece[:40]!r}"):
            assert_read_in_proportion(piece, language, part)


async def test_many_long_notes_are_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Talked about the handbook, it is due by Friday and takes about 2 hours.\n" * 2000
    readers: list[threading.Thread] = []

    def read_in_thread(run: RunContext, language: str) -> RunReading:
        readers.append(threading.current_thread())
        return read_run(run, language)

    monkeypatch.setattr(embedded_model, "read_run", read_in_thread)
    turn = await RulesModel().turn(context(*[text] * 200))
    assert len(readers) == 1
    assert threading.current_thread() not in readers
    assert {"update_task_due_date", "update_task_estimate"} <= {call.name for call in turn.calls}


def test_what_stands_beyond_the_bound_of_a_note_is_not_read() -> None:
    assert proposed_calls(context("x " * (NOTE_CHARS_MAX // 2) + "\ndue 2026-12-01", language="en")) == []


def test_reading_keeps_nothing_between_notes() -> None:
    note = "due by friday, blocked by Bob\n- buy milk"
    once = proposed_calls(context(note))
    for piece in HOSTILE[:6]:
        proposed_calls(hostile(piece, 2000))
    assert proposed_calls(context(note)) == once
