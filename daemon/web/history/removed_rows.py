"""What the page shows of what was removed, and of what an undo left as it is.

Never shows more than the journal answered.
"""

from typing import Final, NamedTuple

import msgspec

from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.person.undo_of_change import UndoResult
from daemon.journal.removed import RemovedThing
from daemon.journal.undo.undo_answer import LeftChange
from daemon.words import terms
from daemon.words.dates import relative_time
from daemon.words.sentences import answer_words
from daemon.words.translation import _
from daemon.words.values import author_words, field_words, with_colon

TAKEN_BACK: Final = (DecisionOutcome.APPLIED, DecisionOutcome.ALREADY)
"""What becomes of a verdict that is taken back."""


class RemovedRow(NamedTuple):
    """A thing that was removed: what it is, whose, and who removed it when.

    `waits`: something that it belongs to has to come back first.
    """

    id: str
    kind: str
    title: str
    task_id: str
    task_title: str
    where: str
    at: str
    waits: bool


def removed_row(removed: RemovedThing, now_s: float) -> RemovedRow:
    """Return what is shown of a removed thing."""
    by = author_words(removed.by, removed.device_name or removed.device[:8], None)
    kind = terms.kind_name(removed.kind)
    return RemovedRow(
        removed.id,
        kind,
        removed.title or kind,
        removed.task_id or "",
        removed.task_title,
        f"{by} · {relative_time(removed.at, now_s)}",
        removed.at,
        removed.above_removed,
    )


def left_lines(undone: UndoResult) -> list[str]:
    """Say of each value that an undo left what it is, and why; and of a verdict why it stands."""
    standing = [verdict for verdict in undone.verdicts if verdict.result not in TAKEN_BACK]
    return [
        *(_left_line(left) for left in undone.left),
        *(answer_words(msgspec.to_builtins(verdict), "message") for verdict in standing),
    ]


def _left_line(left: LeftChange) -> str:
    kind = terms.kind_name(left.kind)
    what = _("{kind} “{title}”").format(kind=kind, title=left.title) if left.title else kind
    named = what if left.field == "deleted" else f"{what}, {field_words(left.field)}"
    return f"{with_colon(named)}{answer_words(msgspec.to_builtins(left), 'why')}"
