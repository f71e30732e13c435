"""Proposals and the history in the language of whoever reads them.

Never judges a translation by its meaning.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from daemon.agents.tools import summaries
from daemon.cli.terminal.display import Display
from daemon.cli.views.journal.agent_words import agent_quote_lines
from daemon.cli.views.journal.history import change_list
from daemon.words import translation
from daemon.words.dates import full_day_words, parse_time_s
from daemon.words.proposals import summary_words
from daemon.words.sentences import sentence_words
from daemon.words.terminal_text import display_width
from store.sentence import json_params
from tests.daemon.cli import examples
from tests.daemon.cli.examples import OTHER

_PROPOSED: list[tuple[str, dict[str, Any]]] = [
    ("set_task_title", {"title": "Call {her} back"}),
    ("update_task_estimate", {"minutes": 90}),
    ("update_task_due_date", {"dueDate": "2026-03-20"}),
    ("update_task_priority", {"priority": "P1"}),
    ("add_checklist_item", {"title": "Photos", "isChecked": True}),
    ("add_checklist_item", {"title": "Photos", "isChecked": False}),
    ("add_task", {"title": "Call {her} back"}),
    ("add_task", {"title": "Call Ana", "dueDate": "2026-03-20", "priority": "P1", "minutes": 20}),
    ("set_task_status", {"status": "IN PROGRESS"}),
    ("set_task_status", {"status": "BLOCKED", "reason": "no key yet"}),
    ("set_task_language", {"languageCode": "pt-BR", "confidence": "high"}),
    ("assign_task_label", {"id": OTHER, "confidence": "high"}),
    ("update_checklist_item", {"id": OTHER, "isChecked": True}),
    ("update_checklist_item", {"id": OTHER, "isChecked": False, "isArchived": False}),
    ("update_checklist_item", {"id": OTHER, "title": "Two photos", "isArchived": True}),
]
_NAME = "The form"
_NOT_SAID = ("id", "confidence")
"""Arguments that a summary does not show."""


@pytest.fixture
def speak() -> Iterator[Callable[[str], None]]:
    yield translation.use_language
    translation.use_language("en")


def answered(tool: str, args: dict[str, Any]) -> str:
    """Return what a person reads in the answer to a confirmation."""
    proposal = summaries.proposal_sentence(tool, args, _NAME)
    return sentence_words({"id": proposal.id, "params": json_params(proposal)}, proposal.text)


@pytest.mark.parametrize(("tool", "args"), _PROPOSED)
def test_a_proposal_is_worded_here_as_the_daemon_words_it(tool: str, args: dict[str, Any]):
    summary = summary_words({"tool": tool, "args": args, "subject": _NAME})
    # Statuses are written in capitals in the journal, and as other words where people read them.
    worded = summaries.proposal_summary(tool, args, _NAME)
    # A day is one of the week for people, and never to be taken for another.
    if "dueDate" in args:
        worded = worded.replace(args["dueDate"], full_day_words(args["dueDate"], None).words)
    assert summary.casefold() == worded.casefold()
    assert answered(tool, args) == summary


@pytest.mark.parametrize(("tool", "args"), _PROPOSED)
def test_a_proposal_is_worded_in_the_language_of_the_reader(
    tool: str, args: dict[str, Any], speak: Callable[[str], None]
):
    speak("de")
    summary = summary_words({"tool": tool, "args": args, "subject": _NAME, "summary": "in English"})
    assert summary not in ("in English", summaries.proposal_summary(tool, args, _NAME))
    assert "id" not in args or _NAME in summary
    report = {name: value for name, value in args.items() if isinstance(value, str) and name not in _NOT_SAID}
    assert all(value in summary for name, value in report.items() if name not in ("status", "dueDate"))
    assert answered(tool, args) == summary


def test_an_item_or_label_of_which_nobody_told_the_name_goes_by_its_id():
    assert (
        summary_words({"tool": "assign_task_label", "args": {"id": OTHER}}) == f'Assign label: "{OTHER[:8]}"'
    )


@pytest.mark.parametrize(
    ("tool", "args"),
    [("paint_it", {"color": "red"}), ("set_task_title", {}), ("update_task_estimate", {"minutes": "many"})],
)
def test_a_proposal_that_is_not_known_here_is_told_as_it_came(
    tool: str, args: dict[str, Any], speak: Callable[[str], None]
):
    speak("fr")
    assert summary_words({"tool": tool, "args": args, "summary": "Paint it red"}) == "Paint it red"
    assert summary_words({"tool": tool, "args": args}) == tool


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ro"])
def test_what_changed_stands_beneath_who_changed_it_however_long_the_time_is(
    language: str, speak: Callable[[str], None]
):
    speak(language)
    now_s = parse_time_s(examples.CHANGE["at"])
    assert now_s is not None
    for later_s in (0, 5 * 60, 86_400, 6 * 86_400, 400 * 86_400):
        changes: Any = [examples.CHANGE]
        heading, *fields = change_list(changes, Display(width=80, now_s=now_s + later_s))
        assert display_width(heading) <= 80
        place = len(fields[0]) - len(fields[0].lstrip())
        assert heading[place - 2 : place] == "  "
        assert heading[place] != " "


@pytest.mark.parametrize("text", ["“two”", "La nota dice: «dos»", "Die Notiz sagt: „zwei“", "Notița: „doi”"])
def test_words_with_quotation_marks_of_any_language_get_no_second_ones(text: str):
    assert list(agent_quote_lines(text, 80, Display())) == [f"the agent says: {text}"]
    assert list(agent_quote_lines("two", 80, Display())) == ["the agent says: “two”"]
