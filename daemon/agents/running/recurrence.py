"""When a timer that recurs is next: at the same local time, whatever the clocks did in between.

Never makes up for times that were missed: those while the device was off come to one run.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from daemon.agents.running import wakes
from store.local import recurring_timers, timers
from store.local.recurring_timers import RecurringTimer
from store.local.timers import Timer
from store.transaction import Transaction

HOUR, DAY, WEEKDAY, WEEK = PERIODS = ("hour", "day", "weekday", "week")
_LENGTHS_MS: Final = {HOUR: 3_600_000, DAY: 86_400_000, WEEKDAY: 86_400_000, WEEK: 7 * 86_400_000}
_WEEKEND: Final = frozenset({5, 6})
_LEAD_MS: Final = 3 * 86_400_000
"""By how much the next time may exceed one period: a weekend, and an hour by which clocks are changed."""


def next_time_ms(anchor_ms: int, every: str, now_ms: int, zone: tzinfo) -> int:
    """Return the first time of a timer after now, Unix time in milliseconds.

    Days are counted on the local calendar. So nine o'clock stays nine o'clock when the clocks are changed; a
    time that they skip comes as much later, and one that they show twice comes once.
    """
    if anchor_ms > now_ms:
        return anchor_ms
    length_ms = _LENGTHS_MS[every]
    if every == HOUR:
        return anchor_ms + ((now_ms - anchor_ms) // length_ms + 1) * length_ms
    first = datetime.fromtimestamp(anchor_ms / 1000, UTC).astimezone(zone).replace(tzinfo=None)
    step = 7 if every == WEEK else 1
    # One step before the estimate: the clocks may have been changed by an hour since.
    count = max((now_ms - anchor_ms) // length_ms - 1, 0)
    while True:
        local = first + timedelta(days=step * count)
        at_ms = round(local.replace(tzinfo=zone).timestamp() * 1000)
        if at_ms > now_ms and not (every == WEEKDAY and local.weekday() in _WEEKEND):
            return at_ms
        count += 1


def needs_next(timer: RecurringTimer, now_ms: int) -> bool:
    """Report whether the next time of a timer has to be set anew: it has come, or the clock was set back.

    One whose period is not known here, which a newer version or a restored file left, recurs no more.
    """
    if timer.every not in PERIODS:
        return False
    return timer.next_ms <= now_ms or (
        timer.next_ms != timer.anchor_ms and timer.next_ms > now_ms + _LENGTHS_MS[timer.every] + _LEAD_MS
    )


def set_next_times(tx: Transaction, zone: tzinfo) -> None:
    """Set the next time of each timer that needs it, in the transaction that fires those that are due."""
    now_ms = tx.now_ms()
    for timer in recurring_timers.recurring_timers(tx):
        if needs_next(timer, now_ms):
            timers.drop_timer(tx, wakes.timer_key(timer.agent, timer.next_ms))
            next_ms = next_time_ms(timer.anchor_ms, timer.every, now_ms, zone)
            recurring_timers.put_recurring(tx, timer._replace(next_ms=next_ms))
            timers.add_timer(tx, Timer(wakes.timer_key(timer.agent, next_ms), timer.agent, next_ms))
