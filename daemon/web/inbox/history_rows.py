"""Decisions in words, for the template.

Never names an agent's words as a person's.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.tools.effects import args_hash
from daemon.web.decide.argument_words import edit_words
from daemon.words.arguments import argument_words
from daemon.words.dates import relative_time
from daemon.words.proposals import LACKS, summary_words, verdict_words
from daemon.words.translation import _
from daemon.words.values import in_quotation_marks

_TONES: Final = {"confirmed": "green", "rejected": "red"}
_CAN_BE_TAKEN_BACK: Final = frozenset({"confirmed", "rejected", "deferred"})


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision. `asked` are the arguments of an ask, else "". `argument` is how the agent argued for it.

    `shown` is "ID:HASH" if it can be taken back, else "".
    """

    id: str
    item_id: str
    task_id: str
    task_title: str
    is_task: bool
    verdict: str
    tone: str
    summary: str
    asked: str
    where: str
    reason: str
    edits: str
    argument: list[str]
    marks: list[str]
    shown: str


def decision_row(record: DecisionRecord, now_s: float) -> DecisionRow:
    """Return what one line shows."""
    lack = LACKS.get(record.lacks or "")
    marks = [lack()] if lack is not None else []
    if record.disputed:
        marks.append(_("disputed: your devices decided differently"))
    elif not record.counts and lack is None:
        marks.append(_("replaced by a later decision"))
    if record.without_effect:
        marks.append(_("confirmed, but without effect"))
    # What a yes permits is taken back on the page of permissions, or where it is used.
    can_be_taken_back = (
        not record.is_ask
        and record.counts
        and record.verdict in _CAN_BE_TAKEN_BACK
        and record.status == record.verdict
    )
    fields = cast(Any, msgspec.to_builtins(record))
    return DecisionRow(
        id=record.decision_id,
        item_id=record.item_id,
        task_id=record.task_id,
        task_title=record.task_title,
        is_task=record.task_id != record.agent_id,
        verdict=verdict_words(fields),
        tone=_TONES.get(record.verdict, ""),
        summary=record.tool if record.is_ask else summary_words(fields | {"question": None}),
        asked=edit_words(record.args) if record.is_ask else "",
        where=" · ".join(filter(None, [record.device_name, relative_time(record.at, now_s)])),
        reason=in_quotation_marks(record.reason) if record.reason else "",
        edits=edit_words(record.edited_args),
        argument=argument_words(fields, now_s),
        marks=marks,
        shown=f"{record.item_id}:{args_hash(record.tool, record.args).hex()}" if can_be_taken_back else "",
    )
