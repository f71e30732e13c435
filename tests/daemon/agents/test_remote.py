"""The remote model as a device puts it together: what its settings must say, and what is remembered.

Never asks a server.
"""

import asyncio
from datetime import UTC

import pytest

from daemon.agents import remote
from daemon.agents.budget import Tariff
from daemon.agents.remote import Remembered, Standing
from daemon.config import Budget, ConfigError, Model, Settings
from store.models import Spent
from store.threads import StoreThreads
from tests.daemon.agents.fleet import Home
from tests.daemon.agents.test_scheduler import Clock

ADDRESS = "http://127.0.0.1:9/v1"
FAR = Model(kind="openai", base_url=ADDRESS, name="m", price_input=2.0, price_output=8.0)
LIMITED = Settings(model=FAR, budget=Budget(1.5))


def test_rules_are_no_remote_model():
    assert remote.judged(Settings(), {}) is None


def test_prices_and_limit_make_a_tariff_and_cached_tokens_cost_as_much_as_input():
    known = remote.judged(LIMITED, {"PLACET_MODEL_KEY": "sk-0123456789"})
    assert known is not None
    assert known.tariff == Tariff(2.0, 8.0, 2.0, 1.5)
    assert known.endpoint.key_from == "PLACET_MODEL_KEY"


@pytest.mark.parametrize("missing", ["price_input", "price_output"])
def test_a_limit_without_prices_is_refused_with_what_to_set(missing: str):
    prices = {"price_input": 2.0, "price_output": 8.0} | {missing: None}
    far = Model(kind="openai", base_url=ADDRESS, name="m", **prices)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=rf"model\.{missing} is not; give the price of a million tokens"):
        remote.judged(Settings(model=far, budget=Budget(1.5)), {})


async def test_a_form_is_remembered_for_its_address_and_model_and_the_key_is_not(a: Home):
    known = remote.judged(LIMITED, {"PLACET_MODEL_KEY": "sk-0123456789"})
    assert known is not None
    threads = StoreThreads(a.store)
    await Remembered(threads, known.endpoint).keep_form("tools")
    assert await Remembered(threads, known.endpoint).form() == "tools"
    stored = await asyncio.to_thread(a.path.read_bytes)
    assert b"sk-0123456789" not in stored


async def test_how_it_stands_is_told_without_asking_the_server(a: Home):
    known = remote.judged(LIMITED, {})
    assert known is not None
    far = remote.opened(known, StoreThreads(a.store), Clock(a.fleet), lambda: UTC)
    try:
        assert await far.standing() == Standing("m", ADDRESS, "", "", None, "", Spent())
    finally:
        await far.model.close()
