"""The board: tasks by status, and moving one by its menu, by plain forms.

Never runs a script: tests/e2e/page/test_page_board.py does.
"""

import html
import re
from typing import Any

from daemon.journal import tasks
from daemon.journal.tasks import TaskEdit
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_to_text
from tests.daemon.web.conftest import Page


async def make_task(page: Page, **fields: Any) -> str:
    def use(tx: Transaction) -> EntityId:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"} | fields)])
        return task

    return id_to_text(await page.store.write(use))


def column(text: str, status: str) -> str:
    sections: list[str] = re.findall(r'<section class="card".*?</section>', text, re.DOTALL)
    return next(section for section in sections if f'data-status="{status}"' in section)


def move_form(text: str, task: str, **fields: str) -> dict[str, str]:
    form = next(form for form in re.findall(r"<form.*?</form>", text, re.DOTALL) if task in form)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    return {name: html.unescape(value) for name, value in hidden.items()} | fields


async def shown(page: Page, ref: str) -> Any:
    return await page.store.read(lambda snapshot: tasks.show(snapshot, ref))


async def test_a_task_moves_to_another_column(page: Page) -> None:
    ref = await make_task(page)
    text = (await page.ask("/board")).text
    assert "Write to Ana" in column(text, "OPEN")
    answer = await page.ask("/board", move_form(text, ref, status="IN PROGRESS"))
    assert (answer.status, answer.headers["Location"]) == (303, "/board")
    assert "Write to Ana" in column((await page.ask("/board")).text, "IN PROGRESS")


async def test_a_status_that_needs_a_reason_is_refused_without_one(page: Page) -> None:
    ref = await make_task(page)
    text = (await page.ask("/board")).text
    answer = await page.ask("/board", move_form(text, ref, status="BLOCKED"))
    assert answer.status == 409
    assert "Write to Ana" in column(answer.text, "OPEN")
    answer = await page.ask("/board", move_form(text, ref, status="BLOCKED", reason="No photo yet."))
    assert answer.status == 303
    assert (await shown(page, ref)).status == "BLOCKED"


async def test_a_move_counts_against_what_the_board_showed(page: Page) -> None:
    """What changed since the person looked meets the move as a conflict, and neither is lost."""
    ref = await make_task(page)
    text = (await page.ask("/board")).text
    await page.store.write(lambda tx: tasks.edit(tx, ref, TaskEdit(status="GROOMED")))
    assert (await page.ask("/board", move_form(text, ref, status="DONE"))).status == 303
    assert (await shown(page, ref)).conflicts


async def test_a_form_that_is_none_of_the_board_changes_nothing(page: Page) -> None:
    ref = await make_task(page)
    commits = await page.commits()
    assert (await page.ask("/board", {"task": ref, "status": "DONE", "base": "no"})).status == 400
    assert (await page.ask("/board", {"task": ref, "status": "SOLD", "base": "{}"})).status == 409
    assert (await page.ask("/board", {"task": "0" * 32, "status": "DONE", "base": "{}"})).status == 409
    assert await page.commits() == commits


async def test_a_column_shows_its_first_tasks_and_counts_the_rest(page: Page) -> None:
    def use(tx: Transaction) -> None:
        tasks_ = [EntityWrite(tx.new_id(), "task", {"title": f"T{n}", "status": "OPEN"}) for n in range(43)]
        tasks_.append(
            EntityWrite(tx.new_id(), "task", {"title": "Due", "status": "OPEN", "due": "2026-12-24"})
        )
        tx.commit(tasks_)

    await page.store.write(use)
    section = column((await page.ask("/board")).text, "OPEN")
    titles = re.findall(r"<bdi>(\w+)</bdi></a>", section)
    assert len(titles) == 40
    assert titles[0] == "Due"
    assert "4 more are not shown here" in section
    finished = await make_task(page, status="DONE")
    assert finished not in (await page.ask("/board")).text
    assert finished in column((await page.ask("/board?all=yes")).text, "DONE")


async def test_the_board_leaves_out_what_has_not_begun_and_says_so(page: Page) -> None:
    ref = await make_task(page, title="Later", start="2999-12-31")
    await make_task(page)
    text = (await page.ask("/board")).text
    assert ("Later" in column(text, "OPEN"), "1 begins later" in text) == (False, True)
    assert "all=yes&amp;start=any" in (await page.ask("/board?all=yes")).text
    text = (await page.ask("/board?start=any")).text
    assert ("Later" in column(text, "OPEN"), "begins later" in text) == (True, False)
    answer = await page.ask("/board", move_form(text, ref, status="GROOMED"))
    assert answer.headers["Location"] == "/board?start=any"
