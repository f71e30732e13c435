"""Standing rules on the page: written word by word, shown whole, revoked."""

import re
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from daemon.agents.person import external_agents, standing_rules
from daemon.agents.person.standing_rules import StandingRuleDetails
from daemon.journal.human_input import HumanInput
from daemon.web.inbox import rule_routes
from syncproto.ids import id_to_text
from tests.daemon.web.conftest import Page


class RulesPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        return rule_routes.routes(self.services, HumanInput(self.now_ms, UTC, "en"))


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[RulesPage]:
    page = RulesPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


@pytest.fixture
async def rule_form(page: RulesPage) -> dict[str, str]:
    """A form that writes a rule on an agent that was let in."""
    agent = await page.store.write(lambda tx: external_agents.add_external_agent(tx, "Claude <b>"))
    return {
        "do": "add",
        "agent": id_to_text(agent),
        "name": "send_mail",
        "exact": '{"to": "ana@example.org <b>"}',
        "begins": "subject=Weekly ",
        "until": "in 30 days",
        "uses": "3",
    }


async def rules(page: RulesPage) -> list[StandingRuleDetails]:
    return await page.store.read(
        lambda snapshot: standing_rules.list_rules(snapshot, page.now_ms(), every=True)
    )


async def test_a_rule_is_written_shown_whole_and_revoked(page: RulesPage, rule_form: dict[str, str]) -> None:
    assert (await page.ask("/rules", rule_form)).status == 303
    (rule,) = await rules(page)
    assert (rule.name, rule.exact, rule.begins, rule.uses_a_day) == (
        "send_mail",
        {"to": "ana@example.org <b>"},
        {"subject": "Weekly "},
        3,
    )
    text = (await page.ask("/rules")).text
    assert ("send_mail" in text, "ana@example.org" in text, "Weekly " in text) == (True, True, True)
    assert "<b>" not in text
    revocation = {"do": "revoke", "rule": rule.rule_id}
    cross_site = await page.ask("/rules", revocation, headers={"Sec-Fetch-Site": "cross-site"})
    assert (cross_site.status, (await rules(page))[0].state) == (403, "stands")
    assert (await page.ask("/rules", revocation)).status == 303
    assert (await rules(page))[0].state == "revoked"
    assert "send_mail" not in (await page.ask("/rules")).text
    every = (await page.ask("/rules?all=yes")).text
    assert ("send_mail" in every, 'value="revoke"' in every) == (True, False)


@pytest.mark.parametrize(
    "changed",
    [
        {"exact": "to=ana"},
        {"exact": "[1]"},
        {"exact": "[" * 5000},
        {"exact": "", "begins": "to="},
        {"begins": "to"},
        {"begins": "to=a\nto=b"},
        {"until": "yesterday"},
        {"until": "in 91 days"},
        {"until": "<b>"},
        {"uses": "0"},
        {"uses": "101"},
        {"uses": "many"},
        {"name": " "},
        {"name": "x" * 101},
        {"agent": "0" * 32},
    ],
)
async def test_a_rule_that_cannot_be_is_refused_and_what_was_typed_stays(
    page: RulesPage, rule_form: dict[str, str], changed: dict[str, Any]
) -> None:
    answer = await page.ask("/rules", rule_form | {"name": "post_letter"} | changed)
    assert (answer.status, await rules(page), "<b>" in answer.text) == (409, [], False)
    assert ("post_letter" in answer.text) != ("name" in changed)
    assert re.search(r'id="add" open', answer.text)


async def test_what_no_form_of_the_page_sends_is_refused(page: RulesPage, rule_form: dict[str, str]) -> None:
    assert (await page.ask("/rules", rule_form | {"do": "explode"})).status == 400
    assert (await page.ask("/rules", {"do": "revoke", "rule": "../x"})).status == 400
    assert (await page.ask("/rules", {"do": "revoke", "rule": "0" * 32})).status == 409
