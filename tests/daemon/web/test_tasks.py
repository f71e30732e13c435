"""The list of tasks on the page, its search, and a new task, by plain forms.

Never runs a script: tests/e2e/page/test_page_tasks.py does.
"""

import html
import re
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from daemon.agents.person import lifecycle
from daemon.journal import tasks as task_use_cases
from daemon.journal.fields.validation import TITLE_CHARS_MAX
from daemon.journal.tasks import TaskEdit
from daemon.web.tasks import list_routes
from syncproto.ids import id_from_text, id_to_text
from tests.daemon.web.task_page import TaskPage, task_page_of


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    async with task_page_of(tmp_path) as page:
        yield page


async def test_a_new_task_is_made_with_days_and_lengths_as_people_type_them(page: TaskPage) -> None:
    typed = {
        "title": "Renew the passport",
        "due": "2026-12-24",
        "estimate_minutes": "1h 30",
        "note": "Two photos.\nBoth new.",
    }
    answer = await page.follow(await page.ask("/tasks/new", typed))
    assert answer.status == 200
    assert "Renew the passport" in answer.text
    assert "Two photos.<br />Both new." in answer.text.replace("\n", "")
    (made,) = page.made
    task = await page.shown(id_to_text(made))
    assert (task.due, task.estimate_minutes) == ("2026-12-24", 90)


async def test_a_line_is_made_a_task_and_what_was_read_of_it_is_said(page: TaskPage) -> None:
    answer = await page.ask("/tasks/new", {"line": "Buy <b>stamps</b> 2030-11-25 45 min"})
    assert answer.status == 200
    assert "Added: Buy &lt;b&gt;stamps&lt;/b&gt;, due Mon 25 Nov 2030, 45 min" in answer.text
    (made,) = page.made
    task = await page.shown(id_to_text(made))
    assert (task.title, task.due, task.estimate_minutes) == ("Buy <b>stamps</b>", "2030-11-25", 45)
    undone = await page.ask("/tasks/new", {"undo": task.id})
    assert "Taken back: Buy &lt;b&gt;" in undone.text
    assert (await page.ask(f"/tasks/{task.id}")).status == 404
    refused = await page.ask("/tasks/new", {"line": " \t"})
    assert (refused.status, 'class="refusal"' in refused.text) == (409, True)
    assert (await page.ask("/tasks/new", {"undo": "0" * 32})).status == 409
    long_line = "word " * 400
    assert 'value="word word' in (await page.ask("/tasks/new", {"line": long_line})).text
    assert len(page.made) == 1


@pytest.mark.parametrize(
    "wrong", [{"title": " "}, {"title": "x" * 401}, {"due": "someday"}, {"estimate_minutes": "long"}]
)
async def test_what_is_refused_is_said_at_its_field_and_stays_typed(
    page: TaskPage, wrong: dict[str, str]
) -> None:
    answer = await page.ask("/tasks/new", {"title": "x", "note": "My own\twords", **wrong})
    ((name, value),) = wrong.items()
    assert answer.status == 409
    assert re.findall(r'class="fault" id="e-new-(\w+)"', answer.text) == [name]
    assert f'value="{value}"' in answer.text
    assert "\nMy own\twords</textarea>" in answer.text
    assert page.made == []


async def test_a_title_may_have_as_many_characters_as_the_journal_takes(page: TaskPage) -> None:
    await page.follow(await page.ask("/tasks/new", {"title": "\N{PARTY POPPER}" * TITLE_CHARS_MAX}))
    assert len(page.made) == 1
    # A browser counts otherwise, and would cut what is pasted without a word.
    for path in ("/tasks/new", f"/tasks/{id_to_text(page.made[0])}"):
        text = (await page.ask(path)).text
        assert not re.search(r'<input[^>]*name="(title|line)"[^>]*maxlength', text)


async def test_a_list_says_what_is_out_of_the_ordinary_and_an_empty_one_what_to_do(page: TaskPage) -> None:
    empty = (await page.ask("/tasks")).text
    assert "No task is open" in empty
    assert 'action="/tasks/new"' in empty
    await page.task(title="Call Ana", priority="P2")
    last = await page.task(title="Write", priority="P1", status="BLOCKED", reason="No stamps")
    text = (await page.ask("/tasks")).text
    lines = re.findall(r'<li class="task" id="t-.*?</li>', text, re.DOTALL)
    rows = [html.unescape(re.sub(r"<[^>]+>", " ", line)).split() for line in lines]
    assert rows == [["Call", "Ana"], ["Write", "blocked", "P1"]]
    assert "Try fewer words or filters" in (await page.ask("/tasks?q=zebra")).text
    # The next page of an old tab.
    end = (await page.ask(f"/tasks?after={last}&sort=title")).text
    assert "There are no more tasks" in end
    assert 'href="/tasks?sort=title"' in end
    refused = (await page.ask("/tasks?label=zebra&after=zebra")).text
    assert "This list cannot be shown" in refused
    assert 'href="/tasks?label=zebra"' in refused


async def test_the_list_shows_open_tasks_a_page_at_a_time_and_finds_words(
    page: TaskPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_routes, "SHOWN_MAX", 2)
    for title in ("Call Ana", "Call the doctor", "Write"):
        await page.task(title=title)
    await page.task(title="Old letter", status="DONE")
    first = (await page.ask("/tasks")).text
    assert ("Call Ana" in first, "Write" in first, "Old letter" in first) == (True, False, False)
    more = re.search(r'href="(/tasks\?after=[0-9a-f]+)"', first)
    assert more is not None
    assert "Write" in (await page.ask(more[1])).text
    result = (await page.ask("/tasks?q=doctor")).text
    assert ("Call the doctor" in result, "Call Ana" in result) == (True, False)
    assert "Nothing was found" in (await page.ask("/tasks?q=zebra")).text
    assert "refusal" in (await page.ask("/tasks?q=-x")).text


async def test_filters_and_the_order_go_along_to_the_next_page_and_into_a_search(
    page: TaskPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_routes, "SHOWN_MAX", 2)
    for number in range(5):
        edit = TaskEdit(add_labels=["R&D"], priority="P1" if number % 2 else "P3")
        ref = await page.task(title=f"Call {number}", due=f"2026-12-0{9 - number}")
        await page.store.write(partial(task_use_cases.edit, ref=ref, change=edit))
    await page.task(title="Call nobody")

    async def walk(address: str) -> list[str]:
        titles: list[str] = []
        while address:
            text = (await page.ask(address)).text
            assert 'class="refusal"' not in text
            titles += re.findall(r"<bdi>Call (\w+)</bdi></a>", text)
            more = re.search(r'<p><a href="(/tasks\?[^"]+)">', text)
            address = html.unescape(more[1]) if more else ""
        return titles

    assert await walk("/tasks?label=R%26D&sort=due") == ["4", "3", "2", "1", "0"]
    assert await walk("/tasks?label=R%26D&sort=priority&status=all") == ["3", "1", "4", "2", "0"]
    assert await walk("/tasks?q=call&sort=due&label=r%26d&priority=P3") == ["4", "2", "0"]
    assert sorted(await walk("/tasks?q=call")) == ["0", "1", "2", "3", "4", "nobody"]
    assert await walk("/tasks?due=none") == ["nobody"]
    text = (await page.ask("/tasks?label=R%26D&sort=due")).text
    assert '<option value="R&amp;D" selected>' in text
    assert '<option value="due" selected>' in text
    # Only what the form offers has an order; another word is no error.
    assert await walk("/tasks?sort=x&due=none") == ["nobody"]
    for wrong in ("label=zebra", "due=soon", "after=zebra", "status=x", "priority=P9", "q=call&label=zebra"):
        assert 'class="refusal"' in (await page.ask(f"/tasks?{wrong}")).text


async def test_a_line_shows_when_a_task_is_due_what_waits_on_it_and_its_agent(page: TaskPage) -> None:
    late = await page.task(title="Late", due="2020-01-01", estimate_minutes=90, priority="P0")
    (item,) = await page.propose(("update_task_estimate", {"minutes": 120}))
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    task = id_to_text(stored.task)
    await page.store.write(lambda tx: lifecycle.create_agent(tx, task, "interactive", name="Laura <b>"))
    text = (await page.ask("/tasks")).text
    row = re.sub(r"<[^>]+>", " ", text.partition(f'id="t-{late}"')[2].partition("</li>")[0])
    assert re.search(r"P0 .* 1 h 30 min .* overdue: [^<]*2020", row, re.DOTALL)
    row = text.partition(f'id="t-{task}"')[2].partition("</li>")[0]
    assert f'href="/tasks/{task}"' in row
    assert re.search(r"1 proposal waits <bdi>Laura &lt;b&gt;</bdi>", row)


async def test_hostile_words_are_shown_harmlessly(page: TaskPage) -> None:
    ref = await page.task(title="<script>alert(1)</script>\u202egnp")
    await page.ask(f"/tasks/{ref}", {"do": "note", "note": "<img src=x>\x1b[31m"})
    for path in ("/tasks", f"/tasks/{ref}"):
        text = (await page.ask(path)).text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text


async def test_another_site_makes_nothing(page: TaskPage) -> None:
    answer = await page.ask("/tasks/new", {"title": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status == 403
    assert page.made == []


async def test_the_list_and_a_search_leave_out_what_has_not_begun_and_say_so(page: TaskPage) -> None:
    for title, start in (("Now", None), ("Later", "2999-12-31"), ("Begun", "2000-01-01")):
        await page.task(title=f"{title} or never", start=start)
    for address in ("/tasks", "/tasks?sort=title", "/tasks?q=never"):
        text = (await page.ask(address)).text
        assert ("Now or never" in text, "Begun or never" in text, "Later or never" in text) == (
            True,
            True,
            False,
        )
        assert "1 begins later" in text
        shown_too = html.unescape(re.search(r'href="([^"]+)">Show these too', text)[1])  # type: ignore[index]
        text = (await page.ask(shown_too)).text
        assert ("Later or never" in text, "begins later" in text) == (True, False)
    assert "begins later" not in (await page.ask("/tasks?priority=P0")).text
