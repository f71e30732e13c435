"""The calls that assign labels and take them away, for what the notes of a run say together.

Never proposes to assign a label that the task has, or to take away one that it has not.
"""

from collections.abc import Sequence
from typing import NamedTuple

from daemon.agents.models.rules.label_mentions import LabelMention
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.note_reader import NoteFindings
from daemon.agents.tools.model_interface import EntryView, LabelView, ToolCall

LABELS_PROPOSED_MAX = 3


class _Removal(NamedTuple):
    """The words of a note that take a label away."""

    quote: str
    note: EntryView
    cues: CueTable


class LabelChanges:
    """What the notes say of labels, by the id of the label. The last word on a label counts."""

    def __init__(self) -> None:
        self._mentions: dict[str, tuple[LabelMention, CueTable]] = {}
        self._removals: dict[str, _Removal] = {}

    def add_note(self, note_findings: NoteFindings, note: EntryView, cues: CueTable) -> None:
        """Take what one note says; notes come oldest first."""
        for mention in note_findings.labels:
            self._mentions.setdefault(mention.label.id, (mention, cues))
            if mention.is_marked:
                self._removals.pop(mention.label.id, None)
        for label, quote in note_findings.removed_labels.items():
            self._mentions.pop(label, None)
            self._removals[label] = _Removal(quote, note, cues)

    def calls(self, own: Sequence[LabelView], *, may_remove: bool) -> list[ToolCall]:
        """Return the calls; `own` are the labels of the task."""
        names = {label.id for label in own}
        removals = [_removal_call(*removal) for removal in self._removals.items() if removal[0] in names]
        return self._assigning_calls(names) + (removals if may_remove else [])

    def _assigning_calls(self, own: set[str]) -> list[ToolCall]:
        """Return the call that assigns labels, those first that a note marks as such."""
        mentions = [mention for label, mention in self._mentions.items() if label not in own]
        best = sorted(mentions, key=lambda mention: not mention[0].is_marked)[:LABELS_PROPOSED_MAX]
        if not best:
            return []
        labels = [{"id": mention.label.id, "confidence": _confidence(mention)} for mention, _ in best]
        names = " ".join(cues.wording.label.format(name=mention.label.name) for mention, cues in best)
        return [ToolCall("assign_task_labels", {"labels": labels, "rationale": names})]


def _removal_call(label: str, removal: _Removal) -> ToolCall:
    rationale = removal.cues.wording.rationale.format(quote=removal.quote)
    arguments = {"id": label, "rationale": rationale, "evidenceIds": [removal.note.id]}
    return ToolCall("remove_task_label", arguments)


def _confidence(mention: LabelMention) -> str:
    return "high" if mention.is_marked else "medium"
