"""Why an agent woke or sleeps is stored as English text; what reads it finds the sentence again.

Never stores anything.
"""

import pytest

from daemon.agents.context.triggers import Trigger
from daemon.agents.running import wakes
from daemon.agents.tools.agent_record import failed_often_sentence
from syncproto.ids import EntityId
from syncproto.vector_clock import Head


def _trigger(number: int, kind: str) -> Trigger:
    head = Head(bytes(16), number + 1, bytes([number]) * 32)  # type: ignore[arg-type]
    return Trigger(head, EntityId(bytes([number]) * 16), kind, frozenset())


@pytest.mark.parametrize(
    "reason",
    [
        wakes.ASKED_BY_PERSON,
        wakes.TIMER_FIRED,
        *(
            wakes.changes_reason(_trigger(number, kind) for number in range(count) for kind in kinds)
            for count in (1, 2, 40)
            for kinds in (("entry",), ("task", "entry"), ("link", "checklist_item", "checklist"))
        ),
    ],
)
def test_what_woke_an_agent_is_found_again(reason):
    assert wakes.stored_reason(reason.text) == reason


def test_what_changed_is_said_in_words():
    reason = wakes.changes_reason([_trigger(1, "task"), _trigger(1, "entry"), _trigger(2, "entry")])
    assert reason.text == "2 changes: notes; the task itself"
    assert wakes.changes_reason([_trigger(1, "entry")]).text == "one change: a note"


@pytest.mark.parametrize("text", ["one change", "40 changes"])
def test_what_earlier_versions_stored_is_found_too(text: str):
    assert (wakes.stored_reason(text).text, bool(wakes.stored_reason(text).id)) == (text, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2 changes: notes; the wind",
        "the wind",
        "7 winds",
        "07 changes",
        "٣ changes",
        "9" * 5000 + " changes",
    ],
)
def test_other_words_are_shown_as_they_are_stored(text: str):
    assert (wakes.stored_reason(text).text, wakes.stored_reason(text).id) == (text, "")


def test_how_an_agent_failed_is_part_of_why_it_sleeps():
    assert failed_often_sentence(5, "no answer").text == "it failed 5 times in a row: no answer"
