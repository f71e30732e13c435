"""Labels of the journal that a note names, and those that it says to take away.

Never makes up a label.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from daemon.agents.models.rules.clauses import Clause, is_asserted_now, words_before, words_in
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, phrase_pattern, to_plain
from daemon.agents.tools.model_interface import LabelView

NAME_CHARS_MIN = 3
LABELS_SEARCHED_MAX = 500
MENTIONS_MAX = 20


class LabelMention(NamedTuple):
    """A label that a note names, and whether it does so by a sign or word that means labels."""

    label: LabelView
    is_marked: bool


def mentioned_labels(
    clauses: Iterable[Clause], labels: Sequence[LabelView], cues: CueTable
) -> list[LabelMention]:
    """Return the labels that are named in clauses which neither ask nor deny, marked ones first."""
    matching_clauses = [
        clause for clause in clauses if not (clause.is_question or removed_labels(clause, labels, cues))
    ]
    joined = "\n".join(clause.unquoted for clause in matching_clauses)
    label_mentions = []
    for label in labels[:LABELS_SEARCHED_MAX]:
        name = " ".join(to_plain(label.name).split())
        first = words_in(name)[:1]
        if len(name) >= NAME_CHARS_MIN and first and first[0] in joined:
            marks = _marks([clause for clause in matching_clauses if first[0] in clause.unquoted], name, cues)
            label_mentions += [LabelMention(label, any(marks))] if marks else []
    return sorted(label_mentions, key=lambda label_mention: not label_mention.is_marked)


def removed_labels(clause: Clause, labels: Sequence[LabelView], cues: CueTable) -> list[LabelView]:
    """Return the labels that a clause says to take away: those that it marks, beside such a verb."""
    verbs = phrase_pattern(cues.label.removals).finditer(clause.unquoted)
    if not any(is_asserted_now(clause, verb.start(), cues) for verb in verbs):
        return []
    return [
        label
        for label in labels[:LABELS_SEARCHED_MAX]
        if len(name := " ".join(to_plain(label.name).split())) >= NAME_CHARS_MIN
        and any(_marks([clause], name, cues))
    ]


def _marks(clauses: Iterable[Clause], name: str, cues: CueTable) -> list[bool]:
    """Return for each mention of a name whether it is marked as a label."""
    tag = re.escape(name).replace(r"\ ", "[-_ ]?")
    pattern = re.compile(rf"(?P<tag>#{tag})(?![\w-])|(?<![\w#@./-]){_cue(cues)}{re.escape(name)}(?![\w@/-])")
    matches = ((clause, match) for clause in clauses for match in pattern.finditer(clause.unquoted))
    return [
        match["tag"] is not None or match["cue"] is not None
        for clause, match in islice(matches, MENTIONS_MAX)
        if (cues.negations | cues.conditions).isdisjoint(words_before(clause.unquoted, match.start(), cues))
    ]


@lru_cache(maxsize=8)
def _cue(cues: CueTable) -> str:
    return rf"(?P<cue>(?:{alternation(cues.label.cues)})[\s:]+[\"“„«]?)?"
