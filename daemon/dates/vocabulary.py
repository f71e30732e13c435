"""The words for days, times and lengths of time: one file per language in `words/`, read once when needed.

Nothing is read at import, and no rule is decided here. A file that does not fit its type is a bug and raises.
"""

import re
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Final

from msgspec import Struct, toml

from daemon.language import LANGUAGES

WEEKDAYS: Final = 7
MONTHS: Final = 12
DAYS_AWAY_MAX: Final = 2
_HOLE: Final = re.compile(r"\{([a-z]+)\}")
_HOLES: Final = frozenset({"n", "unit", "weekday", "month", "day", "year"})


class DayRule(StrEnum):
    """A way to say a day, with an example. `daemon.dates.grammar` decides which days it means."""

    AHEAD = "ahead"  # "in two weeks"
    BACK = "back"  # "two weeks ago"
    NEXT = "next"  # "next month"
    LAST = "last"  # "last month"
    COMING = "coming"  # "friday"
    THIS = "this"  # "this friday"
    EITHER = "either"  # "next friday"
    FOLLOWING = "following"  # "friday next week"
    PAST = "past"  # "last friday"
    WEEK_END = "week_end"  # "end of the week"
    MONTH_END = "month_end"  # "end of the month"
    YEAR_END = "year_end"  # "end of the year"
    END_OF = "end_of"  # "end of march"
    NTH = "nth"  # "the 15th"
    DATE = "date"  # "15 march 2027"
    BARE = "bare"  # "two weeks"
    """A number and a unit alone. It is alike in all languages, so that no file lists it."""


class UnitWords(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """The words for each unit of time."""

    minute: tuple[str, ...] = ()
    hour: tuple[str, ...] = ()
    day: tuple[str, ...] = ()
    week: tuple[str, ...] = ()
    fortnight: tuple[str, ...] = ()
    month: tuple[str, ...] = ()
    year: tuple[str, ...] = ()


class LengthWords(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What a length of time needs beside the units and the numbers.

    `minute` and `hour` are further words for units. `joiners` stand between two parts of a sum, as "and"
    does. `fractions` are phrases that add a part of the unit, as "and a half" does. `amounts` are phrases
    with their minutes; `typed_amounts` count only if nothing else is typed. `numbers` have a fraction, and
    `joined_numbers` are templates of those between tens, such as {tens}-{ones}. `unread` are units that are
    no size of a length here, and `vague` what changes one by no known size: "an hour and a bit". `leads`
    may stand before a length and belong to it, as in "for 30 min".
    """

    leads: tuple[str, ...]
    joiners: tuple[str, ...]
    fractions: dict[str, float]
    amounts: dict[str, int]
    joined_numbers: tuple[str, ...]
    unread: tuple[str, ...]
    vague: tuple[str, ...]
    numbers: dict[str, float] = {}
    minute: tuple[str, ...] = ()
    hour: tuple[str, ...] = ()
    typed_amounts: dict[str, int] = {}


class RecurrenceWords(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """How people say that something comes again.

    One of `leads` begins it, and `fillers` join its parts and say nothing. `others` are words for every
    second one. `ordinals` count from the beginning, or from the end if negative. `adverbs` say a unit by
    themselves, and `workdays` the days from Monday to Friday. `after_done` ends what counts from the day on
    which the last one was done. `weekday_forms`, from Monday on, and `month_forms` are further words for
    weekdays, and for a month as a unit. With `month_named_by_ordinal`, "second tuesday" is that of the month,
    and not every other one.
    """

    examples: str
    leads: tuple[str, ...]
    fillers: tuple[str, ...]
    others: tuple[str, ...]
    ordinals: dict[str, int]
    adverbs: dict[str, str]
    workdays: tuple[str, ...]
    after_done: tuple[str, ...]
    weekday_forms: tuple[tuple[str, ...], ...]
    month_forms: tuple[str, ...] = ()
    month_named_by_ordinal: bool = False


class DateWords(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """One language's words, as people spell them.

    `weekdays` begin with Monday and `months` with January, each with its names and abbreviations. `days` are
    phrases with their distance from today. `rules` are patterns with the holes {n}, {unit}, {weekday},
    {month}, {day} and {year}. `units_of_days` are further words for units
    that count only in a day or a time, and not in a length of time. `weeks_in_days` are pairs: a number of
    days that people also say for whole weeks, and the days in these, as 15 and 14 for "quinze jours".
    `hanging` are words with which no title ends: what follows one belongs to it. Behind one of `reserves`, a
    day or a length is not what a task is due on or takes, as in "not Friday". `day_links` may stand
    between a day and another day, month or unit of the same phrase. `day_moved_by` makes another day of the
    one before it, `day_moved_behind` of the one behind it. `day_moved_if` and `day_sums`, which also move a
    day with a year, do so only in front of a day or a number, or at the end. Behind one of `period_parts`, a
    week, month or year is no day; `range_words` stand between two numbers of one unit. `months_alike` are
    also other words, and months only behind one of `month_leads`.
    """

    language: str
    examples: str
    month_first: bool
    now: tuple[str, ...]
    at: tuple[str, ...]
    on: tuple[str, ...]
    weekdays: tuple[tuple[str, ...], ...]
    weekdays_short: tuple[str, ...]
    months: tuple[tuple[str, ...], ...]
    weeks_in_days: tuple[tuple[int, int], ...]
    days: dict[str, int]
    units: UnitWords
    numbers: dict[str, int]
    rules: dict[DayRule, tuple[str, ...]]
    length: LengthWords
    day_links: tuple[str, ...]
    day_moved_by: tuple[str, ...]
    day_moved_behind: tuple[str, ...]
    day_sums: tuple[str, ...]
    period_parts: tuple[str, ...]
    range_words: tuple[str, ...]
    recurrence: RecurrenceWords
    day_moved_if: tuple[str, ...] = ()
    months_alike: tuple[str, ...] = ()
    month_leads: tuple[str, ...] = ()
    units_of_days: UnitWords = UnitWords()
    hanging: tuple[str, ...] = ()
    reserves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what has the right types and still makes no sense."""
        faults = [
            *(["weekdays"] if len(self.weekdays) != WEEKDAYS else []),
            *(["months"] if len(self.months) != MONTHS else []),
            *(name for name in self.weekdays_short if not any(name in names for names in self.weekdays)),
            *(phrase for phrase, away in self.days.items() if abs(away) > DAYS_AWAY_MAX),
            *(word for word, number in self.numbers.items() if number < 1),
            *(phrase for phrase, minutes in self.length.amounts.items() if minutes < 1),
            *(phrase for phrase, part in self.length.fractions.items() if not 0 < part < 1),
            *(rule for rule in DayRule if (rule in self.rules) is (rule is DayRule.BARE)),
            *(hole for hole in _HOLE.findall(repr(self.rules)) if hole not in _HOLES),
        ]
        if faults:
            raise ValueError(f"wrong in the words of {self.language}: {', '.join(faults)}")


@cache
def date_words(language: str) -> DateWords:
    """Return the words of one of `daemon.language.LANGUAGES`. Raises KeyError for any other."""
    if language not in LANGUAGES:
        raise KeyError(language)
    file = resources.files("daemon") / "dates" / "words" / f"{language}.toml"
    return toml.decode(file.read_bytes(), type=DateWords)
