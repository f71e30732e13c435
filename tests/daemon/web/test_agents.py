"""The page of an agent: how it stands, and what a person's forms do to it.

Never runs an agent: tests/e2e/test_page_tasks.py does.
"""

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from daemon.agents.person import lifecycle
from daemon.agents.running.timetable import Outlook
from daemon.refusal import RefusalCode, Refused
from daemon.web.agents import agent_routes
from store.sentence import sentence
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.web.conftest import Page


class Runs:
    """What would run the agents; it keeps what it was asked for."""

    def __init__(self, page: "AgentsPage") -> None:
        self.page = page
        self.woken: list[EntityId] = []

    def outlook(self, agent: EntityId) -> Outlook:
        del agent
        return Outlook(None, sentence("nothing-new", "nothing new"))

    async def wake(self, agent: EntityId, **_more: Any) -> None:
        if self.woken:
            raise Refused(RefusalCode.CONFLICT, sentence("no-twice", "not <b>twice</b>"))
        self.woken.append(agent)

    async def create_and_wake(self, make: Callable[[Transaction], list[EntityId]]) -> list[EntityId]:
        return await self.page.store.write(make)


class AgentsPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        self.runs = Runs(self)
        return agent_routes.routes(self.services, self.runs, "rules")

    async def task(self, title: str = "Write to Ana") -> str:
        def use(tx: Transaction) -> str:
            task = tx.new_id()
            tx.commit([EntityWrite(task, "task", {"title": title, "status": "OPEN"})])
            return id_to_text(task)

        return await self.store.write(use)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[AgentsPage]:
    page = AgentsPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


async def make(page: AgentsPage) -> str:
    """Give a task an agent by the form of its page; return the path of the agent."""
    answer = await page.ask("/agents", {"task": await page.task()})
    assert answer.status == 303
    return answer.headers["Location"]


def deeds(text: str) -> set[str]:
    return set(re.findall(r'name="do" value="(\w+)"', text))


async def test_a_task_gets_its_agent_and_the_page_says_how_it_stands(page: AgentsPage) -> None:
    path = await make(page)
    text = (await page.ask(path)).text
    assert "Write to Ana" in text
    assert "It has not run yet." in text
    assert deeds(text) == {"pause", "wake"}


async def test_a_person_wakes_pauses_and_resumes_it(page: AgentsPage) -> None:
    path = await make(page)
    assert (await page.ask(path, {"do": "wake"})).status == 303
    assert [id_to_text(agent) for agent in page.runs.woken] == [path.removeprefix("/agents/")]
    assert (await page.ask(path, {"do": "pause"})).status == 303
    assert deeds((await page.ask(path)).text) == {"resume"}
    assert (await page.ask(path, {"do": "resume"})).status == 303
    refused = await page.ask(path, {"do": "wake"})
    assert (refused.status, "<b>twice" in refused.text) == (409, False)


async def test_what_is_no_agent_or_no_form_of_the_page_is_refused(page: AgentsPage) -> None:
    path = await make(page)
    assert (await page.ask(path, {"do": "destroy"})).status == 400
    assert (await page.ask(f"/agents/{'0' * 32}")).status == 404
    assert (await page.ask("/agents", {"task": "0" * 32})).status == 404
    cross_site = await page.ask(path, {"do": "wake"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (cross_site.status, page.runs.woken) == (403, [])


async def test_a_destroyed_agent_offers_nothing(page: AgentsPage) -> None:
    path = await make(page)
    agent = id_from_text(path.removeprefix("/agents/"))
    await page.store.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    answer = await page.ask(path)
    assert (answer.status, deeds(answer.text)) in [(200, set()), (404, set())]
