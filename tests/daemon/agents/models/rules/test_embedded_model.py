"""What the `rules` model calls for what it reads: fields, states, ticks, labels, the language, its report.

Never needs a store; every note is read on the same Wednesday.
"""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from daemon.agents.models.rules.checklist_calls import NEW_ITEMS_MAX
from daemon.agents.models.rules.embedded_model import RulesModel, proposed_calls
from daemon.agents.models.rules.language_choice import note_table
from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.agents.models.rules.report import build_report
from daemon.agents.tools.model_interface import (
    ChecklistItemView,
    DecisionView,
    LabelView,
    ToolCall,
    ToolExchange,
)
from daemon.agents.tools.table import (
    TOOLS,
    batch_elements,
    split_evidence,
    split_rationale,
    validate_arguments,
)
from syncproto.codec import Value
from tests.daemon.agents.models.rules.accuracy import LANGUAGES, corpus
from tests.daemon.agents.models.rules.sample_notes import WEDNESDAY, context, note_id


def test_the_latest_note_has_the_last_word_on_a_field() -> None:
    calls = proposed_calls(context("due 2026-12-01", "due 2026-12-02"))
    assert [(call.name, call.arguments) for call in calls] == [
        (
            "update_task_due_date",
            {
                "dueDate": "2026-12-02",
                "rationale": "The note says: “due 2026-12-02”",
                "evidenceIds": [note_id(1)],
            },
        )
    ]


def test_items_like_those_that_are_there_are_left_out_unless_a_number_differs() -> None:
    checklist_item_view = ChecklistItemView("i", "Book the flight 1", False, False, "user", None)
    (call,) = proposed_calls(
        context("- book the flights 1\n- Book the flight 2\n- pay", items=(checklist_item_view,))
    )
    assert isinstance(call.arguments, dict)
    titles = [item["title"] for item in call.arguments["items"]]
    assert titles == ["Book the flight 2", "pay"]


def test_more_items_than_a_call_takes_are_several_calls() -> None:
    calls = proposed_calls(context("\n".join(f"- item number {index}" for index in range(45))))
    assert [len(call.arguments["items"]) for call in calls if isinstance(call.arguments, dict)] == [20, 20, 5]


def test_no_more_items_are_added_than_a_run_may_queue() -> None:
    calls = proposed_calls(context("\n".join(f"- item number {index}" for index in range(1000))))
    assert (
        sum(len(call.arguments["items"]) for call in calls if isinstance(call.arguments, dict))
        == NEW_ITEMS_MAX
    )


async def test_a_turn_ends_with_the_report_and_the_next_has_nothing_to_add() -> None:
    turn = await RulesModel().turn(context("about 2 hours"))
    assert [call.name for call in turn.calls] == ["update_task_estimate", "update_report"]
    answered = replace(context(), tool_exchanges=(ToolExchange(ToolCall("x", {}), "y"),))
    assert (await RulesModel().turn(answered)).calls == ()


def test_the_report_tells_what_is_done_what_is_left_and_what_was_turned_down() -> None:
    items = (
        ChecklistItemView("1", "Write", True, False, "user", 0),
        ChecklistItemView("2", "Test", False, False, "user", 0),
    )
    rejected = DecisionView("update_task_estimate", {"minutes": 90}, "rejected", "I know better")
    report = build_report(
        replace(context(items=items, due="2026-12-01"), decisions=(rejected,)), cue_tables()["en"].wording
    )
    assert validate_arguments("update_report", report)
    assert (report["achieved"], report["remaining"]) == (["Write"], ["Test"])
    assert report["tldr"] == "open, P2; checklist 1/2; due 2026-12-01; about 60 min."
    assert report["learnings"] == ["Rejected: estimate 90 (I know better)"]


def test_what_was_turned_down_is_told_in_words_once_and_not_after_the_person_thought_better_of_it() -> None:
    def learnings(*decisions: DecisionView, language: str = "en") -> object:
        return build_report(replace(context(), decisions=decisions), cue_tables()[language].wording)[
            "learnings"
        ]

    minutes: dict[str, Value] = {"minutes": 90}
    label: dict[str, Value] = {"id": "cb0b971e", "confidence": "high"}
    early = DecisionView("update_task_estimate", minutes, "rejected", "")
    late = DecisionView("update_task_estimate", minutes, "rejected", "too much")
    assert learnings(early, late) == ["Rejected: estimate 90 (too much)"]
    for verdict in ("reopened", "confirmed"):
        assert learnings(late, DecisionView("update_task_estimate", minutes, verdict, "")) == []
    decision = DecisionView("assign_task_label", label, "rejected", "", subject_name="urgent")
    assert learnings(decision, language="de") == ["Abgelehnt: Etikett urgent"]
    ticked = DecisionView(
        "update_checklist_item", {"id": "9c1e", "isChecked": True}, "rejected", "", subject_name="Photos"
    )
    assert learnings(ticked, language="fr") == ["Refusé : point Photos, ✓"]


@pytest.mark.parametrize("language", sorted(cue_tables()))
def test_a_summary_ends_with_one_period(language: str) -> None:
    tldr = build_report(context(), cue_tables()[language].wording)["tldr"]
    assert tldr.endswith(".")
    assert not tldr.endswith("..")


def test_importing_the_model_does_not_load_rapidfuzz() -> None:
    program = (
        "import sys, daemon.agents.models.rules.embedded_model, daemon.agents.running.scheduler;"
        "print([name for name in ('rapidfuzz',) if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_note_is_read_in_its_own_language_whatever_the_tasks_is() -> None:
    note = "Das muss bis morgen fertig sein, der Kunde hat schon gefragt."
    for language in (None, "en", "de"):
        (call,) = [
            proposed_call
            for proposed_call in proposed_calls(context(note, language=language))
            if "due" in proposed_call.name
        ]
        assert call.arguments == {
            "dueDate": "2026-11-19",
            "rationale": f"Die Notiz sagt: „{note}“",
            "evidenceIds": [note_id(0)],
        }


def test_a_short_note_is_read_in_the_language_of_what_stands_around_it() -> None:
    title = "Die Küche streichen und den Boden legen"
    (call,) = proposed_calls(context("bis Freitag", title=title))
    assert call.name == "update_task_due_date"


def test_a_note_in_two_languages_is_read_in_both_and_denied_in_both() -> None:
    called = ChecklistItemView("a" * 32, "Vermieter anrufen", False, False, "user", None)
    task = {"items": (called,), "language": "de"}
    note = "Vermieter angerufen. We have to be out by Friday and it is not urgent."
    calls = proposed_calls(context(note, **task))
    assert [call.name for call in calls] == ["update_task_due_date", "update_checklist_items"]


def test_a_language_is_set_only_where_the_task_has_none_and_the_notes_are_plainly_in_one() -> None:
    german = "Das ist eine Notiz, die man nicht mit einer anderen Sprache verwechseln kann."
    english = "This is a note that nobody can take for one in another language."
    assert [call.arguments for call in proposed_calls(context(german))] == [
        {"languageCode": "de", "confidence": "high"}
    ]
    assert proposed_calls(context(german, language="fr")) == []
    assert proposed_calls(context(german, english)) == []
    assert proposed_calls(context(german, title="Paint the kitchen and do the floor")) == []
    assert proposed_calls(context("ok")) == []


# -- states, finished items, labels -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "note", "expected"),
    [
        ("OPEN", "blocked by IT", {"status": "BLOCKED", "reason": "blocked by IT"}),
        ("OPEN", "on hold until we hear more", {"status": "ON HOLD", "reason": "on hold until we hear more"}),
        ("OPEN", "I started on it", {"status": "IN PROGRESS"}),
        ("GROOMED", "I started on it", {"status": "IN PROGRESS"}),
        ("BLOCKED", "no longer blocked", {"status": "IN PROGRESS"}),
        ("BLOCKED", "blocked by IT", None),
        ("IN PROGRESS", "I started on it", None),
        ("BLOCKED", "I started on it", None),
        ("OPEN", "no longer blocked", None),
        ("DONE", "blocked by IT", None),
        ("OPEN", "not blocked by IT", None),
        ("OPEN", "was blocked by IT", None),
        ("OPEN", "are we blocked by IT?", None),
        ("OPEN", "they are waiting for me", None),
        ("OPEN", "all done, finished, completed!", None),
    ],
)
def test_a_state_is_proposed_where_it_is_news_and_done_never(
    status: str, note: str, expected: dict[str, Any] | None
) -> None:
    calls = [call for call in proposed_calls(context(note, status=status)) if call.name == "set_task_status"]
    rationale = {"rationale": f"The note says: “{note}”", "evidenceIds": [note_id(0)]}
    assert [call.arguments for call in calls] == ([] if expected is None else [{**expected, **rationale}])


def test_of_two_states_the_last_one_said_counts() -> None:
    (call,) = proposed_calls(
        context("I started on it.", "blocked by IT", "no longer blocked", status="BLOCKED", language="en")
    )
    assert isinstance(call.arguments, dict)
    assert call.arguments["status"] == "IN PROGRESS"


PAID = ChecklistItemView("a" * 32, "Pay the deposit", False, False, "user", None)


def ticked(note: str, item: ChecklistItemView = PAID) -> list[Any]:
    calls = proposed_calls(context(note, items=(item,)))
    return [call.arguments for call in calls if call.name == "update_checklist_items"]


def test_a_finished_item_is_ticked_with_a_reason_and_the_note_as_evidence() -> None:
    (arguments,) = ticked("Paid the deposit today.")
    reason = "The note of 2026-11-18 says: “Paid the deposit today.”"
    element = {"id": PAID.id, "isChecked": True, "reason": reason, "evidenceIds": [note_id(0)]}
    assert arguments == {"items": [element]}
    assert len(reason) >= 20
    validate_arguments("update_checklist_items", arguments)


@pytest.mark.parametrize(
    "note",
    [
        "paid the deposit",
        "deposit is paid",
        "deposit done",
        "✓ deposit",
        "deposit ✓",
        "Done: deposit",
        "- [x] pay the deposit",
        "Done:\n- deposit",
    ],
)
def test_there_are_many_ways_to_say_that_an_item_is_finished(note: str) -> None:
    assert len(ticked(note)) == 1


@pytest.mark.parametrize(
    "note",
    [
        "paid the wrong deposit",
        "haven't paid the deposit",
        "did we pay the deposit?",
        "is the deposit paid?",
        "deposit almost done",
        "deposit will be paid",
        "deposit must be paid",
        "if the deposit is paid we can move in",
        "pay the deposit",
        "- [ ] pay the deposit",
        "deposit ✘",
        '"deposit is paid"',
        "paid the rent",
        "done",
    ],
)
def test_what_is_not_quite_done_is_not_ticked(note: str) -> None:
    assert ticked(note) == []


def test_an_item_is_not_ticked_again_nor_against_what_its_user_set_after_the_note() -> None:
    noted_ms = int(WEDNESDAY.timestamp() * 1000)
    assert ticked("deposit is paid", replace(PAID, is_checked=True)) == []
    assert ticked("deposit is paid", replace(PAID, is_archived=True)) == []
    assert ticked("deposit is paid", replace(PAID, checked_at_ms=noted_ms)) == []
    assert len(ticked("deposit is paid", replace(PAID, checked_at_ms=noted_ms - 1))) == 1
    assert len(ticked("deposit is paid", replace(PAID, checked_at_ms=noted_ms, checked_by="agent"))) == 1


def test_an_accent_or_an_auxiliary_tells_what_was_done_from_what_is_being_done() -> None:
    page = replace(PAID, title="Réparer la page de connexion")
    for note, count in (
        ("j'ai réparé la page de connexion", 1),
        ("j'ai repare la page de connexion", 1),
        ("réparé la page de connexion", 1),
        ("je répare la page de connexion", 0),
        ("réparer la page de connexion", 0),
    ):
        calls = proposed_calls(context(note, items=(page,), language="fr"))
        assert len(calls) == count, note


def test_what_is_already_done_in_german_is_not_taken_for_a_wish() -> None:
    room = replace(PAID, title="Raum buchen")
    assert len(proposed_calls(context("Raum auch schon gebucht", items=(room,), language="de"))) == 1


def test_where_two_items_may_be_meant_none_is_ticked() -> None:
    other = replace(PAID, id="b" * 32, title="Claim the deposit back")
    calls = proposed_calls(
        context("deposit is done", items=(PAID, replace(other, title="Check the deposit")))
    )
    assert calls == []


def test_a_label_is_assigned_that_a_note_names_and_the_task_has_not() -> None:
    labels = (LabelView("1" * 32, "Tax"), LabelView("2" * 32, "Garden"), LabelView("3" * 32, "My house"))
    named_context = replace(
        context("#my-house, and the garden. Not the tax office", language="en"), labels=labels
    )
    (call,) = proposed_calls(named_context)
    assert call.arguments == {
        "labels": [{"id": "3" * 32, "confidence": "high"}, {"id": "2" * 32, "confidence": "medium"}],
        "rationale": "The note names “My house”. The note names “Garden”.",
    }
    validate_arguments("assign_task_labels", split_rationale(call.arguments)[0])
    has = replace(named_context, task=replace(named_context.task, labels=labels))
    assert proposed_calls(has) == []


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "Please remove the label Garden"),
        ("en", "Paint the fence, and drop #garden."),
        ("de", "Label Garden entfernen"),
        ("de", "Das Etikett Garden kann weg."),
        ("es", "Quita la etiqueta Garden"),
        ("fr", "Il faut enlever l'étiquette Garden"),
        ("ro", "Scoate eticheta Garden"),
    ],
)
def test_a_label_is_taken_away_that_a_note_says_to_remove(language: str, note: str) -> None:
    label = LabelView("2" * 32, "Garden")
    other = replace(context(note, language=language), labels=(label,), is_first_wake=False)
    own = replace(other, task=replace(other.task, labels=(label,)), labels=())
    (call,) = [call for call in proposed_calls(own) if "label" in call.name]
    assert isinstance(call.arguments, dict)
    assert (call.name, call.arguments["id"]) == ("remove_task_label", "2" * 32)
    assert call.arguments["evidenceIds"] == [own.new_entries[0].id]
    # The notes of a first wake may be older than the label, and a label that is not there is not assigned.
    for unchanged in (replace(own, is_first_wake=True), other):
        assert [call for call in proposed_calls(unchanged) if "label" in call.name] == []


@pytest.mark.parametrize(
    "note",
    [
        "Don't remove the label Garden",
        "Shall we remove the label Garden?",
        "Removed the label Garden from the other task",
        "Remove the roots from the garden",
        "Only if it rains remove the label Garden",
    ],
)
def test_a_label_stays_that_no_note_says_to_remove(note: str) -> None:
    label = LabelView("2" * 32, "Garden")
    own = replace(context(note, language="en"), is_first_wake=False)
    own = replace(own, task=replace(own.task, labels=(label,)))
    assert [call for call in proposed_calls(own) if "label" in call.name] == []


def test_a_label_that_a_later_note_marks_again_stays() -> None:
    label = LabelView("2" * 32, "Garden")
    own = replace(
        context("Remove the label Garden", "It is #garden after all", language="en"), is_first_wake=False
    )
    own = replace(own, task=replace(own.task, labels=(label,)))
    assert [call for call in proposed_calls(own) if "label" in call.name] == []


def test_a_label_is_named_behind_an_elision() -> None:
    reported_context = replace(
        context("L'assurance", language="fr"), labels=(LabelView("2" * 32, "Assurance"),)
    )
    assert [call.name for call in proposed_calls(reported_context)] == ["assign_task_labels"]


@pytest.mark.parametrize(
    "note", ["is it for the garden?", "no garden", "gardening", "see /garden", "a@garden.org"]
)
def test_a_label_is_not_named_by_a_question_a_denial_or_a_part_of_a_word(note: str) -> None:
    labels = (LabelView("2" * 32, "Garden"),)
    assert proposed_calls(replace(context(note, language="en"), labels=labels)) == []


async def test_a_tool_that_the_policy_takes_away_is_not_called() -> None:
    allowed = replace(context("about 2 hours, urgent"), allowed_tools=("update_task_priority",))
    assert [call.name for call in (await RulesModel().turn(allowed)).calls] == ["update_task_priority"]


async def test_everything_that_the_model_calls_is_valid_in_every_language() -> None:
    for language in LANGUAGES:
        for part in ("dev", "held"):
            among = corpus(f"{language}_{part}")
            items = tuple(
                ChecklistItemView(f"{index:032x}", title, False, False, "user", None)
                for index, title in enumerate(among.items)
            )
            labels = tuple(LabelView(f"{index:032x}", name) for index, name in enumerate(among.labels))
            reported_context = context(*(note.text for note in among.notes), items=items, language=language)
            for call in (await RulesModel().turn(replace(reported_context, labels=labels))).calls:
                assert isinstance(call.arguments, dict)
                rest, _ = split_rationale(call.arguments)
                rest, _ = split_evidence(call.name, rest)
                tool = TOOLS[call.name]
                for member in batch_elements(call.name, rest) if tool.element else ():
                    validate_arguments(str(tool.element), split_evidence(str(tool.element), member)[0])
                if not tool.element:
                    validate_arguments(call.name, rest)


def test_urgency_never_lowers_a_priority_but_a_stated_one_may() -> None:
    assert proposed_calls(context("urgent", priority="P0")) == []
    assert proposed_calls(context("priority: P2")) == []
    assert [call.name for call in proposed_calls(context("priority: P3"))] == ["update_task_priority"]


@pytest.mark.parametrize(("own", "due"), [("de", ["2026-11-20"]), ("en", [])])
async def test_the_devices_language_breaks_ties(own: str, due: list[str]) -> None:
    turn = await RulesModel(own).turn(context("Deadline Fr", title="2027"))
    proposals: list[Any] = [call.arguments for call in turn.calls]
    assert [proposal["dueDate"] for proposal in proposals if "dueDate" in proposal] == due


@pytest.mark.parametrize(
    ("language", "note", "status"),
    [
        ("en", "Ana: waiting for the printer to answer\nMe: ok", []),
        ("en", "Waiting for the printer to answer", ["BLOCKED"]),
        ("es", "Han aplazado la entrega al 4 de diciembre.", []),
        ("ro", "Nu putem continua până nu vin planurile.", ["BLOCKED"]),
    ],
)
def test_what_others_wait_for_and_what_is_put_off_does_not_stop_the_task(
    language: str, note: str, status: list[str]
) -> None:
    proposals: list[Any] = [call.arguments for call in proposed_calls(context(note, language=language))]
    assert [proposal["status"] for proposal in proposals if "status" in proposal] == status


@pytest.mark.parametrize(
    ("language", "note", "answer"),
    [
        ("en", "due 3 November", "Yes, it is due on 2027-11-03"),
        ("en", "on 3 November at the latest", "Yes, it is due on 2027-11-03"),
        ("de", "Fällig am 3. November", "Ja, fällig am 2027-11-03"),
        ("es", "Fecha límite: 3 de noviembre", "Sí, vence el 2027-11-03"),
        ("fr", "À rendre le 3 novembre", "Oui, échéance le 2027-11-03"),
        ("ro", "Termen: 3 noiembrie", "Da, scadent la 2027-11-03"),
    ],
)
def test_a_day_without_a_year_that_is_just_over_is_asked_about(language: str, note: str, answer: str) -> None:
    calls: list[Any] = proposed_calls(context(note, language=language))
    assert [call.name for call in calls] == ["ask_question"]
    ahead, over = calls[0].arguments["answers"]
    assert note in calls[0].arguments["question"]
    assert (ahead["text"], ahead["tool"], ahead["arguments"]["dueDate"]) == (
        answer,
        "update_task_due_date",
        "2027-11-03",
    )
    assert over.keys() == {"text"}


def test_nothing_is_asked_about_a_task_that_has_a_due_date_or_gets_one() -> None:
    assert proposed_calls(context("due 3 November", language="en", due="2026-12-01")) == []


@pytest.mark.parametrize("due", ["2099-01-01junk", "soon", "2026-13-01"])
def test_a_due_of_a_peer_that_is_no_day_stops_no_run(due: str) -> None:
    tools = [call.name for call in proposed_calls(context("- [ ] Buy milk", language="en", due=due))]
    assert tools == ["add_multiple_checklist_items"]
    calls = proposed_calls(context("due 3 November", "due 4 December", language="en"))
    assert [call.name for call in calls] == ["update_task_due_date"]


def test_a_short_note_that_stands_twice_is_read_in_the_language_of_its_title():
    # Spelled like French if it is counted as often as the notes around it contain it.
    around = "Paint the fence\ndue 2031-06-01"
    assert note_table("due 2031-06-01", None, around).language == "en"
