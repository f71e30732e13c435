"""How often something comes, as people type it in five languages, and as it is said back.

Never expects a guess: what can be read in two ways is refused.
"""

import pytest

from daemon.dates.recurrence_words import parse_recurrence, recurrence_at_end
from daemon.language import LANGUAGES
from daemon.refusal import Refused
from daemon.words.recurrence import rule_words

READ = {
    "en": {
        "second Tuesday": "FREQ=MONTHLY;BYDAY=2TU",
        "every friday": "FREQ=WEEKLY;BYDAY=FR",
        "every 2 weeks": "FREQ=WEEKLY;INTERVAL=2",
        "every other week": "FREQ=WEEKLY;INTERVAL=2",
        "every other tuesday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
        "mon, wed and fri": "FREQ=WEEKLY;BYDAY=MO,WE,FR",
        "2 weeks on friday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR",
        "the 15th": "FREQ=MONTHLY;BYMONTHDAY=15",
        "15th of every month": "FREQ=MONTHLY;INTERVAL=15",
        "last day of the month": "FREQ=MONTHLY;BYMONTHDAY=-1",
        "last friday of the month": "FREQ=MONTHLY;BYDAY=-1FR",
        "15 march": "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=15",
        "march 15": "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=15",
        "weekday": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "every day": "FREQ=DAILY",
        "daily": "FREQ=DAILY",
        "3 days after done": "AFTER=3",
        "every 3 months on the 1st": "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1",
        "first of january": "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1",
        "second tuesday of november": "FREQ=YEARLY;BYMONTH=11;BYDAY=2TU",
        "every 2nd friday": "FREQ=MONTHLY;BYDAY=2FR",
        "every second week": "FREQ=WEEKLY;INTERVAL=2",
        "year": "FREQ=YEARLY",
        "FREQ=WEEKLY;BYDAY=FR": "FREQ=WEEKLY;BYDAY=FR",
        "every month on the 31st": "FREQ=MONTHLY;BYMONTHDAY=31",
    },
    "de": {
        "alle zwei Wochen": "FREQ=WEEKLY;INTERVAL=2",
        "jeden Freitag": "FREQ=WEEKLY;BYDAY=FR",
        "zweiter Dienstag im Monat": "FREQ=MONTHLY;BYDAY=2TU",
        "jeden zweiten Dienstag im Monat": "FREQ=MONTHLY;BYDAY=2TU",
        "am 15.": "FREQ=MONTHLY;BYMONTHDAY=15",
        "jeden Monat am 15.": "FREQ=MONTHLY;BYMONTHDAY=15",
        "letzter Tag des Monats": "FREQ=MONTHLY;BYMONTHDAY=-1",
        "täglich": "FREQ=DAILY",
        "werktags": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "montags und donnerstags": "FREQ=WEEKLY;BYDAY=MO,TH",
        "jedes Jahr am 24. Dezember": "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24",
        "3 Tage nach Erledigung": "AFTER=3",
        "jede zweite Woche": "FREQ=WEEKLY;INTERVAL=2",
        "jeden letzten Freitag im Monat": "FREQ=MONTHLY;BYDAY=-1FR",
    },
    "fr": {
        "tous les mois le 1er": "FREQ=MONTHLY;BYMONTHDAY=1",
        "tous les vendredis": "FREQ=WEEKLY;BYDAY=FR",
        "toutes les 2 semaines": "FREQ=WEEKLY;INTERVAL=2",
        "deuxième mardi du mois": "FREQ=MONTHLY;BYDAY=2TU",
        "le 15": "FREQ=MONTHLY;BYMONTHDAY=15",
        "dernier jour du mois": "FREQ=MONTHLY;BYMONTHDAY=-1",
        "chaque année le 14 juillet": "FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=14",
        "3 jours après l'avoir fait": "AFTER=3",
        "jours ouvrés": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    },
    "es": {
        "cada viernes": "FREQ=WEEKLY;BYDAY=FR",
        "todos los viernes": "FREQ=WEEKLY;BYDAY=FR",
        "cada 2 semanas": "FREQ=WEEKLY;INTERVAL=2",
        "segundo martes del mes": "FREQ=MONTHLY;BYDAY=2TU",
        "el día 15": "FREQ=MONTHLY;BYMONTHDAY=15",
        "último día del mes": "FREQ=MONTHLY;BYMONTHDAY=-1",
        "todos los meses el día 1": "FREQ=MONTHLY;BYMONTHDAY=1",
        "cada año el 24 de diciembre": "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24",
        "3 días después de hacerlo": "AFTER=3",
    },
    "ro": {
        "în fiecare luni": "FREQ=WEEKLY;BYDAY=MO",
        "la fiecare 2 luni": "FREQ=MONTHLY;INTERVAL=2",
        "a doua marți din lună": "FREQ=MONTHLY;BYDAY=2TU",
        "pe 15": "FREQ=MONTHLY;BYMONTHDAY=15",
        "ultima zi a lunii": "FREQ=MONTHLY;BYMONTHDAY=-1",
        "lunar": "FREQ=MONTHLY",
        "zilnic": "FREQ=DAILY",
        "în fiecare an pe 24 decembrie": "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24",
        "3 zile după ce e făcut": "AFTER=3",
        "la fiecare două săptămâni": "FREQ=WEEKLY;INTERVAL=2",
        "în fiecare lună pe 1": "FREQ=MONTHLY;BYMONTHDAY=1",
    },
}

REFUSED = (
    ("en", "2 hours"),
    ("en", "blah"),
    ("en", "every"),
    ("en", "FREQ=SECONDLY"),
    ("en", "quarter"),
    ("de", "jeden zweiten Dienstag"),
    ("de", "24.12"),
    ("fr", "tous les quinze jours"),
    ("es", "cada 15 días"),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_people_type_is_read(language: str) -> None:
    assert {words: parse_recurrence(words, language) for words in READ[language]} == READ[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_language_is_read_too_if_the_own_one_reads_nothing(language: str) -> None:
    assert parse_recurrence("alle zwei Wochen", language) == "FREQ=WEEKLY;INTERVAL=2"
    assert parse_recurrence("every other tuesday", language) == "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"


@pytest.mark.parametrize(("language", "words"), REFUSED)
def test_what_says_no_rule_or_two_is_refused_with_examples(language: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_recurrence(words, language)
    assert refused.value.hint is not None


@pytest.mark.parametrize(
    ("line", "language", "title", "rule"),
    [
        ("Call Mar every friday", "en", "Call Mar", "FREQ=WEEKLY;BYDAY=FR"),
        ("Pay the rent every month on the 1st", "en", "Pay the rent", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("Blumen gießen jeden Montag", "en", "Blumen gießen", "FREQ=WEEKLY;BYDAY=MO"),
        ("Sortir les poubelles tous les mardis", "fr", "Sortir les poubelles", "FREQ=WEEKLY;BYDAY=TU"),
        ("Read every book", "en", "Read every book", None),
        ("Every friday", "en", "Every friday", None),
        ("Fenster putzen jeden zweiten Dienstag", "de", "Fenster putzen jeden zweiten Dienstag", None),
        ("Meet Ana the second tuesday", "en", "Meet Ana the second tuesday", None),
    ],
)
def test_a_rule_ends_a_line_if_a_word_leads_it_in(
    line: str, language: str, title: str, rule: str | None
) -> None:
    words = line.split()
    start, read = recurrence_at_end(words, language)
    assert (" ".join(words[: start or len(words)]), read) == (title, rule)


SAID = {
    "FREQ=DAILY": "every day",
    "FREQ=DAILY;INTERVAL=3": "every 3 days",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": "every weekday",
    "FREQ=WEEKLY;BYDAY=MO,TH": "every Monday, Thursday",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR": "every 2 weeks on Friday",
    "FREQ=MONTHLY;BYMONTHDAY=-1": "every month on the last day",
    "FREQ=MONTHLY;BYMONTHDAY=1,15": "every month on day 1, 15",
    "FREQ=MONTHLY;INTERVAL=3;BYDAY=2TU": "every 3 months on the second Tuesday",
    "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24": "every year on 24 Dec",
    "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH": "every year on the fourth Thursday in Nov",
    "FREQ=WEEKLY;COUNT=3": "every week, 3 times",
    "AFTER=1": "1 day after it was done",
    "AFTER=10": "10 days after it was done",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1": "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1",
    "FREQ=WEEKLY;BYDAY=XX": "FREQ=WEEKLY;BYDAY=XX",
    "AFTER=x": "AFTER=x",
    "\x1b[2J": "\\x1b[2J",
    "": "",
}


@pytest.mark.parametrize(("rule", "words"), SAID.items())
def test_a_rule_is_said_in_words_or_as_it_is(rule: str, words: str) -> None:
    assert rule_words(rule) == words
