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
DAYS = {
    "en": """
        Due by Monday week. = | It is due Monday week at the latest. = | due by Friday fortnight =
        The report is due a week on Monday. = | due by Monday in a week = | due on Monday after next =
        due in a week from Monday = | due by tomorrow week = | due by Monday = 2026-11-23
        It is due by the 3. March is busy. = | Due by the 20. 3 colleagues have paid. =
        due by 3 March = 2027-03-03 | due by Friday, not Thursday = 2026-11-20
    """,
    "de": """
        Bis Montag über acht Tage abgeben. = | Muss bis Montag in einer Woche fertig sein. =
        Bis Montag in zwei Wochen abgeben. = | Bis Montag der übernächsten Woche abgeben. =
        Bis zum 3. 20 Leute kommen. = | bis zum 20. 4 Leute haben bezahlt =
        Muss bis zum 20. 4. fertig sein = 2027-04-20 | bis Montag abgeben = 2026-11-23
        bis zum 3. März abgeben = 2027-03-03
    """,
    "fr": """
        À rendre lundi en huit. = | À rendre avant lundi en quinze. = | à rendre avant demain en huit =
        À rendre lundi en huit au plus tard. = | à rendre avant lundi dans huit jours =
        à rendre avant le 4. 7 personnes ont déjà payé = | à rendre avant le 3. mars est chargé =
        à rendre avant le 3 mars = 2027-03-03 | à rendre avant lundi = 2026-11-23
    """,
    "es": """
        Hay que entregarlo antes del lunes que viene no, el otro. = | entregar antes del 20. 3 amigos pagan =
        entregar antes del lunes de dentro de dos semanas = | entregar antes del 3. Marzo está lleno =
        Hay que entregarlo antes del lunes. = 2026-11-23
        El plazo es el viernes 27 de noviembre, no el 20 = 2026-11-27
    """,
    "ro": """
        De predat până luni peste o săptămână. = | De predat până lunea cealaltă. =
        De predat până luni în două săptămâni. = | De predat până pe 20. 4 colegi au plătit. =
        De predat până pe 3. Martie e plin. = | De predat până luni. = 2026-11-23
    """,
}
LISTS = {
    "en": """
        Todo: book; get photos; fill in the form = ['book', 'get photos', 'fill in the form']
        todo: call Ola; it is due by Friday = ['call Ola']
        todo: call Ola; I did not hear back = ['call Ola']
        todo: salt and pepper; order toner = ['salt and pepper', 'order toner']
        todo: call Ola. The bill came; it was high. = ['call Ola']
        todo: call Ola; takes 2 hours = ['call Ola']
        todo: call Ola; order toner. Lena has the key. = ['call Ola', 'order toner']
    """,
    "de": """
        Zu erledigen: Ola anrufen; Rechnung schreiben; Toner bestellen = @3
        Zu erledigen: Ola anrufen; sie ist nett = ['Ola anrufen']
    """,
    "fr": """
        À faire : appeler Ola ; écrire la facture ; commander du toner = @3
        À faire : appeler Ola ; elle est gentille = ['appeler Ola']
    """,
    "es": """
        Pendiente: llamar a Ola; escribir la factura; pedir tóner = @3
        Pendiente: llamar a Ola; no contestó = ['llamar a Ola']
    """,
    "ro": """
        De făcut: sunat Ola; scris factura; comandat toner = @3
        De făcut: sunat Ola; nu răspunde = ['sunat Ola']
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
    assert len(cases) > 10
    read = [
        (language, note.strip(), wanted.strip(), read_values(note, language))
        for language, (note, _, wanted) in cases
    ]
    return [
        f"{note!r} ({language}): {got}"
        for language, note, wanted, got in read
        if wanted not in (str(got.get(kind, "")), f"@{len(got.get(kind, ''))}")
    ]


def test_a_length_is_read_with_all_its_units_or_not_at_all():
    assert wrong_readings("minutes", LENGTHS) == []


def test_a_day_is_read_with_all_that_moves_it_or_not_at_all():
    assert wrong_readings("due", DAYS) == []


def test_a_list_that_semicolons_part_is_read_to_its_end():
    assert wrong_readings("items", LISTS) == []


@given(st.sampled_from(sorted(TAKES)), st.integers(1, 23), st.integers(1, 59))
def test_a_note_reads_a_length_as_one_that_is_typed(language: str, hours: int, minutes: int):
    length = f"{hours} {HOURS[language]} {minutes} min"
    assert read_values(f"{TAKES[language]} {length}.", language)["minutes"] == str(parse_minutes(length))
