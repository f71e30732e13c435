"""A timeline in words, and its drawing, for the template.

Never says in the drawing alone what a row does not say in words.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple, cast

import msgspec

from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.journal.task_timeline import Moment, Timeline
from daemon.journal.views.structures import Change
from daemon.web.history.lanes import Edge, Row, draw
from daemon.words.arguments import argument_words
from daemon.words.change_sentences import change_sentence, label_sentence
from daemon.words.changes import is_telling
from daemon.words.dates import full_time_words, relative_time
from daemon.words.proposals import summary_words, verdict_words
from daemon.words.translation import _, ngettext
from daemon.words.values import author_words, field_words, value_words, with_colon

LINES_MAX: Final = 8
UNDONE: Final = frozenset({"undone", "reopened"})
_TONES: Final = {"confirmed": "green", "rejected": "red"}
_PLAIN, _BACK, _SAME = "", "doubt", "good"


class Line(NamedTuple):
    """A line of a row: what it is about, and the values before and after; either may be empty."""

    about: str
    before: str
    after: str


class Deed(NamedTuple):
    """What a commit did to one thing: a sentence, "" if the values say it by themselves, and the values."""

    sentence: str
    lines: list[Line]


class Verdict(NamedTuple):
    """A decision in a row: the verdict, its tone, its change, and how the agent argued for it."""

    verdict: str
    tone: str
    summary: str
    argument: list[str]


class Reference(NamedTuple):
    """Words that name another row, and its position if it is on this page, else 0."""

    words: str
    seq: int


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One commit: who, where and when; what it did; what it was made apart from; and its drawing."""

    seq: int
    who: str
    when: str
    whole_time: str
    verdicts: list[Verdict]
    deeds: list[Deed]
    left_out: int
    apart: list[str]
    references: list[Reference]
    drawn: Row


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A page of a timeline: its rows, and the places and names of its lanes."""

    rows: list[TimelineRow]
    width: int
    lanes: list[int]
    devices: list[str]


class _Link(NamedTuple):
    """A decision that is about an earlier one on the same change: it takes it back, or says the same."""

    later: DecisionRecord
    earlier: DecisionRecord
    kind: str


def timeline_page(timeline: Timeline, records: Sequence[DecisionRecord], now_s: float) -> TimelinePage:
    """Return a timeline in words. `records` are the decisions on the task, the newest first."""
    moments = timeline.moments
    lanes: dict[str, int] = {}
    for moment in reversed(moments):
        lanes.setdefault(moment.device, len(lanes))
    links = _links(records)
    place = {moment.seq: index for index, moment in enumerate(moments)}
    edges = [
        _edge(place[link.later.seq], place[link.earlier.seq], link.kind)
        for link in links
        if link.later.seq in place and link.earlier.seq in place
    ]
    drawing = draw([lanes[moment.device] for moment in moments], edges)
    names = {moment.device: moment.device_name for moment in moments}
    device_of = {moment.seq: moment.device for moment in moments}
    rows = []
    for moment, drawn in zip(moments, drawing.rows, strict=True):
        apart = Counter(device_of[seq] for seq in moment.apart)
        about = [_reference(link, place, now_s) for link in links if link.later.seq == moment.seq]
        decided = [_verdict(record, now_s) for record in records if record.seq == moment.seq]
        rows.append(
            _row(
                moment,
                verdicts=decided,
                apart=_apart_words(apart, names),
                references=about,
                drawn=drawn,
                now_s=now_s,
            )
        )
    return TimelinePage(rows, drawing.width, drawing.lanes, [names[device] for device in lanes])


def _edge(row: int, other: int, kind: str) -> Edge:
    return Edge(min(row, other), max(row, other), kind)


def _links(records: Sequence[DecisionRecord]) -> list[_Link]:
    """Join each decision with the one before it on the same change that it takes back or repeats."""
    links = []
    newest: dict[str, DecisionRecord] = {}
    for record in reversed(records):
        earlier = newest.get(record.item_id)
        if earlier is not None and record.verdict in UNDONE and earlier.verdict not in UNDONE:
            links.append(_Link(record, earlier, _BACK))
        elif earlier is not None and record.verdict == earlier.verdict == "confirmed":
            links.append(_Link(record, earlier, _SAME))
        newest[record.item_id] = record
    return links


def _reference(link: _Link, place: dict[int, int], now_s: float) -> Reference:
    template = (
        _("takes back what was decided on {device}, {when}")
        if link.kind == _BACK
        else _("the same as on {device}, {when}: both make one change")
    )
    words = template.format(device=link.earlier.device_name, when=relative_time(link.earlier.at, now_s))
    return Reference(words, link.earlier.seq if link.earlier.seq in place else 0)


def _verdict(record: DecisionRecord, now_s: float) -> Verdict:
    fields = cast(Any, msgspec.to_builtins(record))
    return Verdict(
        verdict_words(fields),
        _TONES.get(record.verdict, _PLAIN),
        summary_words(fields | {"question": None}),
        argument_words(fields, now_s),
    )


def _apart_words(apart: Counter[str], names: dict[str, str]) -> list[str]:
    return [
        ngettext(
            "apart from {count} change on {device}: neither had seen the other",
            "apart from {count} changes on {device}: none had seen another",
            count,
        ).format(count=count, device=names[device])
        for device, count in sorted(apart.items())
    ]


def _row(
    moment: Moment,
    *,
    verdicts: list[Verdict],
    apart: list[str],
    references: list[Reference],
    drawn: Row,
    now_s: float,
) -> TimelineRow:
    deeds = [deed for deed in _deeds(moment.changes, decided=bool(verdicts)) if deed.sentence or deed.lines]
    return TimelineRow(
        seq=moment.seq,
        who=author_words(moment.by, moment.device_name),
        when=relative_time(moment.at, now_s),
        whole_time=full_time_words(moment.at),
        verdicts=verdicts,
        deeds=[Deed(deed.sentence, deed.lines[:LINES_MAX]) for deed in deeds[:LINES_MAX]],
        left_out=sum(max(0, len(deed.lines) - LINES_MAX) for deed in deeds[:LINES_MAX])
        + max(0, len(deeds) - LINES_MAX),
        apart=apart,
        references=references,
        drawn=drawn,
    )


def _deeds(changes: Sequence[Change], *, decided: bool) -> list[Deed]:
    """Say what a commit did, thing by thing.

    What a person confirmed as it was proposed, the verdict in the same row says, if it is `decided` there.
    """
    deeds = []
    for _entity, group in groupby(changes, key=lambda change: change.entity):
        together = list(group)
        rows = cast(Any, msgspec.to_builtins(together))
        if together[0].kind == "decision":
            continue
        telling = [(change, row) for change, row in zip(together, rows, strict=True) if is_telling(row)]
        labels = [Deed(words, []) for _change, row in telling if (words := label_sentence(row))]
        lines = [_line(change) for change, row in telling if not label_sentence(row)]
        is_said = decided and all(change.as_proposed for change in together)
        sentence = "" if is_said else change_sentence(rows)
        if together[0].kind == "task" or not is_said:
            deeds.append(Deed(sentence, [line for line in lines if line.about or line.after]))
        deeds += labels
    return deeds


def _line(change: Change) -> Line:
    name, field = with_colon(field_words(change.field)), change.field
    if change.left_out:
        return Line(name, "", _("not shown here"))
    group, is_member, member = field.partition("_ids/")
    if is_member:
        return Line(with_colon(field_words(group)), "", ("+" if change.after else "-") + value_words(member))
    before = "" if change.before is None else value_words(change.before, field)
    return Line(name, before, value_words(change.after, field))
