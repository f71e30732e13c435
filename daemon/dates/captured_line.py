"""One line that a person types to note a task: its title, with the day and the length at its end split off.

Never loses a word of the title, and never guesses: what can be read in two ways stays in the title, and so
does what stands in quotation marks.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from daemon.dates import durations, grammar
from daemon.dates.date_language import known_language
from daemon.dates.spelling import normalized_words
from daemon.dates.vocabulary import DayRule, date_words
from daemon.language import DEFAULT_LANGUAGE, LANGUAGES
from daemon.refusal import Refused

SPAN_WORDS_MAX: Final = 6
_LETTERS_MIN: Final = 4
_LETTER: Final = re.compile(r"[^\W\d_]")
_FULL_DATE: Final = re.compile(r".*\d{4}.*|\d{1,2}\. ?\d{1,2}\.")
"""Figures without a word are a date only with a year, or with two full stops: "3/4" and "5.6" are not."""
_END_SIGNS: Final = ",;:"
"""What joins a title to what follows it. A dash does so as a word of its own alone: "C--" has two."""
_DASHES: Final = "—–-"


@dataclass(frozen=True, slots=True)
class CapturedLine:
    """What a line says: the title, and when the task is due and how many minutes it takes, if it says so."""

    title: str
    due: date | None
    minutes: int | None


def read_line(line: str, today: date, language: str) -> CapturedLine:
    """Split a day and a length, in either order, off the end of a line. A title is always left."""
    words, due, minutes = line.split(), None, None
    while True:
        start = 0
        if minutes is None:
            start, minutes = _length_at_end(words, today, language)
        if not start and due is None:
            start, due = _day_at_end(words, today, language)
        if not start:
            is_split = due is not None or minutes is not None
            return CapturedLine(_without_joint(words) if is_split else " ".join(words), due, minutes)
        words = words[:start]


def _without_joint(words: list[str]) -> str:
    """Return a title without the signs that joined it to what was split off; one of signs alone stays."""
    title = words
    while title and not title[-1].strip(_END_SIGNS + _DASHES):
        title = title[:-1]
    return " ".join(title).rstrip(_END_SIGNS) or " ".join(words)


def _length_at_end(words: list[str], today: date, language: str) -> tuple[int, int | None]:
    """Return at which word a length begins that ends the words, and its minutes; 0 and None without any."""
    for start in _starts(words):
        span = " ".join(words[start:])
        minutes = durations.parse_named_length(span)
        if minutes is not None:
            # "2 days" is how long something takes, and also when it is due.
            is_day = any(grammar.day_readings(span, today, other) for other in LANGUAGES)
            return (0, None) if is_day or _leaves_hanging(words[start - 1], language) else (start, minutes)
    return 0, None


def _day_at_end(words: list[str], today: date, language: str) -> tuple[int, date | None]:
    """Return at which word a day begins that ends the words, and the day; 0 and None without any."""
    for start in _starts(words):
        span = " ".join(words[start:])
        try:
            day = grammar.parse_due_day(span, today, language)
        except Refused as refused:
            if refused.sentence.id == grammar.NO_DATE:
                continue
            # All of it means a day or a time in more ways than one: a part of it may not count either.
            return 0, None
        is_clear = day is not None and day >= today and _says_a_day(span, day, today)
        return (start, day) if is_clear and not _leaves_hanging(words[start - 1], language) else (0, None)
    return 0, None


def _starts(words: list[str]) -> range:
    return range(max(1, len(words) - SPAN_WORDS_MAX), len(words))


def _says_a_day(span: str, day: date, today: date) -> bool:
    """Report whether words say a day that no running text is likely to say of something else."""
    letters = len(_LETTER.findall(span))
    if not letters:
        return _FULL_DATE.fullmatch(span) is not None
    has_figure = any(sign.isdigit() for sign in span)
    # "Sat" and "mar" are words and names too, and "2 weeks" is how long something takes.
    return (has_figure or letters >= _LETTERS_MIN) and any(
        day in grammar.day_readings(span, today, other, without=(DayRule.BARE,)) for other in LANGUAGES
    )


def _leaves_hanging(word: str, language: str) -> bool:
    """Report whether a title cannot end with a word: "the meeting on the" lacks what was taken away."""
    spoken = {known_language(language), DEFAULT_LANGUAGE}
    return any(normalized_words(word) in map(normalized_words, date_words(name).hanging) for name in spoken)
