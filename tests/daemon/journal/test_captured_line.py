"""One line with which a person notes a task: what is split off its end, and what stays in the title.

Never asks this machine for the day: every test says what today is.
"""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from daemon.dates import durations, grammar
from daemon.journal.captured_line import CapturedLine, Reading, read_line
from daemon.language import LANGUAGES
from daemon.refusal import Refused

TODAY = date(2026, 11, 24)
NAMED = ("@house-work", "@work", "@")


@pytest.mark.parametrize(
    ("language", "line", "title", "due", "minutes"),
    [
        ("en", "Buy stamps tomorrow 45 min", "Buy stamps", "2026-11-25", 45),
        ("en", "Buy stamps 45 min tomorrow", "Buy stamps", "2026-11-25", 45),
        ("en", "Buy stamps, tomorrow, 1h30", "Buy stamps", "2026-11-25", 90),
        ("en", "Call Ana on Friday", "Call Ana", "2026-11-27", None),
        ("en", "Holiday in 2 weeks", "Holiday", "2026-12-08", None),
        ("en", "Walk half an hour today", "Walk", "2026-11-24", 30),
        ("de", "Steuer bis Freitag 2 Stunden", "Steuer", "2026-11-27", 120),
        ("en", "Rest for 30 min tomorrow", "Rest", "2026-11-25", 30),
        ("de", "Pause für 30 min morgen", "Pause", "2026-11-25", 30),
        ("es", "Descansar mañana durante 30 min", "Descansar", "2026-11-25", 30),
        ("fr", "Repos demain pendant 30 min", "Repos", "2026-11-25", 30),
        ("ro", "Pauză mâine timp de 30 min", "Pauză", "2026-11-25", 30),
        ("es", "Llamar a Ana hoy", "Llamar a Ana", "2026-11-24", None),
        ("ro", "Du gunoiul azi", "Du gunoiul", "2026-11-24", None),
        ("ro", "Curs joi", "Curs", "2026-11-26", None),
        ("en", "Read chapter 12 tomorrow", "Read chapter 12", "2026-11-25", None),
        ("en", "Enjoy the sun tomorrow", "Enjoy the sun", "2026-11-25", None),
        ("en", "Call Mar tomorrow", "Call Mar", "2026-11-25", None),
        ("de", "Rufe Ana an morgen", "Rufe Ana an", "2026-11-25", None),
        ("de", "Brief 24.12. 1,5 Stunden", "Brief", "2026-12-24", 90),
        ("es", "Llamar el viernes media hora", "Llamar", "2026-11-27", 30),
        ("fr", "Payer pour le 15 décembre 1h30", "Payer", "2026-12-15", 90),
        ("ro", "Cumpără timbre mâine 45 de minute", "Cumpără timbre", "2026-11-25", 45),
        ("en", "Call Ana \u2014 tomorrow", "Call Ana", "2026-11-25", None),
        ("en", "Call Ana, - tomorrow 1 h", "Call Ana", "2026-11-25", 60),
        ("en", "Rate B- tomorrow", "Rate B-", "2026-11-25", None),
        ("en", "- tomorrow", "-", "2026-11-25", None),
        ("en", "Two  blanks  -  tomorrow", "Two  blanks", "2026-11-25", None),
        ("en", "Fix the roof in two weeks 3 hours", "Fix the roof", "2026-12-08", 180),
    ],
)
def test_a_day_and_a_length_are_split_off(
    language: str, line: str, title: str, due: str, minutes: int | None
) -> None:
    captured = read_line(line, TODAY, language)
    assert (captured.title, captured.due) == (title, date.fromisoformat(due))
    assert captured.estimate_minutes == minutes


@pytest.mark.parametrize(
    ("language", "line"),
    [
        *(
            ("en", line)
            for line in (
                "tomorrow",
                "half an hour",
                "Plan the Monday meeting",
                "Prepare for Monday",
                "Write 2 pages in 2 hours",
                "Call Kim by Friday 21 November",
                "Visit on Monday tomorrow",
                "The day after tomorrow",
                "Call next friday",
                "Call 3/4",
                "Call 03/04/2027",
                "Install version 5.6",
                "Read chapter 12",
                "Tickets for two",
                "Wait a minute",
                "Holiday 2 weeks",
                "Fix it 2 days",
                "Meet tomorrow 14:00",
                "We sat",
                "Old 2020-01-01",
                'Watch "Tomorrow"',
                "Learn C--",
                "Grade: A-",
                "Pros; cons;",
                "Note:",
                "-",
                f"Wait {'1h' * 60}",
                "Watch \u201cFriday\u201d",
                "Renovation - 2nd Floor Bath",
                "The 9/11 Report",
                "Decide",
                "Read Tomorrow's paper",
                "Read 1984",
                "Buy 2 m cable",
                "Learn March",
                "Meet Sam friday at 15:00",
                "Water plants each friday morning",
                "Plan for 2027-03-15",
                "#home",
                "p1",
                "Trip Monday - Friday",
                "Trip 1 - 5 December",
                "Trip 2026-12-01 - 2026-12-05",
                "Book 3 & 4 December",
                "Sync Tue Thursday",
                "Do 1 h - 2 h",
                "Meet at 14h",
                "Buy cable 2m",
                "Swim 100 m",
                "Report not tomorrow",
                "Report not on friday",
                "Never on sunday",
                "Meet Mr Friday",
                "Do max 30 min",
                "Post in #general",
                "Meet at @Errands",
                "Read chapter p1",
                "for 30 min",
                "Pay for the 30 min",
                "Answer #42",
                "Learn C#",
                "Compare P1 and P2",
                "Ask @bob",
                "Release p4",
                'Write "a #label"',
            )
        ),
        ("de", "Zeitung jeden Morgen"),
        ("de", "Urlaub 24.12. bis 2.1."),
        ("de", "Messe vom 1. bis zum 5. Dezember"),
        ("de", "Kurs Mo, Mittwoch"),
        ("de", "Bericht nicht morgen"),
        ("de", "Bericht frühestens Montag"),
        ("de", "Brief an Frau Sonntag"),
        ("de", "Treffen morgen 14h"),
        ("de", "Pille alle 8 Stunden"),
        ("de", "Rad fahren ca. 30 min"),
        ("fr", "Vacances 24 - 31 décembre"),
        ("fr", "Réunion demain 14h"),
        ("fr", "Réunion 9h - 11h"),
        ("fr", "Rapport pas demain"),
        ("es", "Vacaciones 24 - 31 de diciembre"),
        ("es", "Reunión mañana 14h"),
        ("ro", "Vacanță din 24 decembrie până pe 2 ianuarie"),
        ("ro", "Raport nu mâine"),
        ("de", "Bericht Ende nächster Woche"),
        ("de", "Bericht in 2 Stunden"),
        ("fr", "Rapport dans 2 heures"),
        ("en", "Talk 2 – 3 h"),
        ("en", "Move 12 – 14 h"),
        ("en", "Report within 2 hours"),
        ("en", "Cook in under 2 hours"),
        ("de", "Sitzung 2 – 3 Std"),
        ("de", "Bericht binnen 2 Stunden"),
        ("es", "Charla 2 – 3 h"),
        ("es", "Cocinar en menos de 2 horas"),
        ("fr", "Rapport sous 2 heures"),
        ("ro", "Raport în mai puțin de 2 ore"),
        ("es", "Informe dentro de 2 horas"),
        ("ro", "Raport peste 2 ore"),
        ("de", "Kaffee am Morgen"),
        ("de", "Was mache ich so"),
        ("de", "Essen mit Mai"),
        ("fr", "Fin de mois"),
        ("es", "Correr por la mañana"),
        ("es", "Ir al mar"),
        ("en", "delete mails up to january 30th"),
        ("en", "Move the meeting to tomorrow"),
        ("en", "Trabajo de la mañana"),
        ("fr", "Guten Morgen"),
        ("de", "Termin verschieben zu morgen"),
        ("ro", "a  b   c"),
    ],
)
def test_what_may_mean_something_else_stays_in_the_title(language: str, line: str) -> None:
    assert read_line(line, TODAY, language) == CapturedLine(title=line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "Call Mar tomorrow for 30 min #home p1 @Errands",
            CapturedLine(
                title="Call Mar",
                due=date(2026, 11, 25),
                estimate_minutes=30,
                labels=("home",),
                priority="P1",
                category="Errands",
            ),
        ),
        ("Paint P0, #home #diy", CapturedLine(title="Paint", labels=("home", "diy"), priority="P0")),
        ("Paint #diy tomorrow", CapturedLine(title="Paint", due=date(2026, 11, 25), labels=("diy",))),
        ("Move @house-work", CapturedLine(title="Move", category="House work")),
        ("Paint #diy #diy", CapturedLine(title="Paint", labels=("diy",))),
        ("Paint p1 p2", CapturedLine(title="Paint p1", priority="P2")),
        ("Streichen #über-uns", CapturedLine(title="Streichen", labels=("über-uns",))),
    ],
)
def test_labels_priority_and_category_stand_behind_a_title_in_any_order(
    line: str, expected: CapturedLine
) -> None:
    captured = read_line(line, TODAY, "en", categories=["Errands", "House work"])
    assert replace(captured, readings=()) == expected


def test_what_a_person_takes_back_stays_in_the_title_and_the_rest_is_read_all_the_same() -> None:
    line = "Call Mar tomorrow #home p1"
    readings = (Reading("due", "tomorrow"), Reading("labels", "#home"), Reading("priority", "p1"))
    assert read_line(line, TODAY, "en").readings == readings
    kept = read_line(line, TODAY, "en", keep=["#home"])
    assert (kept.title, kept.labels, kept.priority) == ("Call Mar #home", (), "P1")
    assert kept.due == date(2026, 11, 25)
    everything = read_line(line, TODAY, "en", keep=[reading.words for reading in readings])
    assert everything == CapturedLine(title=line)


def test_each_of_two_equal_readings_can_be_taken_back_and_nothing_is_read_across_what_is_kept() -> None:
    assert read_line("Buy milk #shop #shop", TODAY, "en", keep=["#shop", "#shop"]).labels == ()
    assert read_line("Call Ana in p1 2 days", TODAY, "en", keep=["p1"]) == CapturedLine(
        title="Call Ana in p1 2 days"
    )
    kept = read_line("Buy milk - tomorrow #home", TODAY, "en", keep=["tomorrow"])
    assert kept.title == "Buy milk - tomorrow"


def test_a_name_that_two_categories_have_names_none_and_an_exact_name_goes_first() -> None:
    names = ["House work", "House-work", "Work", "work", ""]
    captured = [read_line(f"Paint {word}", TODAY, "en", categories=names).category for word in NAMED]
    assert captured == ["House-work", None, None]
    assert read_line("Bereite das Treffen vor #arbeit", TODAY, "de").labels == ("arbeit",)


def test_a_value_that_is_given_is_not_read() -> None:
    captured = read_line("Call Mar tomorrow #home", TODAY, "en", given=["due"])
    assert (captured.title, captured.due, captured.labels) == ("Call Mar tomorrow", None, ("home",))


def test_a_line_has_few_labels() -> None:
    line = "Sort " + " ".join(f"#label{number}" for number in range(12))
    captured = read_line(line, TODAY, "en")
    assert (captured.title, len(captured.labels)) == ("Sort #label0 #label1", 10)


WORDS = ["Buy", "stamps,", "the", "on", "for", "friday", "tomorrow", "Morgen", "vineri", "45", "min", "2 h"]
WORDS += ["3/4", "2026-12-24", '"x', "half an hour", "in 2 weeks", "24.12.", "may", "none", "a", "\u202e"]
TAGS = ["#home", "p1", "@Errands", "#42", "P3,"]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), min_size=1), st.sampled_from(LANGUAGES))
def test_no_word_is_lost_and_what_is_split_off_is_what_the_grammars_read(
    parts: list[str], language: str
) -> None:
    line = " ".join(parts)
    captured = read_line(line, TODAY, language)
    words, title = line.split(), captured.title.split()
    ends = [word.rstrip(" ,;:\u2013\u2014-") for word in words]
    assert [word.rstrip(" ,;:\u2013\u2014-") for word in title] == ends[
        : len(title)
    ] or captured.title == line.strip()
    rest = words[len(title) :]
    splits = [(rest[:cut], rest[cut:]) for cut in range(len(rest) + 1)]
    both = {(captured.due, captured.estimate_minutes)}
    read = {
        pair
        for first, second in splits
        for pair in ((day(first, language), length(second)), (day(second, language), length(first)))
    }
    assert both <= read


def day(words: list[str], language: str) -> date | None:
    try:
        return grammar.parse_due_day(" ".join(words), TODAY, language)
    except Refused:
        return None


def length(words: list[str]) -> int | None:
    return durations.parse_named_length(" ".join(words))


@given(
    st.lists(st.sampled_from([*WORDS, *TAGS]) | st.text(max_size=4), min_size=1),
    st.sets(st.sampled_from([*TAGS, "tomorrow", "45 min", ""])),
    st.sampled_from(LANGUAGES),
)
def test_each_word_is_in_the_title_or_in_a_reading(parts: list[str], keep: set[str], language: str) -> None:
    line = " ".join(parts)
    captured = read_line(line, TODAY, language, categories=["Errands"], keep=keep)
    shown = [
        *captured.title.split(),
        *(word for reading in captured.readings for word in reading.words.split()),
    ]
    assert sorted(filter(None, map(_bare, shown))) == sorted(filter(None, map(_bare, line.split())))
    assert captured.title or not line.strip()
    assert not keep & {
        reading.words for reading in captured.readings if line.split().count(reading.words) == 1
    }


def _bare(word: str) -> str:
    """Return a word without the signs that join a title to what follows."""
    return word.rstrip(",;:\u2013\u2014-")


def test_how_often_it_comes_is_read_and_can_be_kept() -> None:
    line = "Water the plants every friday 30 min #home"
    read = read_line(line, TODAY, "en")
    assert (read.title, read.every, read.estimate_minutes) == ("Water the plants", "FREQ=WEEKLY;BYDAY=FR", 30)
    assert [reading.field for reading in read.readings] == ["every", "estimate_minutes", "labels"]
    kept = read_line(line, TODAY, "en", keep=["every friday"])
    assert (kept.title, kept.every) == ("Water the plants every friday", None)
    assert read_line(line, TODAY, "en", given=["every"]).every is None
