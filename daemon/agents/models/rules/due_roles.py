"""Days that are deadlines without a word for it: what must be so by them, what expires, what was corrected.

Never reads an appointment, a stay, the life of an offer, or what a person has to do, as a deadline.
"""

import re
from collections.abc import Sequence
from datetime import date

from daemon.agents.models.rules.clauses import (
    Clause,
    is_asserted_now,
    is_unconditional,
    words_before,
    words_in,
)
from daemon.agents.models.rules.due_dates import DueDay, is_ahead
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import phrase_pattern
from daemon.agents.models.rules.masked_clauses import DAY_SIGN, mask_days, template_matches

CORRECTION_WORDS_MAX = 8
DENIAL_WORDS_MAX = 5
_RO_ARTICLES = ("ul", "ele", "ile", "urile", "ta", "ția", "rea")
_HARD_STOP = re.compile(r"[;()?!]|\.\s")


def role_days(clause: Clause, today: date, cues: CueTable, due: date | None = None) -> list[DueDay]:
    """Return the day that a clause gives the role of a deadline; `due` is the task's own."""
    if clause.is_question:
        return []
    masked, days = mask_days(clause, today, cues)
    if not days:
        return []
    day = (
        _day_of_correction(masked, days, cues, due)
        or _day_of_reply(masked, days, cues, due)
        or _of_template(masked, days, cues)
        or _day_of_requirement(masked, days, cues)
        or _of_sign_up(masked, days, cues)
    )
    return [day] if day is not None and is_ahead(day.day, today) else []


def _of_template(masked: Clause, days: Sequence[DueDay], cues: CueTable) -> DueDay | None:
    roles = cues.role.day
    for match in template_matches(roles.final, masked):
        if len(days) == 1:
            return _day_of_match(masked, match, days)
    words = words_in(masked.unquoted)
    if not roles.not_with.isdisjoint(words) or len({day.day for day in days}) > 1:
        return None
    for match in template_matches(roles.templates, masked):
        if _holds(masked, match, cues):
            return _day_of_match(masked, match, days)
    return None


def _holds(masked: Clause, match: re.Match[str], cues: CueTable) -> bool:
    """Return whether a template is asserted, by somebody else than the writer, and nothing stands between."""
    roles = cues.role.day
    between = words_in(match.group())
    is_broken = not (roles.not_between | cues.past_words).isdisjoint(between) or any(
        len(word) > 3 and word.endswith(roles.not_between_endings) for word in between[1:]
    )
    led = words_before(masked.unquoted, match.start(), cues)
    is_own = not roles.writer.isdisjoint(led)
    is_sure = is_asserted_now(masked, match.start(), cues) and is_unconditional(masked, match.end(), cues)
    return is_sure and not is_broken and not is_own


def _day_of_match(masked: Clause, match: re.Match[str], days: Sequence[DueDay]) -> DueDay | None:
    """Return the day whose sign a match has."""
    sign = masked.unquoted.find(DAY_SIGN, match.start(), match.end())
    return next((day for day in days if day.start == sign), None)


def _day_of_requirement(masked: Clause, days: Sequence[DueDay], cues: CueTable) -> DueDay | None:
    """Read "the parcel must go out on Monday": one day, and a thing that must be so by then."""
    roles = cues.role.day
    if len(days) != 1 or not roles.not_with.isdisjoint(words_in(masked.unquoted)):
        return None
    for must in phrase_pattern(roles.must).finditer(masked.unquoted):
        if not is_asserted_now(masked, must.start(), cues):
            continue
        end = _stretch_end(masked, must.end())
        if not is_unconditional(masked, must.end(), cues) or days[0].start > end:
            continue
        if phrase_pattern(roles.states).search(masked.unquoted, must.end(), end):
            return days[0]
        is_thing = _is_a_thing(masked, must, cues)
        if is_thing and _is_to_be_so(masked, must.end(), end, cues):
            return days[0]
        moves = phrase_pattern(roles.moves).search(masked.unquoted, must.end(), end) is not None
        if moves and is_thing:
            return days[0]
    return None


def _is_to_be_so(masked: Clause, start: int, end: int, cues: CueTable) -> bool:
    """Return whether a thing has to be in some state, no word of grammar: "be empty", "leer sein"."""
    words = words_in(masked.unquoted[start:end].partition(",")[0])
    step = -1 if cues.verbs.is_last else 1
    beside = (
        words[place + step]
        for place, word in enumerate(words)
        if word in cues.role.day.copulas and 0 <= place + step < len(words)
    )
    no_states = cues.function_words | cues.role.day.no_states
    return any(word not in no_states and not word[0].isdigit() for word in beside)


def _stretch_end(masked: Clause, start: int) -> int:
    stop = _HARD_STOP.search(masked.unquoted, start)
    return stop.start() if stop else len(masked.unquoted)


def _is_a_thing(masked: Clause, must: re.Match[str], cues: CueTable) -> bool:
    """Return whether what must be somewhere is no person, as far as its words tell."""
    roles = cues.role.day
    before = masked.unquoted[: must.start()]
    beside = masked.unquoted[must.end() :].replace(DAY_SIGN, " ")
    subject = words_in(before.replace(DAY_SIGN, " ")) or words_in(beside)[:3]
    is_definite = cues.language == "ro" and subject[-1:] != [] and subject[-1].endswith(_RO_ARTICLES)
    is_led = is_definite or not roles.determiners.isdisjoint(subject)
    return roles.people.isdisjoint(subject) and is_led


def _of_sign_up(masked: Clause, days: Sequence[DueDay], cues: CueTable) -> DueDay | None:
    """Read "registration open until 8 December": the last day on which one can."""
    roles = cues.role.day
    if len(days) != 1 or roles.sign_up.isdisjoint(words_in(masked.unquoted[: days[0].start])):
        return None
    before = masked.unquoted[: days[0].start].rstrip(" :,")
    lasts = any(re.search(rf"(?<!\w){re.escape(word)}$", before) for word in roles.lasts)
    denied = (cues.negations | cues.past_words).intersection(
        words_in(masked.unquoted)
    ) or not is_unconditional(masked, days[0].end, cues)
    return days[0] if lasts and not denied else None


def _day_of_correction(
    masked: Clause, days: Sequence[DueDay], cues: CueTable, due: date | None
) -> DueDay | None:
    """Read "not Friday but Monday": the second of two days, if the first was a deadline or is the task's."""
    if len(days) != 2 or days[0].day == days[1].day:
        return None
    first, second = days
    roles = cues.role.day
    if _is_denied_behind(masked, first, second, cues):
        is_sure = second.day == due or not roles.evidence.isdisjoint(words_in(masked.unquoted))
        return first if is_sure else None
    between = masked.unquoted[first.start + 1 : second.start]
    led = words_before(masked.unquoted, first.start, cues)
    words = words_in(between)
    no_more = phrase_pattern(roles.no_more).search(between) is not None
    is_denied = not cues.negations.isdisjoint(led) and len(words) <= CORRECTION_WORDS_MAX
    if not is_denied or _HARD_STOP.search(between):
        return None
    if not cues.negations.isdisjoint(words_before(masked.unquoted, second.start, cues)) and not no_more:
        return None
    if not (no_more or not roles.but.isdisjoint(words) or re.search(r"[,–—]|\s-\s", between)):
        return None
    return second if first.day == due or not roles.evidence.isdisjoint(words_in(masked.unquoted)) else None


def _is_denied_behind(masked: Clause, first: DueDay, second: DueDay, cues: CueTable) -> bool:
    """Return whether the second day is the one that does not count: "on the 10th, not on the 8th"."""
    between = words_in(masked.unquoted[first.start + 1 : second.start])
    led = words_before(masked.unquoted, first.start, cues)
    denies = between[-1:] != [] and between[-1] in cues.negations and len(between) <= DENIAL_WORDS_MAX
    return denies and (cues.negations | cues.conditions | cues.past_words).isdisjoint(led)


def _day_of_reply(masked: Clause, days: Sequence[DueDay], cues: CueTable, due: date | None) -> DueDay | None:
    """Read "no, Thursday" on a task that has a due date."""
    if due is None or len(days) != 1:
        return None
    start = days[0].start
    lead = masked.unquoted[:start].strip(" ,.:!–—-")
    rest = masked.unquoted[start + 1 :].strip(" ,.!)")
    is_reply = phrase_pattern(cues.role.day.replies).fullmatch(lead.replace(",", "")) is not None
    return days[0] if is_reply and not rest else None
