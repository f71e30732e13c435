"""Undo on the page: the notice that follows a form, what was left, and the list of what was removed.

Never looks at what an undo writes: the journal's own tests do.
"""

import json
import re
from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome, decision_result
from daemon.agents.person.undo_of_change import UndoResult
from daemon.browser_access import COOKIE
from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.web.history.removed_rows import left_lines
from store.sentence import sentence
from tests.daemon.web.conftest import PageAnswer
from tests.daemon.web.task_page import TaskPage, task_page_of

pytestmark = pytest.mark.asyncio


class Browser:
    """A browser that keeps the cookie of what was done, follows redirections and runs no script."""

    def __init__(self, page: TaskPage) -> None:
        self.page = page
        self.cookie = ""

    async def ask(self, path: str, form: Any = None, headers: dict[str, str] | None = None) -> PageAnswer:
        sent = {"Cookie": "; ".join(filter(None, [f"{COOKIE}={self.page.token}", self.cookie]))}
        answer = await self.page.ask(path, form, headers={**sent, **(headers or {})})
        kept = SimpleCookie(answer.headers.get("Set-Cookie", "")).get("placet_deed")
        if kept is not None:
            self.cookie = f"placet_deed={kept.value}" if kept.value else ""
        if answer.status == 303:
            return await self.ask(answer.headers["Location"].partition("#")[0])
        return answer

    async def set_status(self, task: str, status: str) -> PageAnswer:
        return await self.ask(f"/tasks/{task}", await self.status_form(task, status))

    async def status_form(self, task: str, status: str) -> dict[str, str]:
        base = json.dumps((await self.page.shown(task)).vector_clock)
        return {"do": "status", "status": status, "base": base}

    async def press_undo(self, answer: PageAnswer) -> PageAnswer:
        fields = dict(re.findall(r'name="(change|back)" value="([^"]*)"', answer.text))
        return await self.ask("/undo", fields)


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    async with task_page_of(tmp_path) as page:
        yield Browser(page)


def notice_of(answer: PageAnswer) -> str:
    """Return the words of the notice, with its button; empty if the page has none."""
    part = re.search(r'<div class="told" id="deed".*?</div>', answer.text, re.DOTALL)
    return "" if part is None else " ".join(re.sub(r"<[^>]*>", " ", part[0]).split())


async def new_task(browser: Browser, title: str = "Call Ana") -> str:
    return (await browser.page.store.write(lambda tx: tasks.add(tx, NewTask(title=title)))).id


async def test_a_form_is_followed_by_a_notice_that_undoes_and_redoes(browser: Browser) -> None:
    task = await new_task(browser)
    address = f"/tasks/{task}"
    done = await browser.set_status(task, "DONE")
    assert notice_of(done) == "Done: Call Ana Undo Dismiss"
    # It was shown, and is used up.
    assert notice_of(await browser.ask(address)) == ""
    undone = await browser.press_undo(done)
    assert notice_of(undone) == "Undone: Call Ana Redo Dismiss"
    assert (await browser.page.shown(task)).status == "OPEN"
    redone = await browser.press_undo(undone)
    assert notice_of(redone) == "Done: Call Ana Undo Dismiss"
    assert (await browser.page.shown(task)).status == "DONE"


async def test_what_the_page_fetches_by_itself_uses_up_no_notice(browser: Browser) -> None:
    task = await new_task(browser)
    await browser.page.ask(f"/tasks/{task}", {"do": "note", "note": "By phone"})
    answer = await browser.page.ask(f"/tasks/{task}", {"do": "note", "note": "On Monday"})
    browser.cookie = f"placet_deed={SimpleCookie(answer.headers['Set-Cookie'])['placet_deed'].value}"
    for headers in ({"Placet-Refresh": "yes"}, {"Placet-Place": "/elsewhere"}):
        assert notice_of(await browser.ask(f"/tasks/{task}", headers=headers)) == ""
    assert notice_of(await browser.ask(f"/tasks/{task}")).startswith("Added: On Monday")


async def test_a_packed_script_that_is_asked_for_meanwhile_comes_whole(browser: Browser) -> None:
    browser.cookie = "placet_deed=12-abcdef"
    script = f"{browser.page.services.renderer.static_root}/page.js"
    answer = await browser.ask(script, headers={"Accept-Encoding": "gzip"})
    assert (answer.status, "placet" in answer.text) == (200, True)


@pytest.mark.parametrize("cookie", ["x", "1-abcd", "9" * 500, "12-abcdef+13-abcdef", "<b>"])
async def test_a_cookie_that_names_nothing_shows_nothing(browser: Browser, cookie: str) -> None:
    browser.cookie = f"placet_deed={cookie}"
    answer = await browser.ask("/tasks")
    assert (answer.status, notice_of(answer)) == (200, "")


async def test_what_was_changed_since_is_left_and_said(browser: Browser) -> None:
    task = await new_task(browser)
    done = await browser.set_status(task, "DONE")
    await browser.page.store.write(lambda tx: tasks.edit(tx, task, TaskEdit(status="OPEN")))
    left = await browser.press_undo(done)
    assert left.status == 409
    assert "Not undone" in left.text
    # It follows nothing, and its address is no page to be asked for again and again.
    assert 'data-follows="none"' in left.text
    assert (await browser.page.ask("/undo")).headers["Location"] == "/"
    assert "“Call Ana”, status: it was changed since" in re.sub(r"</?bdi>", "", left.text)


@pytest.mark.parametrize("back", ["//example.net", "https://example.net", "/\\example.net", "tasks", "/a\nb"])
async def test_an_undo_leads_to_no_other_site(browser: Browser, back: str) -> None:
    task = await new_task(browser)
    answer = await browser.page.ask(f"/tasks/{task}", await browser.status_form(task, "DONE"))
    change = answer.headers["Placet-Change"]
    answer = await browser.page.ask("/undo", {"change": change, "back": back})
    assert (answer.status, answer.headers["Location"]) == (303, "/")


async def test_a_change_that_is_not_there_is_said(browser: Browser) -> None:
    answer = await browser.ask("/undo", {"change": "7-abcdef", "back": "/tasks"})
    assert answer.status == 409
    assert "no change matches" in answer.text


async def test_what_is_removed_on_a_task_is_listed_and_comes_back(browser: Browser) -> None:
    task = await new_task(browser)
    note = await browser.page.store.write(
        lambda tx: entries.add(tx, task, NewEntry(text="It takes an hour."))
    )
    answer = await browser.ask(f"/tasks/{task}", {"do": "remove", "thing": note.id})
    assert notice_of(answer).startswith("Removed: It takes an hour.")
    removed = await browser.ask("/removed")
    assert "It takes an hour." in removed.text
    assert f'value="{note.id}"' in removed.text
    back = await browser.ask("/removed", {"thing": note.id})
    assert notice_of(back).startswith("Brought back: It takes an hour.")
    assert "Nothing is removed" in back.text


async def test_a_task_that_is_removed_can_be_brought_back_by_the_notice(browser: Browser) -> None:
    task = await new_task(browser)
    gone = await browser.ask(f"/tasks/{task}", {"do": "remove", "thing": task})
    assert "No task is open" in gone.text
    assert notice_of(gone).startswith("Removed: Call Ana Undo")
    assert notice_of(await browser.press_undo(gone)).startswith("Undone: Call Ana Redo")
    assert (await browser.ask(f"/tasks/{task}")).status == 200


async def test_a_part_of_a_removed_task_has_no_button(browser: Browser) -> None:
    task = await new_task(browser)
    note = await browser.page.store.write(lambda tx: entries.add(tx, task, NewEntry(text="Look it up")))
    for thing in (note.id, task):
        await browser.page.ask(f"/tasks/{task}", {"do": "remove", "thing": thing})
    listed = await browser.ask("/removed")
    assert "What it belongs to was removed too" in listed.text
    assert f'name="thing" value="{note.id}"' not in listed.text
    refused = await browser.ask("/removed", {"thing": note.id})
    assert refused.status == 409


async def test_a_verdict_that_stands_is_said_with_what_was_left() -> None:
    results = [
        decision_result("ab" * 16, "rejected", DecisionOutcome.APPLIED, sentence("gone", "taken back")),
        decision_result("cd" * 16, "confirmed", DecisionOutcome.CONFLICT, sentence("late", "it was used")),
    ]
    assert left_lines(UndoResult(change="7-abcd", undo=None, verdicts=tuple(results))) == ["it was used"]
