"""The remote model as a device puts it together: the settings that it needs, and what is remembered.

Never asks a server.
"""

import asyncio
from datetime import UTC

import pytest

from daemon.agents.running import remote_model
from daemon.agents.running.remote_model import RemoteModelStatus, StoredForm
from daemon.agents.running.spending import Tariff
from daemon.config import BudgetSettings, ConfigError, ModelSettings, Settings
from store.local.model_usage import ModelUsage
from tests.support.fleet import Home
from tests.support.scheduler_service import Clock

ADDRESS = "http://127.0.0.1:9/v1"
FAR = ModelSettings(kind="openai", base_url=ADDRESS, name="m", price_input=2.0, price_output=8.0)
LIMITED = Settings(model=FAR, budget=BudgetSettings(1.5))


def test_rules_are_no_remote_model():
    assert remote_model.remote_model_settings(Settings(), {}) == {}


def test_prices_and_limit_make_a_tariff_and_cached_tokens_cost_as_much_as_input():
    remote_model_settings = remote_model.remote_model_settings(
        LIMITED, {"PLACET_MODEL_KEY": "sk-0123456789"}
    )["openai"]
    assert remote_model_settings.tariff == Tariff(2.0, 8.0, 2.0, 1.5)
    assert remote_model_settings.endpoint.key_from == "PLACET_MODEL_KEY"


@pytest.mark.parametrize("missing", ["price_input", "price_output"])
def test_a_limit_without_prices_is_refused_with_what_to_set(missing: str):
    prices = {"price_input": 2.0, "price_output": 8.0} | {missing: None}
    far = ModelSettings(kind="openai", base_url=ADDRESS, name="m", **prices)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=rf"model\.{missing} is not; give the price of a million tokens"):
        remote_model.remote_model_settings(Settings(model=far, budget=BudgetSettings(1.5)), {})


async def test_a_form_is_remembered_for_its_address_and_model_and_the_key_is_not(a: Home):
    remote_model_settings = remote_model.remote_model_settings(
        LIMITED, {"PLACET_MODEL_KEY": "sk-0123456789"}
    )["openai"]
    threads = a.threads()
    await StoredForm(threads, remote_model_settings.endpoint).remember_form("tools")
    assert await StoredForm(threads, remote_model_settings.endpoint).remembered_form() == "tools"
    stored = await asyncio.to_thread(a.path.read_bytes)
    assert b"sk-0123456789" not in stored


async def test_how_it_stands_is_told_without_asking_the_server(a: Home):
    remote_model_settings = remote_model.remote_model_settings(LIMITED, {})["openai"]
    far = remote_model.open_remote_model(remote_model_settings, a.threads(), Clock(a.fleet), lambda: UTC)
    try:
        assert await far.status() == RemoteModelStatus("m", ADDRESS, "", None, None, None, ModelUsage())
    finally:
        await far.model.close()
