"""Tasks of series on the page by plain forms: listed, ticked, shown, changed and removed like any other.

Never runs a script.
"""

import html
import re
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from daemon.journal import series
from daemon.journal.series import NewSeries
from daemon.journal.views.series_view import Series
from tests.daemon.web.conftest import PageAnswer
from tests.daemon.web.task_page import TaskPage, hidden_fields, task_page_of
from tests.daemon.web.test_board import column, move_form
from tests.daemon.web.test_today import day, form_of, groups_of


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    async with task_page_of(tmp_path) as page:
        yield page


TODAY = date(2026, 1, 1)


async def add(page: TaskPage, **fields: object) -> Series:
    today = date.fromisoformat(day(page, 0))
    new = NewSeries(**({"title": "Water the plants", "every": "FREQ=DAILY"} | fields))  # type: ignore[arg-type]
    return await page.store.write(lambda tx: series.add(tx, new, today, "UTC"))


def rows_of(answer: PageAnswer) -> list[str]:
    return re.findall(r'<li class="task[^"]*" id="t-(\w+)"', answer.text)


async def test_a_row_of_a_series_is_ticked_and_the_next_one_is_there(page: TaskPage) -> None:
    await add(page)
    answer = await page.ask("/")
    (today, tomorrow) = rows_of(answer)
    assert list(groups_of(answer).values()) == [["Water the plants"]] * 2
    ticked = [*form_of(answer, today), ("set", "status:DONE")]
    assert (await page.ask("/", ticked)).status == 303
    assert rows_of(await page.ask("/")) == [tomorrow]
    listed = await page.ask("/tasks")
    assert rows_of(listed) == [tomorrow]
    due = [*form_of(listed, tomorrow), ("set", "due"), ("due", day(page, 3))]
    assert (await page.ask("/tasks", due)).status == 303
    assert (await page.shown(tomorrow)).due == day(page, 3)
    assert (await page.ask("/tasks?sort=title")).status == 200


async def test_the_page_of_a_task_that_nobody_has_touched_edits_and_removes_it(page: TaskPage) -> None:
    made = await add(page, steps=["Cactus"])
    answer = await page.ask(f"/tasks/{made.next_task}")
    assert answer.status == 200
    assert "Water the plants" in answer.text
    assert f'href="/series#s-{made.id}"' in answer.text
    sent = hidden_fields(answer.text, "edit") | {"do": "edit", "title": "Water the fern"}
    assert (await page.ask(f"/tasks/{made.next_task}", sent)).status == 303
    assert (await page.shown(str(made.next_task))).title == "Water the fern"
    (_first, second) = rows_of(await page.ask("/tasks"))
    removal = [*form_of(await page.ask("/tasks"), second), ("set", "remove")]
    assert (await page.ask(f"/tasks/{second}", removal)).status == 303
    assert second not in rows_of(await page.ask("/tasks"))


async def test_a_line_that_says_how_often_makes_a_series_and_can_be_taken_back(page: TaskPage) -> None:
    read = await page.ask("/tasks/read?line=Pay+the+rent+every+month+on+the+1st")
    assert "every month on day 1" in html.unescape(read.text)
    answer = await page.ask("/tasks/new", {"line": "Pay the rent every month on the 1st p1"})
    assert "Pay the rent, every month on day 1" in html.unescape(answer.text)
    (task,) = rows_of(await page.ask("/tasks"))
    assert f'href="/tasks/{task}"' in answer.text
    undo = re.search(r'name="undo" value="(\w+)"', answer.text)
    assert undo is not None
    assert (await page.ask("/tasks/new", {"undo": undo[1]})).status == 200
    assert rows_of(await page.ask("/tasks")) == []


async def test_a_task_that_nobody_has_touched_moves_on_the_board(page: TaskPage) -> None:
    made = await add(page)
    task = str(made.next_task)
    form = move_form((await page.ask("/board")).text, task, status="IN PROGRESS")
    assert (await page.ask("/board", form)).status == 303
    assert "Water the plants" in column((await page.ask("/board")).text, "IN PROGRESS")


async def send(page: TaskPage, deed: str, **fields: str) -> int:
    return (await page.ask("/series", {"do": deed, **fields})).status


async def test_series_are_added_skipped_changed_ended_and_removed(page: TaskPage) -> None:
    assert "Nothing comes again" in (await page.ask("/series")).text
    assert await send(page, "add", title="Pay the rent", every="blah") == 409
    assert await send(page, "add", title="Pay the <b>rent", every="2 weeks", first="friday") == 303
    (made,) = await page.store.read(lambda snapshot: series.list_series(snapshot, TODAY))
    text = (await page.ask("/series")).text
    assert "Pay the &lt;b&gt;rent" in text
    assert "every 2 weeks" in text
    assert f'href="/series#s-{made.id}"' in (await page.ask("/tasks")).text
    task = str(made.next_task)
    assert f'name="next" value="{task}"' in text
    for _ in range(2):
        assert await send(page, "skip", series=made.id, next=task) == 303
    # A second press of the same button leaves out no second day.
    (skipped,) = await page.store.read(lambda snapshot: series.list_series(snapshot, TODAY))
    assert (skipped.skipped, skipped.next) == ([made.next[0]], [*made.next[1:], *skipped.next[-1:]])
    assert await send(page, "catch-up", series=made.id) == 303
    assert await send(page, "change", series=made.id, title="Rent", until="2030-01-01") == 303
    assert await send(page, "change", series=made.id, on="in 3 months", every="month on the 1st") == 303
    shown = await page.store.read(lambda snapshot: series.list_series(snapshot, TODAY))
    assert [(other.title, other.rule) for other in shown] == [
        ("Rent", "FREQ=WEEKLY;INTERVAL=2"),
        ("Rent", "FREQ=MONTHLY;BYMONTHDAY=1"),
    ]
    assert await send(page, "change", series=made.id, on="yesterday") == 409
    assert await send(page, "end", series=made.id) == 303
    for other in shown:
        assert await send(page, "remove", series=other.id) == 303
    assert "Nothing comes again" in (await page.ask("/series")).text
    assert await send(page, "unknown", series=made.id) == 400
    assert await send(page, "skip") == 400
