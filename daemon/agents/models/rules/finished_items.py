"""Checklist items that a note says are done: "flyer is done", "called the landlord", "Miete überwiesen".

Never counts what is half done, still to do, or done to the writer by somebody else.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from daemon.agents.models.rules.clauses import (
    ACCENT_MARK,
    Clause,
    ListLine,
    segment_spans,
    words_in,
    words_with_accents,
)
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, phrase_pattern, to_plain
from daemon.agents.models.rules.to_do_items import is_done_heading
from daemon.agents.tools.model_interface import ChecklistItemView
from daemon.dates.date_language import date_language

OTHER_WORDS_MAX = 4
OPEN_ITEMS_MAX = 500
_WORD_CHARS_MIN = 3
_BARE_WORDS_MAX = 6
_SETTLED_WORDS_MAX = 4
_FIGURE = re.compile(r"\s+\d")
_PASSIVE = "ete"
_FRENCH_PRESENT = frozenset({"est", "sont"})
_TICK, _CROSS = "✓✔✅☑", "✘✗❌✖"
_MARKED = re.compile(rf"([^{_TICK}{_CROSS}]*)([{_TICK}{_CROSS}])\ufe0f?")
_AFTER_MARK = re.compile(rf"([{_TICK}{_CROSS}])\ufe0f?([^{_TICK}{_CROSS}]*)")


class ItemPattern(NamedTuple):
    """An open item: the words that name its thing, and what its verb becomes when it is done."""

    item: ChecklistItemView
    name_words: tuple[str, ...]
    verb: str
    done_forms: frozenset[str]
    name_beginnings: frozenset[str]


def item_patterns(
    items: Iterable[ChecklistItemView], cues: CueTable, *, are_ticked: bool = False
) -> list[ItemPattern]:
    """Prepare the items that are still open, or those that are ticked."""
    kept = [item for item in items if item.is_checked == are_ticked and not item.is_archived]
    return [
        item_pattern
        for item in kept[:OPEN_ITEMS_MAX]
        if (item_pattern := _item_pattern(item, cues)).name_words
    ]


def _item_pattern(item: ChecklistItemView, cues: CueTable) -> ItemPattern:
    words = words_in(to_plain(item.title))
    verb = (words[-1] if cues.verbs.is_last else words[0]) if len(words) > 1 else ""
    done_words = done_forms(verb, cues) if verb else frozenset()
    matching_words = [word for word in words if word != verb or not done_words]
    kept_words = tuple(
        word for word in matching_words if word not in cues.function_words and _names_something(word)
    )
    return ItemPattern(item, kept_words, verb, done_words, _beginnings(kept_words))


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    """Return how words begin: what is alike begins alike, and this is quickly compared."""
    return frozenset(word[:_WORD_CHARS_MIN] for word in words)


def _names_something(word: str) -> bool:
    return len(word) >= _WORD_CHARS_MIN or word.isdigit()


@lru_cache(maxsize=1024)
def done_forms(verb: str, cues: CueTable) -> frozenset[str]:
    """Return the forms that say that a verb's act is done. German participles have rules of their own.

    A form that differs from another only by its accent begins with ACCENT_MARK.
    """
    forms = set(cues.verbs.forms.get(verb, ()))
    for ending in () if forms else cues.verbs.endings:
        end = to_plain(ending.verb)
        if verb.endswith(end) and len(verb) > len(end) + 1:
            stem = verb[: len(verb) - len(end)]
            forms.update(
                ACCENT_MARK * text.endswith(("é", "í")) + stem + to_plain(text) for text in ending.done
            )
            if not end and _doubles_last_letter(stem):
                forms.add(f"{stem}{stem[-1]}ed")
            break
    return frozenset(forms) or (_german_participle_key(verb) if cues.verbs.is_last else frozenset())


def _doubles_last_letter(stem: str) -> bool:
    """Say whether English doubles the last letter: plan, planned."""
    return len(stem) >= 3 and stem[-1] in "bdgmnprt" and stem[-2] in "aeiou" and stem[-3] not in "aeiou"


def _german_participle_key(verb: str) -> frozenset[str]:
    """Stand for every participle of a German verb by its consonants; `_is_done_form` compares them."""
    return frozenset({_consonants_of_stem(verb)}) if verb.endswith("n") and len(verb) >= 4 else frozenset()


def _consonants_of_stem(word: str) -> str:
    """Return what a German verb and its participle have in common: the stem without vowels and without ge."""
    stem = word.removesuffix("en") if word.endswith("en") else word.removesuffix("n").removesuffix("t")
    return "".join(sign for sign in stem if sign not in "aeiouy")


def finished_items(clause: Clause, items: Sequence[ItemPattern], cues: CueTable) -> list[ChecklistItemView]:
    """Return the items that a clause says are done."""
    if clause.is_question or not items:
        return []
    sure = _after_done(clause, cues) or _ticked_texts(clause.unquoted) or _before_done(clause, cues)
    if sure:
        return [
            item_pattern.item for part in sure for item_pattern in items_named(words_in(part), items, cues)
        ]
    if settled := _settled_behind_colon(clause, items, cues):
        return settled
    spans = segment_spans(clause, cues)
    named = [
        item_pattern.item
        for start, end in spans
        for item_pattern in _items_said_done(clause, start, end, items, cues)
    ]
    if named or clause.is_others:
        return named
    return [item for start, end in spans for item in _item_partly_named(clause, start, end, items, cues)]


def _item_partly_named(
    clause: Clause, start: int, end: int, items: Sequence[ItemPattern], cues: CueTable
) -> list[ChecklistItemView]:
    """Return the one item whose verb is done, and whose name has every thing that a segment names.

    "Windows cleaned" is "clean the windows in the hall", and "kitchen windows cleaned" is not.
    """
    part = clause.unquoted[start:end]
    if _takes_back(words_in(part), cues) or not cues.past_words.isdisjoint(words_in(part)):
        return []
    words = words_with_accents(part, clause.text[start:end])
    fits = [item for item in items if _is_partly_named(words, item, cues)]
    return [fits[0].item] if len(fits) == 1 else []


def _is_partly_named(words: Sequence[str], item_pattern: ItemPattern, cues: CueTable) -> bool:
    done = {index for index in range(len(words)) if _is_done_form(words, index, item_pattern, cues)}
    things = [word.rstrip(ACCENT_MARK) for index, word in enumerate(words) if index not in done]
    things = [word for word in things if len(word) >= _WORD_CHARS_MIN and word not in _asides(cues)]
    if not done or not things or len(words) > _BARE_WORDS_MAX:
        return False
    is_named = all(any(is_same_stem(name, word) for name in item_pattern.name_words) for word in things)
    return is_named and is_done(words, item_pattern, cues)


@lru_cache(maxsize=16)
def _asides(cues: CueTable) -> frozenset[str]:
    """Return the words that name no thing: those of grammar, adverbs and days."""
    tongue = date_language(cues.language)
    phrases = (*cues.duty.adverbs, *tongue.weekdays, *tongue.days)
    words = frozenset(word for phrase in phrases for word in to_plain(phrase).split())
    return words | cues.function_words | cues.duty.openers | cues.verbs.auxiliaries


def unfinished_items(clause: Clause, items: Sequence[ItemPattern], cues: CueTable) -> list[ChecklistItemView]:
    """Return the items that a clause calls done and takes that back: not, half, once, almost."""
    return [
        item_pattern.item
        for start, end in segment_spans(clause, cues)
        if _takes_back(words_in(clause.unquoted[start:end]), cues)
        for item_pattern in _items_called_done(clause, start, end, items, cues)
    ]


def _ticked_texts(own: str) -> list[str]:
    """Return the texts beside ticks: behind them if the clause begins with a mark, otherwise before them."""
    if own[:1] in _TICK + _CROSS:
        marked = [(mark, part) for mark, part in _AFTER_MARK.findall(own)]
    else:
        marked = [(mark, part) for part, mark in _MARKED.findall(own)]
    return [part for mark, part in marked if mark in _TICK and part.strip()]


def finished_item_of_line(
    line: ListLine, items: Sequence[ItemPattern], cues: CueTable
) -> ChecklistItemView | None:
    """Return the item that a list line says is done by its ticked box, or by a heading such as "Done:"."""
    is_under_done = is_done_heading(line.heading, cues)
    if not items or line.box == " " or not (line.box or is_under_done):
        return None
    best = items_named(words_in(to_plain(line.title)), items, cues)
    return best[0].item if best else None


def _after_done(clause: Clause, cues: CueTable) -> list[str]:
    """Read "done: a, b" as its members."""
    cue = phrase_pattern(cues.done.cues).match(clause.unquoted)
    if cue is None or not clause.unquoted[cue.end() :].lstrip().startswith(":"):
        return []
    return [clause.unquoted[start:end] for start, end in segment_spans(clause, cues)][1:]


def _before_done(clause: Clause, cues: CueTable) -> list[str]:
    """Read "call Ola: done" as what is done."""
    match = _done_behind_sign(cues).match(clause.unquoted)
    return [match[1]] if match and not _takes_back(words_in(match[1]), cues) else []


def _settled_behind_colon(
    clause: Clause, items: Sequence[ItemPattern], cues: CueTable
) -> list[ChecklistItemView]:
    """Read "Car: all set" and "Power: sorted out", whose words behind the colon say no more than that."""
    named_part, sign, rest = clause.unquoted.partition(":")
    words = words_in(rest)
    if not sign or not 1 <= len(words) <= _SETTLED_WORDS_MAX or _takes_back(words_in(clause.unquoted), cues):
        return []
    accented = words_with_accents(rest, clause.text[len(named_part) + 1 :])
    is_settled = phrase_pattern(cues.done.behind_items).fullmatch(rest.strip(" .!"))
    return [
        item_pattern.item
        for item_pattern in items_named(words_in(named_part), items, cues)
        if is_settled or done_places(accented, item_pattern, cues)
    ]


@lru_cache(maxsize=16)
def _done_behind_sign(cues: CueTable) -> re.Pattern[str]:
    phrases = alternation(cue for cue in cues.done.cues if cue[:1].isalpha())
    return re.compile(rf"([^:–—]{{2,80}}?)\s*(?::|[–—]|\s-)\s*(?:{phrases})[\s.!]*$")


def items_named(words: Sequence[str], items: Sequence[ItemPattern], cues: CueTable) -> list[ItemPattern]:
    """Return the one item that words name; none if it could be one of two."""
    begins = _beginnings(words)
    fits = [item for item in items if item.name_beginnings <= begins and _fits(words, item, cues)]
    most = max((len(fit.name_words) for fit in fits), default=0)
    best = [fit for fit in fits if len(fit.name_words) == most]
    # Few right proposals are better than many: if two items fit, neither is ticked.
    return best if len(best) == 1 else []


def is_item_named(text: str, items: Sequence[ItemPattern], cues: CueTable) -> bool:
    """Return whether words name an item that is there already."""
    words = words_in(to_plain(text))
    return any(
        _fits(words, item, cues) and any(is_same_stem(item.verb, word) for word in (*words, ""))
        for item in items
    )


def _items_said_done(
    clause: Clause, start: int, end: int, items: Sequence[ItemPattern], cues: CueTable
) -> list[ItemPattern]:
    """Return the item that a segment says is done, by a word for it or by the item's own verb."""
    # "Not sent", "once it is sent" and "almost sent" all contain the word for done.
    if _takes_back(words_in(clause.unquoted[start:end]), cues):
        return []
    return _items_called_done(clause, start, end, items, cues)


def _takes_back(words: Sequence[str], cues: CueTable) -> bool:
    if cues.language == "fr" and "par" in words and not _FRENCH_PRESENT.isdisjoint(words):
        return True  # "est mis à jour par Tom" goes on, and "lavé par mamie" is done
    return bool((cues.negations | cues.conditions | cues.done.unfinished).intersection(words))


def _items_called_done(
    clause: Clause, start: int, end: int, items: Sequence[ItemPattern], cues: CueTable
) -> list[ItemPattern]:
    """Return the item that stands in a segment beside a word for done, whatever else is said of it."""
    part = clause.unquoted[start:end]
    part_words = words_with_accents(part, clause.text[start:end])
    cue = phrase_pattern(cues.done.cues).search(part)
    # "La salle fait 120 places" is how large it is.
    is_said = cue is not None and _FIGURE.match(part, cue.end()) is None
    return [
        item_pattern
        for item_pattern in items_named(words_in(part), items, cues)
        if is_said or is_done(part_words, item_pattern, cues)
    ]


def _fits(words: Sequence[str], item_pattern: ItemPattern, cues: CueTable) -> bool:
    """Return whether a part of a sentence has every word of an item's name, and few others."""
    if not all(any(is_same_stem(name, word) for word in words) for name in item_pattern.name_words):
        return False
    others = [word for word in words if word not in cues.function_words and len(word) >= _WORD_CHARS_MIN]
    return len(others) <= 2 * len(item_pattern.name_words) + OTHER_WORDS_MAX


def is_same_stem(name: str, word: str) -> bool:
    """Return whether two words differ only in their endings."""
    if name == word.removesuffix("'s"):
        return True
    shared = next(
        (index for index, (a, b) in enumerate(zip(name, word, strict=False)) if a != b),
        min(len(name), len(word)),
    )
    short = min(len(name), len(word))
    ending = 1 if short <= 4 else 2 if short <= 6 else 3
    return shared >= _WORD_CHARS_MIN and max(len(name), len(word)) - shared <= ending


def is_done(words: Sequence[str], item_pattern: ItemPattern, cues: CueTable) -> bool:
    """Return whether the item's own verb is there as done, and done by the writer."""
    places = done_places(words, item_pattern, cues)
    words = [word.rstrip(ACCENT_MARK) for word in words]
    if not places:
        return False
    is_passive = cues.language == "fr" and _PASSIVE in words
    if not is_passive and any(is_same_stem(verb, item_pattern.verb) for verb in cues.verbs.contact):
        is_by_writer = cues.verbs.of_others.isdisjoint(words)
        # "Mairie appelée" is a participle alone, and says what was done to her; English has no form for that.
        is_bare = cues.language != "en" and cues.verbs.auxiliaries.isdisjoint(words)
        return is_by_writer and (cues.verbs.is_last or is_bare or _precedes(words, places[0], item_pattern))
    return True


def done_places(words: Sequence[str], item_pattern: ItemPattern, cues: CueTable) -> list[int]:
    """Return which words, with their accents marked, are an item's own verb as done."""
    return [index for index in range(len(words)) if _is_done_form(words, index, item_pattern, cues)]


def _precedes(words: Sequence[str], place: int, item_pattern: ItemPattern) -> bool:
    return not any(is_same_stem(name, word) for name in item_pattern.name_words for word in words[:place])


def _is_done_form(words: Sequence[str], index: int, item_pattern: ItemPattern, cues: CueTable) -> bool:
    word = words[index].rstrip(ACCENT_MARK)
    if not cues.verbs.is_last or item_pattern.verb in cues.verbs.forms:
        is_told = words[index].endswith(ACCENT_MARK) or not cues.verbs.auxiliaries.isdisjoint(
            words[max(index - 3, 0) : index]
        )
        return word in item_pattern.done_forms or (is_told and ACCENT_MARK + word in item_pattern.done_forms)
    return (
        word != item_pattern.verb
        and _consonants_of_stem(_without_ge(word)) in item_pattern.done_forms
        and _is_participle(words, index, cues)
    )


def _without_ge(word: str) -> str:
    index = word.find("ge")
    return word[:index] + word[index + 2 :] if index >= 0 else word


def _is_participle(words: Sequence[str], index: int, cues: CueTable) -> bool:
    """Return whether a German form is a participle: by its "ge", by an auxiliary, or as the last word."""
    word = words[index].rstrip(ACCENT_MARK)
    if not word.endswith(("t", "en")):
        return False
    return "ge" in word or index == len(words) - 1 or not cues.verbs.auxiliaries.isdisjoint(words)
