"""The `rules` model on notes that nobody wrote by hand: it stays quick, and keeps nothing.

Never measures a machine: time is counted in how much longer twice as much takes.
"""

import time
from dataclasses import replace

import pytest

from daemon.agents.models.interface import ChecklistItemView, LabelView, RunContext
from daemon.agents.models.rules import Rules, proposed
from daemon.agents.models.segments import NOTE_CHARS_MAX
from tests.daemon.agents.models.said import context

SECONDS_MAX = 4.0  # a hundred times what it takes where it is linear, on a machine that does other things too
ITEMS = tuple(
    ChecklistItemView(f"{at:032x}", f"Write chapter {at} of the handbook", False, False, "user", None)
    for at in range(300)
)
LABELS = tuple(LabelView(f"{at:032x}", f"Label number {at}") for at in range(200))
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
    "a-",
    "[ ] ",
    "```\n",
    'rename it to "',
    "label number 1 ",
    "- item number one of the list\n",
    "- [x] write chapter 1 of the handbook\n",
    "due by friday; takes about 2 hours, blocked by bob and done with chapter 1 of the handbook! ",
)


def hostile(piece: str, chars: int = 128 * 1024, language: str | None = None) -> RunContext:
    told = context((piece * (chars // len(piece) + 1))[:chars], items=ITEMS, language=language)
    return replace(told, labels=LABELS)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_note_is_read_in_bounded_time(piece: str) -> None:
    for language in ("en", "de"):
        begun = time.perf_counter()
        calls = proposed(hostile(piece, language=language))
        assert time.perf_counter() - begun < SECONDS_MAX
        assert len(calls) <= 10


async def test_many_long_notes_are_read_in_bounded_time_and_beside_the_event_loop() -> None:
    text = "Talked about the handbook, it is due by Friday and takes about 2 hours.\n" * 2000
    begun = time.perf_counter()
    turn = await Rules().turn(context(*[text] * 200))
    assert time.perf_counter() - begun < 5 * SECONDS_MAX
    assert {"update_task_due_date", "update_task_estimate"} <= {call.name for call in turn.calls}


def test_what_stands_beyond_the_bound_of_a_note_is_not_read() -> None:
    assert proposed(context("x " * (NOTE_CHARS_MAX // 2) + "\ndue 2026-12-01", language="en")) == []


def test_reading_keeps_nothing_between_notes() -> None:
    note = "due by friday, blocked by Bob\n- buy milk"
    once = proposed(context(note))
    for piece in HOSTILE[:6]:
        proposed(hostile(piece, 2000))
    assert proposed(context(note)) == once
