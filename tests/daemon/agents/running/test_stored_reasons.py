"""Why an agent woke or sleeps is stored as English text; what reads it finds the sentence again.

Never stores anything.
"""

import pytest

from daemon.agents.running import wakes
from daemon.agents.tools.agent_record import failed_often_sentence


@pytest.mark.parametrize(
    "reason",
    [wakes.ASKED_BY_PERSON, wakes.TIMER_FIRED, *map(wakes.changes_reason, (1, 2, 40))],
)
def test_what_woke_an_agent_is_found_again(reason):
    assert wakes.stored_reason(reason.text) == reason


@pytest.mark.parametrize(
    "text", ["", "the wind", "7 winds", "07 changes", "٣ changes", "9" * 5000 + " changes"]
)
def test_other_words_are_shown_as_they_are_stored(text: str):
    assert (wakes.stored_reason(text).text, wakes.stored_reason(text).id) == (text, "")


def test_how_an_agent_failed_is_part_of_why_it_sleeps():
    assert failed_often_sentence(5, "no answer").text == "it failed 5 times in a row: no answer"
