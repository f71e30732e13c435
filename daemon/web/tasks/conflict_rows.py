"""What devices changed on a task while apart, in words, for the template.

Never leaves out a value without counting it.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UnsetType

from daemon.journal.views.structures import ClockJson, Conflict, ConflictVersion
from daemon.words.dates import relative_time
from daemon.words.sentences import answer_words
from daemon.words.values import author_words, field_words, value_words


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One of the values that stand beside each other: `number` names it, `by` says who wrote it where."""

    number: int
    words: str
    by: str


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """A field that devices changed while apart; the first version is in effect. `base` is what was shown."""

    entity: str
    field: str
    subject: str
    base: str
    versions: list[VersionRow]
    left_out: int


def conflict_rows(conflicts: list[Conflict], now_s: float) -> list[ConflictRow]:
    """Return conflicts in words."""
    rows = list[ConflictRow]()
    clocks: dict[str, str] = {}
    for conflict in conflicts:
        # Of several conflicts of an entity, the first has its clock.
        if not isinstance(conflict.vector_clock, UnsetType):
            clocks[conflict.entity] = clock_text(conflict.vector_clock)
        rows.append(
            ConflictRow(
                conflict.entity,
                conflict.field,
                _subject(conflict),
                clocks.get(conflict.entity, ""),
                [
                    _version(number, version, conflict.field, now_s)
                    for number, version in enumerate(conflict.versions, 1)
                ],
                conflict.left_out,
            )
        )
    return rows


def clock_text(clock: ClockJson) -> str:
    """Return what a form gives back, so that it counts against what was shown."""
    return msgspec.json.encode(clock).decode()


def _subject(conflict: Conflict) -> str:
    """Say what is disputed; of a set, with the member."""
    name, _slash, member = (conflict.name or conflict.field).partition("/")
    words = " ".join(filter(None, [field_words(name.removesuffix("_ids")), member]))
    return words if conflict.kind == "task" else f"{conflict.title}: {words}"


def _version(number: int, version: ConflictVersion, field: str, now_s: float) -> VersionRow:
    json: Any = msgspec.to_builtins(version)
    words = answer_words(json, "words") if version.words else value_words(version.value, field)
    who = author_words(version.by, version.device_name, version.as_proposed)
    return VersionRow(
        number,
        words,
        " · ".join([who, relative_time(version.at, now_s)]),
    )
