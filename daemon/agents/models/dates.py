"""The day by which a clause says that something is due.

Never reads a date without a cue before it, a bare number as a day, or free text as a date.
"""

import re
from collections.abc import Iterator
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice

from daemon.agents.models.cues import Cues
from daemon.agents.models.plain import phrases, plain
from daemon.agents.models.segments import FINDS_MAX, Clause, after, before, is_meant, words
from daemon.journal import when
from daemon.journal.date_words import TONGUES

YEARS_AHEAD_MAX = 10
FILLERS_MAX = 5
TOKENS_MAX = 7
TYPO_CHARS_MIN = 6
TYPO_LIKE_MIN = 0.85
SPAN_CHARS_MAX = 60

_LEAD = re.compile(r"[\s:=,–—-]*")
_ISO = re.compile(r"(?:\w+ )?(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_GAP = re.compile(r"[\s:,.]*")
_TOKEN = re.compile(r"[^\s()!?;]+")
_WORD = re.compile(r"[^\W\d_]+(?:'|\b)")
_TIME = re.compile(r" (?:\d{1,2}(?::\d\d| ?h\d{0,2}\b| ?[ap]m\b| uhr\b))")
_BARE_DAY = re.compile(r"(?:\D+ )?\d{1,2}(?:st|nd|rd|th|er|\.)?$")
_NO_YEAR = re.compile(r"(?:\D+ )?\d{1,2}[./-]\d{1,2}\.?$")
_SURE = re.compile(r"(?:\D+ )?\d{1,2}(?:\.\d{1,2}\.|[./]\d\d)$")
# Said so, a day is too vague to be a date, or lies behind.
_VAGUE = frozenset({"bare", "next", "last", "back", "past"})


def dues(clause: Clause, today: date, cues: Cues) -> list[tuple[date, int]]:
    """Find the due dates in a clause, each with the place of its cue; `today` is the note's own."""
    found = [(day, at) for at, day in _before_latest(clause, today, cues)]
    for match in islice(phrases((*cues.due, *cues.until, *cues.within)).finditer(clause.own), FINDS_MAX):
        if is_meant(clause, match.start(), cues) and _is_deadline(clause, match, cues):
            day = _day(clause, match, today, cues)
            if day is not None and _is_ahead(day, today):
                found.append((day, match.start()))
    return found


def _is_ahead(day: date, today: date) -> bool:
    return today <= day and day.year <= today.year + YEARS_AHEAD_MAX


def _before_latest(clause: Clause, today: date, cues: Cues) -> Iterator[tuple[int, date]]:
    """Read "on the 30th at the latest", where the cue follows its day."""
    for match in islice(phrases(cues.latest).finditer(clause.own), FINDS_MAX):
        start = max(match.start() - SPAN_CHARS_MAX, 0)
        tokens = list(_TOKEN.finditer(clause.own, start, match.start()))[-TOKENS_MAX:]
        for token in tokens:
            said = clause.own[token.start() : match.start()].strip(" ,")
            days = _days(said, False, today, cues)
            if days:
                sure = len(days) == 1 and is_meant(clause, token.start(), cues) and len(said) > 3
                if sure and _is_ahead(day := next(iter(days)), today):
                    yield token.start(), day
                break


def _is_deadline(clause: Clause, match: re.Match[str], cues: Cues) -> bool:
    """Say whether a cue speaks of a deadline, and not of a stretch of time or of an absence."""
    led = before(clause.own, match.start(), cues)
    if cues.due_not_after.intersection(led[-2:]) or (led and _is_day(led[-1], cues)):
        return False
    if not cues.past.isdisjoint(after(clause.own, match.end(), cues)):
        return False
    lasts = phrases(cues.until).fullmatch(match.group()) is not None
    return not lasts or cues.until_not_with.isdisjoint(words(clause.own))


def _is_day(word: str, cues: Cues) -> bool:
    tongue = TONGUES[cues.language]
    return word in tongue.weekdays or word in tongue.months or word.isdigit()


def _day(clause: Clause, cue: re.Match[str], today: date, cues: Cues) -> date | None:
    """Read the day that follows a cue directly, filler words aside; the longest span that is a day."""
    begins = _LEAD.match(clause.own, cue.end())
    at = begins.end() if begins else cue.end()
    is_within = phrases(cues.within).fullmatch(cue.group()) is not None
    for _ in range(FILLERS_MAX):
        for day in _readings(clause, at, is_within, today, cues):
            return day
        filler = _WORD.match(clause.own, at)
        if filler is None or filler.group() not in cues.due_fillers:
            return None
        gap = _GAP.match(clause.own, filler.end())
        at = gap.end() if gap else filler.end()
    return None


def _readings(clause: Clause, at: int, is_within: bool, today: date, cues: Cues) -> Iterator[date | None]:
    """Yield what the longest readable words at a place mean: one day, or None if it is not sure."""
    span = clause.own[at : at + SPAN_CHARS_MAX]
    if found := _ISO.match(span):
        yield _date(*map(int, found.groups()))
        return
    tokens = list(islice(_TOKEN.finditer(span), TOKENS_MAX))
    spelled = [_spelled(token.group(), cues) for token in tokens]
    for count in range(len(tokens), 0, -1):
        end, said = tokens[count - 1].end(), " ".join(spelled[:count]).rstrip(",:")
        days = _days(said, is_within, today, cues) or _days(said.rstrip("."), is_within, today, cues)
        if days:
            sure = len(days) == 1 and _stands_alone(said, span[end:], cues)
            yield next(iter(days)) if sure and not _is_name(clause.text, at, at + end, said, cues) else None
            return


def _days(said: str, is_within: bool, today: date, cues: Cues) -> frozenset[date]:
    """Return the days that a span can mean, in the note's language alone."""
    found = when.readings(said, today, cues.language, without=_VAGUE)
    if not found:
        found = when.readings(_led(cues).sub("", said), today, cues.language, without=_VAGUE)
    if not found and is_within:
        found = when.readings(f"{plain(cues.ahead)} {said}", today, cues.language)
    return found


def _spelled(token: str, cues: Cues) -> str:
    """Return a word of a day as it is spelled: "wendesday" is a typo, and "donnerstagabend" a Thursday."""
    said = token.rstrip(".,:")
    known = _names(cues)
    if len(said) < TYPO_CHARS_MIN or said in known or not said.isalpha():
        return token
    day = next(
        (name for name in known if said.startswith(name) and said[len(name) :] in cues.day_parts), None
    )
    return day or next(iter(get_close_matches(said, known, 1, TYPO_LIKE_MIN)), token)


@lru_cache(maxsize=8)
def _names(cues: Cues) -> tuple[str, ...]:
    """Return the longer names of days and months of a language."""
    tongue = TONGUES[cues.language]
    return tuple(
        one for one in (*tongue.weekdays, *tongue.months, *tongue.days) if len(one) > 4 and one.isalpha()
    )


@lru_cache(maxsize=8)
def _led(cues: Cues) -> re.Pattern[str]:
    """Compile what leads a day in: "el viernes 27 de noviembre" is the same day without its article."""
    return re.compile(rf"^(?:{TONGUES[cues.language].on}) ")


def _stands_alone(said: str, rest: str, cues: Cues) -> bool:
    """Say whether a span is all that is said of the day, and no number that only looks like one."""
    following = words(rest)[:1]
    if cues.day_not_before.intersection(following):
        return False
    if (
        not any(sign.isdigit() for sign in said)
        and following
        and following[0][0].isdigit()
        and rest[:1] == " "
    ):
        return _TIME.match(rest) is not None
    if _NO_YEAR.match(said) and not _SURE.match(said):
        return False
    is_led = said.startswith(tuple(plain(lead) for lead in cues.day_leads))
    return is_led or not (_BARE_DAY.match(said) and following and rest[:1] not in ",.;:!)")


def _is_name(text: str, start: int, end: int, said: str, cues: Cues) -> bool:
    """Say whether a short weekday is rather a word or a name: "sun", "Sun Microsystems", "Sam"."""
    if said.rstrip(".") not in cues.short_weekdays:
        return False
    named = text[end:].lstrip()[:1].isupper()
    return not cues.short_weekdays_stand or named or not text[start].isupper()


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
