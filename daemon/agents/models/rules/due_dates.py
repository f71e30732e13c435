"""The day on which something is due, as a clause says it.

Never reads a date without a cue before it, a bare number as a day, or free text as a date.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from daemon.agents.models.rules.clauses import (
    MATCHES_MAX,
    Clause,
    is_asserted_now,
    is_unconditional,
    words_after,
    words_before,
    words_in,
)
from daemon.agents.models.rules.day_words import names_a_day
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import phrase_pattern, plain_spellings, to_plain
from daemon.dates import grammar
from daemon.dates.date_language import date_language
from daemon.dates.vocabulary import DayRule, date_words
from daemon.dates.whole_days import end_of_length_apart, end_of_phrase

YEARS_AHEAD_MAX = 10
FILLERS_MAX = 5
DATE_WORDS_MAX = 7
TYPO_CHARS_MIN = 6
TYPO_SIMILARITY_MIN = 0.85
SPAN_CHARS_MAX = 60
YEAR = timedelta(days=365)
DAY_NUMBER_MAX = 31
SUBJECT_WORDS_MAX = 3
PAST_DAYS_ASKED = 183  # a day without a year that lies less far behind may be meant as past

_LEAD = re.compile(r"[\s:=,–—-]*")
_ISO = re.compile(r"(?:\w+ )?(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_GAP = re.compile(r"[\s:,.]*")
_TOKEN = re.compile(r"[^\s()!?;]+")
_WORD = re.compile(r"[^\W\d_]+(?:'|\b)")
_YEAR = re.compile(r"\b\d{4}\b|\d[./-]\d{1,2}[./-]\d")
_MONEY = re.compile(r"\s*[€$£%]")
_TIME = re.compile(r" (?:\d{1,2}(?::\d\d| ?h\d{0,2}\b| ?[ap]m\b| uhr\b))")
_BARE_DAY = re.compile(r"(?:\D+ )?\d{1,2}(?:st|nd|rd|th|er|\.)?$")
_DATE_AND_COMMA = re.compile(r"\d\w*\.?,$")
_HOUR = re.compile(r"\d{1,2}[.,]?")
_NO_YEAR = re.compile(r"(?:\D+ )?\d{1,2}[./-]\d{1,2}\.?$")
_NEXT_SENTENCE = re.compile(r"(?:\D+ )?\d{1,2}\. (?:\d{1,2}|[^\W\d]+)$")
_NUMBER_ALONE = re.compile(r"\d{1,2}(?=\s*(?:[.,;:!)]|$))")
_NUMBER_AND_WORD = re.compile(r"\d{1,2}(?=\s)")
_ORDINAL_STOP = re.compile(r"\d{1,2}\.\s")
_CURRENCY = re.compile(r"[€$£]|(?<!\w)(?:eur|euros?|lei|ron|usd|chf|dollars?|pounds?|franken|francs)(?!\w)")
_SURE = re.compile(r"(?:\D+ )?\d{1,2}(?:\.\d{1,2}\.|[./]\d\d)$")
# Said so, a day is too vague to be a date, or lies behind.
_VAGUE = frozenset({DayRule.BARE, DayRule.NEXT, DayRule.LAST, DayRule.BACK, DayRule.PAST})


class DueDay(NamedTuple):
    """A day on which something is due, and the place of its cue in the clause.

    `may_be_past` means that it was written without a year, and that this year's is just over. `end` is
    where its words end.
    """

    day: date
    start: int
    may_be_past: bool = False
    end: int = 0


def due_dates(clause: Clause, today: date, cues: CueTable) -> list[DueDay]:
    """Find the due dates in a clause; `today` is the note's own."""
    if phrase_pattern(cues.deadline.moved).search(clause.unquoted):
        return list(_moved_days(clause, today, cues))
    found_days = list(_before_latest(clause, today, cues))
    cue = phrase_pattern((*cues.deadline.cues, *cues.deadline.until, *cues.deadline.within))
    for match in islice(cue.finditer(clause.unquoted), MATCHES_MAX):
        if is_asserted_now(clause, match.start(), cues) and _is_deadline(clause, match, cues):
            day = _day(clause, match, today, cues)
            if day is not None and is_ahead(day.day, today):
                found_days.append(day._replace(start=match.start()))
    return found_days


def _moved_days(clause: Clause, today: date, cues: CueTable) -> Iterator[DueDay]:
    """Read the day to which a deadline was moved; the day from which it was moved counts for nothing."""
    if clause.is_question or cues.deadline.moved_things.isdisjoint(words_in(clause.unquoted)):
        return
    for match in islice(phrase_pattern(cues.deadline.moved_to).finditer(clause.unquoted), MATCHES_MAX):
        # German "wurde" (was) and "würde" (would) look alike in plain text; what was moved is moved.
        denials = cues.negations | (cues.conditions - cues.past_words)
        if denials.isdisjoint(words_before(clause.unquoted, match.start(), cues)):
            day = _day(clause, match, today, cues)
            if day is not None and is_ahead(day.day, today):
                yield day._replace(start=match.start())


def is_ahead(day: date, today: date) -> bool:
    """Return whether a day is today or later, in sensible bounds."""
    return today <= day and day.year <= today.year + YEARS_AHEAD_MAX


def _before_latest(clause: Clause, today: date, cues: CueTable) -> Iterator[DueDay]:
    """Read "on the 30th at the latest", in which the cue follows its day."""
    for match in islice(phrase_pattern(cues.deadline.suffixes).finditer(clause.unquoted), MATCHES_MAX):
        start = max(match.start() - SPAN_CHARS_MAX, 0)
        tokens = list(_TOKEN.finditer(clause.unquoted, start, match.start()))[-DATE_WORDS_MAX:]
        for token in tokens:
            unquoted = clause.unquoted[token.start() : match.start()].strip(" ,")
            days = _days(unquoted, False, today, cues)
            if days:
                sure = len(days) == 1 and is_asserted_now(clause, token.start(), cues) and len(unquoted) > 3
                if sure and is_ahead(day := next(iter(days)), today):
                    yield DueDay(day, token.start(), _may_be_past(unquoted, day, today))
                break


def _is_deadline(clause: Clause, match: re.Match[str], cues: CueTable) -> bool:
    """Return whether a cue means a deadline, and not a stretch of time or an absence."""
    led = words_before(clause.unquoted, match.start(), cues)
    following = words_after(clause.unquoted, match.end(), cues)
    if not is_unconditional(clause, match.end(), cues):
        return False
    # "Monday in a week" is a day that its cue moves.
    is_within = phrase_pattern(cues.deadline.within).fullmatch(match.group()) is not None
    if is_within and not _weekdays(cues).isdisjoint(led[-2:]):
        return False
    if cues.deadline.not_after.intersection(led[-2:]) or (led and _begins_stretch(led[-1], following, cues)):
        return False
    if not cues.past_words.isdisjoint(following):
        return False
    if _is_by_another(clause, cues):
        return False
    lasts = phrase_pattern(cues.deadline.until).fullmatch(match.group()) is not None
    if (
        lasts
        and _follows_price(clause.unquoted[: match.start()], led)
        and (cues.deadline.until_with.isdisjoint((*led, *following)))
    ):
        return False
    if not lasts or not cues.deadline.until_with.isdisjoint((*led, *following)):
        return True
    return cues.deadline.until_stands and cues.deadline.until_not_with.isdisjoint(words_in(clause.unquoted))


def _follows_price(before: str, led: list[str]) -> bool:
    """Return whether what stands before "until" is an amount, which holds until a day."""
    return bool(led and led[-1].isdigit()) or _CURRENCY.search(before) is not None


def _is_by_another(clause: Clause, cues: CueTable) -> bool:
    """Return whether somebody else has to do something: "Lily has to bring the papers by Thursday"."""
    roles = cues.role.day
    must = phrase_pattern(roles.must).search(clause.unquoted)
    subject = words_in(clause.unquoted[: must.start()]) if must else []
    if must is None or not 1 <= len(subject) <= SUBJECT_WORDS_MAX or not roles.writer.isdisjoint(subject):
        return False
    if phrase_pattern(roles.states).search(clause.unquoted, must.end()) or _is_passive(clause, must, cues):
        return False
    is_name = len(subject) == 1 and clause.text[:1].isupper() and roles.determiners.isdisjoint(subject)
    return is_name or not roles.people.isdisjoint(subject)


def _is_passive(clause: Clause, must: re.Match[str], cues: CueTable) -> bool:
    """Return whether a thing has to be somehow, which is nobody's act."""
    following = words_in(clause.unquoted[must.end() :].partition(",")[0])
    if cues.language == "ro" and not must.group().endswith("sa"):
        return True
    return not cues.role.day.being.isdisjoint(following[-1:] if cues.verbs.is_last else following[:2])


def _begins_stretch(word: str, following: list[str], cues: CueTable) -> bool:
    """Return whether a word is the day from which a stretch lasts. "Invoice 12 by Friday" has no such day."""
    tongue = date_language(cues.language)
    is_day_number = word.isdigit() and int(word[:3]) <= DAY_NUMBER_MAX
    both_are_numbers = is_day_number and any(name.isdigit() for name in following[:2])
    return word in tongue.weekdays or word in tongue.months or both_are_numbers


def _day(clause: Clause, cue: re.Match[str], today: date, cues: CueTable) -> DueDay | None:
    """Read the day that follows a cue directly, filler words aside; the longest span that is a day."""
    begins = _LEAD.match(clause.unquoted, cue.end())
    index = begins.end() if begins else cue.end()
    is_within = phrase_pattern(cues.deadline.within).fullmatch(cue.group()) is not None
    for _ in range(FILLERS_MAX):
        for day in _readings(clause, index, is_within, today, cues):
            return day
        if (led := _number_behind_article(clause, cue, index, today, cues)) is not None:
            return led
        filler = _WORD.match(clause.unquoted, index)
        if filler is None or filler.group() not in cues.deadline.fillers:
            return None
        gap = _GAP.match(clause.unquoted, filler.end())
        index = gap.end() if gap else filler.end()
    return None


def _number_behind_article(
    clause: Clause, cue: re.Match[str], index: int, today: date, cues: CueTable
) -> DueDay | None:
    """Read the number of "au plus tard le 24", whose article belongs to the cue."""
    number = _NUMBER_ALONE.match(clause.unquoted, index)
    following = words_in(clause.unquoted[index:])[1:2]
    if number is None and _is_consequence(words_in(clause.unquoted[index:])[1:], cues):
        number = _NUMBER_AND_WORD.match(clause.unquoted, index)
    is_led = cue.group().rpartition(" ")[2] in cues.deadline.articles
    # German writes its ordinals with a full stop: "spätestens am 3. Werktag" is no third of a month.
    if (
        cues.language == "de"
        and following
        and not following[0].isdigit()
        and _ORDINAL_STOP.match(clause.unquoted, index)
    ):
        return None
    if number is None or not is_led or not date_language(cues.language).months.keys().isdisjoint(following):
        return None
    days = {
        day
        for lead in date_words(cues.language).on
        for day in grammar.day_readings(f"{lead} {number.group()}", today, cues.language)
    }
    return DueDay(days.pop(), index, end=number.end()) if len(days) == 1 else None


def day_at(clause: Clause, index: int, today: date, cues: CueTable) -> DueDay | None:
    """Return the day whose words begin at a place in a clause, if they are sure."""
    return next(iter(_readings(clause, index, False, today, cues)), None)


def _readings(
    clause: Clause, index: int, is_within: bool, today: date, cues: CueTable
) -> Iterator[DueDay | None]:
    """Yield what the longest readable words at a place mean: one day, or None if it is not sure."""
    span = clause.unquoted[index : index + SPAN_CHARS_MAX]
    if match := _ISO.match(span):
        exact = grammar.date_or_none(*map(int, match.groups()))
        yield None if exact is None else DueDay(exact, index, end=index + match.end())
        return
    tokens = _up_to_clock(list(islice(_TOKEN.finditer(span), DATE_WORDS_MAX)))
    spelled = [_correct_spelling(token.group(), cues) for token in tokens]
    for count in range(len(tokens), 0, -1):
        end, text = tokens[count - 1].end(), " ".join(spelled[:count]).rstrip(",:")
        days = _days(text, is_within, today, cues) or _days(text.rstrip("."), is_within, today, cues)
        if days and _takes_from_next_sentence(text, span[end:], cues):
            continue
        if days:
            signs_start = tokens[count - 1].start() + len(tokens[count - 1].group().rstrip(",:"))
            sure = len(days) == 1 and _stands_alone(text, span[signs_start:], cues)
            sure = sure and not _may_be_amount(text, clause, index, cues)
            day = next(iter(days))
            yield (
                DueDay(day, index, _may_be_past(text, day, today), index + signs_start)
                if sure and not _is_name(clause.text, index, index + end, text, cues)
                else None
            )
            return


def _up_to_clock(tokens: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the words up to a time behind a date: the 10 of "11.12., 10 Uhr" is no year."""
    for index, (token, following) in enumerate(pairwise(tokens)):
        if _DATE_AND_COMMA.search(token.group()) and _HOUR.fullmatch(following.group()):
            return tokens[: index + 1]
    return tokens


def _takes_from_next_sentence(text: str, rest: str, cues: CueTable) -> bool:
    """Return whether a day's month is rather the beginning of the next sentence: "by the 20. 4 people paid".

    Only German writes a full stop between a day and the name of its month.
    """
    if not _NEXT_SENTENCE.match(text) or not words_in(rest)[:1]:
        return False
    return text[-1].isdigit() or cues.language != "de"


def _may_be_amount(text: str, clause: Clause, index: int, cues: CueTable) -> bool:
    """Return whether a day without a year may be a number of something: "amount due 30.12"."""
    if not _NO_YEAR.match(text):
        return False
    return not cues.deadline.amounts.isdisjoint(words_in(clause.unquoted[:index]))


def _may_be_past(text: str, day: date, today: date) -> bool:
    """Return whether a day without a year was read as next year's, although this year's is just over."""
    return not _YEAR.search(text) and timedelta(0) < today - (day - YEAR) <= timedelta(PAST_DAYS_ASKED)


def _days(text: str, is_within: bool, today: date, cues: CueTable) -> frozenset[date]:
    """Return the days that a span can mean, in the note's language alone."""
    days = grammar.day_readings(text, today, cues.language, without=_VAGUE)
    if not days:
        days = grammar.day_readings(_lead_pattern(cues).sub("", text), today, cues.language, without=_VAGUE)
    if not days and is_within:
        days = grammar.day_readings(f"{to_plain(cues.deadline.ahead_prefix)} {text}", today, cues.language)
    return days


def _correct_spelling(token: str, cues: CueTable) -> str:
    """Return a word of a day as it is spelled: "wendesday" is a typo, and "donnerstagabend" a Thursday."""
    spelling = token.rstrip(".,:")
    texts = _names(cues)
    if len(spelling) < TYPO_CHARS_MIN or spelling in texts or not spelling.isalpha():
        return token
    # "On Sundays" is no day, but a habit.
    if spelling.endswith("s") and spelling[:-1] in texts:
        return token
    parts = cues.deadline.day_parts
    day = next((name for name in texts if spelling.startswith(name) and spelling[len(name) :] in parts), None)
    return day or next(iter(get_close_matches(spelling, texts, 1, TYPO_SIMILARITY_MIN)), token)


@lru_cache(maxsize=8)
def _weekdays(cues: CueTable) -> frozenset[str]:
    return frozenset(date_language(cues.language).weekdays)


@lru_cache(maxsize=8)
def _names(cues: CueTable) -> tuple[str, ...]:
    """Return the longer names of days and months of a language."""
    tongue = date_language(cues.language)
    return tuple(
        text for text in (*tongue.weekdays, *tongue.months, *tongue.days) if len(text) > 4 and text.isalpha()
    )


@lru_cache(maxsize=8)
def _lead_pattern(cues: CueTable) -> re.Pattern[str]:
    """Compile what leads a day in: "el viernes 27 de noviembre" is the same day without its article."""
    return re.compile(rf"^(?:{date_language(cues.language).on}) ")


def _stands_alone(text: str, signs_and_rest: str, cues: CueTable) -> bool:
    """Return whether a span is the whole of a day, and not a number that only looks like one."""
    rest = signs_and_rest.lstrip(",:")
    following = words_in(rest)[:1]
    if _goes_on(words_in(rest), cues) or _MONEY.match(rest):
        return False
    if end_of_phrase(text, signs_and_rest, cues.language):
        return False
    if (
        not any(sign.isdigit() for sign in text)
        and following
        and following[0][0].isdigit()
        and rest[:1] == " "
    ):
        return _TIME.match(rest) is not None or end_of_length_apart(signs_and_rest, cues.language) > 0
    if _NO_YEAR.match(text) and not _SURE.match(text):
        return False
    if text.endswith(".") and following and _begins_sentence(following[0], cues):
        return True
    if _is_consequence(words_in(rest), cues):
        return True
    is_led = text.startswith(tuple(to_plain(lead) for lead in cues.deadline.day_leads))
    return is_led or not (_BARE_DAY.match(text) and following and rest[:1] not in ",.;:!)")


def _is_consequence(words: list[str], cues: CueTable) -> bool:
    """Return whether words say what happens otherwise: "by the 30th or we lose it", "avant le 30 sinon"."""
    is_lead = words[:1] != [] and words[0] in cues.deadline.day_not_before | cues.segment_words
    return is_lead and not any(word[:1].isdigit() for word in words[1:3])


def _begins_sentence(word: str, cues: CueTable) -> bool:
    """Return whether a word behind a number and a full stop begins a sentence: only German has ordinals."""
    is_month = word in date_language(cues.language).months
    return not is_month and (cues.language != "de" or word.isdigit())


def _goes_on(words: list[str], cues: CueTable) -> bool:
    """Return whether words make another day of one: "Friday or Monday", but not "Friday or we lose it"."""
    if not words or words[0] not in cues.deadline.day_not_before:
        return False
    depends = words[0] in map(to_plain, (*cues.duration.range_words, cues.deadline.ahead_prefix))
    units = date_language(cues.language).units
    return not depends or any(word in units or names_a_day(word, cues.language) for word in words[1:4])


@lru_cache(maxsize=8)
def _short_weekdays(language: str) -> frozenset[str]:
    return frozenset(
        spelled for word in date_words(language).weekdays_short for spelled in plain_spellings(word)
    )


def _is_name(text: str, start: int, end: int, spelling: str, cues: CueTable) -> bool:
    """Return whether a short weekday is rather a word or a name: "sun", "Sun Microsystems", "Sam"."""
    if spelling.rstrip(".") not in _short_weekdays(cues.language):
        return False
    is_name_next = text[end:].lstrip()[:1].isupper()
    return not cues.deadline.short_weekdays_stand or is_name_next or not text[start].isupper()
