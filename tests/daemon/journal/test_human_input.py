"""What a person types is read where the device is now.

Never tests the grammar of dates: `tests/daemon/dates` does.
"""

from datetime import UTC, datetime, timedelta, timezone

from daemon.journal.human_input import HumanInput

LATE_MS = int(datetime(2026, 3, 20, 23, 30, tzinfo=UTC).timestamp() * 1000)


def test_a_device_that_travels_reads_days_and_times_in_the_zone_it_is_in_now() -> None:
    zones = [timezone(timedelta(0))]
    typed = HumanInput(lambda: LATE_MS, lambda: zones[-1], "en")
    assert (typed.today().isoformat(), typed.due_day("today")) == ("2026-03-20", "2026-03-20")
    assert typed.moment("2026-03-20 12:00").hour == 12
    zones.append(timezone(timedelta(hours=2)))
    assert (typed.today().isoformat(), typed.due_day("today")) == ("2026-03-21", "2026-03-21")
    assert typed.moment("2026-03-20 12:00").hour == 10
