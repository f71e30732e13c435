"""Labels of the journal that a note names.

Never makes a label up, and never takes one that the task has.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.interface import LabelView
from daemon.agents.models.plain import alternatives, plain
from daemon.agents.models.segments import Clause, before, words

NAME_CHARS_MIN = 3
LABELS_MAX = 500


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
        if len(name) >= NAME_CHARS_MIN and words(name)[:1] and words(name)[0] in joined:
            marks = [mark for clause in told for mark in _marks(clause, name, cues)]
            found += [Named(label, any(marks))] if marks else []
    return sorted(found, key=lambda one: not one.is_marked)


def _marks(clause: Clause, name: str, cues: Cues) -> list[bool]:
    """Return for each mention of a name in a clause whether it is marked as a label."""
    marks = []
    tag = re.escape(name).replace(r"\ ", "[-_ ]?")
    cue = rf"(?P<cue>(?:{alternatives(cues.label)})[\s:]+[\"“„«]?)?"
    pattern = rf"(?P<tag>#{tag})(?![\w-])|(?<![\w#@./'-]){cue}{re.escape(name)}(?![\w@/-])"
    for match in re.finditer(pattern, clause.bare):
        led = before(clause.bare, match.start(), cues)
        if not (cues.negations | cues.conditions).intersection(led):
            marks.append(match["tag"] is not None or match["cue"] is not None)
    return marks
