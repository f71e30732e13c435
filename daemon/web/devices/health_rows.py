"""What the page shows of the health of this device: findings, and how the exchange went day by day.

Never calls a day well on which something failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, cast

import msgspec

from daemon.peers.exchange_days import ExchangeDay
from daemon.words.dates import due_words
from daemon.words.sentences import answer_words
from daemon.words.translation import _, ngettext

DAYS_SHOWN: Final = 7
"""So many days are always shown; those before them are folded."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding of `doctor`: what was looked at, whether it is well, and what to do if it is not."""

    name: str
    well: bool
    found: str
    remedy: str


@dataclass(frozen=True, slots=True)
class DayRow:
    """One day: what it is called, what went well, and what did not."""

    name: str
    done: str
    failed: str


@dataclass(frozen=True, slots=True)
class DayRows:
    """The last days, the newest first; `older` are those before them on which something was counted."""

    recent: list[DayRow]
    older: list[DayRow]


def finding_rows(findings: Sequence[msgspec.Struct]) -> tuple[list[FindingRow], list[FindingRow]]:
    """Return the findings that need somebody, and those that are well."""
    checks = [cast(dict[str, Any], msgspec.to_builtins(finding)) for finding in findings]
    rows = [
        FindingRow(
            _(check["name"]), check["well"], answer_words(check, "found"), answer_words(check, "remedy")
        )
        for check in checks
    ]
    return [row for row in rows if not row.well], [row for row in rows if row.well]


def day_rows(days: Sequence[ExchangeDay], today: str, now_s: float) -> DayRows:
    """Return the days in words; `today` is what this device calls today, as YYYY-MM-DD.

    If nothing was ever counted, there are none.
    """
    if not days:
        return DayRows([], [])
    by_date = {day.day: day for day in days}
    newest = date.fromisoformat(today)
    recent = [(newest - timedelta(days=back)).isoformat() for back in range(DAYS_SHOWN)]
    first = min(by_date)
    return DayRows(
        [_day_row(day, by_date.get(day), now_s) for day in recent if day >= first],
        [_day_row(day.day, day, now_s) for day in days if day.day not in recent],
    )


def _day_row(day: str, counted: ExchangeDay | None, now_s: float) -> DayRow:
    name, _days = due_words(day, now_s)
    if counted is None:
        return DayRow(name, _("nothing was exchanged"), "")
    done, failed = _done_words(counted), _failed_words(counted)
    return DayRow(name, done or ("" if failed else _("nothing was exchanged")), failed)


def _done_words(day: ExchangeDay) -> str:
    return _join_counts(
        (day.links, ngettext("{count} link opened", "{count} links opened", day.links)),
        (day.received, ngettext("{count} commit received", "{count} commits received", day.received)),
        (day.sent, ngettext("{count} commit sent", "{count} commits sent", day.sent)),
        (day.visits, ngettext("{count} look into a mailbox", "{count} looks into mailboxes", day.visits)),
        (day.taken, ngettext("{count} file taken there", "{count} files taken there", day.taken)),
        (day.put, ngettext("{count} file left there", "{count} files left there", day.put)),
    )


def _failed_words(day: ExchangeDay) -> str:
    calls, faults, visits = day.failed_calls, day.faults, day.failed_visits
    return _join_counts(
        (calls, ngettext("{count} call got no answer", "{count} calls got no answer", calls)),
        (faults, ngettext("{count} link ended by a fault", "{count} links ended by a fault", faults)),
        (
            visits,
            ngettext("{count} look into a mailbox failed", "{count} looks into mailboxes failed", visits),
        ),
    )


def _join_counts(*counted: tuple[int, str]) -> str:
    return " · ".join(words.format(count=count) for count, words in counted if count)
