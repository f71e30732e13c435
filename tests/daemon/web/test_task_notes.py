"""The notes of a task on its page: which are shown, and that hostile ones cost others nothing.

Never tests a note's Markdown: `test_note_markup.py` does.
"""

import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from daemon.journal import entries
from daemon.journal.entries import NewEntry
from daemon.web.frame.rendering import Renderer
from daemon.web.tasks import task_rows
from daemon.web.tasks.note_markup import CHARS_MAX, PAGE_CHARS_MAX
from daemon.web.tasks.task_rows import NOTES_SHOWN
from tests.daemon.web.task_page import TaskPage, task_page_of


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[TaskPage]:
    async with task_page_of(tmp_path) as page:
        yield page


async def test_an_old_note_that_evidence_names_is_on_the_page(page: TaskPage) -> None:
    ref, other = await page.task(), await page.task()
    for number in range(NOTES_SHOWN + 2):
        entry = NewEntry(f"Note {number}.", f"2026-01-01T00:00:{number:02}Z")
        await page.store.write(partial(entries.add, ref=ref, new=entry))
    task = await page.shown(ref)
    first, second = task.entries[:2]
    text = (await page.ask(f"/tasks/{ref}")).text
    assert ("Note 0." in text, "Note 2." in text, "Show 2 older notes" in text) == (False, True, True)
    named = await page.ask(f"/tasks/{ref}?note={first.id}")
    assert (f'id="n-{first.id}"' in named.text, "Note 1." in named.text) == (True, False)
    # A form keeps what is shown.
    path = f"/tasks/{ref}?note={first.id}"
    assert (await page.ask(path, {"do": "note", "note": "New"})).headers["Location"] == f"{path}#notes"
    everything = (await page.ask(f"/tasks/{ref}?notes=all")).text
    assert ("Note 0." in everything, "older note" in everything) == (True, False)
    await page.store.write(lambda tx: entries.remove(tx, second.id))
    removed = (await page.ask(f"/tasks/{ref}?note={second.id}")).text
    assert ("Note 1." in removed, "removed</span>" in removed) == (True, True)
    for wrong in (f"/tasks/{other}?note={first.id}", f"/tasks/{ref}?note={'0' * 32}", f"/tasks/{ref}?note=x"):
        answer = await page.ask(wrong)
        assert (answer.status, "Note 0." in answer.text) == (200, False)


async def test_notes_of_hostile_markdown_are_bounded_on_a_page_and_hold_up_nobody_else(
    page: TaskPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = await page.task()
    table = ("a|" * 300 + "\n" + "-|" * 300 + "\n" + "|\n" * CHARS_MAX)[:CHARS_MAX]
    links = "[a]: http://" + "x" * 2_400 + "\n\n" + "[a]" * 800
    for number in range(4):
        for text in (table, links, "- item\n" * 600):
            await page.store.write(
                partial(entries.add, ref=ref, new=NewEntry(f"{number}\n\n{text}"[:CHARS_MAX]))
            )
    threads = set[str]()

    def note_thread(*arguments: Any, **options: Any) -> Any:
        threads.add(threading.current_thread().name)
        return task_rows.page_of_task(*arguments, **options)

    monkeypatch.setattr("daemon.web.tasks.one_task.page_of_task", note_thread)
    shown = (await page.ask(f"/tasks/{ref}?notes=all")).text
    filled_on = set[str]()
    render = Renderer.render

    def note_filling(renderer: Renderer, template: str, **values: Any) -> str:
        filled_on.add(threading.current_thread().name)
        return render(renderer, template, **values)

    monkeypatch.setattr(Renderer, "render", note_filling)
    assert (await page.ask(f"/tasks/{ref}?notes=all")).text == shown
    assert filled_on
    assert threading.current_thread().name not in filled_on
    # Each note is there once to read and once in its form.
    assert len(shown) < PAGE_CHARS_MAX + 12 * 2 * 4 * CHARS_MAX
    assert threads
    assert all(name.startswith("store-reader") for name in threads)
