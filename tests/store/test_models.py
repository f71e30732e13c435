"""What a device keeps of remote models beside the log.

Never asks any model: the numbers are made up.
"""

import pytest

from store import models
from store.models import Spent
from tests.store.stores import Bench

ONCE = Spent(1, 100, 20, 30, 4, 5000)


def test_what_was_asked_adds_up_over_models_and_not_over_days(bench: Bench):
    store = bench.store("a")
    with store.write() as tx:
        for day, model in (("2026-03-09", "one"), ("2026-03-09", "one"), ("2026-03-09", "other")):
            models.book(tx, day, model, ONCE)
        models.book(tx, "2026-03-10", "one", ONCE)
    with store.read() as snapshot:
        assert models.spent(snapshot, "2026-03-09") == Spent(3, 300, 60, 90, 12, 15_000)
        assert models.spent(snapshot, "2026-03-10") == ONCE
        assert models.spent(snapshot, "2026-03-11") == Spent()


def test_the_oldest_days_make_room_but_never_the_one_that_is_booked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    store, days = bench.store("a"), ["2026-03-09", "2026-03-10", "2026-03-11"]
    with store.write() as tx:
        for day in days:
            models.book(tx, day, "one", ONCE)
        monkeypatch.setattr(models, "DAYS_MAX", 1)
        models.book(tx, days[0], "one", ONCE)
        assert [models.spent(tx, day).requests for day in days] == [2, 0, 1]


def test_a_form_is_known_by_address_and_model_until_it_is_forgotten(bench: Bench):
    store = bench.store("a")
    with store.write() as tx:
        models.keep_form(tx, "http://localhost/v1", "one", "tools")
        models.keep_form(tx, "http://localhost/v1", "one", "json_schema")
    with store.read() as snapshot:
        assert models.form(snapshot, "http://localhost/v1", "one") == "json_schema"
        assert models.form(snapshot, "http://localhost/v1", "other") == ""
        assert models.form(snapshot, "http://localhost/v2", "one") == ""
    with store.write() as tx:
        models.keep_form(tx, "http://localhost/v1", "one", "")
        assert models.form(tx, "http://localhost/v1", "one") == ""
