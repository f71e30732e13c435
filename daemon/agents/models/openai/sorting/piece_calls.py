"""The calls that follow from what a model made of each piece of the notes (`note_pieces.py`).

Never takes a value that the piece does not bear out: a model that sorts well still reckons badly.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from daemon.agents.models.openai.sorting.note_pieces import (
    DEADLINE,
    DONE,
    DURATION,
    NOTHING,
    TO_DO,
    Piece,
    open_items,
)
from daemon.agents.tools.arguments import MINUTES_MAX
from daemon.agents.tools.model_interface import RunContext, ToolCall
from daemon.agents.tools.table import ADD_MULTIPLE, UPDATE_CHECKLIST_ITEMS, UPDATE_REPORT
from daemon.dates.mentions import day_phrases_in, lengths_in
from daemon.language import LANGUAGES

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_STEM_CHARS = 4
_TITLE_WORDS_MAX = 12
_OVERLAP_MIN = 0.6


def calls_of_pieces(
    context: RunContext, pieces: Sequence[Piece], answer: Mapping[str, Any]
) -> list[ToolCall]:
    """Return the calls for an answer: of each field the last that its piece bears out, then the report."""
    fields: dict[str, ToolCall] = {}
    titles: dict[str, Piece] = {}
    ticks: dict[str, Piece] = {}
    for number, piece in enumerate(pieces, 1):
        kind, value = _kind_and_value(answer.get(str(number)))
        if kind == TO_DO:
            goes_on = bool(titles) and list(titles.values())[-1] is pieces[number - 2]
            title = _new_title(context, piece, value, goes_on=goes_on)
            if title and not any(_overlap(title, other) >= _OVERLAP_MIN for other in titles):
                titles[title] = piece
        elif kind == DONE:
            ticks |= dict.fromkeys(_finished_item(context, piece, value), piece)
        else:
            fields |= {call.name: call for call in _field_call(context, piece, kind, value)}
    report = answer.get("report")
    tldr = report.strip() if isinstance(report, str) and report.strip() else context.task.title
    return [
        *fields.values(),
        *_ticks(ticks),
        *_additions(titles),
        ToolCall(UPDATE_REPORT, {"tldr": tldr[:400], "remaining": list(titles)}),
    ]


def possible_kinds(context: RunContext, piece: Piece) -> list[str]:
    """Return what a piece can be: a deadline needs a day, a duration a length, what is done an item."""
    kinds = [TO_DO]
    if any(_overlap(item.title, piece.text) > 0 for item in open_items(context)):
        kinds.append(DONE)
    if _day_readings(context, piece):
        kinds.append(DEADLINE)
    if _minutes(piece.text) is not None:
        kinds.append(DURATION)
    return [*kinds, NOTHING]


def _kind_and_value(member: object) -> tuple[str, str]:
    fields = member if isinstance(member, dict) else {}
    kind, value = fields.get("is"), fields.get("value")
    return (kind if isinstance(kind, str) else "", value.strip() if isinstance(value, str) else "")


def _field_call(context: RunContext, piece: Piece, kind: str, value: str) -> Iterator[ToolCall]:
    why = _quotation(piece)
    if kind == DEADLINE:
        day = _day(context, piece, value)
        if day is not None and day >= context.now.date():
            arguments: dict[str, Any] = {"dueDate": day.isoformat(), "rationale": why}
            yield ToolCall("update_task_due_date", arguments | {"evidenceIds": [piece.note.id]})
    elif kind == DURATION:
        minutes = _minutes(piece.text)
        if minutes is not None:
            arguments = {"minutes": minutes, "rationale": why}
            yield ToolCall("update_task_estimate", arguments | {"evidenceIds": [piece.note.id]})


def _quotation(piece: Piece) -> str:
    return f"“{piece.text}”"[:280]


# -- days and lengths ---------------------------------------------------------------------------------


def _day(context: RunContext, piece: Piece, value: str) -> date | None:
    """Return the day that a piece states: the one that the grammar reads, or else the model's if it fits."""
    readings = _day_readings(context, piece)
    if len(readings) == 1:
        return next(iter(readings))
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return None
    return day if day in readings else None


def _day_readings(context: RunContext, piece: Piece) -> frozenset[date]:
    """Return the days that the longest words of a piece that mean a day can mean; none if no words do."""
    written = piece.note.written_at.date()
    tongue = context.writing_language.partition("-")[0]
    languages = (tongue,) if tongue in LANGUAGES else LANGUAGES
    phrases = [phrase for language in languages for phrase in day_phrases_in(piece.text, written, language)]
    longest = max(phrases, key=lambda phrase: len(phrase[0].split()), default=("", frozenset[date]()))
    return longest[1]


def _minutes(text: str) -> int | None:
    """Return the length of time that a text states first; None if it states none."""
    return next((minutes for minutes in lengths_in(text) if 1 <= minutes <= MINUTES_MAX), None)


# -- checklist items ----------------------------------------------------------------------------------


def _finished_item(context: RunContext, piece: Piece, value: str) -> Iterator[str]:
    """Yield the id of the item that a piece says is finished, if the piece names it."""
    items = {f"i{number}": item for number, item in enumerate(open_items(context), 1)}
    item = items.get(value.lower())
    if item is not None and _overlap(item.title, piece.text) > 0:
        yield item.id


def _new_title(context: RunContext, piece: Piece, value: str, *, goes_on: bool) -> str:
    """Return the title of a new item, empty if the piece asks for none.

    A model that finds what is to be done in a piece leaves out the words that ask for it ("I must"). If it
    gives back the whole piece, it has found nothing, unless the piece goes on with what was to be done.
    """
    words = _WORD.findall(value)
    if _overlap(value, piece.text) < _OVERLAP_MIN or not 1 < len(words) <= _TITLE_WORDS_MAX:
        return ""
    if len(words) >= len(_WORD.findall(piece.text)) and not goes_on:
        return ""
    existing = [*(item.title for item in context.task.items), context.task.title]
    if any(_overlap(value, other) >= _OVERLAP_MIN for other in existing):
        return ""
    return value[:1].upper() + value[1:]


def _ticks(ticks: Mapping[str, Piece]) -> list[ToolCall]:
    items = [
        {
            "id": item,
            "isChecked": True,
            "reason": f"The note says: {_quotation(piece)}",
            "evidenceIds": [piece.note.id],
        }
        for item, piece in ticks.items()
    ]
    quotations = " ".join(_quotation(piece) for piece in ticks.values())[:280]
    return [ToolCall(UPDATE_CHECKLIST_ITEMS, {"items": items, "rationale": quotations})] if items else []


def _additions(titles: Mapping[str, Piece]) -> list[ToolCall]:
    quotations = " ".join(_quotation(piece) for piece in titles.values())[:280]
    items = [{"title": title} for title in titles]
    return [ToolCall(ADD_MULTIPLE, {"items": items, "rationale": quotations})] if items else []


def _overlap(text: str, other: str) -> float:
    """Return how much of a text's words, by their beginnings, another one has: from 0 to 1."""
    stems, others = _stems(text), _stems(other)
    return len(stems & others) / len(stems) if stems else 0.0


def _stems(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFD", text.casefold())
    bare = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return frozenset(word[:_STEM_CHARS] for word in _WORD.findall(bare) if len(word) >= _STEM_CHARS)
