"""Ticked checklist items that a note says are not done: "I never called Noah", "uncheck the invoice".

Never counts what nobody needed to do, what is asked, or what only may be so.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from daemon.agents.models.rules.clauses import Clause, words_in, words_with_accents
from daemon.agents.models.rules.finished_items import (
    ItemPattern,
    done_places,
    is_done,
    is_same_stem,
    items_named,
)
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, phrase_pattern, to_plain
from daemon.agents.models.rules.masked_clauses import template_matches
from daemon.agents.tools.model_interface import ChecklistItemView

DENIAL_WORDS_MAX = 3
_SIGN = r"\s*[:(,;–—-]\s*"


def reopened_items(clause: Clause, ticked: Sequence[ItemPattern], cues: CueTable) -> list[ChecklistItemView]:
    """Return the ticked items that a clause says are not done, or asks to open again."""
    if clause.is_question or clause.is_others or not ticked:
        return []
    own = clause.unquoted
    named = items_named(words_in(own), ticked, cues)
    if not named or next(template_matches(cues.role.standstill.stuck, clause), None) is not None:
        return []
    # German "war" (was) and "wär" (would be) look alike in plain text.
    if not (cues.conditions - cues.past_words).isdisjoint(words_in(own)):
        return []
    says_so = (
        _is_command(own, cues)
        or _is_to_do_again(own, named[0], cues)
        or _is_denied(clause, named[0], cues)
        or denial_start(own, cues) is not None
    )
    return [named[0].item] if says_so else []


def denial_start(plain: str, cues: CueTable) -> int | None:
    """Return where a text begins to say, behind a sign at its end, that what it names is not done."""
    phrases = alternation(cues.role.reopened.denials)
    match = re.search(rf"{_SIGN}(?:{phrases})[\s.!)]*$", plain)
    return match.start() if match else None


def reopened_item_of_line(
    title: str, ticked: Sequence[ItemPattern], cues: CueTable
) -> ChecklistItemView | None:
    """Return the ticked item that a list line names before it says that it is not done."""
    plain = to_plain(title)
    start = denial_start(plain, cues)
    named = [] if start is None else items_named(words_in(plain[:start]), ticked, cues)
    return named[0].item if named else None


def _is_command(own: str, cues: CueTable) -> bool:
    return re.match(rf"\W*(?:{alternation(cues.role.reopened.commands)})(?![\w'])", own) is not None


def _is_to_do_again(own: str, item: ItemPattern, cues: CueTable) -> bool:
    """Return whether the item's own verb stands behind a duty and beside "again"."""
    again = phrase_pattern(cues.role.reopened.again).search(own)
    cue_phrases = tuple(cue for form in cues.duty.forms for cue in form.cues)
    duty = phrase_pattern(cue_phrases).search(own)
    if again is None or duty is None or not cues.negations.isdisjoint(words_in(own)):
        return False
    return _has_verb(words_in(own[duty.end() :]), item)


def _has_verb(words: Sequence[str], item: ItemPattern) -> bool:
    return not item.verb or any(is_same_stem(item.verb, word) for word in words)


def _is_denied(clause: Clause, item: ItemPattern, cues: CueTable) -> bool:
    """Return whether a negation stands beside a word for done, or the item's own verb as done."""
    words = words_in(clause.unquoted)
    # German "wurde" (was) and "würde" (would) look alike in plain text.
    if not (cues.role.reopened.not_with - cues.past_words).isdisjoint(words):
        return False
    accented_words = words_with_accents(clause.unquoted, clause.text)
    done_cues = frozenset(map(to_plain, cues.done.cues))
    done_words = {index for index, word in enumerate(words) if word in done_cues}
    if _is_without_verb(words, item, cues):
        return True
    is_verb = cues.language == "en" and item.verb in words
    is_by_writer = is_verb or bool(done_words) or is_done(accented_words, item, cues)
    places = done_words | set(done_places(accented_words, item, cues))
    places |= {words.index(item.verb)} if is_verb else set()
    if not is_by_writer or not any(_follows_denial(words, place, cues) for place in places):
        return False
    if not is_verb:
        return True
    # English denies with the verb as it is, and what "Ola did not call" denies is hers.
    before = words[: words.index(item.verb)]
    return not any(is_same_stem(name, word) for name in item.name_words for word in before)


def _is_without_verb(words: list[str], item: ItemPattern, cues: CueTable) -> bool:
    """Return whether Spanish says that an item is undone by its infinitive: "sigue sin firmar"."""
    return cues.language == "es" and any(pair == ("sin", item.verb) for pair in pairwise(words))


def _follows_denial(words: Sequence[str], place: int, cues: CueTable) -> bool:
    """Return whether a denial stands close before a word: "No news of the letter I sent" has none there."""
    near = words[max(place - DENIAL_WORDS_MAX, 0) : place]
    return not cues.negations.isdisjoint(near)
