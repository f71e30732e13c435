"""What the notes of a task say of a proposal: says so, mentions it, says other, or silent.

Never runs a model: proposals are made as a run would leave them.
"""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.deciding.waiting_items import NoteEvidence, PendingItem
from daemon.agents.running import note_evidence as module
from daemon.agents.running.note_evidence import note_evidence, with_note_evidence
from daemon.agents.tools.model_interface import ChecklistItemView, EntryView, TaskView
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import waiting
from tests.support.fleet import Home

MONDAY = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
ITEM = ChecklistItemView("a" * 32, "Book the room", False, False, "user", None)
TASK = TaskView("t", "Party", "OPEN", "P2", None, None, None, (ITEM,))


def proposal(tool: str, subject: str | None = None, **args: Any) -> PendingItem:
    empty: dict[str, Any] = dict.fromkeys(PendingItem.__struct_fields__)
    return PendingItem(**empty | {"tool": tool, "args": args, "subject": subject})


def notes(*texts: str) -> list[EntryView]:
    return [
        EntryView(f"{number:032x}", text, MONDAY.replace(hour=12 + number), "user")
        for number, text in enumerate(texts)
    ]


def verdict(item: PendingItem, *texts: str, task: TaskView = TASK) -> tuple[str, Any]:
    evidence = note_evidence(item, task, notes(*texts))
    assert evidence is not None
    return evidence.verdict, evidence.value


DUE = proposal("update_task_due_date", dueDate="2026-03-13")
ESTIMATE = proposal("update_task_estimate", minutes=120)


@pytest.mark.parametrize(
    ("says_so", "mentions_it", "says_other", "silent"),
    [
        (
            "It must be done by Friday.",
            "The plumber comes on Friday.",
            "It must be done by Saturday.",
            "I had a coffee.",
        ),
        (
            "Muss bis Freitag fertig sein.",
            "Am Freitag kommt der Klempner.",
            "Muss bis Samstag fertig sein.",
            "Ich habe Kaffee getrunken.",
        ),
        (
            "Hay que hacerlo antes del viernes.",
            "El viernes viene el fontanero.",
            "Hay que hacerlo antes del sábado.",
            "He tomado un café.",
        ),
        (
            "À faire avant vendredi.",
            "Le plombier vient vendredi.",
            "À faire avant samedi.",
            "J’ai bu un café.",
        ),
        (
            "Trebuie făcut până vineri.",
            "Instalatorul vine vineri.",
            "Trebuie făcut până sâmbătă.",
            "Am băut o cafea.",
        ),
    ],
    ids=["en", "de", "es", "fr", "ro"],
)
def test_a_due_date_is_held_against_what_notes_say_of_days(
    says_so: str, mentions_it: str, says_other: str, silent: str
):
    # "Before Friday" is read by the rules as due on Friday.
    assert verdict(DUE, says_so) == ("says so", None)
    assert verdict(DUE, mentions_it) == ("mentions it", None)
    assert verdict(DUE, says_other) == ("says other", "2026-03-14")
    assert verdict(DUE, silent) == verdict(DUE) == ("silent", None)


def test_the_newest_note_counts_and_a_mention_only_if_no_later_note_states_another_value():
    assert verdict(DUE, "By Saturday.", "No: by Friday.") == ("says so", None)
    assert verdict(DUE, "By Friday.", "No: by Saturday.") == ("says other", "2026-03-14")
    assert verdict(DUE, "The plumber comes on Friday.", "Due by Saturday.") == ("says other", "2026-03-14")
    assert verdict(DUE, "Due by Saturday.", "The plumber comes on Friday.") == ("mentions it", None)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("It takes 2 hours.", ("says so", None)),
        ("The drive to the lake is 2 hours long.", ("mentions it", None)),
        ("It takes 3 hours.", ("says other", 180)),
        ("Room 120 is free.", ("silent", None)),
    ],
)
def test_an_estimate_is_held_against_lengths_of_time(text: str, result: tuple[str, Any]):
    assert verdict(ESTIMATE, text) == result


@pytest.mark.parametrize(
    ("item", "text", "result"),
    [
        (proposal("update_task_priority", priority="P1"), "This is urgent!", "says so"),
        (proposal("update_task_priority", priority="P1"), "A quiet day.", "silent"),
        (
            proposal("set_task_status", status="BLOCKED", reason="x"),
            "Blocked: the paint is missing.",
            "says so",
        ),
        (proposal("set_task_status", status="BLOCKED", reason="x"), "A quiet day.", "silent"),
        (proposal("add_checklist_item", title="Order the cake"), "Todo: order the cake", "says so"),
        (proposal("add_checklist_item", title="Order cakes"), "Paul ordered no cake yet.", "mentions it"),
        (proposal("add_checklist_item", title="Invite the mayor"), "Order the cake.", "silent"),
        (
            proposal("update_checklist_item", ITEM.title, id=ITEM.id, isChecked=True),
            "Booked the room.",
            "says so",
        ),
        (
            proposal("update_checklist_item", ITEM.title, id=ITEM.id, isChecked=True),
            "The room is big.",
            "silent",
        ),
        (proposal("assign_task_label", "garden", id="b" * 32), "Something for #garden", "says so"),
        (proposal("assign_task_label", "garden", id="b" * 32), "Paint the fence", "silent"),
    ],
)
def test_other_proposals_are_held_against_notes_too(item: PendingItem, text: str, result: str):
    assert verdict(item, text)[0] == result


@pytest.mark.parametrize(
    "item",
    [
        proposal("set_task_title", title="A better name"),
        proposal("update_checklist_item", ITEM.title, id=ITEM.id, title="New words"),
        proposal("a_tool_of_later", title="x"),
    ],
)
def test_of_what_notes_cannot_tell_nothing_is_said(item: PendingItem):
    assert note_evidence(item, TASK, notes("A quiet day.")) is None


TEXTS = st.lists(
    st.sampled_from(["By Friday.", "By Saturday.", "Takes 2 hours.", "On Friday.", "Quiet."])
    | st.text(max_size=80),
    max_size=4,
)


@given(TEXTS, st.sampled_from([DUE, ESTIMATE, proposal("add_checklist_item", title="By Friday")]))
def test_whatever_notes_say_the_answer_is_one_of_four_and_always_the_same(
    texts: list[str], item: PendingItem
):
    first, second = (note_evidence(item, TASK, notes(*texts)) for _ in range(2))
    assert first == second
    assert isinstance(first, NoteEvidence)
    assert first.verdict in {"says so", "mentions it", "says other", "silent"}
    assert (first.entry_id is None) == (first.written_at is None) == (first.verdict == "silent")
    assert (first.value is None) == (first.verdict != "says other")


@pytest.mark.parametrize(
    ("item", "text", "quote"),
    [
        (
            DUE,
            "I had a coffee. It must be done by Friday. Ana, e.g., knows more.",
            "It must be done by Friday.",
        ),
        (ESTIMATE, "First some history.\n\nIt takes   2 hours.", "It takes 2 hours."),
        (ESTIMATE, "It takes 3 hours. So says Ana.", "It takes 3 hours."),
        (DUE, "I had a coffee.", None),
        (
            ESTIMATE,
            "It takes 2 hours " + "and more " * 50,
            "It takes 2 hours " + "and more " * 15 + "and mor…",
        ),
    ],
)
def test_the_sentence_that_says_so_is_quoted_within_bounds(item: PendingItem, text: str, quote: str | None):
    evidence = note_evidence(item, TASK, notes(text))
    assert evidence is not None
    assert evidence.quote == quote


def test_a_note_of_many_sentences_is_quoted_from_its_beginning():
    """Each sentence is read by the rules, and another program may have written thousands of them."""
    text = "I came. " * module.SENTENCES_READ_MAX + "It takes 2 hours."
    evidence = note_evidence(ESTIMATE, TASK, notes(text))
    assert evidence is not None
    assert (evidence.quote or "").startswith("I came. I came.")


def test_what_waits_is_shown_with_what_the_notes_of_its_task_say(a: Home, task: EntityId):
    note = a.new("entry", task, task_id=task, text="It takes 3 hours.")
    a.estimate(task, 120)
    (item,) = a.read(lambda snapshot: with_note_evidence(snapshot, waiting(a)))
    assert item.notes is not None
    assert (item.notes.verdict, item.notes.entry_id, item.notes.value) == (
        "says other",
        id_to_text(note),
        180,
    )
    assert item == replace_notes(waiting(a)[0], item.notes)


def replace_notes(item: PendingItem, evidence: NoteEvidence) -> PendingItem:
    fields = {name: getattr(item, name) for name in PendingItem.__struct_fields__}
    return PendingItem(**fields | {"notes": evidence})


def test_beyond_the_bound_nothing_is_said_and_everything_is_listed(
    a: Home, task: EntityId, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "CALL_CHARS_MAX", 10)
    a.new("entry", task, task_id=task, text="It takes 3 hours, as everybody knows.")
    a.estimate(task, 120)
    (item,) = a.read(lambda snapshot: with_note_evidence(snapshot, waiting(a)))
    assert item.notes is None
