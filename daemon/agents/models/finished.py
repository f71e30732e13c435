"""Checklist items that a note says are done: "flyer is done", "called the landlord", "Miete überwiesen".

Never takes what is half done, to be done, or done by somebody else to the writer for done.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.interface import ChecklistItemView
from daemon.agents.models.plain import phrases, plain
from daemon.agents.models.segments import ACCENTED, Clause, ListLine, segments, words, words_as_written
from daemon.agents.models.todos import is_done_heading

OTHER_WORDS_MAX = 4
ITEMS_MAX = 500
_WORD_CHARS_MIN = 3
_TICK, _CROSS = "✓✔✅☑", "✘✗❌✖"
_MARKED = re.compile(rf"([^{_TICK}{_CROSS}]*)([{_TICK}{_CROSS}])\ufe0f?")
_AFTER_MARK = re.compile(rf"([{_TICK}{_CROSS}])\ufe0f?([^{_TICK}{_CROSS}]*)")


class Sought(NamedTuple):
    """An open item: the words that name its thing, and what its verb becomes when it is done."""

    item: ChecklistItemView
    named: tuple[str, ...]
    verb: str
    done: frozenset[str]
    begins: frozenset[str]


def sought(items: Iterable[ChecklistItemView], cues: Cues) -> list[Sought]:
    """Prepare the items that are still open."""
    still_open = [item for item in items if not item.is_checked and not item.is_archived]
    return [one for item in still_open[:ITEMS_MAX] if (one := _sought(item, cues)).named]


def _sought(item: ChecklistItemView, cues: Cues) -> Sought:
    said = words(plain(item.title))
    verb = (said[-1] if cues.verbs.last else said[0]) if len(said) > 1 else ""
    done = done_forms(verb, cues) if verb else frozenset()
    named = [word for word in said if word != verb or not done]
    kept = tuple(word for word in named if word not in cues.known_by and _names_something(word))
    return Sought(item, kept, verb, done, _beginnings(kept))


def _beginnings(said: Iterable[str]) -> frozenset[str]:
    """Return how words begin: what is alike begins alike, and this is quickly compared."""
    return frozenset(word[:_WORD_CHARS_MIN] for word in said)


def _names_something(word: str) -> bool:
    return len(word) >= _WORD_CHARS_MIN or word.isdigit()


@lru_cache(maxsize=1024)
def done_forms(verb: str, cues: Cues) -> frozenset[str]:
    """Return the forms that say that what a verb asks for has been done; German has its own way.

    A form that only its accent tells from another begins with `ACCENTED`.
    """
    made = set(cues.verbs.forms.get(verb, ()))
    for ending, becomes in () if made else cues.verbs.endings:
        end = plain(ending)
        if verb.endswith(end) and len(verb) > len(end) + 1:
            stem = verb[: len(verb) - len(end)]
            made.update(ACCENTED * one.endswith(("é", "í")) + stem + plain(one) for one in becomes)
            if not end and _doubles(stem):
                made.add(f"{stem}{stem[-1]}ed")
            break
    return frozenset(made) or (_german(verb) if cues.verbs.last else frozenset())


def _doubles(stem: str) -> bool:
    """Say whether English doubles the last letter: plan, planned."""
    return len(stem) >= 3 and stem[-1] in "bdgmnprt" and stem[-2] in "aeiou" and stem[-3] not in "aeiou"


def _german(verb: str) -> frozenset[str]:
    """Stand for every participle of a German verb by its consonants; `_is_done_form` compares them."""
    return frozenset({_bones(verb)}) if verb.endswith("n") and len(verb) >= 4 else frozenset()


def _bones(word: str) -> str:
    """Return what a German verb and its participle have in common: the stem without vowels and without ge."""
    stem = word.removesuffix("en") if word.endswith("en") else word.removesuffix("n").removesuffix("t")
    return "".join(sign for sign in stem if sign not in "aeiouy")


def finished(clause: Clause, items: Sequence[Sought], cues: Cues) -> list[ChecklistItemView]:
    """Return the items that a clause says are done."""
    if clause.asks or not items:
        return []
    sure = _after_done(clause, cues) or _ticked(clause.own)
    if sure:
        return [one.item for part in sure for one in _named(words(part), items, cues)]
    spans = segments(clause, cues)
    return [one.item for start, end in spans for one in _said_done(clause, start, end, items, cues)]


def _ticked(own: str) -> list[str]:
    """Return what stands beside ticks, before or behind them as the first one does."""
    if own[:1] in _TICK + _CROSS:
        marked = [(mark, part) for mark, part in _AFTER_MARK.findall(own)]
    else:
        marked = [(mark, part) for part, mark in _MARKED.findall(own)]
    return [part for mark, part in marked if mark in _TICK and part.strip()]


def finished_line(line: ListLine, items: Sequence[Sought], cues: Cues) -> ChecklistItemView | None:
    """Return the item that a list line says is done by its ticked box, or by a heading such as "Done:"."""
    is_under_done = is_done_heading(line.heading, cues)
    if not items or line.box == " " or not (line.box or is_under_done):
        return None
    best = _named(words(plain(line.title)), items, cues)
    return best[0].item if best else None


def _after_done(clause: Clause, cues: Cues) -> list[str]:
    """Read "done: a, b" as its members."""
    cue = phrases(cues.finished).match(clause.own)
    if cue is None or not clause.own[cue.end() :].lstrip().startswith(":"):
        return []
    return [clause.own[start:end] for start, end in segments(clause, cues)][1:]


def _named(said: Sequence[str], items: Sequence[Sought], cues: Cues) -> list[Sought]:
    """Return the one item that words name; none where it may be one of two."""
    begins = _beginnings(said)
    fits = [one for one in items if one.begins <= begins and _fits(said, one, cues)]
    most = max((len(one.named) for one in fits), default=0)
    best = [one for one in fits if len(one.named) == most]
    return best if len(best) == 1 else []


def _said_done(clause: Clause, start: int, end: int, items: Sequence[Sought], cues: Cues) -> list[Sought]:
    """Return the item that a segment says is done, by a word for it or by the item's own verb."""
    part = clause.own[start:end]
    said = words(part)
    if (cues.negations | cues.conditions | cues.unfinished).intersection(said):
        return []
    told = words_as_written(part, clause.text[start:end])
    is_said = phrases(cues.finished).search(part) is not None
    return [one for one in _named(said, items, cues) if is_said or _is_done(told, one, cues)]


def _fits(said: Sequence[str], one: Sought, cues: Cues) -> bool:
    """Say whether a part of a sentence names all that an item names, and not much else."""
    if not all(any(alike(name, word) for word in said) for name in one.named):
        return False
    others = [word for word in said if word not in cues.known_by and len(word) >= _WORD_CHARS_MIN]
    return len(others) <= 2 * len(one.named) + OTHER_WORDS_MAX


def alike(name: str, word: str) -> bool:
    """Say whether two words are one but for their endings."""
    if name == word:
        return True
    shared = next(
        (at for at, (a, b) in enumerate(zip(name, word, strict=False)) if a != b), min(len(name), len(word))
    )
    short = min(len(name), len(word))
    ending = 1 if short <= 4 else 2 if short <= 6 else 3
    return shared >= _WORD_CHARS_MIN and max(len(name), len(word)) - shared <= ending


def _is_done(said: Sequence[str], one: Sought, cues: Cues) -> bool:
    """Say whether the item's own verb stands there as done, and not by the one whom it was to be done to."""
    places = [at for at in range(len(said)) if _is_done_form(said, at, one, cues)]
    said = [word.rstrip(ACCENTED) for word in said]
    if not places:
        return False
    if any(alike(verb, one.verb) for verb in cues.verbs.contact):
        return cues.verbs.of_others.isdisjoint(said) and (cues.verbs.last or _precedes(said, places[0], one))
    return True


def _precedes(said: Sequence[str], place: int, one: Sought) -> bool:
    return not any(alike(name, word) for name in one.named for word in said[:place])


def _is_done_form(said: Sequence[str], at: int, one: Sought, cues: Cues) -> bool:
    word = said[at].rstrip(ACCENTED)
    if not cues.verbs.last or one.verb in cues.verbs.forms:
        is_told = said[at].endswith(ACCENTED) or not cues.verbs.auxiliaries.isdisjoint(
            said[max(at - 3, 0) : at]
        )
        return word in one.done or (is_told and ACCENTED + word in one.done)
    return word != one.verb and _bones(_without_ge(word)) in one.done and _is_participle(said, at, cues)


def _without_ge(word: str) -> str:
    at = word.find("ge")
    return word[:at] + word[at + 2 :] if at >= 0 else word


def _is_participle(said: Sequence[str], at: int, cues: Cues) -> bool:
    """Say whether a German form is a participle: by its ge, its auxiliary, or as the last word."""
    word = said[at].rstrip(ACCENTED)
    if not word.endswith(("t", "en")):
        return False
    return "ge" in word or at == len(said) - 1 or not cues.verbs.auxiliaries.isdisjoint(said)
