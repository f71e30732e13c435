"""The line that says what a change did."""

from typing import Any

import pytest

from daemon.words.deeds import deed_words


def row(field: str, after: Any, before: Any = None, **more: Any) -> Any:
    return {
        "entity": "a" * 32,
        "kind": "task",
        "title": "Call Ana",
        "field": field,
        "before": before,
        "after": after,
    } | more


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([row("status", "DONE", "OPEN")], "Done: Call Ana"),
        ([row("status", "OPEN", "DONE")], "Changed: Call Ana · status: open"),
        ([row("due", "2026-03-05")], "Changed: Call Ana · due: Thu 5 Mar 2026"),
        ([row("due", "x"), row("status", "y"), row("priority", "z")], "Changed: Call Ana"),
        ([row("title", "Call Ana"), row("status", "DONE")], "Added: Call Ana"),
        ([row("title", "Call Ana", "Call Bea")], "Changed: Call Ana"),
        ([row("deleted", True)], "Removed: Call Ana"),
        ([row("deleted", False, True)], "Brought back: Call Ana"),
        ([row("is_checked", True, False, kind="checklist_item")], "Ticked: Call Ana"),
        ([row("is_checked", False, True, kind="checklist_item")], "Tick taken back: Call Ana"),
        ([row("position", "b", "a", kind="checklist_item")], "Moved: Call Ana"),
        ([row("due", "x"), row("name", "home", entity="b" * 32, kind="label")], "Changed: Call Ana · due: x"),
        ([row("name", "home", entity="b" * 32, kind="label", title="home")], "Added: home"),
        ([row("due", "x"), row("due", "x", entity="b" * 32)], "Changed: 2 things"),
        ([], "Changed"),
    ],
)
def test_a_line_says_what_was_done_to_what(changes: list[Any], words: str) -> None:
    assert deed_words(changes) == words


def test_an_undo_is_called_one() -> None:
    assert deed_words([row("due", None, "x")], is_undo=True) == "Undone: Call Ana"
    assert deed_words([row("due", "x"), row("due", "x", entity="b" * 32)], is_undo=True) == "Undone: 2 things"


def test_a_title_of_any_length_stays_a_line() -> None:
    assert len(deed_words([row("deleted", True, title="x" * 10_000)])) < 100
