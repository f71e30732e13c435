"""Checklist items that a note says are done: "flyer is done", "called the landlord", "Miete überwiesen".

Never takes what is half done, to be done, or done by somebody else to the writer for done.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.interface import ChecklistItemView
from daemon.agents.models.plain import phrases, plain
from daemon.agents.models.segments import Clause, ListLine, segments, words

OTHER_WORDS_MAX = 4
ITEMS_MAX = 500
_WORD_CHARS_MIN = 3


class Sought(NamedTuple):
    """An open item: the words that name its thing, and what its verb becomes when it is done."""

    item: ChecklistItemView
    named: tuple[str, ...]
    verb: str
    done: frozenset[str]


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
    return Sought(item, kept, verb, done)


def _names_something(word: str) -> bool:
    return len(word) >= _WORD_CHARS_MIN or word.isdigit()


@lru_cache(maxsize=1024)
def done_forms(verb: str, cues: Cues) -> frozenset[str]:
    """Return the forms that say that what a verb asks for has been done; German has its own way."""
    made = set(cues.verbs.forms.get(verb, ()))
    if made:
        return frozenset(made)
    for ending, becomes in cues.verbs.endings:
        end = plain(ending)
        if verb.endswith(end) and len(verb) > len(end) + 1:
            stem = verb[: len(verb) - len(end)]
            made.update(stem + plain(one) for one in becomes)
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
    listed = _after_done(clause, cues)
    if listed:
        return [one.item for part in listed for one in _best(part, items, cues, needs_sign=False)]
    spans = segments(clause, cues)
    return [
        one.item for start, end in spans for one in _best(clause.own[start:end], items, cues, needs_sign=True)
    ]


def finished_line(line: ListLine, items: Sequence[Sought], cues: Cues) -> ChecklistItemView | None:
    """Return the item that a list line says is done by its ticked box, or by a heading such as "Done:"."""
    heading = plain(line.heading)
    is_under_done = heading.endswith(":") and phrases(cues.finished).match(heading) is not None
    if not items or line.box == " " or not (line.box or is_under_done):
        return None
    best = _best(plain(line.title), items, cues, needs_sign=False)
    return best[0].item if best else None


def _after_done(clause: Clause, cues: Cues) -> list[str]:
    """Read "done: a, b" as its members."""
    cue = phrases(cues.finished).match(clause.own)
    if cue is None or not clause.own[cue.end() :].lstrip().startswith(":"):
        return []
    return [clause.own[start:end] for start, end in segments(clause, cues)][1:]


def _best(part: str, items: Sequence[Sought], cues: Cues, *, needs_sign: bool) -> list[Sought]:
    """Return the item that a part of a sentence says is done; none where it may be one of two."""
    said = words(part)
    if (cues.negations | cues.conditions | cues.unfinished).intersection(said) and needs_sign:
        return []
    fits = [one for one in items if _fits(said, one, cues)]
    if needs_sign:
        is_said = phrases(cues.finished).search(part) is not None
        fits = [one for one in fits if is_said or _is_done(said, one, cues)]
    most = max((len(one.named) for one in fits), default=0)
    best = [one for one in fits if len(one.named) == most]
    return best if len(best) == 1 else []


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
    places = [at for at, word in enumerate(said) if _is_done_form(said, at, one, cues)]
    if not places:
        return False
    if any(alike(verb, one.verb) for verb in cues.verbs.contact):
        return cues.verbs.of_others.isdisjoint(said) and (cues.verbs.last or _precedes(said, places[0], one))
    return True


def _precedes(said: Sequence[str], place: int, one: Sought) -> bool:
    return not any(alike(name, word) for name in one.named for word in said[:place])


def _is_done_form(said: Sequence[str], at: int, one: Sought, cues: Cues) -> bool:
    word = said[at]
    if not cues.verbs.last or one.verb in cues.verbs.forms:
        return word in one.done
    return word != one.verb and _bones(_without_ge(word)) in one.done and _is_participle(said, at, cues)


def _without_ge(word: str) -> str:
    at = word.find("ge")
    return word[:at] + word[at + 2 :] if at >= 0 else word


def _is_participle(said: Sequence[str], at: int, cues: Cues) -> bool:
    """Say whether a German form is a participle: by its ge, its auxiliary, or as the last word."""
    word = said[at]
    if not word.endswith(("t", "en")):
        return False
    return "ge" in word or at == len(said) - 1 or not cues.verbs.auxiliaries.isdisjoint(said)
