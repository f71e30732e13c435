"""What `doctor` and `status` hear of the model that answers for agents.

Never shows a key: there is none to show.
"""

from daemon.agents.running.remote_model import RemoteModelStatus
from daemon.control.health import remote_model
from daemon.control.health.check import Check
from store.local.model_usage import ModelUsage
from store.sentence import foreign_text
from tests.support.fleet import Home

WELL = RemoteModelStatus(
    "m", "https://models.example/v1", "PLACET_MODEL_KEY", None, None, None, ModelUsage(3, 100, 20)
)


def check_facts(check: Check) -> tuple[bool, str, str]:
    return check.well, check.found, check.remedy


async def test_rules_ask_nobody():
    assert check_facts((await remote_model.check_models(()))[0]) == (
        True,
        "agents use rules; no server is asked",
        "",
    )


def test_the_place_of_the_key_is_told():
    words = "m at https://models.example/v1, 3 requests today, 120 tokens"
    assert check_facts(remote_model.model_check(WELL)) == (True, f"{words}; key: PLACET_MODEL_KEY", "")
    assert check_facts(remote_model.model_check(WELL._replace(key_source=""))) == (
        True,
        f"{words}; without a key",
        "",
    )


def test_trouble_is_told_before_money_with_what_to_do():
    troubled = WELL._replace(
        fault=foreign_text("the server refused the key (401)"), since_ms=0, spent=foreign_text("it is spent")
    )
    words = "m at https://models.example/v1 has given no usable answer since 1970-01-01T00:00:00.000Z: the "
    well, text, remedy = check_facts(remote_model.model_check(troubled))
    assert (well, remedy) == (False, remote_model.TROUBLE_REMEDY.text)
    assert text.startswith(words)
    over_budget = WELL._replace(spent=foreign_text("today's budget is spent"))
    assert check_facts(remote_model.model_check(over_budget)) == (
        False,
        "m is not asked: today's budget is spent",
        remote_model.BUDGET_REMEDY.text,
    )


def test_a_category_that_is_to_stay_here_and_does_not_exist_is_named(a: Home):
    def checks() -> list[Check]:
        return a.read(lambda tx: list(remote_model.check_withheld_categories(tx, {"health"})))

    category = a.new("category", name="Health")
    assert checks() == []
    a.set(category, name="Body")
    (check,) = checks()
    assert not check.well
    assert "no category is called 'health'" in check.found
    assert "model.local_only_categories" in check.remedy
    a.set(category, name="Health", deleted=True)
    assert len(checks()) == 1
