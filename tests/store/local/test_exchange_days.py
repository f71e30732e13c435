"""What a device keeps of its exchange, by day.

Never exchanges anything: the numbers are made up.
"""

from store.local import exchange_days
from store.local.exchange_days import DAYS_MAX, ExchangeCounts
from tests.support.stores import StoreBench

ONCE = ExchangeCounts(*range(1, 10))


def test_counts_of_one_day_add_up_and_others_stay(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        exchange_days.add_counts(tx, "2026-03-09", ONCE)
        exchange_days.add_counts(tx, "2026-03-10", ExchangeCounts(received=5))
        exchange_days.add_counts(tx, "2026-03-09", ONCE)
    with store.read() as snapshot:
        assert exchange_days.counted_days(snapshot) == {
            "2026-03-09": ExchangeCounts(*range(2, 20, 2)),
            "2026-03-10": ExchangeCounts(received=5),
        }


def test_days_are_kept_in_bounds_and_the_first_make_room(bench: StoreBench):
    store = bench.store("a")
    days = [f"2026-{month:02}-{day:02}" for month in (3, 4) for day in range(1, 29)]
    with store.write() as tx:
        for day in days:
            exchange_days.add_counts(tx, day, ONCE)
        assert list(exchange_days.counted_days(tx)) == days[-DAYS_MAX:]


def test_a_clock_that_jumps_costs_one_day_and_not_the_others(bench: StoreBench):
    store = bench.store("a")
    days = [f"2026-03-{day:02}" for day in range(1, DAYS_MAX)]
    with store.write() as tx:
        for day in [*days, "2099-12-31", "1970-01-01", days[-1], "2026-03-30"]:
            exchange_days.add_counts(tx, day, ONCE)
        kept = exchange_days.counted_days(tx)
        assert len(kept) == DAYS_MAX
        assert set(kept) == {*days[2:], "2099-12-31", "1970-01-01", "2026-03-30"}
        assert kept[days[-1]].links == 2


def test_days_survive_a_restart_and_no_commit_tells_of_them(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        exchange_days.add_counts(tx, "2026-03-09", ONCE)
    store.close()
    with bench.store("a").read() as snapshot:
        assert exchange_days.counted_days(snapshot) == {"2026-03-09": ONCE}
        assert snapshot.feed_end() == 0
