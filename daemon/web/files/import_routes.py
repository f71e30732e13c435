"""The routes of an import: a file is sent, what it would bring is shown, and a second form imports it.

Never changes anything on a GET, and never writes what a person has not seen.
"""

from http import HTTPStatus
from typing import Any, Final

import msgspec
from aiohttp import web

from daemon.file_formats import JSON_LINES, endings, format_by_ending, is_known_by_name
from daemon.formats.core.importer import ImportResult
from daemon.formats.importing import FILE_BYTES_MAX, Imports, TextFile
from daemon.refusal import Refused
from daemon.text_files import NotUtf8, decode_utf8
from daemon.web.files.import_jobs import Failed, Imported, ImportJobs, Shown, Working
from daemon.web.files.upload import FileTooLarge, SentFile, read_file
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, sentence_text, shortfall_words
from daemon.web.services import PageServices
from daemon.words.imports import counts_words, progress_words, remark_lines, skipped_lines
from daemon.words.translation import _

PATH: Final = "/import"
FILE_PATH: Final = "/import/file"
NAME_CHARS_MAX: Final = 200
LINES_MAX: Final = 100


class _Unreadable(Exception):
    """A file that is not looked at: why, in words for a person."""


def routes(services: PageServices, imports: Imports) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Importing(services, imports)
    return [
        web.get(PATH, room.show),
        web.post(PATH, room.act),
        web.get(FILE_PATH, room.show),
        web.post(FILE_PATH, room.look),
    ]


class _Importing:
    def __init__(self, services: PageServices, imports: Imports) -> None:
        self._services = services
        self._jobs = ImportJobs(imports, services.now_ms())
        self._job = self._jobs.job

    async def show(self, request: web.Request) -> web.Response:
        """Show how the import stands; with `wait`, once it has ended, or after a moment."""
        if "wait" in request.query:
            await self._job.wait()
        if self._job.is_lost(request.query.get("job", "")) and self._job.stage is None:
            return await self._page(
                fault=_("Placet was started again before the file was through: choose it again")
            )
        return await self._page()

    async def look(self, request: web.Request) -> web.Response:
        """Take a file, and find out what it would bring."""
        try:
            sent = await read_file(request)
        except FileTooLarge:
            words = _("The file has more than {limit} MiB; nothing was imported").format(
                limit=FILE_BYTES_MAX >> 20
            )
            return await self._page(fault=words, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if self._job.is_working:
            return await self._page(fault=_("Another file is being imported: wait for its end"))
        try:
            self._jobs.look_at(_text_file(sent))
        except _Unreadable as unreadable:
            self._job.forget()
            return await self._page(fault=str(unreadable))
        return await self._redirect()

    async def act(self, request: web.Request) -> web.Response:
        """Import what was shown, look at it under another name or without what is faulty, or drop it."""
        form, stage = await read_form(request), self._job.stage
        deed, name = form.get("do", ""), form.get("name", "").strip()[:NAME_CHARS_MAX]
        if deed not in ("import", "drop", "skip"):
            raise refuse_form()
        wanted = Failed if deed == "skip" else Shown
        if not isinstance(stage, wanted) or form.get("file", "") != stage.digest or not stage.digest:
            words = _("This file is no longer at hand: choose it again")
            return await self._page(fault=words)
        if isinstance(stage, Failed):
            if stage.rest is not None:
                self._jobs.look_at(stage.rest)
        elif deed == "drop":
            self._job.forget()
        elif name and name != stage.file.name and is_known_by_name(stage.file.format):
            # Another name can be another list: what was shown is then not what would happen.
            self._job.forget()
            self._jobs.look_at(stage.file._replace(name=name))
        elif shortfall := shortfall_words(self._services):
            return await self._page(fault=shortfall)
        else:
            self._jobs.take(stage)
        return await self._redirect()

    async def _redirect(self) -> web.Response:
        """Show how the work stands after a moment."""
        await self._job.wait()
        address = f"{PATH}?job={self._job.mark}" if self._job.is_working else PATH
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": address})

    async def _page(self, fault: str = "", status: HTTPStatus | None = None) -> web.Response:
        after, stage = self._services.store.feed_end, self._job.stage
        return await page_answer(
            self._services,
            "files/import.html",
            status=status or (HTTPStatus.CONFLICT if fault else HTTPStatus.OK),
            room="tasks",
            after=after,
            fault=fault,
            mark=self._job.mark,
            endings=endings(lists_only=True),
            bytes_max=FILE_BYTES_MAX,
            working=self._progress() if isinstance(stage, Working) else None,
            shown=_preview_fields(stage) if isinstance(stage, Shown) else None,
            imported=_outcome_fields(stage) if isinstance(stage, Imported) else None,
            failed=_refusal_fields(stage) if isinstance(stage, Failed) else None,
        )

    def _progress(self) -> dict[str, Any] | None:
        progress, stage = self._jobs.progress(), self._job.stage
        if progress is None or not isinstance(stage, Working):
            return None
        return {
            "name": progress.name,
            "imports": stage.imports,
            "tasks": progress.tasks,
            "done": progress.done,
            "words": progress_words(progress.tasks, progress.done),
        }


def _text_file(sent: SentFile) -> TextFile:
    """Return the file as text, with its format. Raises _Unreadable."""
    if not sent.name:
        raise _Unreadable(_("No file was chosen"))
    format_ = format_by_ending(sent.name)
    if format_ is None:
        message = _("{file} has none of the endings {known}").format(
            file=sent.name, known=endings(lists_only=True)
        )
        raise _Unreadable(f"{message}; {_('nothing was imported')}")
    if format_ == JSON_LINES:
        raise _Unreadable(_("A whole journal (.jsonl) comes in by the command `placet import auto FILE`"))
    try:
        text = decode_utf8(sent.content)
    except NotUtf8 as fault:
        message = _("{where} is not UTF-8 at line {line}").format(where=sent.name, line=fault.line)
        raise _Unreadable(f"{message}; {_('save it as UTF-8, and choose it again')}") from fault
    if not text.strip():
        raise _Unreadable(f"{_('{where} is empty').format(where=sent.name)}; {_('nothing was imported')}")
    return TextFile(format_, sent.name, text)


def _preview_fields(shown: Shown) -> dict[str, Any]:
    result = shown.preview.result
    return {
        "file": shown.digest,
        "name": shown.file.name,
        "named": is_known_by_name(shown.file.format),
        "titles": shown.preview.titles,
        "has_more": result.tasks + result.updated + result.unchanged > len(shown.preview.titles),
        "brings": bool(result.tasks or result.updated),
        **_result_fields(result),
    }


def _outcome_fields(imported: Imported) -> dict[str, Any]:
    return {"name": imported.file.name, "change": imported.change, **_result_fields(imported.result)}


def _result_fields(result: ImportResult) -> dict[str, Any]:
    fields: Any = msgspec.to_builtins(result)
    lines = [*skipped_lines(fields["skipped"]), *remark_lines(fields)]
    return {
        "counts": counts_words(fields),
        "skipped": lines[:LINES_MAX],
        "left_out": max(0, len(lines) - LINES_MAX),
        "has_remarks": bool(result.remarks or result.gone),
    }


def _refusal_fields(failed: Failed) -> dict[str, Any]:
    if not isinstance(failed.refusal, Refused):
        return {"name": failed.name, "words": sentence_text(failed.refusal), "faults": [], "file": ""}
    faults = [
        _("line {number}: ").format(number=detail.line) * bool(detail.line) + sentence_text(detail.sentence)
        for detail in failed.refusal.details
    ]
    return {
        "name": failed.name,
        "words": refusal_words(failed.refusal),
        "faults": faults,
        "file": failed.digest,
    }
