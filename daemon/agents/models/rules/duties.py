"""Things to do in prose: "I have to call the vet and buy hay" is two of them.

Never reads what somebody else has to do, what is only said so ("I have to admit"), or how a fault is made to
appear again.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from daemon.agents.models.rules.clauses import MATCHES_MAX, Clause, words_before, words_in
from daemon.agents.models.rules.lexicon.cue_table import CueTable, DutyForm
from daemon.agents.models.rules.lexicon.plain_text import alternation, phrase_pattern, to_plain
from daemon.agents.models.rules.to_do_items import TO_DO_CHARS_MAX
from daemon.dates.date_language import date_language

JOINED_WORDS_MAX = 3  # "and pepper" belongs to the act before, "and Tom will bring the chairs" does not
_BY_WRITER = (["i"], ["ich"], ["je"], ["j'"])
_HARD_STOP = re.compile(r"[;()!?—–]|:(?!\d)|\s-\s|\.\.")


class _Cue(NamedTuple):
    """Where the words of obligation are, and what they ask of the act behind them."""

    start: int
    end: int
    form: DutyForm


class _Part(NamedTuple):
    """The words between two commas. `is_last` means that "and" leads it in."""

    start: int
    end: int
    is_last: bool


def duties(clause: Clause, cues: CueTable) -> list[str]:
    """Return the acts that a clause says the writer has to do, in its own words."""
    is_heading = clause.text.endswith(":")
    if clause.is_question or is_heading or phrase_pattern(cues.to_do.reproduction).search(clause.plain_text):
        return []
    titles: list[str] = []
    covered = 0
    found_cues = _found_cues(clause, cues)
    for cue in found_cues:
        if cue.start >= covered and _counts(clause, cue, cues):
            acts = _acts(clause, cue, _limit(clause, cue, found_cues), cues)
            covered = cue.end if acts else covered
            titles += acts
    return titles


def _limit(clause: Clause, cue: _Cue, found_cues: list[_Cue]) -> int:
    """Return where the next cue begins, which has acts of its own."""
    later = (other.start for other in found_cues if other.start >= cue.end and not other.form.opens_clause)
    return min(later, default=len(clause.unquoted))


def _found_cues(clause: Clause, cues: CueTable) -> list[_Cue]:
    found_cues = [
        _Cue(match.start(), match.end(), form)
        for form in cues.duty.forms
        for match in islice(_form_pattern(form, cues).finditer(clause.unquoted), MATCHES_MAX)
    ]
    return sorted(found_cues, key=lambda cue: (cue.start, -cue.end))


@lru_cache(maxsize=64)
def _form_pattern(form: DutyForm, cues: CueTable) -> re.Pattern[str]:
    """Compile subject, adverbs, cue. A cue that ends with an apostrophe ends within a word."""
    whole = alternation(cue for cue in form.cues if not cue.endswith("'"))
    elided = alternation(cue for cue in form.cues if cue.endswith("'"))
    lead = rf"(?:{alternation(form.subjects)})\s+(?:(?:{_adverbs(cues)})\s+){{0,3}}" if form.subjects else ""
    return re.compile(rf"(?<![\w'-]){lead}(?:(?:{whole})(?![\w'])|(?:{elided}))")


@lru_cache(maxsize=16)
def _adverbs(cues: CueTable) -> str:
    return alternation(cues.duty.adverbs)


def _counts(clause: Clause, cue: _Cue, cues: CueTable) -> bool:
    """Return whether the cue is the writer's own, now and without a condition."""
    if clause.is_others and not cue.form.is_shared:
        return False
    before = words_in(clause.unquoted[: cue.start])
    if not cues.conditions.isdisjoint(before) or _is_advice(before, cues):
        return False
    if cue.form.opens_clause and not cues.duty.openers.issuperset(before):
        return False
    led = words_before(clause.unquoted, cue.start, cues)
    is_taken_back = not (cues.negations | cues.past_words).isdisjoint(led)
    return not is_taken_back and cues.duty.not_after.isdisjoint(led[-2:])


def _is_advice(before: list[str], cues: CueTable) -> bool:
    """Return whether the words before a cue name an opinion of somebody else."""
    return any(
        word in cues.duty.opinions and before[index - 1 : index] not in _BY_WRITER
        for index, word in enumerate(before)
    )


def _acts(clause: Clause, cue: _Cue, limit: int, cues: CueTable) -> list[str]:
    start = _skip_adverbs(clause.unquoted, cue.end, cues)
    stop = _HARD_STOP.search(clause.unquoted, start, limit)
    parts = _parts(clause.unquoted, start, stop.start() if stop else limit, cues)
    read = _acts_before_verb if cues.verbs.is_last else _acts_after_verb
    spans = [(_word_start(clause, start), end) for start, end in read(clause, parts, cue.form, cues)]
    titles = [clause.text[start:end].strip(" ,.") for start, end in spans]
    return [title for title in titles if _is_worth_an_item(title, cues)]


def _word_start(clause: Clause, start: int) -> int:
    """Return where the word begins that a hyphen goes on: the title of "să-l sun" is no "-l sun"."""
    return clause.text.rfind(" ", 0, start) + 1 if clause.text[start : start + 1] == "-" else start


def _is_worth_an_item(title: str, cues: CueTable) -> bool:
    """Return whether an act names a thing, which "return it on Friday" does not."""
    words = words_in(to_plain(title))
    verb = (words[-1] if cues.verbs.is_last else _verb(words, cues)) if words else ""
    if not verb or verb in cues.duty.idle or words[0] in cues.negations or len(title) > TO_DO_CHARS_MAX:
        return False
    return any(word != verb and not word.isdigit() and word not in _no_things(cues) for word in words)


@lru_cache(maxsize=16)
def _no_things(cues: CueTable) -> frozenset[str]:
    """Return the words that name no thing: those of grammar, adverbs, and days."""
    tongue = date_language(cues.language)
    days = (*tongue.weekdays, *tongue.months, *tongue.days)
    phrases = (*cues.duty.adverbs, *cues.deadline.cues, *cues.deadline.suffixes, *cues.done.cues, *days)
    words = frozenset(word for phrase in phrases for word in to_plain(phrase).split())
    return words | cues.function_words | cues.duty.clitics | cues.duty.openers | cues.deadline.fillers


def _skip_adverbs(own: str, index: int, cues: CueTable) -> int:
    """Return where the act begins: behind "still", "noch" and a comma."""
    skipped = _adverbs_pattern(cues).match(own, index)
    return skipped.end() if skipped else index


@lru_cache(maxsize=16)
def _adverbs_pattern(cues: CueTable) -> re.Pattern[str]:
    return re.compile(rf"[\s,]*(?:(?:{_adverbs(cues)})(?![\w'-])[\s,]+){{0,4}}")


def _parts(own: str, start: int, end: int, cues: CueTable) -> list[_Part]:
    """Split at commas and at "and"."""
    parts, position, is_last = [], start, False
    for gap in _gap(cues).finditer(own, start, end):
        parts.append(_Part(position, gap.start(), is_last))
        position, is_last = _skip_adverbs(own, gap.end(), cues), bool(gap["also"])
    return [part for part in (*parts, _Part(position, end, is_last)) if own[part.start : part.end].strip()]


@lru_cache(maxsize=16)
def _gap(cues: CueTable) -> re.Pattern[str]:
    also = alternation(cues.to_do.and_words)
    return re.compile(rf"(?:,(?!\d)\s*|(?<=\s))(?P<also>(?:{also})\s)|,(?!\d)|\s\+\s")


def _acts_after_verb(
    clause: Clause, parts: list[_Part], form: DutyForm, cues: CueTable
) -> Iterator[tuple[int, int]]:
    """Yield where acts begin and end in a language whose verb comes first."""
    own = clause.unquoted
    if not parts or not _is_act(own[parts[0].start : parts[0].end], form, cues):
        return
    start, end = parts[0].start, parts[0].start
    for index, part in enumerate(parts):
        text = own[part.start : part.end]
        lead = _repeat(form).match(text)
        is_next = bool(index and (lead or _begins_with_verb(text, cues)))
        if is_next:
            yield start, end
            start = part.start + (lead.end() if lead else 0)
        elif index and not _belongs_to_act(own, parts[index:], cues):
            break
        cut = _cut(own, part, cues)
        end = cut.start() if cut else part.end
        if cut:
            break
    yield start, end


def _cut(own: str, part: _Part, cues: CueTable) -> re.Match[str] | None:
    """Return the word that begins another thought; "if" begins none in "ask Ola if she comes"."""
    for match in _stop_word(cues).finditer(own, part.start, part.end):
        is_asked = match.group() in cues.duty.asked
        if not is_asked or cues.duty.asking.isdisjoint(words_in(own[part.start : match.start()])):
            return match
    return None


def _belongs_to_act(own: str, parts: list[_Part], cues: CueTable) -> bool:
    """Return whether short parts up to an "and" go on to name the things of an act."""
    for part in parts:
        words = words_in(own[part.start : part.end])
        if not words or len(words) > JOINED_WORDS_MAX or words[0] in cues.duty.pronouns:
            return False
        if part.is_last:
            return True
    return False


def _is_act(text: str, form: DutyForm, cues: CueTable) -> bool:
    """Return whether words behind a cue begin with a verb of the form that the cue asks for."""
    verb = _verb(words_in(text), cues)
    fits = not form.endings or verb.endswith(form.endings)
    return bool(verb) and fits and not (form.not_endings and verb.endswith(form.not_endings))


def _verb(words: list[str], cues: CueTable) -> str:
    """Return the first word that is no unstressed pronoun: "lui envoyer", "îl sun"."""
    return next((word for word in words if word not in cues.duty.clitics), "")


def _begins_with_verb(text: str, cues: CueTable) -> bool:
    words = words_in(text)
    verb = _verb(words, cues)
    if len(words) < 2 or not verb:
        return False
    if verb in cues.duty.verbs or verb in cues.verbs.imperatives or verb in cues.verbs.forms:
        return True
    endings = cues.verbs.imperative_endings
    return bool(endings) and verb.endswith(endings) and re.fullmatch(cues.verbs.not_imperative, verb) is None


@lru_cache(maxsize=64)
def _repeat(form: DutyForm) -> re.Pattern[str]:
    """Compile what leads a further act in: "to", "que j'", "să"."""
    whole = alternation(repeat for repeat in form.repeats if not repeat.endswith("'"))
    elided = alternation(repeat for repeat in form.repeats if repeat.endswith("'"))
    return re.compile(rf"\s*(?:(?:{whole})(?:\s+|(?=-))|(?:{elided}))")


@lru_cache(maxsize=16)
def _stop_word(cues: CueTable) -> re.Pattern[str]:
    """Compile the words that begin another thought."""
    return re.compile(rf"(?<=\s)(?:{alternation(sorted(cues.duty.stops))})(?![\w'-])")


def _acts_before_verb(
    clause: Clause, parts: list[_Part], form: DutyForm, cues: CueTable
) -> Iterator[tuple[int, int]]:
    """Yield where acts begin and end in a language whose verb comes last: only the verb completes an act."""
    start, asking, act = None, False, None
    for index, part in enumerate(parts):
        words = words_in(clause.unquoted[part.start : part.end])
        # "Ola fragen, ob sie kommt, Brot kaufen": the part between says what is asked.
        if asking and act and words and words[0] in cues.duty.asked:
            act = (act[0], part.end)
            continue
        if act:
            yield act
        act = None
        if not words or (index and words[0] in cues.duty.pronouns | cues.duty.stops):
            return
        start = part.start if start is None else start
        end = _verb_end(clause, part, form, cues)
        if end is not None:
            if cues.negations.isdisjoint(words_in(clause.unquoted[start:end])):
                act = (start, part.end)
            start, asking = None, words[-1] in cues.duty.asking
            # "I have to admit, the altos have improved": what follows is what is admitted.
            if words[-1] in cues.duty.idle:
                break
    if act:
        yield act


def _verb_end(clause: Clause, part: _Part, form: DutyForm, cues: CueTable) -> int | None:
    """Return where the infinitive ends that closes a part; None if there is none."""
    matches = list(re.finditer(r"[\w'-]+", clause.text[part.start : part.end]))
    for index, match in enumerate(matches):
        word = match.group()
        looks_so = word[:1].islower() and len(word) > 3 and to_plain(word).endswith(form.endings)
        looks_so = looks_so and re.fullmatch(cues.verbs.not_imperative, to_plain(word)) is None
        following = to_plain(matches[index + 1].group()) if index + 1 < len(matches) else ""
        if looks_so and (not following or following in cues.duty.tails):
            return part.start + match.end()
    return None
