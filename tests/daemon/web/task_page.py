"""A page with the room of tasks, asked as a browser asks."""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

from aiohttp import web

from daemon.agents.running.timetable import Outlook
from daemon.journal import tasks as task_use_cases
from daemon.journal.human_input import HumanInput
from daemon.web.tasks import list_routes, new_task_routes, series_routes, task_routes
from daemon.web.today import day_routes
from store.sentence import sentence
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_to_text
from tests.daemon.web.conftest import Page, PageAnswer


class TaskPage(Page):
    """A page with the room of tasks. `made` are the tasks that were announced to whoever wants new ones."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder, **settings)
        self.made: list[EntityId] = []
        self.outlook = Outlook(None, sentence("nothing-new", "nothing new"))

    def more_routes(self) -> list[web.RouteDef]:
        human_input = HumanInput(self.now_ms, UTC, "en")

        def outlook(_agent: EntityId) -> Outlook:
            return self.outlook

        return [
            *day_routes.routes(self.services, human_input, outlook),
            *list_routes.routes(self.services, human_input, outlook),
            *new_task_routes.routes(self.services, human_input, lambda _tx, task: self.made.append(task)),
            *series_routes.routes(self.services, human_input),
            *task_routes.routes(self.services, human_input, outlook),
        ]

    async def task(self, **fields: Any) -> str:
        def use(tx: Transaction) -> str:
            task = tx.new_id()
            tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"} | fields)])
            return id_to_text(task)

        return await self.store.write(use)

    async def shown(self, ref: str) -> Any:
        return await self.store.read(lambda snapshot: task_use_cases.show(snapshot, ref))

    async def follow(self, answer: PageAnswer) -> PageAnswer:
        assert answer.status == 303, answer.text
        return await self.ask(answer.headers["Location"])


@asynccontextmanager
async def task_page_of(folder: Path) -> AsyncIterator[TaskPage]:
    """Serve a page of tasks to a browser that is signed in."""
    page = TaskPage(folder)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


def hidden_fields(text: str, deed: str) -> dict[str, str]:
    """Return the hidden fields of the form of this deed, which it names or whose button it is."""
    forms = re.findall(r"<form.*?</form>", text, re.DOTALL)
    named = (form for form in forms if f'id="f-{deed}"' in form)
    form = next(named, None) or next(form for form in forms if f'value="{deed}"' in form)
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in fields}
