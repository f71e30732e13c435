"""The tasks on the page: a list, a search, a new task, and what a person does to one, by plain forms.

Never runs a script: tests/e2e/test_page_tasks.py does.
"""

import html
import re
from collections.abc import AsyncIterator
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from daemon.agents.person import lifecycle
from daemon.disk import DiskFloor
from daemon.journal import tasks as task_use_cases
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import TaskEdit
from daemon.web.tasks import list_routes, new_task_routes, task_routes
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.web.conftest import Page, PageAnswer


class TaskPage(Page):
    """A page with the room of tasks. `made` are the tasks that were announced to whoever wants new ones."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder, **settings)
        self.made: list[EntityId] = []

    def more_routes(self) -> list[web.RouteDef]:
        human_input = HumanInput(self.now_ms, UTC, "en")
        return [
            *list_routes.routes(self.services, human_input),
            *new_task_routes.routes(self.services, human_input, lambda _tx, task: self.made.append(task)),
            *task_routes.routes(self.services, human_input),
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


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    page = TaskPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


def base(text: str, deed: str) -> dict[str, str]:
    """Return the hidden fields of the first form whose button does this."""
    forms = re.findall(r"<form.*?</form>", text, re.DOTALL)
    form = next(form for form in forms if f'value="{deed}"' in form)
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    return {name: value.replace("&#34;", '"') for name, value in fields.items()}


async def test_a_new_task_is_made_with_days_and_lengths_as_people_type_them(page: TaskPage) -> None:
    typed = {
        "title": "Renew the passport",
        "due": "2026-12-24",
        "estimate": "1h 30",
        "note": "Two photos.\nBoth new.",
    }
    answer = await page.follow(await page.ask("/tasks/new", typed))
    assert answer.status == 200
    assert "Renew the passport" in answer.text
    assert "<p><bdi>Two photos.</bdi></p><p><bdi>Both new.</bdi></p>" in answer.text.replace("\n", "")
    (made,) = page.made
    task = await page.shown(id_to_text(made))
    assert (task.due, task.estimate_minutes) == ("2026-12-24", 90)


async def test_a_line_is_made_a_task_and_what_was_read_of_it_is_said(page: TaskPage) -> None:
    answer = await page.ask("/tasks/new", {"line": "Buy <b>stamps</b> 2030-11-25 45 min"})
    assert answer.status == 200
    assert "Added: Buy &lt;b&gt;stamps&lt;/b&gt;, due 2030-11-25, 45 min" in answer.text
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
    "wrong", [{"title": " "}, {"title": "x", "due": "someday"}, {"title": "x", "estimate": "long"}]
)
async def test_what_is_refused_is_said_and_stays_typed(page: TaskPage, wrong: dict[str, str]) -> None:
    answer = await page.ask("/tasks/new", {"note": "My own words", **wrong})
    assert (answer.status, "refusal" in answer.text) == (409, True)
    assert "My own words" in answer.text
    assert page.made == []


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
    await page.task(title="Late", due="2020-01-01", estimate_minutes=90, priority="P0")
    (item,) = await page.propose(("update_task_estimate", {"minutes": 120}))
    stored = await page.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
    assert stored is not None
    task = id_to_text(stored.task)
    await page.store.write(lambda tx: lifecycle.create_agent(tx, task, "interactive", name="Laura <b>"))
    text = (await page.ask("/tasks")).text
    assert re.search(r'<span class="mark red">overdue: [^<]*2020</span>', text)
    assert "<bdi>P0 · 1 h 30 min</bdi>" in text
    assert f'<a class="mark" href="/reviews/{task}">1 proposal waits</a>' in text
    assert "<bdi>Laura &lt;b&gt;</bdi></a>" in text


async def test_a_person_writes_notes_ticks_items_and_sets_the_status(page: TaskPage) -> None:
    ref = await page.task()
    path = f"/tasks/{ref}"
    await page.follow(await page.ask(path, {"do": "note", "note": "She answers on Monday."}))
    shown = await page.follow(await page.ask(path, {"do": "item", "title": "Buy stamps"}))
    shown = await page.follow(await page.ask(path, {"do": "tick", **base(shown.text, "tick")}))
    assert "Take the tick from: Buy stamps" in shown.text
    shown = await page.follow(await page.ask(path, {"do": "untick", **base(shown.text, "untick")}))
    status = {"do": "status", "status": "BLOCKED", "reason": "No stamps", **base(shown.text, "status")}
    await page.follow(await page.ask(path, status))
    task = await page.shown(ref)
    assert (task.status, task.reason, task.entries[0].text) == (
        "BLOCKED",
        "No stamps",
        "She answers on Monday.",
    )
    assert "0/1" in (await page.ask("/tasks")).text
    assert [item.is_checked for item in task.checklists[0].items] == [False]
    refused = await page.ask(path, {"do": "status", "status": "SOON", **base(shown.text, "status")})
    assert (refused.status, "refusal" in refused.text) == (409, True)


@pytest.mark.parametrize(
    "form", [{}, {"do": "rm"}, {"do": "status", "status": "DONE"}, {"do": "tick", "base": "x"}]
)
async def test_a_form_that_the_page_does_not_send_is_refused(page: TaskPage, form: dict[str, str]) -> None:
    path = f"/tasks/{await page.task()}"
    assert (await page.ask(path, form)).status == 400


async def test_a_task_that_is_gone_is_said_to_be(page: TaskPage) -> None:
    ref = await page.task()
    await page.store.write(lambda tx: task_use_cases.remove(tx, ref))
    for answer in (await page.ask(f"/tasks/{ref}"), await page.ask(f"/tasks/{'0' * 32}")):
        assert answer.status == 404
    lost = await page.ask(f"/tasks/{ref}", {"do": "note", "note": "Too late"})
    assert lost.status == 404


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


async def test_only_what_was_typed_over_is_a_persons_edit(page: TaskPage) -> None:
    ref = await page.task(due="2026-12-24", estimate_minutes=30)
    path = f"/tasks/{ref}"
    fields = {"do": "edit", **base((await page.ask(path)).text, "edit")}
    typed = {"title": "Write to Ana", "due": "", "estimate_minutes": "2 h"}
    before = await page.commits()
    unchanged = {"title": "Write to Ana", "due": "2026-12-24", "estimate_minutes": "30 min"}
    await page.follow(await page.ask(path, fields | unchanged))
    assert await page.commits() == before
    await page.follow(await page.ask(path, fields | typed))
    task = await page.shown(ref)
    assert (task.title, task.due, task.estimate_minutes) == ("Write to Ana", None, 120)
    for wrong in ({"title": " "}, {"due": "someday"}):
        assert (await page.ask(path, fields | typed | wrong)).status == 409


async def test_labels_are_added_and_taken_away_a_line_each(page: TaskPage) -> None:
    ref = await page.task()
    edit = TaskEdit(add_labels=["home, sweet", "paper"], category="Office")
    await page.store.write(lambda tx: task_use_cases.edit(tx, ref, edit))
    hidden = base((await page.ask(f"/tasks/{ref}")).text, "edit")
    typed = hidden | {"do": "edit", "title": "Write to Ana", "due": "", "estimate_minutes": ""}
    typed |= {"category": "Family", "labels": "home, sweet\r\npost\r\n"}
    await page.follow(await page.ask(f"/tasks/{ref}", typed))
    task = await page.shown(ref)
    assert (task.category, sorted(task.labels)) == ("Family", ["home, sweet", "post"])


async def test_a_refused_note_of_several_lines_stays_as_it_was_typed(page: TaskPage) -> None:
    ref = await page.task()
    object.__setattr__(page.services, "floor", DiskFloor(page.folder, 1 << 60))
    answer = await page.ask(f"/tasks/{ref}", {"do": "note", "note": "Two photos.\r\nBoth new."})
    assert answer.status == 409
    assert "Two photos.\nBoth new.\n</textarea>" in answer.text


async def test_a_conflict_is_settled_by_keeping_one_of_the_values(page: TaskPage) -> None:
    ref = await page.task()
    task = await page.shown(ref)
    for title in ("Write to Bea", "Write to Cleo"):
        edit = TaskEdit(title=title, base=task.vector_clock)
        await page.store.write(partial(task_use_cases.edit, ref=ref, change=edit))
    text = (await page.ask(f"/tasks/{ref}")).text
    assert "Devices changed this while apart" in text
    forms = [form for form in re.findall(r"<form.*?</form>", text, re.DOTALL) if 'value="keep"' in form]
    assert len(forms) == 2
    shown_first = "Write to Cleo" in forms[0]
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', forms[1]))
    keep = {"do": "keep"} | {name: value.replace("&#34;", '"') for name, value in hidden.items()}
    for wrong in ({"n": "0"}, {"n": "x"}, {"n": "\u00b2"}, {"base": "{"}):
        assert (await page.ask(f"/tasks/{ref}", keep | wrong)).status == 400
    assert (await page.ask(f"/tasks/{ref}", keep | {"n": "7"})).status == 409
    answer = await page.follow(await page.ask(f"/tasks/{ref}", keep))
    assert "Devices changed this while apart" not in answer.text
    task = await page.shown(ref)
    assert (task.title, task.conflicts) == ("Write to Bea" if shown_first else "Write to Cleo", [])
    # An old tab shows what was settled since.
    assert (await page.ask(f"/tasks/{ref}", keep)).status == 409
