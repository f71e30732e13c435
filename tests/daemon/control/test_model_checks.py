"""What `doctor` and `status` hear of the model that answers for agents.

Never shows a key: there is none to show.
"""

from daemon.agents.remote import Standing
from daemon.control import model_checks
from daemon.control.checks import Check
from store.models import Spent

WELL = Standing("m", "https://models.example/v1", "PLACET_MODEL_KEY", "", None, "", Spent(3, 100, 20))


def seen(found: Check) -> tuple[bool, str, str]:
    return found.well, found.found, found.remedy


async def test_rules_ask_nobody():
    assert seen(await model_checks.model(None)) == (True, "agents are run by rules; no server is asked", "")


def test_the_place_of_the_key_is_told():
    words = "m at https://models.example/v1, 3 requests today, 120 tokens"
    assert seen(model_checks.of(WELL)) == (True, f"{words}; key: PLACET_MODEL_KEY", "")
    assert seen(model_checks.of(WELL._replace(key_from=""))) == (True, f"{words}; without a key", "")


def test_trouble_is_told_before_money_with_what_to_do():
    troubled = WELL._replace(fault="the server refused the key (401)", since_ms=0, spent="it is spent")
    words = "m at https://models.example/v1 has not answered since 1970-01-01T00:00:00.000Z: the server"
    well, found, remedy = seen(model_checks.of(troubled))
    assert (well, remedy) == (False, model_checks.GO_ON)
    assert found.startswith(words)
    spent = WELL._replace(spent="today's budget is spent")
    assert seen(model_checks.of(spent)) == (False, "agents wait: today's budget is spent", model_checks.WAIT)
