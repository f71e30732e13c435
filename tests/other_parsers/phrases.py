"""Some 1 000 phrases for days in five languages, made of templates and of the words of Placet's grammar.

Never says what a phrase means.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from daemon.dates.vocabulary import date_words

LANGUAGES = ("en", "de", "fr", "es", "ro")
TODAY = date(2026, 11, 18)
"""A Wednesday."""

COUNTS = (2, 3, 5, 10, 14, 30)
_RELATIVE = {
    "en": ("today", "tomorrow", "yesterday", "day after tomorrow", "the day after tomorrow", "tonight"),
    "de": ("heute", "morgen", "gestern", "übermorgen", "vorgestern", "heute abend"),
    "fr": ("aujourd'hui", "demain", "hier", "après-demain", "avant-hier", "ce soir"),
    "es": ("hoy", "mañana", "ayer", "pasado mañana", "anteayer", "esta noche"),
    "ro": ("azi", "mâine", "ieri", "poimâine", "alaltăieri", "diseară"),
}
_AHEAD = {
    "en": ("in {} days", "in {} weeks", "in {} months", "{} days from now"),
    "de": ("in {} Tagen", "in {} Wochen", "in {} Monaten"),
    "fr": ("dans {} jours", "dans {} semaines", "dans {} mois"),
    "es": ("en {} días", "en {} semanas", "en {} meses", "dentro de {} días"),
    "ro": ("peste {} zile", "peste {} săptămâni", "peste {} luni", "în {} zile"),
}
_BACK = {
    "en": "{} days ago",
    "de": "vor {} Tagen",
    "fr": "il y a {} jours",
    "es": "hace {} días",
    "ro": "acum {} zile",
}
_ONE = {
    "en": ("in a day", "in a week", "in a month", "in two weeks", "next week", "next month"),
    "de": (
        "in einem Tag",
        "in einer Woche",
        "in einem Monat",
        "in zwei Wochen",
        "nächste Woche",
        "nächsten Monat",
    ),
    "fr": ("dans un jour", "dans une semaine", "dans un mois", "dans deux semaines", "la semaine prochaine"),
    "es": ("en un día", "en una semana", "en un mes", "en dos semanas", "la semana que viene"),
    "ro": ("peste o zi", "peste o săptămână", "peste o lună", "peste două săptămâni", "săptămâna viitoare"),
}
_NEXT = {
    "en": ("next {}", "this {}", "on {}", "last {}"),
    "de": ("nächsten {}", "diesen {}", "am {}", "letzten {}"),
    "fr": ("{} prochain", "ce {}", "{} dernier"),
    "es": ("el próximo {}", "este {}", "el {}", "el {} que viene"),
    "ro": ("{} viitoare", "{} asta", "{} trecută"),
}
_DATE = {
    "en": ("{day} {month}", "{month} {day}", "{day} {month} {year}", "{month} {day}, {year}"),
    "de": ("{day}. {month}", "{day}. {month} {year}", "am {day}. {month}"),
    "fr": ("{day} {month}", "le {day} {month}", "{day} {month} {year}"),
    "es": ("{day} de {month}", "el {day} de {month}", "{day} de {month} de {year}"),
    "ro": ("{day} {month}", "pe {day} {month}", "{day} {month} {year}"),
}
_NUMERIC = {
    "en": ("{m}/{d}/{y}", "{d}/{m}/{y}"),
    "de": ("{d}.{m}.{y}", "{d}.{m}."),
    "fr": ("{d}/{m}/{y}", "{d}/{m}"),
    "es": ("{d}/{m}/{y}", "{d}/{m}"),
    "ro": ("{d}.{m}.{y}", "{d}.{m}"),
}
_DAY_ALONE = {
    "en": ("the {}th", 6),
    "de": ("am {}.", 6),
    "fr": ("le {}", 6),
    "es": ("el día {}", 6),
    "ro": ("pe {}", 6),
}
_END = {"en": "end of {}", "de": "Ende {}", "fr": "fin {}", "es": "finales de {}", "ro": "sfârșitul lui {}"}


class Phrase(NamedTuple):
    """Words for a day, and the family of phrases that they belong to."""

    language: str
    family: str
    text: str


def phrases() -> list[Phrase]:
    """Return all phrases, none of them twice."""
    return list(dict.fromkeys(phrase for language in LANGUAGES for phrase in _of_language(language)))


def _of_language(language: str) -> Iterator[Phrase]:
    weekdays = [names[0] for names in date_words(language).weekdays]
    months = [names[0] for names in date_words(language).months]
    yield from (Phrase(language, "word", text) for text in _RELATIVE[language])
    yield from (Phrase(language, "weekday", name) for name in weekdays)
    yield from (Phrase(language, shape, shape.format(name)) for shape in _NEXT[language] for name in weekdays)
    shapes = (*_AHEAD[language], _BACK[language])
    yield from (Phrase(language, shape, shape.format(count)) for shape in shapes for count in COUNTS)
    yield from (Phrase(language, "one", text) for text in _ONE[language])
    for index, month in enumerate(months, 1):
        yield Phrase(language, "end of a month", _END[language].format(month))
        for step, shape in enumerate(_DATE[language]):
            for day in (1 + (index * 5 + step) % 28, 3 + (index + step * 7) % 26):
                text = shape.format(day=day, month=month, year=2027)
                yield Phrase(language, shape, text)
    for step in range(16):
        written = TODAY + timedelta(23 * step + 9)
        yield Phrase(language, "ISO", written.isoformat())
        for shape in _NUMERIC[language]:
            both = " of two readings" if language == "en" and written.day <= 12 else ""
            yield Phrase(language, shape + both, shape.format(d=written.day, m=written.month, y=written.year))
    shape, least = _DAY_ALONE[language]
    yield from (Phrase(language, shape, shape.format(number)) for number in (least, 15, 19, 27))
