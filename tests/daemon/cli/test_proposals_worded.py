"""Proposals and the history in the language of whoever reads them.

Never judges a translation by its meaning.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from daemon.agents import wording
from daemon.cli import words
from daemon.cli.look import Look
from daemon.cli.proposals import summary
from daemon.cli.text import cells
from daemon.cli.views.history import change_list
from daemon.cli.when import moment_s
from tests.daemon.cli import examples

_PROPOSED: list[tuple[str, dict[str, Any]]] = [
    ("set_task_title", {"title": "Call {her} back"}),
    ("update_task_estimate", {"minutes": 90}),
    ("update_task_due_date", {"dueDate": "2026-03-20"}),
    ("update_task_priority", {"priority": "P1"}),
    ("add_checklist_item", {"title": "Photos", "isChecked": True}),
    ("add_checklist_item", {"title": "Photos", "isChecked": False}),
]


@pytest.fixture
def speak() -> Iterator[Callable[[str], None]]:
    yield words.speak
    words.speak("en")


@pytest.mark.parametrize(("tool", "args"), _PROPOSED)
def test_a_proposal_is_worded_here_as_the_daemon_words_it(tool: str, args: dict[str, Any]):
    assert summary({"tool": tool, "args": args}) == wording.summary(tool, args)


@pytest.mark.parametrize(("tool", "args"), _PROPOSED)
def test_a_proposal_is_worded_in_the_language_of_the_reader(
    tool: str, args: dict[str, Any], speak: Callable[[str], None]
):
    speak("de")
    said = summary({"tool": tool, "args": args, "summary": "in English"})
    assert said not in ("in English", wording.summary(tool, args))
    assert all(str(value) in said for value in args.values() if not isinstance(value, bool))


@pytest.mark.parametrize(
    ("tool", "args"),
    [("paint_it", {"color": "red"}), ("set_task_title", {}), ("update_task_estimate", {"minutes": "many"})],
)
def test_a_proposal_that_is_not_known_here_is_told_as_it_came(
    tool: str, args: dict[str, Any], speak: Callable[[str], None]
):
    speak("fr")
    assert summary({"tool": tool, "args": args, "summary": "Paint it red"}) == "Paint it red"
    assert summary({"tool": tool, "args": args}) == tool


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ro"])
def test_what_changed_stands_beneath_who_changed_it_however_long_the_time_is(
    language: str, speak: Callable[[str], None]
):
    speak(language)
    now_s = moment_s(examples.CHANGE["at"])
    assert now_s is not None
    for later_s in (0, 5 * 60, 86_400, 6 * 86_400, 400 * 86_400):
        changes: Any = [examples.CHANGE]
        heading, *fields = change_list(changes, Look(width=80, now_s=now_s + later_s))
        assert cells(heading) <= 80
        place = len(fields[0]) - len(fields[0].lstrip())
        assert heading[place - 2 : place] == "  "
        assert heading[place] != " "
