"""Permissions on the page: shown verbatim, and decided by plain forms on what was shown.

Never uses a permission: that is the agent's.
"""

import html
import re
from typing import Any

import pytest

from daemon.agents.asks import ask_requests, ask_views
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.person import external_agents
from store.transaction import Transaction
from syncproto.ids import id_to_text
from tests.daemon.web.conftest import Page
from tests.support.fleet import DAY_MS

PATH = "/permissions"


async def ask(page: Page, **more: Any) -> str:
    def use(tx: Transaction) -> str:
        agent = external_agents.add_external_agent(tx, "Claude", "none")
        fields: dict[str, Any] = {
            "agent": "Claude",
            "name": "send_mail",
            "args": {"to": "ana@example.org"},
            "title": "Mail Ana",
            "key": "mail 1",
            "not_after": tx.now_ms() + DAY_MS,
        }
        return id_to_text(ask_requests.make_ask(tx, agent, NewAsk(**(fields | more))))

    return await page.store.write(use)


async def details(page: Page) -> AskDetails:
    (listed,) = await page.store.read(
        lambda snapshot: ask_views.list_asks(snapshot, page.now_ms(), waiting=False)
    )
    return listed


def fields(text: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="(ask|shown)" value="([0-9a-f]+)"', text))


@pytest.mark.parametrize(
    ("verdict", "state"), [("confirmed", "permitted"), ("rejected", "refused"), ("deferred", "deferred")]
)
async def test_a_person_decides_on_what_is_shown(page: Page, verdict: str, state: str) -> None:
    await ask(page, why="She waits.")
    assert "Agents ask for 1 permission" in (await page.ask("/")).text
    text = (await page.ask(PATH)).text
    assert '{"to": "ana@example.org"}' in html.unescape(text)
    assert "She waits." in text
    answer = await page.ask(PATH, {"decide": verdict, **fields(text)})
    assert answer.status == 200
    assert (await details(page)).state == state
    assert ("Mail Ana" in answer.text) == (verdict == "deferred")


async def test_the_choice_and_the_reason_go_along(page: Page) -> None:
    await ask(page, options=["now", "later"])
    text = (await page.ask(PATH)).text
    await page.ask(PATH, {"decide": "confirmed", "option": "later", "reason": "ignored?", **fields(text)})
    decided = await details(page)
    assert (decided.state, decided.option) == ("permitted", "later")


async def test_what_was_not_shown_is_not_permitted(page: Page) -> None:
    await ask(page)
    shown = fields((await page.ask(PATH)).text)
    answer = await page.ask(PATH, {"decide": "confirmed", **shown, "shown": "0" * 64})
    assert (answer.status, "refusal" in answer.text) == (409, True)
    unknown = await page.ask(PATH, {"decide": "confirmed", **shown, "ask": "0" * 32})
    assert unknown.status == 409
    option = await page.ask(PATH, {"decide": "confirmed", **shown, "option": "other"})
    assert option.status == 409
    assert (await details(page)).state == "pending"


@pytest.mark.parametrize("form", [{}, {"decide": "undone"}, {"ask": "x"}, {"shown": "ZZ"}])
async def test_a_form_that_the_page_does_not_send_is_refused(page: Page, form: dict[str, str]) -> None:
    await ask(page)
    shown = fields((await page.ask(PATH)).text)
    sent = {"decide": "confirmed", **shown, **form} if form else {}
    assert (await page.ask(PATH, sent)).status == 400


async def test_hostile_arguments_are_shown_as_they_are_and_harmlessly(page: Page) -> None:
    await ask(page, args={"x": "<script>\u202e\x1b[31m"}, title="<b>x", why="<img>")
    text = (await page.ask(PATH)).text
    assert not re.search(r"<script>|<b>|<img>|\u202e|\x1b", text.partition("<main")[2])
    assert "<script>" in html.unescape(text.partition("<main")[2])
