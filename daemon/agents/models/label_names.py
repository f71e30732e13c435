"""Labels of the journal that a note names.

Never makes a label up, and never takes one that the task has.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.interface import LabelView
from daemon.agents.models.plain import alternatives, plain
from daemon.agents.models.segments import Clause, before, words

NAME_CHARS_MIN = 3
LABELS_MAX = 500
MENTIONS_MAX = 20


class Named(NamedTuple):
    """A label that a note names, and whether it does so by a sign or word that means labels."""

    label: LabelView
    is_marked: bool


def named(clauses: Iterable[Clause], labels: Iterable[LabelView], cues: Cues) -> list[Named]:
    """Return the labels that are named in clauses which neither ask nor deny, marked ones first."""
    told = [clause for clause in clauses if not clause.asks]
    joined = "\n".join(clause.own for clause in told)
    found = []
    for label in list(labels)[:LABELS_MAX]:
        name = " ".join(plain(label.name).split())
        first = words(name)[:1]
        if len(name) >= NAME_CHARS_MIN and first and first[0] in joined:
            marks = _marks([clause for clause in told if first[0] in clause.own], name, cues)
            found += [Named(label, any(marks))] if marks else []
    return sorted(found, key=lambda one: not one.is_marked)


def _marks(clauses: Iterable[Clause], name: str, cues: Cues) -> list[bool]:
    """Return for each mention of a name whether it is marked as a label."""
    tag = re.escape(name).replace(r"\ ", "[-_ ]?")
    pattern = re.compile(rf"(?P<tag>#{tag})(?![\w-])|(?<![\w#@./-]){_cue(cues)}{re.escape(name)}(?![\w@/-])")
    found = ((clause, match) for clause in clauses for match in pattern.finditer(clause.own))
    return [
        match["tag"] is not None or match["cue"] is not None
        for clause, match in islice(found, MENTIONS_MAX)
        if (cues.negations | cues.conditions).isdisjoint(before(clause.own, match.start(), cues))
    ]


@lru_cache(maxsize=8)
def _cue(cues: Cues) -> str:
    return rf"(?P<cue>(?:{alternatives(cues.label)})[\s:]+[\"“„«]?)?"
