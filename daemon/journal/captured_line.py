"""One line with which a person notes a task: its title, and the values that stand behind it.

A value is a day, an hour, a length, how often it comes, `#label`, `p1` or `@category`; they may follow each
other in any order. Never loses a word, and never guesses: what can be read in two ways stays in the title,
and so does what the person takes back (`keep`). An unknown category stays there too: "@" begins many words
that name no category.
"""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import date
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from daemon.dates.line_ends import DASHES, END_SIGNS, day_at_end, hour_at_end, length_at_end
from daemon.dates.recurrence_words import recurrence_at_end
from daemon.due_time import DueTime
from daemon.journal.fields.validation import NAME_CHARS_MAX, PRIORITIES
from daemon.text_comparison import comparison_key

LINE_CHARS_MAX: Final = 2000
HOUR_WORDS_MAX: Final = 3
"""So many words say an hour at most: "à 9 heures", "at 2 pm"."""
LABELS_MAX: Final = 10
"""So many labels are read of a line; a line with more is no task."""
_WORD: Final = re.compile(r"\S+")
_LABEL: Final = re.compile(rf"#([^\W\d_][\w/-]{{0,{NAME_CHARS_MAX - 1}}})")
"""A name begins with a letter: "#42" is the number of something."""

_JOINED: Final = re.compile(
    "in|on|at|the|an?|and|or|of|to|from|with|im|am|der|die|das|den|dem|des|und|oder|en|el|las?|los|del?|y|o"
    "|dans|les?|du|et|ou|à|au|în|pe|și|sau"
)
"""Words behind which a tag is a part of the title: "Post in #general"."""
_PLACES: Final = re.compile(
    rf"{_JOINED.pattern}|page|chapter|see|seite|kapitel|siehe|página|capítulo|chapitre|pagina|capitolul"
)
"""Words behind which "p1" is no priority, a page perhaps."""
_SINGLE_FIELDS: Final = ("due", "estimate_minutes", "priority", "category", "every")


class RuleAt(NamedTuple):
    """How often something comes, and the hour at which it is due then, which names no day."""

    rule: str
    hour: str


LineValue = date | DueTime | RuleAt | int | str


class Reading(Struct, frozen=True):
    """What was read of a line: the field by its name in the API, and the words that say its value."""

    field: str
    words: str


class CapturedLine(Struct, frozen=True, kw_only=True):
    """What a line says of a new task; null if it does not say it. `readings` are in the order of the line.

    `every` is the rule of a series: such a line notes what comes again.
    """

    title: str
    due: date | None = None
    due_time: str | None = None
    estimate_minutes: int | None = None
    labels: tuple[str, ...] = ()
    priority: str | None = None
    category: str | None = None
    every: str | None = None
    readings: tuple[Reading, ...] = ()


def read_line(
    line: str,
    today: date,
    language: str,
    *,
    categories: Collection[str] = (),
    keep: Collection[str] = (),
    given: Collection[str] = (),
    hour_of: Callable[[str], DueTime | None] = lambda _words: None,
    clock_of: Callable[[str], str | None] = lambda _words: None,
) -> CapturedLine:
    """Split the values off the end of a line. A title is always left.

    `categories` are the names that `@` may name. `keep` contains words, as readings give them, that stay in
    the title. `given` contains fields that are known from elsewhere: no value of theirs is read. `hour_of`
    reads an hour that words name, `clock_of` one without a day; they return None of others.
    """
    spans = [word.span() for word in _WORD.finditer(line)]
    words = [line[start:end] for start, end in spans]
    readers = _readers(today, language, categories, hour_of, clock_of)
    kept = _kept_places(words, keep)
    left = [place for place in range(len(words)) if place not in kept]
    values: dict[str, list[LineValue]] = {}
    readings: list[Reading] = []
    is_open = True
    while is_open:
        is_open = False
        for field, read in readers.items():
            most = 0 if field in given else LABELS_MAX if field == "labels" else 1
            if len(values.get(field, [])) >= most:
                continue
            start, value = read([words[place] for place in left])
            # What is kept in between keeps apart what stands around it.
            is_whole = start > 0 and left[-1] - left[start] == len(left) - 1 - start
            if not is_whole or value is None:
                continue
            values.setdefault(field, []).insert(0, value)
            readings.insert(0, Reading(field, " ".join(words[place] for place in left[start:])))
            left, is_open = left[:start], True
            break
    has_joint = bool(readings) and not any(place > left[-1] for place in kept)
    if has_joint:
        left = _without_joint(words, left)
    title = _title(line, spans, sorted({*left, *kept}))
    if has_joint:
        title = title.rstrip(END_SIGNS) or title
    return _make_line(title, values, readings)


def _readers(
    today: date,
    language: str,
    categories: Collection[str],
    hour_of: Callable[[str], DueTime | None],
    clock_of: Callable[[str], str | None],
) -> Mapping[str, Callable[[list[str]], tuple[int, LineValue | None]]]:
    """Return what reads the value of each field at the end of words: where it begins, or 0, and the value."""

    def tag(
        find: Callable[[str], str | None], behind: re.Pattern[str] = _JOINED
    ) -> Callable[[list[str]], tuple[int, LineValue | None]]:
        def read(words: list[str]) -> tuple[int, LineValue | None]:
            if len(words) < 2 or behind.fullmatch(comparison_key(words[-2])):
                return 0, None
            value = find(words[-1].rstrip(END_SIGNS))
            return (len(words) - 1, value) if value is not None else (0, None)

        return read

    def due(words: list[str]) -> tuple[int, LineValue | None]:
        start, day = day_at_end(words, today, language)
        return (start, day) if day is not None else hour_at_end(words, today, language, hour_of)

    def rule_at_end(words: list[str]) -> tuple[int, LineValue | None]:
        start, rule = recurrence_at_end(words, language)
        for behind in range(1, min(HOUR_WORDS_MAX, len(words) - 1) + 1):
            clock = None if rule else clock_of(" ".join(words[-behind:]))
            if clock is not None:
                start, rule = recurrence_at_end(words[:-behind], language)
                return (start, RuleAt(rule, clock)) if rule else (0, None)
        return start, rule

    return {
        "every": rule_at_end,
        "estimate_minutes": lambda words: length_at_end(words, today, language),
        "due": due,
        "labels": tag(lambda word: match[1] if (match := _LABEL.fullmatch(word)) else None),
        "priority": tag(lambda word: word.upper() if word.upper() in PRIORITIES else None, _PLACES),
        "category": tag(lambda word: _category_named(word, categories)),
    }


def _category_named(word: str, categories: Collection[str]) -> str | None:
    """Return the one category that a word names, as it is called or with hyphens for blanks, or None."""
    if not word.startswith("@"):
        return None
    keys = [(comparison_key(name), name) for name in categories]
    key = comparison_key(word[1:])
    for matching in (
        [name for exact, name in keys if exact == key],
        [name for exact, name in keys if exact.replace(" ", "-") == key],
    ):
        if matching:
            return matching[0] if key and len(matching) == 1 else None
    return None


def _kept_places(words: list[str], keep: Collection[str]) -> set[int]:
    """Return the places of the words that stay, where each group of them stands last."""
    places: set[int] = set()
    for group in (text.split() for text in keep):
        for start in range(len(words) - len(group), -1, -1):
            is_free = places.isdisjoint(range(start, start + len(group)))
            if group and is_free and words[start : start + len(group)] == group:
                places.update(range(start, start + len(group)))
                break
    return places


def _without_joint(words: list[str], left: list[int]) -> list[int]:
    """Return the places without signs at the end that joined them to what was split off; signs alone stay."""
    title = left
    while title and not words[title[-1]].strip(END_SIGNS + DASHES):
        title = title[:-1]
    return title if "".join(words[place] for place in title).strip(END_SIGNS) else left


def _title(line: str, spans: list[tuple[int, int]], places: list[int]) -> str:
    """Return the words at these places, with the blanks between neighbours as they were typed."""
    parts = [line[slice(*spans[place])] for place in places[:1]]
    for before, place in pairwise(places):
        is_neighbour = place == before + 1
        parts.append(line[spans[before][1] : spans[place][0]] if is_neighbour else " ")
        parts.append(line[slice(*spans[place])])
    return "".join(parts)


def _make_line(title: str, values: Mapping[str, list[LineValue]], readings: list[Reading]) -> CapturedLine:
    def single(field: str) -> LineValue | None:
        return next(iter(values.get(field, [])), None)

    due, minutes, priority, category, every = map(single, _SINGLE_FIELDS)
    hour = due.text() if isinstance(due, DueTime) else None
    if isinstance(every, RuleAt):
        every, hour = every
    return CapturedLine(
        title=title,
        due=due.day if isinstance(due, DueTime) else due if isinstance(due, date) else None,
        due_time=hour,
        estimate_minutes=minutes if isinstance(minutes, int) else None,
        labels=tuple(dict.fromkeys(str(label) for label in values.get("labels", []))),
        priority=None if priority is None else str(priority),
        category=None if category is None else str(category),
        every=None if every is None else str(every),
        readings=tuple(readings),
    )
