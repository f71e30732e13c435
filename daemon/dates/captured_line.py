"""One line that a person types to note a task: its title, with the day and the length at its end split off.

Never loses a word of the title, and never guesses: what can be read in two ways stays in the title, and so
does what stands in quotation marks.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from daemon.dates import durations, grammar
from daemon.dates.date_language import date_language, known_language
from daemon.dates.spelling import normalized_words
from daemon.dates.vocabulary import DayRule, date_words
from daemon.dates.whole_days import folded_text, is_led_elsewhere
from daemon.language import DEFAULT_LANGUAGE, LANGUAGES
from daemon.refusal import Refused

SPAN_WORDS_MAX: Final = 6
_LETTERS_MIN: Final = 4
_WORD: Final = re.compile(r"\S+")
_LETTER: Final = re.compile(r"[^\W\d_]")
_FULL_DATE: Final = re.compile(r".*\d{4}.*|\d{1,2}\. ?\d{1,2}\.")
"""Figures without a word are a date only with a year, or with two full stops: "3/4" and "5.6" are not."""
_SIZE: Final = re.compile(r"\{n\}.*?\{unit\}")
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
            kept = _without_joint(words) if is_split else words
            title = _first_words(line, len(kept))
            return CapturedLine(title.rstrip(_END_SIGNS) or title if is_split else title, due, minutes)
        words = words[:start]


def _without_joint(words: list[str]) -> list[str]:
    """Return the words without signs that joined them to what was split off; signs alone stay."""
    title = words
    while title and not title[-1].strip(_END_SIGNS + _DASHES):
        title = title[:-1]
    return title if "".join(title).strip(_END_SIGNS) else words


def _first_words(line: str, count: int) -> str:
    """Return so many words of a line, with the blanks between them as they were typed."""
    spans = [word.span() for word in _WORD.finditer(line)][:count]
    return line[spans[0][0] : spans[-1][1]] if spans else ""


def _length_at_end(words: list[str], today: date, language: str) -> tuple[int, int | None]:
    """Return at which word a length begins that ends the words, and its minutes; 0 and None without any."""
    for start in _starts(words):
        span = " ".join(words[start:])
        minutes = durations.parse_named_length(span)
        if minutes is not None:
            # "2 days" is how long something takes, and also when it is due.
            is_day = any(grammar.day_readings(span, today, other) for other in LANGUAGES)
            is_hanging = _leaves_hanging(words[start - 1], {language})
            before = folded_text(f"{' '.join(words[:start])} ")
            is_hanging |= is_led_elsewhere(before, span, known_language(language))
            return (0, None) if is_day or is_hanging or _is_moment(words, start) else (start, minutes)
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
        # "de la mañana" is Spanish, whatever language the person speaks with Placet.
        spoken = {
            language,
            *(other for other in LANGUAGES if day in grammar.day_readings(span, today, other)),
        }
        is_whole = not _leaves_hanging(words[start - 1], spoken) and not _is_half(words, start, today, spoken)
        return (start, day) if is_clear and is_whole else (0, None)
    return 0, None


def _is_moment(words: list[str], start: int) -> bool:
    """Report whether a length at the end is a time from now, as in "in 2 hours"."""
    length = re.escape(normalized_words(" ".join(words[start:])))
    spans = [normalized_words(" ".join(words[first:])) for first in (start - 1, start - 2) if first > 0]
    templates = (template for name in LANGUAGES for template in date_language(name).rules[DayRule.AHEAD])
    patterns = [_SIZE.sub(lambda _hole: length, template) for template in templates]
    return any(re.fullmatch(pattern, span) for pattern in patterns for span in spans)


def _is_half(words: list[str], start: int, today: date, spoken: Iterable[str]) -> bool:
    """Report whether what stands before a day belongs to it: "end of next month", "Friday 21 November"."""
    before, day, last = " ".join(words[:start]), " ".join(words[start:]), words[start - 1].strip(_END_SIGNS)
    is_named = len(_LETTER.findall(last)) >= _LETTERS_MIN
    return any(
        is_led_elsewhere(folded_text(f"{before} "), day, language)
        or (is_named and grammar.day_readings(last, today, language))
        for language in map(known_language, spoken)
    )


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


def _leaves_hanging(word: str, languages: Iterable[str]) -> bool:
    """Report whether a title cannot end with a word: "the meeting on the" lacks what was taken away."""
    spoken = {*map(known_language, languages), DEFAULT_LANGUAGE}
    return any(normalized_words(word) in map(normalized_words, date_words(name).hanging) for name in spoken)
