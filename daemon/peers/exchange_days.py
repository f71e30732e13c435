"""How the exchange with others went, day by day: counted in memory, stored now and then, shown to a person.

Never writes for each commit: a process that is killed loses what it counted in the last minutes.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo

import structlog
from msgspec import Struct

from store.file.errors import StoreError
from store.local import exchange_days
from store.local.exchange_days import DAYS_MAX, ExchangeCounts
from store.threads import StoreThreads
from store.transaction import Transaction

NOTHING = ExchangeCounts()
# Where the calendar of Python ends, less a day for the zones.
_MS_MAX = 253_402_214_400_000

log = structlog.get_logger("peers")

MailboxTotals = Mapping[str, ExchangeCounts]
"""What was done in each mailbox, by its name, since the daemon looks into it."""


class ExchangeDay(Struct, frozen=True):
    """What this device exchanged on one day of its own.

    `links` were opened, `failed_calls` got no answer, and `faults` ended some of the links. `received` and
    `sent` are commits over links. `visits` are looks into mailboxes that ended well, `failed_visits` those
    that did not; `taken` and `put` are the files that were taken from there or left there.
    """

    day: str
    links: int
    failed_calls: int
    faults: int
    received: int
    sent: int
    visits: int
    failed_visits: int
    taken: int
    put: int


class ExchangeDays:
    """The counts of this device, stored each `record_s`, and at the end.

    Its days begin in `zone`, which is asked each time: a device may travel.
    """

    def __init__(
        self,
        db: StoreThreads,
        now_ms: Callable[[], int],
        zone: Callable[[], tzinfo],
        record_s: float,
    ) -> None:
        self._db = db
        self._now_ms = now_ms
        self._zone = zone
        self._record_s = record_s
        self._unstored: dict[str, ExchangeCounts] = {}
        self._seen_totals: dict[str, ExchangeCounts] = {}
        self._storing = asyncio.Lock()
        self._recording: asyncio.Task[None] | None = None
        self._mailbox_totals: Callable[[], MailboxTotals] = dict

    def start(self, mailbox_totals: Callable[[], MailboxTotals]) -> None:
        """Begin to store what is counted; `mailbox_totals` says how much was done in mailboxes so far."""
        self._mailbox_totals = mailbox_totals
        self._recording = asyncio.create_task(self._record_regularly())

    async def stop(self) -> None:
        """Store what was counted last."""
        if self._recording is not None:
            # Not while it writes: what it has taken in hand would be lost.
            async with self._storing:
                self._recording.cancel()
            await asyncio.gather(self._recording, return_exceptions=True)
        await self.record()

    def count(self, counts: ExchangeCounts) -> None:
        """Add to what happened today, as the clock shows the day now."""
        day = self.today()
        self._unstored[day] = self._unstored.get(day, NOTHING).plus(counts)

    def today(self) -> str:
        """Return what this device calls today, as YYYY-MM-DD."""
        return self._date_now().isoformat()

    async def record(self) -> None:
        """Store what was counted. If that fails, it is kept until the next time."""
        self._count_mailboxes()
        async with self._storing:
            unstored, self._unstored = self._unstored, {}
            if not unstored:
                return

            def add(tx: Transaction) -> None:
                for day, counts in unstored.items():
                    exchange_days.add_counts(tx, day, counts)

            try:
                await self._db.write(add)
            except StoreError as fault:
                for day in list(unstored)[-DAYS_MAX:]:
                    self._unstored[day] = self._unstored.get(day, NOTHING).plus(unstored[day])
                log.warning("how the exchange went could not be stored", error=str(fault))

    async def list_days(self) -> list[ExchangeDay]:
        """Return the last days on which something happened, the newest first.

        A day that the clock showed by mistake, ahead of today or long ago, is not among them.
        """
        self._count_mailboxes()
        async with self._storing:
            stored, unstored = await self._db.read(exchange_days.counted_days), self._unstored
            days = {
                day: stored.get(day, NOTHING).plus(unstored.get(day, NOTHING)) for day in stored | unstored
            }
        today = self._date_now()
        first = date.fromordinal(max(today.toordinal() - DAYS_MAX + 1, 1)).isoformat()
        return [
            ExchangeDay(day, *days[day])
            for day in sorted(days, reverse=True)
            if first <= day <= today.isoformat()
        ]

    async def _record_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._record_s)
            await self.record()

    def _count_mailboxes(self) -> None:
        """Count what was done in mailboxes since they were asked last."""
        totals = self._mailbox_totals()
        for name, total in totals.items():
            before = self._seen_totals.get(name, NOTHING)
            # A mailbox that was removed and added again begins anew.
            has_begun_anew = any(now < then for now, then in zip(total, before, strict=True))
            news = (
                total
                if has_begun_anew
                else ExchangeCounts(*(n - b for n, b in zip(total, before, strict=True)))
            )
            if any(news):
                self.count(news)
        self._seen_totals = dict(totals)

    def _date_now(self) -> date:
        at_ms = min(max(self._now_ms(), 0), _MS_MAX)
        return (
            (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)).astimezone(self._zone()).date()
        )
