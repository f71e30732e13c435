"""Whose a day is, and what a line says of itself: others' promises, consequences, what is settled or dropped.

Never measures how often the reader is right: `test_accuracy.py` does.
"""

import pytest

from tests.daemon.agents.models.rules.test_roles import calls_for


@pytest.mark.parametrize(
    "note",
    [
        "Tom will bring the ladder by Friday",
        "My sister is bringing the paint by Friday",
        "Ute bringt bis Montag die Boxen",
        "Ute will bis Montag ihre Ski holen",
        "Luc apportera le gâteau avant lundi",
        "Inés traerá las tartas antes del lunes",
        "Ana aduce boxele până luni",
    ],
)
def test_the_day_of_anothers_promise_is_not_the_tasks(note: str):
    assert "update_task_due_date" not in calls_for(note)


@pytest.mark.parametrize(
    "note",
    [
        "Tom needs the ladder back by Monday",
        "The parcel will be sent by Monday",
        "Ute braucht die Liste bis Montag",
        "Die Bank will die Liste bis Montag",
        "Luc veut la liste pour lundi",
        "Inés quiere la lista antes del lunes",
        "Ana vrea lista până luni",
    ],
)
def test_what_others_want_by_a_day_is_due_then(note: str):
    assert calls_for(note)["update_task_due_date"]["dueDate"] == "2027-02-22"


@pytest.mark.parametrize(
    "note",
    [
        "back with them by the 20th or we pay again",
        "abzugeben bis zum 20. sonst zahlen wir doppelt",
        "à rendre avant le 20 ou on perd la place",
        "entregar antes del 20 o nos cobran otro mes",
        "de predat până pe 20 altfel pierdem locul",
    ],
)
def test_a_consequence_behind_a_bare_day_leaves_it_a_day(note: str):
    assert calls_for(note)["update_task_due_date"]["dueDate"] == "2027-02-20"


@pytest.mark.parametrize("note", ["by the 3rd or 4th", "bis zum 3. oder 4.", "avant le 3 ou le 4"])
def test_one_of_two_days_is_none(note: str):
    assert calls_for(note) == {}


@pytest.mark.parametrize(
    ("note", "item"),
    [
        ("Plakate: geklebt", "Plakate kleben"),
        ("Voiture : c'est bon", "Louer la voiture"),
        ("Culoarea: aleasă", "Alege culoarea"),
        ("felt's bought", "Buy the felt"),
        ("cajas pedidas", "Pedir cajas"),
        ("mamie prévenue", "Prévenir mamie"),
        ("gîte réservé par Luc", "Réserver le gîte"),
    ],
)
def test_a_participle_is_read_in_each_gender_and_behind_a_colon(note: str, item: str):
    (changed,) = calls_for_open(note, item)
    assert changed["isChecked"]


@pytest.mark.parametrize(
    "note", ["Plakate: noch nicht geklebt", "Plakate: wer hat die geklebt?", "Plakate: im Auto"]
)
def test_what_is_not_settled_behind_a_colon_is_not_ticked(note: str):
    assert calls_for_open(note, "Plakate kleben") == []


@pytest.mark.parametrize("note", ["- CANCELED orders", "- call Tom (cancelled)", "- Ola anrufen: entfällt"])
def test_a_dropped_line_is_nothing_to_do(note: str):
    assert "add_multiple_checklist_items" not in calls_for(note)


def test_a_negated_participle_beside_german_war_reopens_an_item():
    calls = calls_for("Einladungen sind doch nicht gedruckt, Patrone war leer", "Einladungen drucken")
    (item,) = calls["update_checklist_items"]["items"]
    assert not item["isChecked"]


@pytest.mark.parametrize(
    ("note", "minutes"),
    [("two hours, tops", 120), ("2 heures à tout casser", 120), ("Rechne mal mit gut 2 Stunden", 120)],
)
def test_a_hedge_behind_a_length_makes_an_effort_of_it(note: str, minutes: int):
    assert calls_for(note)["update_task_estimate"]["minutes"] == minutes


@pytest.mark.parametrize(
    ("note", "titles"),
    [
        ("note to self: buy milk, call Ann, post the letter", ["buy milk", "call Ann", "post the letter"]),
        ("Merkzettel: Kuchen backen, Oma einladen", ["Kuchen backen", "Oma einladen"]),
        ("pense-bête : acheter du pain, appeler Zoé", ["acheter du pain", "appeler Zoé"]),
        ("Recordatorio: comprar pan, llamar a Eva", ["comprar pan", "llamar a Eva"]),
        ("De ținut minte: cumpărat pâine, sunat Eva", ["cumpărat pâine", "sunat Eva"]),
        ("Să nu uit: de luat pâine, de sunat Eva", ["luat pâine", "sunat Eva"]),
    ],
)
def test_a_reminder_leads_a_list_of_acts(note: str, titles: list[str]):
    items = calls_for(note)["add_multiple_checklist_items"]["items"]
    assert [item["title"] for item in items] == titles


@pytest.mark.parametrize(
    "note",
    ["Reminder: the meeting is on Friday, Ola leads", "Aufgaben im Buch: Texte lesen, Sätze schreiben"],
)
def test_a_heading_of_something_else_leads_no_list(note: str):
    assert "add_multiple_checklist_items" not in calls_for(note)


@pytest.mark.parametrize(
    "note", ["Geht erst weiter, wenn das Amt zusagt", "cant do owt til the felt arrives"]
)
def test_what_only_goes_on_later_is_blocked(note: str):
    assert calls_for(note)["set_task_status"]["status"] == "BLOCKED"


@pytest.mark.parametrize(
    ("note", "item"),
    [
        ("Der Container wurde nie bestellt", "Container bestellen"),
        ("el salón no está reservado, se equivocaron de día", "Reservar el salón"),
        ("la banque n'a pas été appelée", "Appeler la banque"),
    ],
)
def test_a_passive_that_is_denied_reopens_an_item(note: str, item: str):
    (changed,) = calls_for(note, item)["update_checklist_items"]["items"]
    assert not changed["isChecked"]


def test_how_large_a_hall_is_ticks_nothing():
    assert calls_for_open("La salle fait 120 places", "Réserver la salle") == []


def test_spanish_denies_an_act_by_its_infinitive():
    (item,) = calls_for("el contrato sigue sin firmar", "Firmar el contrato")["update_checklist_items"][
        "items"
    ]
    assert not item["isChecked"]


def calls_for_open(note: str, item: str) -> list[dict[str, object]]:
    """Return what a note changes of one open item."""
    calls = calls_for(note, item, is_ticked=False)
    return list(calls.get("update_checklist_items", {}).get("items", []))
