"""Calls that notes refute: they are refused in words, stand so in the run's log, and nothing else is refused.

Never asks a model: a script makes the calls.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from daemon.agents.running import refuted_calls
from daemon.agents.running.refuted_calls import refutation_by_notes
from daemon.agents.tools.model_interface import ChecklistItemView, EntryView, RunContext, TaskView
from daemon.journal import entries
from syncproto.ids import id_to_text
from tests.support.decision_verbs import waiting
from tests.support.fleet import Fleet
from tests.support.scripted_runs import Script, messages_of, new_agent, reports, run_script, says

MONDAY = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
ITEM = ChecklistItemView("a" * 32, "Sort the cellar", False, False, "user", None)
DUE, ESTIMATE, PRIORITY = "update_task_due_date", "update_task_estimate", "update_task_priority"
ADD, TICK = "add_checklist_item", "update_checklist_item"


def context_of(*texts: str, old: tuple[str, ...] = (), language: str = "en", **more: Any) -> RunContext:
    """Return what a run sees: notes of which `texts` are new, each an hour after the one before."""
    notes = tuple(
        EntryView(f"{number:032x}", text, MONDAY + timedelta(hours=number - len(old)), "user")
        for number, text in enumerate((*old, *texts))
    )
    task = TaskView("t", "Spring cleaning", "OPEN", "P2", None, None, language, (ITEM,))
    return RunContext(
        run_key="run",
        now=MONDAY + timedelta(hours=9),
        report=None,
        task=task,
        new_entries=notes[len(old) :],
        entries=notes,
        decisions=(),
        writing_language=language,
        **more,
    )


def objection(context: RunContext, tool: str, **args: Any) -> str | None:
    return refutation_by_notes(context)(tool, args)


@pytest.mark.parametrize(
    ("note", "tool", "args", "reason"),
    [
        ("It must be done by Friday.", DUE, {"dueDate": "2026-03-20"}, "a note says 2026-03-13"),
        ("It takes 90 minutes.", ESTIMATE, {"minutes": 540}, "a note says 90"),
        ("We talked about it at length.", ESTIMATE, {"minutes": 30}, "no note has"),
        ("We talked about it at length.", DUE, {"dueDate": "2026-03-20"}, "no note has"),
        ("It was fun on Sunday.", DUE, {"dueDate": "2025-03-20"}, "past"),
        ("Priority: P1", PRIORITY, {"priority": "P3"}, "a note says P1"),
        ("Half the cellar is sorted.", TICK, {"id": ITEM.id, "isChecked": True}, "not done"),
        ("Looked at the fence for a while.", ADD, {"title": "Look at the fence"}, "happened"),
    ],
)
def test_what_a_note_refutes_is_refused_with_the_reason(
    note: str, tool: str, args: dict[str, Any], reason: str
):
    assert reason in str(objection(context_of(note), tool, **args))


@pytest.mark.parametrize(
    ("note", "language", "title"),
    [
        ("He regado un rato y he quitado malas hierbas.", "es", "Regado un rato"),
        ("J'ai relevé le compteur ce matin.", "fr", "Relevé le compteur"),
        ("Am plimbat câinele azi.", "ro", "Plimbat câinele"),
    ],
)
def test_a_participle_behind_its_auxiliary_is_nothing_to_do(note: str, language: str, title: str):
    assert "happened" in str(objection(context_of(note, language=language), ADD, title=title))


@pytest.mark.parametrize(
    ("note", "tool", "args"),
    [
        ("It must be done by Friday.", DUE, {"dueDate": "2026-03-13"}),
        ("The flight is on 27 March 2026.", DUE, {"dueDate": "2026-03-25"}),
        ("Maybe in April, or some time after.", DUE, {"dueDate": "2026-04-01"}),
        ("It takes half a day.", ESTIMATE, {"minutes": 240}),
        ("This is urgent!", PRIORITY, {"priority": "P0"}),
        ("The cellar is sorted.", TICK, {"id": ITEM.id, "isChecked": True}),
        ("All of it is done.", TICK, {"id": ITEM.id, "isChecked": True}),
        ("I have to look at the fence.", ADD, {"title": "Look at the fence"}),
        ("Looked at the fence.", ADD, {"title": "Look at the fence", "isChecked": True}),
        ("I have used tyres to sell.", ADD, {"title": "Sell the used tyres"}),
    ],
)
def test_what_a_note_says_or_may_say_is_not_refused(note: str, tool: str, args: dict[str, Any]):
    assert objection(context_of(note), tool, **args) is None


def test_an_older_note_refutes_nothing_that_a_newer_one_may_have_put_right():
    moved = context_of("We got one more week.", old=("It must be done by Friday.",))
    assert objection(moved, DUE, dueDate="2026-03-20") is None
    quiet = context_of("It must be done by Friday.", old=("It must be done by 20 March.",))
    assert "a note says 2026-03-13" in str(objection(quiet, DUE, dueDate="2026-03-16"))


def test_silence_refutes_nothing_if_a_person_asked_or_code_does_not_know_the_language():
    context = context_of("Choose a good day for it.")
    wish = replace(context.new_entries[0], is_wish=True)
    context = replace(context, new_entries=(wish,), entries=())
    assert objection(context, DUE, dueDate="2026-03-20") is None
    assert objection(context_of("明日までに。", language="ja"), DUE, dueDate="2026-03-20") is None


def test_beyond_the_bound_no_item_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(refuted_calls, "ITEM_CHARS_MAX", 100)
    refute = refutation_by_notes(context_of("Looked at the fence. Half the cellar is sorted."))
    call = (ADD, {"title": "Look at the fence"})
    assert [refute(*call) is not None for _ in range(4)] == [True, True, False, False]
    assert refute(TICK, {"id": ITEM.id, "isChecked": True}) is None


async def test_the_log_of_the_run_says_what_was_refused_and_why(fleet: Fleet):
    home = fleet.home("a")
    task = home.new("task", title="Spring cleaning", status="OPEN", priority="P2")
    agent = new_agent(home, task)
    note = entries.NewEntry(text="It takes 90 minutes, and must be done by 20 March 2027.")
    home.write(lambda tx: entries.add(tx, id_to_text(task), note))
    calls = ((ESTIMATE, {"minutes": 540}), (DUE, {"dueDate": "2027-03-20"}))
    await run_script(home, agent, Script([says(*calls, reports())]))
    (proposed,) = waiting(home, task)
    assert proposed.tool == DUE
    logged = "\n".join(str(message.value("text")) for message in messages_of(home, agent))
    assert "a note says 90" in logged
