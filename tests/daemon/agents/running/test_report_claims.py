"""A report that contradicts its task: what is left out, what is moved, and what stays.

Never needs a store, but for the runs at the end.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.models.rules.note_reader import read_note
from daemon.agents.running import report_claims
from daemon.agents.running.report_claims import without_contradictions
from daemon.agents.tools.model_interface import ChecklistItemView, EntryView, RunContext
from syncproto.ids import EntityId
from tests.daemon.agents.models.openai.connected_model import CONTEXT, NOW
from tests.support.fleet import Home
from tests.support.scripted_runs import all_of, ran, reports, says

ITEMS = (
    ChecklistItemView("a" * 32, "Book the room", True, False, "user", None),
    ChecklistItemView("b" * 32, "Order the cake", False, False, "user", None),
)
TASK = replace(CONTEXT.task, items=ITEMS, estimate_minutes=60, due="2026-03-20")


def context(language: str = "en", *notes: str) -> RunContext:
    entries = tuple(EntryView(f"{number:032x}", text, NOW, "user") for number, text in enumerate(notes))
    return replace(
        CONTEXT,
        task=replace(TASK, language=language),
        writing_language=language,
        new_entries=entries,
        entries=entries,
    )


def summary(text: str, run_context: RunContext | None = None) -> str:
    return str(without_contradictions({"tldr": text}, run_context or context())["tldr"])


@pytest.mark.parametrize(
    "claim",
    [
        "The task is done.",
        "Status: DONE.",
        "It is BLOCKED now.",
        "It has priority P0.",
        "It is due on 27 March 2026.",
        "It takes 3 hours.",
        "All 2 of 2 items are ticked.",
        "La tâche est terminée.",
        "Die Aufgabe ist bereits erledigt.",
        "La tarea está hecha.",
        "Sarcina este gata.",
    ],
)
def test_a_sentence_that_contradicts_the_task_is_left_out(claim: str):
    assert (
        summary(f"The room is booked. {claim} The cake is next.") == "The room is booked. The cake is next."
    )


@pytest.mark.parametrize(
    "text",
    [
        "The task is not done.",
        "Once the task is done, tell Paul.",
        "The task is OPEN, with priority P2.",
        "It is due on 20 March 2026, and takes 60 minutes.",
        "1 of 2 items is ticked.",
        "Die Aufgabe ist noch nicht erledigt.",
        "Room 3.14 is booked, e.g. for Mia.",
        "",
    ],
)
def test_what_the_task_says_too_stays(text: str):
    assert summary(text) == text


def test_what_a_note_states_is_no_contradiction():
    asking = context("en", "It must be done by 27 March 2026. It takes 3 hours. This is urgent!")
    text = "The note asks for P1. It is due on 27 March 2026. It takes 3 hours."
    assert summary(text, asking) == text


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "open"), ("de", "offen"), ("es", "abierta"), ("fr", "ouverte"), ("ro", "deschisă")],
)
def test_a_summary_of_which_nothing_is_left_is_written_by_code(language: str, words: str):
    text = summary("The task is done.", context(language))
    assert text.startswith(f"{words}, P2")


def test_each_item_stands_where_the_checklist_has_it():
    report = {
        "tldr": "x",
        "achieved": ["order the CAKE", "Found a band"],
        "remaining": ["Book the room", "Dance"],
    }
    corrected = without_contradictions(report, context())
    assert corrected["achieved"] == ["Found a band", "Book the room"]
    assert corrected["remaining"] == ["Dance", "order the CAKE"]


@given(st.text(max_size=200), st.lists(st.text(max_size=30), max_size=4))
def test_a_correction_adds_nothing_to_what_the_model_wrote_and_is_final(text: str, lines: list[str]):
    report: dict[str, Any] = {"tldr": text, "achieved": lines, "remaining": lines}
    once = without_contradictions(report, context())
    assert without_contradictions(once, context()) == once
    assert set(once["achieved"] + once["remaining"]) <= set(lines)
    assert once["tldr"].startswith("open, P2") or set(once["tldr"].split()) <= set(text.split())


# -- runs ---------------------------------------------------------------------------------------------


def stored_report(home: Home, agent: EntityId) -> dict[str, Any]:
    del agent
    content = all_of(home, "report")[-1].value("content")
    assert isinstance(content, dict)
    return content


async def test_a_run_stores_the_report_without_what_contradicts_its_task_and_doubts_it(
    a: Home, task: EntityId, agent: EntityId
):
    await ran(a, agent, says(reports("The task is done. Half of it is written.")))
    (report,) = all_of(a, "report")
    assert stored_report(a, agent)["tldr"] == "Half of it is written."
    assert report.value("confidence") == "low"


async def test_a_report_in_another_language_is_asked_for_again_once_and_kept_if_none_comes(
    a: Home, task: EntityId, agent: EntityId
):
    a.set(task, language="de")
    english = "Nothing has been done with the report yet, and it is still waiting for the author."
    german = "Der Bericht ist noch nicht fertig, und es fehlen die Zahlen für das letzte Jahr."
    await ran(a, agent, says(reports(english)), says(reports(german)))
    assert stored_report(a, agent)["tldr"] == german
    await ran(a, agent, says(reports(english)), says(), key="two")
    confidences = {
        content["tldr"]: report.value("confidence")
        for report in all_of(a, "report")
        if isinstance(content := report.value("content"), dict)
    }
    assert confidences == {german: "high", english: "low"}


def test_the_end_of_a_run_reads_no_more_of_the_notes_than_a_bound(monkeypatch: pytest.MonkeyPatch):
    lengths: list[int] = []

    def counts(text: str, *others: Any) -> Any:
        lengths.append(len(text))
        return read_note(text, *others)

    monkeypatch.setattr(report_claims, "read_note", counts)
    summary("Half done.", context("en", *["word " * 20_000] * 50))
    assert sum(lengths) <= report_claims.NOTES_READ_MAX * report_claims.NOTE_CHARS_MAX + 100
