"""The details of what waits, for the template: by kind, with values before and after, and earlier verdicts.

Never cuts what an agent proposes: a person confirms all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import msgspec

from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.waiting_items import PendingItem
from daemon.agents.person.inbox import InboxCard
from daemon.web.decide.argument_form import ArgumentField, argument_fields
from daemon.web.decide.item_rows import (
    KINDS,
    ItemRow,
    ValueRow,
    elsewhere_words,
    item_row,
    kind_of,
    shown_text,
)
from daemon.words.dates import relative_time
from daemon.words.proposals import LACKS, value_changes, verdict_words
from daemon.words.translation import _
from daemon.words.values import field_words, in_quotation_marks, value_words


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One proposal in detail. `changes` are all its values.

    `question` is shown above the first of its answers. `whole_question` is given for the last of them:
    "ID:HASH" of the answer by which the question itself is rejected or deferred. `elsewhere` says where to
    decide if no verdict on this device counts.
    """

    line: ItemRow
    agent: str
    changes: list[ValueRow]
    question: str
    is_answer: bool
    whole_question: str
    elsewhere: str
    verdicts: list[str]
    fields: list[ArgumentField]
    is_edited: bool


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """The proposals of one kind."""

    kind: str
    title: str
    rows: list[ReviewRow]


def review_groups(
    cards: Sequence[InboxCard],
    records: Sequence[DecisionRecord],
    now_s: float,
    typed: Mapping[str, Mapping[str, str]],
) -> list[ReviewGroup]:
    """Return what waits on a task, kind by kind. `typed` is what a refused form said, by the item's id."""
    verdicts: dict[str, list[str]] = {}
    for record in records:
        verdicts.setdefault(record.item_id, []).append(decided_words(record, now_s))
    by_kind: dict[str, list[ReviewRow]] = {}
    for card in cards:
        whole_questions = _whole_questions(card.items)
        for item in card.items:
            row = _row(item, card.agent_name or "", verdicts.get(item.item_id, []), now_s, typed)
            row = replace(row, whole_question=whole_questions.get(item.item_id, ""))
            by_kind.setdefault(kind_of(item), []).append(row)
    return [ReviewGroup(kind, _(title), by_kind[kind]) for kind, title in KINDS.items() if kind in by_kind]


def _whole_questions(items: Sequence[PendingItem]) -> dict[str, str]:
    """Return "ID:HASH" of the first answer to each question, by the id of the item with its last one."""
    by_question: dict[str, list[PendingItem]] = {}
    for item in items:
        if item.question is not None:
            by_question.setdefault(item.question.question_id, []).append(item)
    return {answers[-1].item_id: shown_text(answers[0]) for answers in by_question.values()}


def _row(
    item: PendingItem,
    agent: str,
    verdicts: list[str],
    now_s: float,
    typed: Mapping[str, Mapping[str, str]],
) -> ReviewRow:
    json = cast(Any, msgspec.to_builtins(item))
    return ReviewRow(
        line=item_row(item, now_s),
        agent=agent,
        changes=[
            ValueRow(
                field_words(change.field),
                value_words(change.before, change.field),
                value_words(change.after, change.field),
            )
            for change in value_changes(json)
        ],
        question=item.question.text if item.question is not None and item.question.number == 1 else "",
        is_answer=item.question is not None,
        whole_question="",
        elsewhere="" if item.counts_here else elsewhere_words(agent),
        verdicts=verdicts,
        fields=argument_fields(item.tool, item.args, typed.get(item.item_id, {})),
        is_edited=item.item_id in typed,
    )


def decided_words(record: DecisionRecord, now_s: float) -> str:
    """Say who decided what, where and when, and what it lacked."""
    words = _("{verdict} on {device}, {when}").format(
        verdict=verdict_words(cast(Any, msgspec.to_builtins(record))),
        device=record.device_name,
        when=relative_time(record.at, now_s),
    )
    lack = LACKS.get(record.lacks or "")
    return " · ".join(
        [
            words,
            *([in_quotation_marks(record.reason)] if record.reason else []),
            *([lack()] if lack is not None else []),
        ]
    )
