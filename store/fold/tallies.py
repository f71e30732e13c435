"""How the decisions on items add up: kept in tables, so that a decision costs what it has seen.

Never reads the other decisions on an item.
"""

from collections.abc import Iterable
from typing import Any

import apsw

from store.fold.verdicts import DecisionStatus, ItemStatus, Opinion, Verdict, item_status_from
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

OF_ALL, OF_PERSONS = 0, 1
"""Whose decisions are counted: those of all authors, or those of people."""

_Counts = dict[Verdict, int]
"""How many maximal decisions have a verdict; 0 if it was given, and others have seen it since."""


class VerdictTallies:
    """The tallies of the items that are decided in one transaction; `write` writes them."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._counts: dict[EntityId, tuple[_Counts, _Counts]] = {}

    def add_opinion(self, item: EntityId, opinion: Opinion) -> bool:
        """Count a decision before it is indexed; return whether its item became confirmed or ceased to be."""
        counts = self._open_counts(item)
        before = _status(counts)
        self._count(item, opinion, OF_ALL, counts[OF_ALL])
        if opinion.by is AuthorKind.USER:
            self._count(item, opinion, OF_PERSONS, counts[OF_PERSONS])
        return _changes_confirmation(before, _status(counts))

    def count_anew(self, item: EntityId, opinions: Iterable[Opinion]) -> bool:
        """Count the decisions on an item that count, and no other; return as `add_opinion` does."""
        before = _status(self._open_counts(item))
        self._db.execute("DELETE FROM tally WHERE item = ?", (item,))
        self._db.execute("DELETE FROM overruled WHERE item = ?", (item,))
        opinions = list(opinions)
        persons = [opinion for opinion in opinions if opinion.by is AuthorKind.USER]
        counts = self._counts[item] = (
            self._count_all(item, OF_ALL, opinions),
            self._count_all(item, OF_PERSONS, persons),
        )
        return _changes_confirmation(before, _status(counts))

    def _open_counts(self, item: EntityId) -> tuple[_Counts, _Counts]:
        counts = self._counts.get(item)
        if counts is None:
            counts = self._counts[item] = self._read_counts(item)
        return counts

    def _count_all(self, item: EntityId, whose: int, opinions: list[Opinion]) -> _Counts:
        """Count decisions on an item of which none has been counted."""
        overruled = frozenset[EntityId]().union(*(opinion.seen for opinion in opinions))
        self._db.executemany(
            "INSERT INTO overruled VALUES (?, ?, ?)",
            [(item, whose, decision) for decision in sorted(overruled)],
        )
        counts = dict.fromkeys((opinion.verdict for opinion in opinions), 0)
        for opinion in opinions:
            counts[opinion.verdict] += opinion.decision not in overruled
        return counts

    def status(self, item: EntityId) -> ItemStatus | None:
        """Return the status of an item that was decided in this transaction, None for another one."""
        counts = self._counts.get(item)
        return None if counts is None else _status(counts)

    def write(self) -> list[tuple[EntityId, ItemStatus | None]]:
        """Write the tallies, and forget them; return the items with their statuses.

        The status is None if no decision on the item counts.
        """
        self._db.executemany(
            "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?)",
            [
                (item, whose, verdict.value, number)
                for item, counts in self._counts.items()
                for whose in (OF_ALL, OF_PERSONS)
                for verdict, number in counts[whose].items()
            ],
        )
        statuses = [
            (item, _status(counts) if counts[OF_ALL] else None) for item, counts in self._counts.items()
        ]
        self._counts.clear()
        return statuses

    def _read_counts(self, item: EntityId) -> tuple[_Counts, _Counts]:
        counts: tuple[_Counts, _Counts] = ({}, {})
        rows: Any = self._db.execute("SELECT whose, verdict, number FROM tally WHERE item = ?", (item,))
        for whose, verdict, number in rows:
            counts[whose][Verdict(verdict)] = number
        return counts

    def _count(self, item: EntityId, opinion: Opinion, whose: int, counts: _Counts) -> None:
        """Count a decision among those of some authors."""
        new = opinion.seen - self._select_overruled(item, whose, opinion.seen)
        if new:
            self._db.executemany(
                "INSERT INTO overruled VALUES (?, ?, ?)",
                [(item, whose, decision) for decision in sorted(new)],
            )
            rows: Any = self._db.execute(
                "SELECT verdict, count(*) FROM opinion WHERE item = ? AND decision IN carray(?)"
                " AND counts AND (by = ? OR ?) GROUP BY verdict",
                (item, apsw.carray(tuple(new)), int(AuthorKind.USER), whose == OF_ALL),
            )
            for verdict, number in rows:
                counts[Verdict(verdict)] -= number
        counts.setdefault(opinion.verdict, 0)
        # Decisions come in any order: one that has seen this one may have come before it.
        if not self._select_overruled(item, whose, frozenset((opinion.decision,))):
            counts[opinion.verdict] += 1

    def _select_overruled(
        self, item: EntityId, whose: int, decisions: frozenset[EntityId]
    ) -> frozenset[EntityId]:
        """Return those of some decisions that a decision on the item has seen."""
        if not decisions:
            return frozenset()
        rows: Any = self._db.execute(
            "SELECT decision FROM overruled WHERE item = ? AND whose = ? AND decision IN carray(?)",
            (item, whose, apsw.carray(tuple(decisions))),
        )
        return frozenset(decision for (decision,) in rows)


def _status(counts: tuple[_Counts, _Counts]) -> ItemStatus:
    """Return the status by the decisions of people, or by those of agents if no person has decided."""
    # The counts of people have an entry also if none of their decisions is maximal: agents then decide
    # nothing.
    return item_status_from(counts[OF_PERSONS] or counts[OF_ALL])


def _changes_confirmation(before: ItemStatus, after: ItemStatus) -> bool:
    # Whether an operation is live depends on this alone: other verdicts change no entity.
    return (before.status is DecisionStatus.CONFIRMED) != (after.status is DecisionStatus.CONFIRMED)
