"""What a note says against a proposal: that an item is not done, or that what would be added has happened.

Never takes silence for a contradiction, nor a word that stands in another part of the sentence.
"""

import re
from itertools import pairwise

from daemon.agents.models.rules.clauses import split_note
from daemon.agents.models.rules.finished_items import item_patterns, unfinished_items
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import to_plain
from daemon.agents.models.rules.note_reader import MentionCandidates, read_note
from daemon.agents.tools.model_interface import ChecklistItemView, EntryView

_PARTICIPLE_CHARS_MIN = 5
_WORD = re.compile(r"[\w'’-]+")


def says_unfinished(text: str, item: ChecklistItemView, cues: CueTable) -> bool:
    """Report whether a note says that an item is done in part, not yet, or only on a condition."""
    patterns = item_patterns([item], cues)
    note = split_note(text, cues)
    return any(unfinished_items(clause, patterns, cues) for clause in note.clauses)


def says_happened(note: EntryView, title: str, cues: CueTable) -> bool:
    """Report whether a note says of a new item that it is done already.

    That is so too if the title is a participle as it stands in the note: "He regado un rato".
    """
    item = ChecklistItemView("", title, False, False, "", None)
    candidates = MentionCandidates(item_patterns([item], cues))
    if item.id in read_note(note.text, note.written_at, cues, candidates).finished_quotes:
        return True
    return _is_told_as_done(note.text, title, cues)


def _is_told_as_done(text: str, title: str, cues: CueTable) -> bool:
    """Report whether the title's first word is a participle that follows its auxiliary in a note."""
    first = next(iter(_WORD.findall(title)), "").lower()
    endings = tuple(form for ending in cues.verbs.endings for form in ending.done)
    if len(first) < _PARTICIPLE_CHARS_MIN or not endings or not first.endswith(endings):
        return False
    words = _WORD.findall(to_plain(text))
    return any(
        word == to_plain(first) and before.rpartition("'")[2] in cues.verbs.auxiliaries
        for before, word in pairwise(words)
    )
