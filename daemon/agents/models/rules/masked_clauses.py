"""Clauses with their days and lengths of time replaced by one sign each, and templates that match them.

Never changes a clause's length, so that a place in the masked text is the same place in the note.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from daemon.agents.models.rules.clauses import Clause, words_before
from daemon.agents.models.rules.day_words import tells_a_day
from daemon.agents.models.rules.due_dates import DueDay, day_at
from daemon.agents.models.rules.durations import word_table
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, to_plain
from daemon.agents.models.rules.lexicon.word_lists import Phrases
from daemon.dates.date_language import date_language
from daemon.dates.grammar import day_readings
from daemon.dates.length_grammar import end_of_length, length_at
from daemon.dates.vocabulary import date_words

DAY_SIGN, LENGTH_SIGN = "§", "¤"
PLACES_MAX = 40
DAYS_MAX = 6
LEADS_MAX = 3
GAP_WORDS_MAX = 6
MATCHES_MAX = 8
_TOKEN = re.compile(r"[^\s()!?;]+")
_GAP = rf"(?:\s+[\w'’/&-]+){{0,{GAP_WORDS_MAX}}}?"
_FAR = rf"(?:[\s,]+[\w'’/&-]+){{0,{2 * GAP_WORDS_MAX}}}?"
_GAP_AT_START = rf"(?:[\w'’/&-]+\s+){{0,{GAP_WORDS_MAX}}}?"
_OPENING = r"^\W*(?:(?:and|und|et|y|si|so|also|ok|okay|hm|hmm|na|pues|alors|deci)\s+)?"
_TEMPLATE_PART = re.compile(r"\([^()]*\)\??|\^|\$|…|[^\s()]+")


class MaskedLength(NamedTuple):
    """Minutes, not rounded, and where the words of the length begin and end."""

    minutes: float
    start: int
    end: int


def mask_days(clause: Clause, today: date, cues: CueTable) -> tuple[Clause, list[DueDay]]:
    """Replace each day, with the words that lead it in and its time, by "§"; return the days too."""
    days, position = list[DueDay](), 0
    tokens = list(islice(_TOKEN.finditer(clause.unquoted), 2 * PLACES_MAX))
    for index, token in enumerate(tokens):
        if token.start() < position or len(days) >= DAYS_MAX or not tells_a_day(token.group(), cues.language):
            continue
        places = _led_places(tokens, index, position, cues)
        day = next((day for place in places if (day := day_at(clause, place, today, cues))), None)
        day = day or _denied_day(clause, token, today, cues)
        if day is not None:
            end = _time_behind(cues.language).match(clause.unquoted, day.end)
            position = end.end() if end else day.end
            days.append(day._replace(start=places[0], end=position))
    return _with_signs(clause, ((day.start, day.end) for day in days), DAY_SIGN), days


def _denied_day(clause: Clause, token: re.Match[str], today: date, cues: CueTable) -> DueDay | None:
    """Return the Friday of "not Friday, Monday", which by itself would go on behind the comma."""
    word = token.group().rstrip(",")
    if word == token.group() or cues.negations.isdisjoint(words_before(clause.unquoted, token.start(), cues)):
        return None
    days = set(day_readings(word, today, cues.language))
    return DueDay(days.pop(), token.start(), end=token.start() + len(word)) if len(days) == 1 else None


def _led_places(tokens: list[re.Match[str]], index: int, position: int, cues: CueTable) -> list[int]:
    """Return where the words that lead a day in begin, and where the day itself does: "on the 3rd"."""
    first = index
    while first and index - first < LEADS_MAX and tokens[first - 1].start() >= position:
        if tokens[first - 1].group() not in _leads(cues):
            break
        first -= 1
    return [token.start() for token in tokens[first : index + 1]]


@lru_cache(maxsize=16)
def _leads(cues: CueTable) -> frozenset[str]:
    """Return the words that lead a day in and are no cue for a deadline themselves: "on", "the"."""
    leads = {word for phrase in date_words(cues.language).on for word in to_plain(phrase).split()}
    return frozenset(leads.difference(map(to_plain, (*cues.deadline.cues, *cues.deadline.until))))


@lru_cache(maxsize=8)
def _time_behind(language: str) -> re.Pattern[str]:
    """Compile a time of the day behind a day."""
    clock = r"\d{1,2}(?:[:.h]\d\d)?(?:\s?(?:h|uhr|[ap]\.?m\.?|o'clock)\b)?"
    sure = r"\d{1,2}(?:(?:[:h]\d\d)(?:\s?(?:uhr|[ap]\.?m\.?))?|\s?(?:h|uhr|[ap]\.?m\.?))(?!\w)"
    return re.compile(rf"[\s,]*(?:(?:{date_language(language).at})\s*{clock}(?!\w)|{sure})")


def mask_lengths(clause: Clause, cues: CueTable) -> tuple[Clause, list[MaskedLength]]:
    """Replace each length of time that can be read by "¤"; return the lengths too."""
    table, own = word_table(cues), clause.unquoted.replace("'s ", "   ")
    lengths, position = list[MaskedLength](), 0
    for _ in range(PLACES_MAX):
        match = table.beginning.search(own, position)
        if match is None:
            break
        length = length_at(own, match.start(), table)
        if length is not None:
            lengths.append(MaskedLength(length.minutes, match.start(), length.end))
        position = end_of_length(own, match.start(), table) if length is None else length.end
    spans = ((length.start, length.end) for length in lengths)
    return _with_signs(replace(clause, unquoted=own), spans, LENGTH_SIGN), lengths


def _with_signs(clause: Clause, spans: Iterable[tuple[int, int]], sign: str) -> Clause:
    own = clause.unquoted
    for start, end in spans:
        own = own[:start] + sign.ljust(end - start) + own[end:]
    return replace(clause, unquoted=own)


def template_matches(templates: Phrases, clause: Clause) -> Iterator[re.Match[str]]:
    """Yield the matches of templates in a clause, a bounded number of them."""
    return islice(template_pattern(templates).finditer(clause.unquoted), MATCHES_MAX)


@lru_cache(maxsize=256)
def template_pattern(templates: Phrases) -> re.Pattern[str]:
    """Compile templates to one pattern."""
    return re.compile("|".join(f"(?:{_template_pattern(template)})" for template in templates) or r"(?!)")


def _template_pattern(template: str) -> str:
    pattern, at_start, is_far = "", True, False
    for part in _TEMPLATE_PART.findall(template):
        if part == "^":
            pattern += _OPENING
        elif part == "$":
            pattern += r"\s*[.!,:]*\s*$"
        elif part == "…":
            pattern += _GAP_AT_START if at_start else _GAP
        elif part == "~":
            pattern += _FAR
        elif part.endswith(")?"):
            text = _words_of(part)
            pattern += rf"(?:{text}\s+)?" if at_start else rf"(?:\s+{text})?"
        else:
            lead = "" if at_start else r"[\s,]+" if is_far else _lead(part)
            pattern += f"{lead}{_words_of(part)}"
            at_start = False
        is_far = part == "~"
    return rf"(?<![\w'-]){pattern}(?!\w)"


def _lead(part: str) -> str:
    """Return what may stand before a part: commas follow a word directly."""
    if "$" in part:
        return r"(?:\s+|(?<=['’])|(?=\s*[.!,]*\s*$))"
    is_sign = part[:1] in ",:" or "|," in part or "(," in part
    return r"(?:\s+|(?<=['’])|(?=\s*[,:]))" if is_sign else r"(?:\s+|(?<=['’]))"


def _words_of(part: str) -> str:
    if not part.startswith("("):
        return _word_pattern(part)
    choices = part.strip("()?").split("|")
    return f"(?:{'|'.join(_choice(choice) for choice in choices)})"


def _choice(choice: str) -> str:
    pattern = ""
    for index, word in enumerate(choice.split()):
        if word == "…":
            pattern += _GAP
        elif word == "$":
            pattern += r"\s*[.!]*\s*$"
        else:
            lead = "" if not index else r"\s*" if word in ",:" else r"\s+"
            pattern += lead + _word_pattern(word)
    return pattern


def _word_pattern(word: str) -> str:
    if word == "*":
        return r"[\w'’-]+"
    if word in (",", ":"):
        return rf"\s*{word}"
    return word if word in (DAY_SIGN, LENGTH_SIGN) else alternation((word,))
