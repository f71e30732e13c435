"""Importing a file on the page, by plain forms: what is shown first, what comes in, and what is refused.

Never drops a file: tests/e2e/page/test_page_first_run.py does.
"""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from datetime import UTC
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from daemon.disk import DiskFloor
from daemon.formats.core.importer import PART_ELEMENTS
from daemon.formats.importing import Imports
from daemon.web import page_job
from daemon.web.files import import_jobs, import_routes, upload
from daemon.web.frame.rendering import Renderer
from daemon.words.translation import use_language
from tests.daemon.web.conftest import Page, PageAnswer

HOSTILE = "<img src=x onerror=alert(1)> \u202egnp.exe {{ 7*7 }}"
LIST = "# Call <b>Ana</b>\n\nwords\n\n# Rake\n\n- [ ] leaves\n"
SECTIONS = 3 * PART_ELEMENTS
LONG = "".join(f"# Task {n}\n\nwords\n\n" for n in range(SECTIONS))


class ImportPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        return import_routes.routes(self.services, Imports(self.store, lambda: UTC, self.now_ms))

    async def send(self, content: str | bytes = LIST, name: str = "TODO.md") -> PageAnswer:
        """Send a file as the form does."""
        form = aiohttp.FormData()
        raw = content.encode() if isinstance(content, str) else content
        form.add_field("file", BytesIO(raw), filename=name)
        return await self.ask("/import/file", form)

    async def until_ended(self) -> str:
        """Return the page once the work has ended."""
        while True:
            text = (await self.ask("/import?wait=1")).text
            if 'id="working"' not in text:
                return text

    async def shown(self, content: str | bytes = LIST, name: str = "TODO.md") -> dict[str, str]:
        """Send a file; return what the form of its picture would send."""
        assert (await self.send(content, name)).status == 303
        token = re.search(r'name="file" value="([0-9a-f]{64})"', await self.until_ended())
        assert token
        return {"do": "import", "file": token[1], "name": name}

    async def titles(self) -> list[str]:
        tasks = await self.store.read(lambda snapshot: snapshot.entities("task"))
        return sorted(str(task.value("title")) for task in tasks)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[ImportPage]:
    page = ImportPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


async def test_a_file_is_shown_and_comes_in_by_a_second_form(page: ImportPage):
    assert 'enctype="multipart/form-data"' in (await page.ask("/import")).text
    form = await page.shown()
    text = (await page.ask("/import")).text
    assert "Would import 2 tasks, 1 checklist item, 1 note" in text
    assert "Call &lt;b&gt;Ana&lt;/b&gt;" in text
    assert await page.commits() == 0
    assert (await page.ask("/import", form)).status == 303
    assert "Imported 2 tasks" in await page.until_ended()
    assert await page.titles() == ["Call <b>Ana</b>", "Rake"]
    assert (
        "nothing, 2 unchanged" in (await page.ask("/import", await page.shown()), await page.until_ended())[1]
    )


async def test_an_import_that_came_in_is_undone_as_a_whole_by_its_own_button(page: ImportPage):
    answer = await page.ask("/import", await page.shown(LONG))
    # An answer that comes before the end would name a part of what is still coming in.
    assert "Placet-Change" not in answer.headers
    text = await page.until_ended()
    assert len(await page.titles()) == SECTIONS
    form = dict(re.findall(r'name="(change|back)" value="([^"]*)"', text))
    assert (await page.ask("/undo", form)).headers["Location"] == "/tasks"
    assert await page.titles() == []


async def test_an_import_that_changed_nothing_has_no_undo(page: ImportPage):
    pages = [(await page.ask("/import", await page.shown()), await page.until_ended())[1] for _ in range(2)]
    assert ['name="change"' in text for text in pages] == [True, False]


async def test_what_is_left_out_is_told_with_the_reason(page: ImportPage):
    calendar = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nEND:VEVENT\r\n"
        f"BEGIN:VTODO\r\nUID:2\r\nSUMMARY:{HOSTILE}\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
    )
    form = await page.shown(calendar, "tasks.ics")
    await page.ask("/import", form)
    text = html.unescape(await page.until_ended())
    assert "Left out:" in text
    assert "1 VEVENT" in text
    assert "<img" not in (await page.ask("/import")).text


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"one\ncaf\xe9\n", "todo.txt", "todo.txt is not UTF-8 at line 2; save it as UTF-8"),
        (b"\xff\xd8\xff", "photo.jpg", "photo.jpg has none of the endings .ics, .md"),
        (b" \n", "todo.txt", "todo.txt is empty; nothing was imported"),
        (b"{}", "all.jsonl", "placet import auto FILE"),
        (b"", "", "No file was chosen"),
        (b"x", "C:\\lists\\" + HOSTILE, "has none of the endings"),
    ],
)
async def test_a_wrong_file_gets_a_sentence_and_nothing_is_done(
    page: ImportPage, content: bytes, name: str, words: str
):
    answer = await page.send(content, name)
    assert answer.status == 409
    assert words in html.unescape(answer.text)
    assert "<img" not in answer.text
    assert "\u202e" not in answer.text
    assert await page.commits() == 0


async def test_a_file_with_faults_names_each_and_brings_nothing(page: ImportPage):
    text = '{"uuid": 1}\n{"uuid": "a", "description": "x", "status": "<b>odd"}\n'
    await page.send(text, "tasks.json")
    shown = await page.until_ended()
    assert "nothing was imported: the file has 2 faults" in shown
    assert "line 2: " in shown
    assert "&lt;b&gt;odd" in shown
    assert await page.commits() == 0


async def test_a_file_can_come_in_without_what_is_faulty_once_a_person_has_seen_it(page: ImportPage):
    await page.send("rake\ndig due:2026-02-31\n", "todo.txt")
    refused = await page.until_ended()
    assert "--skip-faulty" not in refused
    token = re.search(r'name="file" value="([0-9a-f]{64})"', refused)
    assert token
    assert (await page.ask("/import", {"do": "import", "file": token[1]})).status == 409
    assert (await page.ask("/import", {"do": "skip", "file": "0" * 64})).status == 409
    assert (await page.ask("/import", {"do": "skip", "file": token[1]})).status == 303
    shown = await page.until_ended()
    assert "Would import 1 task" in shown
    assert "left out, since it is faulty: line 2: " in shown
    assert await page.commits() == 0
    form = re.search(r'name="file" value="([0-9a-f]{64})"', shown)
    assert form
    assert (await page.ask("/import", {"do": "import", "file": form[1], "name": "todo.txt"})).status == 303
    assert "Imported 1 task" in await page.until_ended()
    assert await page.titles() == ["rake"]


@pytest.mark.parametrize("language", ["de", "es", "fr", "ro"])
async def test_a_wrong_file_is_told_in_the_language_of_the_person(page: ImportPage, language: str):
    english = (await page.send(b"caf\xe9\n", "todo.txt")).text
    object.__setattr__(page.services, "renderer", Renderer(language))
    try:
        text = (await page.send(b"caf\xe9\n", "todo.txt")).text
    finally:
        use_language("en")
    (fault,) = re.findall(r'role="alert"><bdi>([^<]+)', text)
    assert "todo.txt" in fault
    assert "UTF-8" in fault
    assert fault not in english


async def test_a_yes_counts_only_for_the_file_that_was_shown(page: ImportPage):
    old = await page.shown("# Old\n\nwords\n")
    new = await page.shown("# New\n\nwords\n")
    answer = await page.ask("/import", old)
    assert (answer.status, "no longer at hand" in answer.text) == (409, True)
    assert await page.titles() == []
    await page.ask("/import", new)
    await page.until_ended()
    assert await page.titles() == ["New"]
    assert (await page.ask("/import", new)).status == 409


async def test_another_name_is_another_list_and_is_shown_first(page: ImportPage):
    await page.ask("/import", await page.shown())
    await page.until_ended()
    form = await page.shown()
    await page.ask("/import", {**form, "name": "garden"})
    text = await page.until_ended()
    assert "Would import 2 tasks" in text
    assert len(await page.titles()) == 2
    token = re.search(r'name="file" value="([0-9a-f]{64})"', text)
    assert token
    await page.ask("/import", {"do": "import", "file": token[1], "name": "garden"})
    await page.until_ended()
    assert len(await page.titles()) == 4


async def test_a_file_that_is_not_wanted_is_dropped(page: ImportPage):
    form = await page.shown()
    assert (await page.ask("/import", {**form, "do": "drop"})).status == 303
    assert "Call" not in (await page.ask("/import")).text
    assert (await page.ask("/import", form)).status == 409


async def test_nothing_is_imported_with_a_full_disk_but_a_file_is_shown(page: ImportPage):
    object.__setattr__(page.services, "floor", DiskFloor(page.folder, 1 << 60))
    form = await page.shown()
    answer = await page.ask("/import", form)
    assert (answer.status, "MiB are free" in answer.text) == (409, True)
    assert "Would import 2 tasks" in answer.text
    assert await page.commits() == 0


async def test_a_long_import_says_how_far_it_is_and_takes_no_other_meanwhile(
    page: ImportPage, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(page_job, "WAIT_S", 0.01)
    form = await page.shown(LONG)
    first = asyncio.Event()
    page.store.on_commit.append(first.set)
    await page.ask("/import", form)
    await first.wait()
    text = (await page.ask("/import")).text
    assert f'max="{SECTIONS}"' in text
    assert 'http-equiv="refresh"' in text
    refused = await page.send("# Other\n\nwords\n")
    assert (refused.status, "Another file is being imported" in refused.text) == (409, True)
    assert f"Imported {SECTIONS} tasks" in await page.until_ended()
    assert (await page.ask("/import?wait=1")).status == 200


async def test_a_file_is_not_kept_for_ever(page: ImportPage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(import_jobs, "KEPT_S", 0.0)
    await page.send()
    assert "TODO.md" not in await page.until_ended()


async def test_a_file_beyond_the_limit_is_told_so(page: ImportPage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(upload, "FILE_BYTES_MAX", 3 << 20)
    fits = b"a" * (2 << 20)
    assert (await page.send(fits, "todo.txt")).status == 303
    await page.until_ended()
    answer = await page.send(b"a" * (4 << 20), "todo.txt")
    assert (answer.status, "more than" in answer.text) == (413, True)


def body(*parts: tuple[str, bytes], end: bytes = b"--") -> bytes:
    sent = b"".join(b"--x\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n" for head, content in parts)
    return sent + b"--x" + end + b"\r\n"


FILE = 'Content-Disposition: form-data; name="file"; filename="todo.txt"'
MULTIPART = "multipart/form-data; boundary=x"


@pytest.mark.parametrize(
    ("media", "sent"),
    [
        (MULTIPART, b""),
        (MULTIPART, b"--x--\r\n"),
        (MULTIPART, body((FILE, b"rake"), end=b"")),
        (MULTIPART, b"before" + body((FILE, b"rake"))),
        (MULTIPART, body(('Content-Disposition: form-data; name="file"', b"rake"))),
        (MULTIPART, body(('Content-Disposition: form-data; name="other"; filename="a.txt"', b"rake"))),
        (MULTIPART, body(("Content-Type: text/plain", b"rake"))),
        (MULTIPART, body((FILE + "a" * 3000, b"rake"))),
        (MULTIPART, body(*[('Content-Disposition: form-data; name="a"', b"")] * 9, (FILE, b"rake"))),
        (MULTIPART, b"--x\r\n" + FILE.encode()),
        ("multipart/form-data", body((FILE, b"rake"))),
        ("multipart/form-data; boundary=\u00e9", body((FILE, b"rake"))),
        ("application/x-www-form-urlencoded", b"file=rake"),
        ("text/plain", body((FILE, b"rake"))),
    ],
)
async def test_a_body_that_no_form_sends_is_refused(page: ImportPage, media: str, sent: bytes):
    answer = await page.ask("/import/file", sent, headers={"Content-Type": media})
    assert answer.status == 400
    assert await page.commits() == 0


async def test_what_looks_like_a_boundary_in_the_middle_of_a_line_is_text(page: ImportPage):
    sent = body((FILE, "rake --x leaves\n--y\r\ncafé".encode()))
    assert (await page.ask("/import/file", sent, headers={"Content-Type": MULTIPART})).status == 303
    assert "Would import 3 tasks" in await page.until_ended()


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Cookie": None}])
async def test_a_file_comes_only_from_the_page_of_a_browser_that_is_signed_in(
    page: ImportPage, headers: dict[str, str | None]
):
    form = aiohttp.FormData()
    form.add_field("file", b"rake", filename="rake.txt")
    assert (await page.ask("/import/file", form, headers=headers)).status in (401, 403)
    assert "rake.txt" not in (await page.ask("/import")).text


async def test_a_form_that_means_nothing_is_refused(page: ImportPage):
    form: dict[str, Any] = await page.shown()
    assert (await page.ask("/import", {**form, "do": "format"})).status == 400
