"""What a device keeps of remote models beside the log.

Never asks any model: the numbers are made up.
"""

import pytest

from store.local import model_usage
from store.local.model_usage import ModelUsage
from tests.support.stores import StoreBench

ONCE = ModelUsage(1, 100, 20, 30, 4, 5000)


def test_what_was_asked_adds_up_over_models_and_not_over_days(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        for day, model in (("2026-03-09", "one"), ("2026-03-09", "one"), ("2026-03-09", "other")):
            model_usage.add_usage(tx, day, model, ONCE)
        model_usage.add_usage(tx, "2026-03-10", "one", ONCE)
    with store.read() as snapshot:
        assert model_usage.usage_of_day(snapshot, "2026-03-09") == ModelUsage(3, 300, 60, 90, 12, 15_000)
        assert model_usage.usage_of_day(snapshot, "2026-03-10") == ONCE
        assert model_usage.usage_of_day(snapshot, "2026-03-11") == ModelUsage()


def test_the_oldest_days_make_room_but_never_the_one_that_is_booked(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
):
    store, days = bench.store("a"), ["2026-03-09", "2026-03-10", "2026-03-11"]
    with store.write() as tx:
        for day in days:
            model_usage.add_usage(tx, day, "one", ONCE)
        monkeypatch.setattr(model_usage, "DAYS_MAX", 1)
        model_usage.add_usage(tx, days[0], "one", ONCE)
        assert [model_usage.usage_of_day(tx, day).requests for day in days] == [2, 0, 1]


def test_a_form_is_known_by_address_and_model_until_it_is_forgotten(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        model_usage.store_request_form(tx, "http://localhost/v1", "one", "tools")
        model_usage.store_request_form(tx, "http://localhost/v1", "one", "json_schema")
    with store.read() as snapshot:
        assert model_usage.request_form(snapshot, "http://localhost/v1", "one") == "json_schema"
        assert model_usage.request_form(snapshot, "http://localhost/v1", "other") == ""
        assert model_usage.request_form(snapshot, "http://localhost/v2", "one") == ""
    with store.write() as tx:
        model_usage.store_request_form(tx, "http://localhost/v1", "one", "")
        assert model_usage.request_form(tx, "http://localhost/v1", "one") == ""
