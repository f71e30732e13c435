"""The first steps by plain forms: what they offer, what is marked as done, and the example.

Never runs an agent: tests/e2e/page/test_page_first_run.py does.
"""

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from daemon.agents.person import lifecycle
from daemon.agents.person.first_steps import OFFERED_MAX, first_steps
from daemon.disk import DiskFloor
from daemon.web.first_run import first_run_routes
from daemon.words.translation import use_language
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.models.rules.accuracy import LANGUAGES, Corpus, proposed_kinds
from tests.daemon.web.conftest import Page

HOSTILE = "<script>alert(1)</script> \u202egnp.exe"


class FirstRunPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        return first_run_routes.routes(self.services, self, "rules")

    async def create_and_wake(self, make: Callable[[Transaction], list[EntityId]]) -> list[EntityId]:
        """Make the agents, and leave them asleep."""
        return await self.store.write(make)

    async def add(self, title: str) -> str:
        """Add a task, and return its id."""
        task = EntityId(self.fleet.randomness(16))
        await self.store.write(lambda tx: tx.commit([EntityWrite(task, "task", {"title": title})]))
        return id_to_text(task)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[FirstRunPage]:
    page = FirstRunPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


@pytest.mark.parametrize("path", ["/inbox", "/start"])
async def test_the_steps_are_marked_as_they_are_done(page: FirstRunPage, path: str):
    text = (await page.ask(path)).text
    assert "It needs a task first." in text
    assert text.count('"mark green"') == 0
    task = await page.add(HOSTILE)
    text = (await page.ask(path)).text
    assert text.count('"mark green"') == 1
    assert f'<option value="{task}">&lt;script&gt;' in text
    assert "\u202e" not in text
    await page.store.write(lambda tx: lifecycle.create_agent(tx, task, "rules"))
    text = (await page.ask("/start")).text
    assert text.count('"mark green"') == 2
    assert "Show me an example" not in text
    assert "Next: pair a second device" in (await page.ask("/inbox")).text


async def test_a_second_device_ends_the_steps(page: FirstRunPage):
    await page.store.write(
        lambda tx: tx.commit([EntityWrite(tx.new_id(), "device", {"name": name}) for name in ("a", "b")])
    )
    assert (await page.store.read(first_steps)).has_other_devices
    task = await page.add("A task")
    await page.store.write(lambda tx: lifecycle.create_agent(tx, task, "rules"))
    assert "/start" not in (await page.ask("/inbox")).text
    assert "3 of 3 done" in (await page.ask("/start")).text


async def test_the_example_is_a_task_with_a_note_and_an_agent(page: FirstRunPage):
    answer = await page.ask("/start", {"do": "example"})
    assert answer.status == 303
    assert re.fullmatch(r"/tasks/[0-9a-f]{32}", answer.headers["Location"])
    steps = await page.store.read(first_steps)
    assert (steps.has_tasks, steps.has_agents, steps.has_other_devices) == (True, True, False)


async def test_a_full_disk_makes_no_example(page: FirstRunPage):
    object.__setattr__(page.services, "floor", DiskFloor(page.folder, 1 << 60))
    before = await page.commits()
    answer = await page.ask("/start", {"do": "example"})
    assert (answer.status, await page.commits()) == (409, before)
    assert "MiB are free" in answer.text


@pytest.mark.parametrize("form", [{}, {"do": "agent"}])
async def test_a_form_that_the_page_does_not_send_is_refused(page: FirstRunPage, form: dict[str, str]):
    assert (await page.ask("/start", form)).status == 400


async def test_many_tasks_are_not_all_offered(page: FirstRunPage):
    await page.store.write(
        lambda tx: tx.commit(
            [EntityWrite(tx.new_id(), "task", {"title": f"Task {n}"}) for n in range(OFFERED_MAX + 5)]
        )
    )
    assert (await page.ask("/inbox")).text.count("<option") == OFFERED_MAX


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_makes_the_embedded_model_propose_in_each_language(language: str):
    use_language(language)
    try:
        note = first_run_routes.example_note()
    finally:
        use_language("en")
    kinds = [kind for kind, _ in proposed_kinds(note, Corpus((), (), ()))]
    assert (kinds.count("item"), kinds.count("minutes"), kinds.count("language")) == (3, 1, 1)
