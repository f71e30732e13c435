"""How often something comes, as people type it in five languages: "every second Tuesday", "alle zwei Wochen".

Never guesses: what can be read in two ways is refused, and no word is skipped because it is not understood.
The configured language is tried first, and the others only if it reads nothing.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from daemon.dates.date_language import DAY, MINUTE, MONTH, DateUnit, date_language, known_language
from daemon.dates.recurrence import (
    AFTER_DAYS_MAX,
    INTERVAL_MAX,
    AfterDone,
    Frequency,
    NthWeekday,
    Rule,
    UnreadRule,
    read_rule,
)
from daemon.dates.spelling import excerpt, normalized_words, typed_spellings
from daemon.dates.vocabulary import date_words
from daemon.language import LANGUAGES
from daemon.refusal import usage_error
from store.sentence import sentence

_CHARS_MAX: Final = 100
_WORDS_MAX: Final = 10
_PHRASE_WORDS_MAX: Final = 3
_NUMBER: Final = re.compile(r"(\d{1,4})")
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.|er|eme|e|o|a|ro|ra)")
_RULE: Final = re.compile(r"(?:RRULE:)?(FREQ=.*)", re.IGNORECASE)
_WORKDAYS: Final = tuple(NthWeekday(0, weekday) for weekday in range(5))
_MONTH_DAYS_MAX: Final = 31
_LAST: Final = -1
_WEEK: Final = 7
_YEAR: Final = 12


class _Token(NamedTuple):
    """A word that says something: what kind of thing, and which."""

    kind: str
    value: int
    unit: str = ""


class _Ambiguous(Exception):
    """Words that can be read in two ways."""


class _Unread(Exception):
    """Words that say no rule."""


def parse_recurrence(words: str, language: str) -> str:
    """Read how often something comes; return the rule as the journal keeps it. Refuses what is no rule."""
    own = known_language(language)
    text = words.strip()
    try:
        if len(text) <= _CHARS_MAX and (match := _RULE.fullmatch(text)):
            return read_rule(match[1]).text()
        for spoken in (own, *(other for other in LANGUAGES if other != own)):
            try:
                return _read(text[: _CHARS_MAX + 1], spoken, needs_lead=False)
            except _Unread:
                continue
    except _Ambiguous:
        unread = sentence("rule-ambiguous", "{words!r} can be read in two ways", words=excerpt(words))
    except UnreadRule:
        unread = sentence("rule-impossible", "{words!r} names no day that comes", words=excerpt(words))
    else:
        unread = sentence("no-rule", "{words!r} does not say how often it comes", words=excerpt(words))
    examples = date_words(own).recurrence.examples
    raise usage_error(unread, sentence("rule-examples", "write it like: {examples}", examples=examples))


def recurrence_at_end(words: list[str], language: str) -> tuple[int, str | None]:
    """Return at which word a rule begins that ends the words, and the rule; 0 and None without any.

    In a running line a rule begins with a word such as "every".
    """
    own = known_language(language)
    for start in range(max(1, len(words) - _WORDS_MAX), len(words)):
        span = " ".join(words[start:])
        for spoken in (own, *(other for other in LANGUAGES if other != own)):
            try:
                return start, _read(span, spoken, needs_lead=True)
            except (_Unread, UnreadRule):
                continue
            except _Ambiguous:
                return 0, None
    return 0, None


def _read(words: str, language: str, *, needs_lead: bool) -> str:
    """Read a rule in one language. Raises _Unread, _Ambiguous, UnreadRule."""
    text = normalized_words(words)
    if not text or len(words) > _CHARS_MAX:
        raise _Unread
    rest = _without_lead(text, language)
    spoken = date_words(language).recurrence
    if rest is None and needs_lead and text not in _spellings(tuple(spoken.adverbs)):
        raise _Unread
    text = rest or text
    for ending in _spellings(spoken.after_done):
        if text.endswith(f" {ending}"):
            return _after_done(list(_tokens(text.removesuffix(ending).strip(), language))).text()
    tokens = list(_tokens(text, language))
    # The text is read again: parts that do not go together are refused there.
    return read_rule(_rule(tokens, language).text()).text()


def _without_lead(text: str, language: str) -> str | None:
    leads = sorted(_spellings(date_words(language).recurrence.leads), key=len, reverse=True)
    return next((text.removeprefix(lead).strip() for lead in leads if text.startswith(f"{lead} ")), None)


@cache
def _spellings(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(typed for phrase in phrases for typed in typed_spellings(phrase))


@cache
def _lexicon(language: str) -> dict[str, _Token]:
    """Return what each word or phrase of a language says; a weekday comes before a unit of the same name."""
    spoken, own = date_words(language).recurrence, date_language(language)
    unit_names = {"day": (DAY, 1), "week": (DAY, 7), "month": (MONTH, 1), "year": (MONTH, 12)}
    table: dict[str, _Token] = {}
    table |= {word: _Token("filler", 0) for word in _spellings(spoken.fillers)}
    table |= {word: _Token("number", value) for word, value in own.numbers.items() if word not in table}
    table |= {word: _Token("month", value) for word, value in own.months.items() if word not in table}
    table |= {word: _unit(unit) for word, unit in own.units.items()}
    table |= {word: _unit((MONTH, 1)) for word in _spellings(spoken.month_forms)}
    table |= {word: _Token("weekday", value) for word, value in own.weekdays.items()}
    for value, forms in enumerate(spoken.weekday_forms):
        table |= {word: _Token("weekday", value) for word in _spellings(forms)}
    table |= {
        word: _Token("ordinal", value)
        for phrase, value in spoken.ordinals.items()
        for word in typed_spellings(phrase)
    }
    table |= {word: _Token("other", 2) for word in _spellings(spoken.others)}
    table |= {word: _Token("workday", 0) for word in _spellings(spoken.workdays)}
    table |= {
        word: _unit(unit_names[name])
        for phrase, name in spoken.adverbs.items()
        for word in typed_spellings(phrase)
    }
    return table


def _unit(unit: DateUnit) -> _Token:
    return _Token("unit", unit[1], unit[0])


def _tokens(text: str, language: str) -> Iterator[_Token]:
    """Yield what the words say. Raises _Unread for a word that says nothing."""
    table, units = _lexicon(language), date_language(language).units
    months = date_language(language).months
    words = [part for word in text.split() for part in _apart(word, table)]
    before = ""
    while words:
        for count in range(min(_PHRASE_WORDS_MAX, len(words)), 0, -1):
            phrase = " ".join(words[:count])
            token = table.get(phrase) or (_figure(phrase) if count == 1 else None)
            if token is None:
                continue
            # "2 luni" are two months, and "luni" alone is a Monday; "7 sept" is in September.
            if before == "number" and phrase in units:
                token = _unit(units[phrase])
            elif before in ("number", "ordinal") and token.kind == "number" and phrase in months:
                token = _Token("month", months[phrase])
            del words[:count]
            break
        else:
            raise _Unread
        if token.kind == "filler":
            continue
        before = token.kind
        yield token


def _apart(word: str, table: dict[str, _Token]) -> list[str]:
    """Return a word without the full stop of an abbreviation, "l'" by itself."""
    if word in table or _ORDINAL.fullmatch(word):
        return [word]
    begin, sign, rest = word.partition("'")
    if sign and f"{begin}'" in table and rest:
        return [rest]
    return [word.rstrip(".")]


def _figure(word: str) -> _Token | None:
    if _NUMBER.fullmatch(word):
        return _Token("number", int(word))
    match = _ORDINAL.fullmatch(word)
    return None if match is None else _Token("ordinal", int(match[1]))


def _after_done(tokens: list[_Token]) -> AfterDone:
    kinds = [token.kind for token in tokens]
    if kinds not in (["number", "unit"], ["unit"]) or tokens[-1].unit != DAY:
        raise _Unread
    days = tokens[-1].value * (tokens[0].value if len(tokens) > 1 else 1)
    if not 1 <= days <= AFTER_DAYS_MAX:
        raise _Unread
    return AfterDone(days)


class _Parts:
    """What the words name: units with how many of them, weekdays, days of a month, months."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._number: _Token | None = None
        self.units: list[tuple[int, _Token]] = []
        self.weekdays: list[NthWeekday] = []
        self.month_days: list[int] = []
        self.months: list[int] = []
        self.is_every_other = False

    def read(self, token: _Token) -> None:
        """Take the next word. Raises _Unread, _Ambiguous."""
        if token.kind in ("number", "ordinal", "other"):
            self.settle()
            self._number = token
            return
        if token.kind == "month":
            self.settle()
            self.months.append(token.value)
            return
        number, self._number = self._number, None
        if token.kind == "unit":
            self._note_unit(number, token)
        elif token.kind == "workday":
            if number is not None:
                raise _Unread
            self.weekdays.extend(_WORKDAYS)
        else:
            is_other = number is not None and number.kind == "other"
            self.is_every_other = self.is_every_other or is_other
            self.weekdays.append(NthWeekday(0 if number is None or is_other else number.value, token.value))

    def settle(self) -> None:
        """Take a number that counts nothing for a day of the month. Raises _Unread for what can be none."""
        number, self._number = self._number, None
        if number is None:
            return
        if number.kind == "other" or not 1 <= number.value <= _MONTH_DAYS_MAX:
            raise _Unread
        self.month_days.append(number.value)

    def _note_unit(self, number: _Token | None, token: _Token) -> None:
        is_ordinal = number is not None and number.kind == "ordinal"
        if number is not None and is_ordinal and (token.unit, token.value) == (DAY, 1):
            # "The last day", "the first day".
            self.month_days.append(number.value)
            return
        if number is not None and is_ordinal and number.value < 2:
            raise _Unread
        count = 1 if number is None else number.value
        if (token.unit, token.value) == (DAY, 1) and count in date_language(self._language).weeks_in_days:
            # "Tous les quinze jours" is every two weeks to many who say it.
            raise _Ambiguous
        if count < 1 or token.unit == MINUTE or self.units or token.value * count > INTERVAL_MAX:
            raise _Unread
        self.units.append((count, token))

    @property
    def frequency(self) -> Frequency | None:
        """Return of which kind the unit is, None without one."""
        for _count, token in self.units:
            if token.unit == DAY:
                return "DAILY" if token.value % _WEEK else "WEEKLY"
            return "MONTHLY" if token.value % _YEAR else "YEARLY"
        return None

    @property
    def interval(self) -> int:
        """Return how many of the unit lie between two days; 1 without a unit."""
        for count, token in self.units:
            size = {"WEEKLY": _WEEK, "YEARLY": _YEAR}.get(self.frequency or "", 1)
            return count * token.value // size
        return 1


def _rule(tokens: list[_Token], language: str) -> Rule:
    """Put together what the words name. Raises _Unread, _Ambiguous."""
    parts = _Parts(language)
    for token in tokens:
        parts.read(token)
    parts.settle()
    weekdays, days = tuple(sorted(set(parts.weekdays))), tuple(sorted(set(parts.month_days)))
    months, frequency = tuple(sorted(set(parts.months))), parts.frequency
    if not (weekdays or days or months) and frequency is not None:
        return Rule(frequency, parts.interval)
    if weekdays and not days:
        return _rule_of_weekdays(parts, weekdays, months, language)
    if days and not weekdays:
        if months and len(days) == 1 and frequency in (None, "YEARLY"):
            return Rule("YEARLY", parts.interval, months=months, month_days=days)
        if not months and frequency in (None, "MONTHLY"):
            return Rule("MONTHLY", parts.interval, month_days=days)
    raise _Unread


def _rule_of_weekdays(
    parts: _Parts, weekdays: tuple[NthWeekday, ...], months: tuple[int, ...], language: str
) -> Rule:
    frequency = parts.frequency
    if not any(weekday.n for weekday in weekdays):
        if months or frequency not in (None, "WEEKLY"):
            raise _Unread
        return Rule("WEEKLY", 2 if parts.is_every_other else parts.interval, weekdays=weekdays)
    if not all(weekday.n for weekday in weekdays) or parts.is_every_other:
        raise _Unread
    if months and frequency in (None, "YEARLY"):
        return Rule("YEARLY", parts.interval, months=months, weekdays=weekdays)
    if months or frequency not in (None, "MONTHLY"):
        raise _Unread
    is_named = date_words(language).recurrence.month_named_by_ordinal or frequency is not None
    if not is_named and weekdays[0].n not in (1, _LAST):
        # "Jeden zweiten Dienstag" is every other one, or that of each month.
        raise _Ambiguous
    return Rule("MONTHLY", parts.interval, weekdays=weekdays)
