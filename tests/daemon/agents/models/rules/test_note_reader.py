"""What the `rules` model reads in a note, and above all what it does not.

Never needs a store; every note is read on the same Wednesday.
"""

from typing import Any

import pytest

from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.agents.models.rules.note_reader import read_note
from tests.daemon.agents.models.rules.sample_notes import WEDNESDAY, read_values


@pytest.mark.parametrize(
    ("note", "day"),
    [
        ("due 2026-12-01", "2026-12-01"),
        ("Due: 2026-12-01.", "2026-12-01"),
        ("the deadline is 2026-12-01", "2026-12-01"),
        ("before 2026-12-01 please", "2026-12-01"),
        ("Needs to be done by Friday.", "2026-11-20"),
        ("must be finished until Monday", "2026-11-23"),
        ("due Fri", "2026-11-20"),
        ("due this Friday at the latest", "2026-11-20"),
        ("by 5 December please", "2026-12-05"),
        ("by Dec. 5", "2026-12-05"),
        ("deadline is March 15", "2027-03-15"),
        ("due Friday, 5 March 2027", "2027-03-05"),
        ("must ship by 1st of December 2026.", "2026-12-01"),
        ("due on 15.3.2027", "2027-03-15"),
        ("due 25/04/2027", "2027-04-25"),
        ("due 04/25/2027", "2027-04-25"),
        ("due the 15th", "2026-12-15"),
        ("due the 20th.", "2026-11-20"),
        ("due today", "2026-11-18"),
        ("due tomorrow", "2026-11-19"),
        ("due in 3 days", "2026-11-21"),
        ("due in two weeks", "2026-12-02"),
        ("due Friday next week", "2026-11-27"),
        ("by the end of the month", "2026-11-30"),
        ("by end of March", "2027-03-31"),
        ("no later than 30 November", "2026-11-30"),
        ("first due 2026-12-01, no: due 2026-12-02", "2026-12-02"),
    ],
)
def test_a_due_date_is_read_after_a_cue(note: str, day: str) -> None:
    assert read_values(note) == {"due": day}


@pytest.mark.parametrize(
    ("note", "minutes"),
    [
        ("about 2 hours", 120),
        ("This takes 45 min.", 45),
        ("should take half a day", 240),
        ("takes half an hour", 30),
        ("takes an hour", 60),
        ("takes an hour and a half", 90),
        ("takes 1.5 hours", 90),
        ("takes 1,5 hours", 90),
        ("takes 1h 30m", 90),
        ("takes 1h30", 90),
        ("takes about 2-3 hours", 180),
        ("takes me two hours", 120),
        ("a couple of hours: about a couple of hours", 120),
        ("estimate: 90 min", 90),
        ("est. 3 days", 1440),
        ("~ 30 min", 30),
        ("will need around 20 minutes", 20),
    ],
)
def test_a_duration_is_read_after_a_cue(note: str, minutes: int) -> None:
    assert read_values(note) == {"minutes": str(minutes)}


@pytest.mark.parametrize(
    ("note", "priority"),
    [
        ("urgent!", "P1"),
        ("This is URGENT", "P1"),
        ("please do it asap", "P1"),
        ("as soon  as possible", "P1"),
        ("This is critical.", "P0"),
        ("urgent, even critical", "P0"),
        ("drop everything", "P0"),
        ("priority: p3", "P3"),
        ("priority is P0", "P0"),
    ],
)
def test_an_urgency_is_read(note: str, priority: str) -> None:
    assert read_values(note) == {"priority": priority}


@pytest.mark.parametrize(
    ("note", "title"),
    [
        ('rename to "Fix login bug"', "Fix login bug"),
        ("Rename it to “Fix login bug” please", "Fix login bug"),
        ("rename this to Fix login bug.", "Fix login bug"),
        ('call this "Ship it by Friday"', "Ship it by Friday"),
        ("let's call it Spring cleaning", "Spring cleaning"),
        ("title should be 'Fix login'", "Fix login"),
    ],
)
def test_a_new_name_is_read(note: str, title: str) -> None:
    assert read_values(note) == {"title": title}


@pytest.mark.parametrize(
    ("note", "items"),
    [
        ("- buy milk", ["buy milk"]),
        ("* buy milk\n* call Ann", ["buy milk", "call Ann"]),
        ("1. first\n2) second", ["first", "second"]),
        ("- [ ] open\n- [x] done", ["open", "done"]),
        ("Shopping:\n- milk due Friday", ["milk due Friday"]),
        ("todo: call Bob", ["call Bob"]),
        ("TODO: call Bob", ["call Bob"]),
        ("I need to: buy milk, call Bob and write it up.", ["buy milk", "call Bob", "write it up"]),
        ("next steps: test, and ship", ["test", "ship"]),
    ],
)
def test_things_to_do_are_read_from_lists(note: str, items: list[str]) -> None:
    assert read_values(note) == {"items": items}


def test_a_ticked_box_is_ticked() -> None:
    assert read_note("- [x] done\n- [ ] open", WEDNESDAY, cue_tables()["en"]).new_items == [
        ("done", True),
        ("open", False),
    ]


@pytest.mark.parametrize(
    "note",
    [
        # bare dates and numbers
        "Call Mar about port 8080",
        "2026-12-01",
        "met Ann on Friday, 5 December",
        "2 hours",
        "version 2.0, 45 min",
        "by 5",
        "by Mar 8080",
        "by 5pm",
        "by 12 noon",
        "by Mark",
        "by Sun Microsystems",
        "protected by sun",
        "by 2026-13-45",
        "due to Friday's outage",
        # unclear which day
        "due 03/04/2027",
        "due next Friday",
        "due in March",
        "due next week",
        "due some day",
        "due Friday 28 November",
        "by Monday everybody knew",
        "due 2026-11-01",
        "due 2050-01-01",
        # the past
        "took 2 hours",
        "took about 2 hours",
        "I spent about 2 hours",
        "about 2 hours ago",
        "it was due Friday",
        "was urgent",
        "should have been done by Friday",
        # denied
        "not due Friday",
        "it isn't due Friday",
        "will not take 2 hours",
        "not urgent",
        "no longer urgent",
        "non-critical",
        'don\'t rename to "X"',
        "no need to: buy milk",
        "you don't need to: buy milk",
        "Not needed:\n- coffee\n- tea",
        "Done:\n- took the bus",
        "- done with the tests",
        # asked, supposed
        "is it due Friday?",
        "if it is due Friday we lose",
        "maybe about 2 hours",
        "is this urgent?",
        "could take 2 hours",
        # another sense
        "I am away until Friday",
        "Waiting until Monday for Bob",
        "the day before Friday we met",
        "meeting in about 2 hours",
        "waited for about 2 hours",
        "about 2 hours late",
        "takes 2 hours a week",
        "takes 10 weeks",
        "on the critical path",
        "call this Friday about the invoice",
        "call it a day",
        # lists of other things
        "Talked to Ann:\n- parking is tight\n- the roof",
        "- who comes?",
        "- https://example.com/a",
        "- Budget: 300 €",
        # not prose
        "```\n- buy milk\ndue 2026-12-01\n```",
        "> due 2026-12-01",
        "---",
        "",
        "\x00\x1b[31m",
    ],
)
def test_nothing_is_read_without_a_cue_or_where_it_is_taken_back(note: str) -> None:
    assert read_values(note) == {}


def test_one_note_may_say_several_things() -> None:
    assert read_values("It takes 2 hours and is due by Friday; urgent.\n- book a room") == {
        "due": "2026-11-20",
        "minutes": "120",
        "priority": "P1",
        "items": ["book a room"],
    }


def test_a_denial_reaches_no_further_than_its_own_part() -> None:
    assert read_values("Not urgent, but due Friday") == {"due": "2026-11-20"}
    assert read_values("no rush: about 2 hours") == {"minutes": "120"}


# -- the other languages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "note", "expected"),
    [
        ("de", "fällig am 4. Dezember", {"due": "2026-12-04"}),
        ("de", "faellig am 4. Dezember", {"due": "2026-12-04"}),
        ("de", "bis nächste Woche Freitag", {"due": "2026-11-27"}),
        ("de", "bis Do fertig", {"due": "2026-11-19"}),
        ("de", "dauert zweieinhalb Stunden", {"minutes": "150"}),
        ("de", "dauert dreißig Minuten", {"minutes": "30"}),
        ("de", "dauert dreissig Minuten", {"minutes": "30"}),
        ("de", "fällig in dreißig Tagen", {"due": "2026-12-18"}),
        ("de", "ca. 2 bis 3 Std.", {"minutes": "180"}),
        ("de", "Frist: Freitag, 27. November", {"due": "2026-11-27"}),
        ("de", "bis Freitag 17 Uhr", {"due": "2026-11-20"}),
        ("es", "el plazo es el viernes 27 de noviembre", {"due": "2026-11-27"}),
        ("fr", "la date limite est le vendredi 27 novembre", {"due": "2026-11-27"}),
        ("es", "Lista de la compra:\n- velas", {"items": ["velas"]}),
        ("es", "antes del 4 de diciembre", {"due": "2026-12-04"}),
        ("es", "vence manana", {"due": "2026-11-19"}),
        ("es", "lleva hora y media", {"minutes": "90"}),
        ("es", "lo antes posible", {"priority": "P1"}),
        ("fr", "à rendre pour le 4 décembre", {"due": "2026-12-04"}),
        ("fr", "echeance apres-demain", {"due": "2026-11-20"}),
        ("fr", "ça prend 1h30", {"minutes": "90"}),
        ("fr", "d'ici 2 semaines", {"due": "2026-12-02"}),
        ("ro", "până pe 4 decembrie", {"due": "2026-12-04"}),
        ("ro", "pana poimaine", {"due": "2026-11-20"}),
        ("ro", "durează două ore și jumătate", {"minutes": "150"}),
        ("ro", "cât mai repede", {"priority": "P1"}),
    ],
)
def test_every_language_has_its_cues(language: str, note: str, expected: dict[str, Any]) -> None:
    assert read_values(note, language) == expected


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("de", "bis so spät"),
        ("de", "Telefonat mit Kern\n- noch zwei Fehler gefunden"),
        ("de", "Was war\n- die Nachbarn"),
        ("de", "Bin bis Freitag krank"),
        ("de", "von Montag bis Freitag"),
        ("de", "vor 2 Wochen"),
        ("de", "bis nächsten Freitag"),
        ("de", "bis 2.5 Prozent"),
        ("de", "nicht dringend"),
        ("de", "das eilt nicht"),
        ("de", "hat 2 Stunden gedauert"),
        ("de", "Muss das bis Freitag fertig sein?"),
        ("es", "no es urgente"),
        ("es", "la reunión duró unas 2 horas"),
        ("es", "estoy fuera hasta el viernes"),
        ("es", "de lunes a viernes"),
        ("es", "si es para el viernes no llego"),
        ("fr", "pas urgent"),
        ("fr", "pour Sam"),
        ("fr", "je suis absente jusqu'à vendredi"),
        ("fr", "le vol dure 2 heures"),
        ("fr", "pour le 3 pièces"),
        ("ro", "nu e urgent"),
        ("ro", "sunt plecat până vineri"),
        ("ro", "a durat vreo 2 ore"),
        ("ro", "dacă vine până vineri"),
    ],
)
def test_every_language_takes_its_cues_back(language: str, note: str) -> None:
    assert read_values(note, language) == {}


@pytest.mark.parametrize(
    ("language", "note", "day"),
    [
        ("en", "The deadline was moved from Tuesday to Friday.", "2026-11-20"),
        ("en", "deadline pushed back from Monday to 4 December", "2026-12-04"),
        ("de", "Die Abgabe wurde von Dienstag auf Freitag verschoben.", "2026-11-20"),
        ("es", "La entrega se ha pasado del martes al viernes.", "2026-11-20"),
        ("fr", "La remise a été repoussée de mardi à vendredi.", "2026-11-20"),
        ("ro", "Termenul a fost mutat de marți pe vineri.", "2026-11-20"),
    ],
)
def test_a_deadline_that_was_moved_is_due_on_its_new_day(language: str, note: str, day: str) -> None:
    assert read_values(note, language) == {"due": day}


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "The dentist moved the appointment from Monday to Thursday."),
        ("en", "The deadline was moved from Tuesday to some day next month."),
        ("en", "Amount due 30.12 EUR"),
        ("de", "Fälliger Betrag: 30,11 €"),
        ("en", "due 3 November"),
        ("de", "fällig am 3. November"),
        ("fr", "On est chez mamie jusqu'à dimanche."),
        ("es", "El parking estará cerrado hasta el 4 de diciembre."),
        ("ro", "Rămânem la mare până duminică."),
        ("de", "Oma war bis Sonntag da."),
        ("en", "The library had been shut until Friday."),
    ],
)
def test_what_is_no_deadline_is_not_read_as_a_day(language: str, note: str) -> None:
    assert read_values(note, language) == {}


@pytest.mark.parametrize(
    ("note", "day"),
    [
        ("Please pay invoice 2231 by Friday.", "2026-11-20"),
        ("receipts of 2024 by 1 December 2026", "2026-12-01"),
        ("by 15 January", "2027-01-15"),
        ("due 3 November 2027", "2027-11-03"),
    ],
)
def test_a_number_before_a_deadline_word_is_no_day(note: str, day: str) -> None:
    assert read_values(note) == {"due": day}


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "The urgency is high."),
        ("de", "Die Dringlichkeit ist hoch."),
        ("es", "Hay mucha urgencia con esto."),
        ("fr", "Il y a urgence."),
        ("ro", "E o urgență."),
    ],
)
def test_urgency_as_a_noun_raises_the_priority(language: str, note: str) -> None:
    assert read_values(note, language) == {"priority": "P1"}
