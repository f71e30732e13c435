"""Lengths of time as people type them.

Never in one language only.
"""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.dates import durations
from daemon.refusal import Refused


@pytest.mark.parametrize(
    ("minutes", "phrases"),
    [
        (90, "90 | 90m | 90 min | 1h30 | 1h30m | 1h 30m | 1 h 30 min | 1:30 | 1.5h | 1,5 h | 1.5 hours"),
        (90, "one and a half hours | an hour and a half | 1 hour and 30 minutes | 1 hour 30 minutes"),
        (
            90,
            "anderthalb Stunden | eineinhalb Stunden | 1 Stunde und 30 Minuten | 1,5 Stunden | 1 Std. 30",
        ),
        (90, "una hora y media | hora y media | 1 hora y 30 minutos | 1,5 horas | 1 hora 30 minutos"),
        (90, "une heure et demie | 1 heure et demie | 1 heure 30 | 1 heure et 30 minutes | 1,5 heure"),
        (90, "o oră și jumătate | o ora si jumatate | 1 oră și 30 de minute | 1 oră 30 minute | 1,5 ore"),
        (120, "2h | 2 h | 2 hours | two hours | 2 Stunden | zwei Stunden | 2 horas | dos horas | 2 heures"),
        (120, "deux heures | 2 ore | două ore | 120 | 120 minutes | 120 Minuten | 120 minutos | 120 minute"),
        (150, "2h30 | 2 and a half hours | dos horas y media | deux heures et demie | două ore și jumătate"),
        (
            30,
            "half an hour | halbe Stunde | eine halbe Stunde | media hora | une demi-heure | jumătate de oră",
        ),
        (45, "45 | three quarters of an hour | Dreiviertelstunde | tres cuartos de hora | 45 minute"),
        (960, "2d | 2 days | 2 Tage | 2 días | 2 jours | 2 zile | two days"),
        (540, "1d 1h | 1 day 1 hour | 9h"),
        (30, ",5h | .5h | 0,5 h | ,5 Std. | ½h | ½ h | ½ Stunde | 1/2 hour | PT30M | pt0.5h"),
        (90, "1½h | 1½ h | 1 ½ heure | 1 1/2 hours | PT1H30M | PT90M | PT1,5H"),
        (45, "¾ h | 3/4 h | ,75 ore | .75 hora"),
        (90, "1:30 h | one hour and thirty minutes | an hour plus half an hour"),
        (75, "an hour and a quarter | une heure et quart | hora y cuarto | o oră și un sfert"),
        (85, "an hour and twenty-five minutes | 1 Stunde und fünfundzwanzig Minuten"),
    ],
)
def test_a_length_is_read_in_every_language(minutes: int, phrases: str):
    read = {phrase: durations.parse_minutes(phrase) for phrase in phrases.split(" | ")}
    assert read == dict.fromkeys(read, minutes)


@pytest.mark.parametrize("words", ["none", "", " "])
def test_nothing_clears(words: str):
    assert durations.parse_minutes(words) is None


@pytest.mark.parametrize(
    "words",
    [
        *(
            "long",
            "0",
            "-5",
            "2x",
            "h",
            "1h1h",
            "30m 1h",
            "1:75",
            "2 weeks",
            "1h30d",
            "1.2.3h",
            "1d 5",
            "1" * 101,
        ),
        *(
            ",5",
            "1,5",
            "1.5 min",
            "5,h",
            ";5h",
            "5;h",
            "1h ,5",
            "1,500 min",
            "²h",
            "1h²",
            "⅓h",
            "3/2h",
            "1½½h",
            "1..5h",
        ),
        *("PT", "P1D", "PT1.5", "PT30S", "1e3", "+5", "½", "-.5h", "1/2"),
    ],
)
def test_what_is_no_length_is_refused_with_examples(words: str):
    with pytest.raises(Refused) as refusal:
        durations.parse_minutes(words)
    assert "1h30" in refusal.value.hint


@given(st.integers(1, 999), st.integers(1, 59))
def test_hours_and_minutes_add_up(hours: int, minutes: int):
    assert durations.parse_minutes(f"{hours}h{minutes}m") == hours * 60 + minutes


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(words: str):
    with suppress(Refused):
        assert (durations.parse_minutes(words) or 1) >= 1


def test_a_length_that_is_beyond_what_is_taken_is_still_read_so_that_the_limit_is_told():
    assert durations.parse_minutes("99999999") == 99_999_999
