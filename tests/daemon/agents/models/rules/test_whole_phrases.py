"""A phrase is read whole or not at all: what belongs to it and is not understood leaves nothing to propose.

Never one language only; every note is read on the same Wednesday.
"""

from hypothesis import given
from hypothesis import strategies as st

from daemon.dates.durations import parse_minutes
from tests.daemon.agents.models.rules.sample_notes import read_values

LENGTHS = {
    "en": """
        takes 3 hours and 20 minutes = 200 | takes 3 hours, 20 minutes = 200 | takes 3h20min = 200
        takes 3 hrs. 20 min. = 200 | takes an hour and a quarter = 75 | takes two hours & ten minutes = 130
        takes an hour and three quarters = 105 | takes two and a half hours = 150 | takes 1 1/2 hours = 90
        takes 1½ hours = 90 | takes ¾ hour = 45 | takes .5h = 30 | takes 1:30 h = 90 | takes 1h30 = 90
        takes an hour and twenty-five minutes = 85 | takes a day and a half = 720 | takes 1 day 4 hours = 720
        takes 2 to 3 and a half hours = 210 | takes 2 hours to 3 hours = 180 | takes 1h-1h30 = 90
        takes 1 hour 30 if I hurry = 90 | takes 3 hours and 20 people come = 180
        takes 3 hrs. 20 people come = 180 | takes 3 hours. 20 people come = 180
        takes 3 hours 20 people come = | takes 2 hours or 3 = | takes an hour or two = | takes 2 hours/week =
        takes 2 days and 3 weeks = | takes 2 hours and 30 seconds = | takes 5 minutes 30 seconds =
        takes an hour and a bit = | takes an hour and a half day = | takes 30 min 2 h =
    """,
    "de": """
        Dauert 1 Std. 30 Min. = 90 | Dauert 3 Std. 20 Min. = 200 | Dauert 1 h. 15 min. = 75
        Dauert 3 Stunden und 20 Minuten = 200 | Dauert eine Stunde und eine Viertelstunde = 75
        Dauert zweieinhalb Stunden = 150 | Dauert eine dreiviertel Stunde = 45 | Dauert 2 bis 3 Stunden = 180
        Dauert eine Stunde und fünfundvierzig Minuten = 105 | Dauert 3 Std. 20 Leute kommen. = 180
        Dauert 3 Stunden 20 Leute = | Dauert 2 Stunden und 3 Wochen = | Dauert 2 Stunden und ein bisschen =
    """,
    "es": """
        Lleva 3 horas y 20 minutos = 200 | Lleva una hora y cuarto = 75 | Lleva hora y cuarto = 75
        Lleva dos horas y media = 150 | Lleva 1 h. 30 min. = 90
        Lleva una hora y treinta y cinco minutos = 95
        Lleva una hora y tres cuartos = 105 | Lleva 3 horas y pico = | Lleva 3 horas 20 personas =
    """,
    "fr": """
        Prend 3 heures et 20 minutes = 200 | Prend une heure et quart = 75 | Prend 1 h. 30 min. = 90
        Prend une heure trois quarts = 105 | Dure 1 heure 30 pour tout = 90 | Prend deux heures et demie = 150
        Prend une heure et vingt-cinq minutes = 85 | Prend trois heures 20 personnes viennent =
        Prend deux heures moins le quart = | Prend 2 heures et quelques =
    """,
    "ro": """
        Durează 3 ore și 20 de minute = 200 | Durează o oră și un sfert = 75 | Durează 1 h. 30 min. = 90
        Durează o oră și treizeci și cinci de minute = 95 | Durează două ore jumate = 150
        Durează trei ore și 20 de colegi vin = 180 | Durează trei ore 20 de colegi vin =
        Durează 2 ore și ceva =
    """,
}
TAKES = {"en": "takes", "de": "Dauert", "es": "Lleva", "fr": "Prend", "ro": "Durează"}
HOURS = {"en": "hours and", "de": "Std.", "es": "horas y", "fr": "h", "ro": "ore și"}


def wrong_readings(kind: str, table: dict[str, str]) -> list[str]:
    """Return each note of a table that is not read as it says: "note = value", parted by "|" or lines."""
    cases = [
        (language, case.strip().rpartition("="))
        for language, cases in table.items()
        for line in cases.splitlines()
        for case in line.split("|")
        if case.strip()
    ]
    assert len(cases) > 20
    read = [
        (language, note.strip(), wanted.strip(), read_values(note, language))
        for language, (note, _, wanted) in cases
    ]
    return [
        f"{note!r} ({language}): {got}" for language, note, wanted, got in read if got.get(kind, "") != wanted
    ]


def test_a_length_is_read_with_all_its_units_or_not_at_all():
    assert wrong_readings("minutes", LENGTHS) == []


@given(st.sampled_from(sorted(TAKES)), st.integers(1, 23), st.integers(1, 59))
def test_a_note_reads_a_length_as_one_that_is_typed(language: str, hours: int, minutes: int):
    length = f"{hours} {HOURS[language]} {minutes} min"
    assert read_values(f"{TAKES[language]} {length}.", language)["minutes"] == str(parse_minutes(length))
