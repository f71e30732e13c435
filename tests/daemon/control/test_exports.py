"""Files that leave and come back over the socket: their ends, their faults, and who they hold up.

Never waits for time to pass: what a client does says when.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from daemon import paths
from daemon.control import export_routes, lines_routes
from daemon.control.export_routes import Exports
from daemon.control.lines_routes import LinesImport
from daemon.control.spool import MEMORY_BYTES, Spool
from daemon.disk import Floor
from daemon.journal.errors import Code, Refused
from daemon.journal.imports import jsonl
from tests.daemon.control.conftest import Api

LONG = "word " * 20_000


def folder_in(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


async def with_files(folder: Path, floor: int = 0) -> Api:
    made = Api(folder, [])
    made.floor = floor
    room = Floor(folder, floor)
    made.routes += Exports(made.store, folder, room, UTC).routes()
    made.routes += LinesImport(made.store, folder, room).routes()
    await made.start()
    return made


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Api]:
    made = await with_files(folder_in(tmp_path, "here"))
    yield made
    await made.stop()


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Api]:
    made = await with_files(folder_in(tmp_path, "there"))
    yield made
    await made.stop()


async def fetched(api: Api, format_: str = "jsonl") -> bytes:
    async with api.session.get(f"/v1/export?format={format_}") as response:
        raw = await response.read()
        assert response.status == 200
        assert response.headers["Content-Length"] == str(len(raw))
        return raw


async def sent(api: Api, raw: bytes, query: str = "") -> tuple[int, Any]:
    async with api.session.post(f"/v1/import/jsonl{query}", data=raw) as response:
        return response.status, await response.json()


async def filled(api: Api, notes: int = 0) -> None:
    task = (await api.ask("POST", "/v1/tasks", {"title": "Passport", "labels": ["Home"]})).json["id"]
    await api.ask("POST", f"/v1/tasks/{task}/checklist", {"title": "Photos"})
    for _ in range(notes):
        await api.ask("POST", f"/v1/tasks/{task}/entries", {"text": LONG})


def stripped(told: Any) -> Any:
    """Take out the clocks, which name commits of one journal."""
    if isinstance(told, dict):
        return {key: stripped(one) for key, one in told.items() if key != "vector_clock"}
    return [stripped(one) for one in told] if isinstance(told, list) else told


async def dialled(api: Api) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with paths.short_address(str(api.path)) as address:
        return await asyncio.open_unix_connection(address)


async def test_a_journal_goes_from_one_store_to_another_and_out_again(here: Api, there: Api):
    await filled(here)
    raw = await fetched(here)
    status, answer = await sent(there, raw)
    assert (status, answer["tasks"], answer["checklist_items"], answer["others"]) == (200, 1, 1, 2)
    assert await fetched(there) == raw
    tasks = [(await api.ask("GET", "/v1/tasks/passport")).json for api in (here, there)]
    assert stripped(tasks[0]) == stripped(tasks[1])
    commits = await there.commits()
    assert (await sent(there, raw))[1]["unchanged"] == 4
    assert await there.commits() == commits


async def test_a_format_that_is_not_known_is_refused_with_those_that_are(here: Api):
    refused = await here.ask("GET", "/v1/export?format=word")
    assert (refused.status, refused.code) == (400, "usage")
    assert "markdown" in refused.json["error"]["hint"]


class Watched:
    """Says when a file begins to be sent, and when that has ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self._send = export_routes._sent
        monkeypatch.setattr(export_routes, "_sent", self._sent)

    async def _sent(self, request: Any, spool: Any) -> Any:
        self.begun.set()
        try:
            return await self._send(request, spool)
        finally:
            self.ended.set()


async def test_a_client_that_stalls_holds_no_snapshot(here: Api, monkeypatch: pytest.MonkeyPatch):
    await filled(here, notes=40)
    watched = Watched(monkeypatch)
    _, writer = await dialled(here)
    writer.write(b"GET /v1/export?format=jsonl HTTP/1.0\r\n\r\n")
    await watched.begun.wait()
    await here.ask("POST", "/v1/tasks", {"title": "Meanwhile"})
    # A reader that was left open would keep the write-ahead log from being folded in whole.
    folded = here.store._store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not watched.ended.is_set()
    assert folded is not None
    assert folded[0] == 0
    writer.transport.abort()
    await watched.ended.wait()


async def test_a_client_that_does_not_read_on_is_cut_short_of_the_length(
    here: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(export_routes, "WRITE_WITHIN_S", 0.05)
    await filled(here, notes=40)
    watched = Watched(monkeypatch)
    reader, writer = await dialled(here)
    writer.write(b"GET /v1/export?format=jsonl HTTP/1.0\r\n\r\n")
    await watched.ended.wait()
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    length = next(int(line.split()[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
    assert 0 < len(body) < length
    writer.close()


@pytest.mark.parametrize("dry", ["", "?dry_run=1"])
async def test_a_file_with_faults_brings_nothing_and_names_each_line(here: Api, there: Api, dry: str):
    await filled(here)
    lines = (await fetched(here)).splitlines(keepends=True)
    lines[1] = b"{}\n"
    lines[3] = re.sub(rb'"made":\d', b'"made":9', lines[3])
    status, answer = await sent(there, b"".join(lines), dry)
    assert (status, answer["error"]["code"]) == (422, "failed")
    assert [one["line"] for one in answer["error"]["details"]] == [2, 4]
    assert await there.commits() == 0


async def test_a_file_that_was_cut_off_brings_nothing(here: Api, there: Api):
    await filled(here)
    raw = await fetched(here)
    cut = raw[: raw.rindex(b"\n", 0, -1) + 1]
    status, answer = await sent(there, cut)
    assert (status, "cut off" in answer["error"]["details"][0]["message"]) == (422, True)
    assert await there.commits() == 0


async def test_a_client_that_goes_half_way_brings_nothing(here: Api, there: Api):
    await filled(here)
    raw = await fetched(here)
    _, writer = await dialled(there)
    head = f"POST /v1/import/jsonl HTTP/1.0\r\nContent-Length: {len(raw) + 9}\r\n\r\n"
    writer.write(head.encode() + raw)
    await writer.drain()
    writer.transport.abort()
    # Imports run one after the other: once this one is through, the other has been dropped.
    assert (await sent(there, raw, "?dry_run=1"))[0] == 200
    assert await there.commits() == 0


async def test_a_dry_run_says_what_would_come(here: Api, there: Api):
    await filled(here)
    assert (await sent(there, await fetched(here), "?dry_run=1"))[1]["tasks"] == 1
    assert await there.commits() == 0


async def test_below_the_floor_of_free_space_nothing_is_taken_but_a_small_export_goes(tmp_path: Path):
    api = await with_files(tmp_path, floor=1 << 62)
    assert (await sent(api, b""))[1]["error"]["code"] == "disk"
    assert (await fetched(api)).count(b"\n") == 2
    await api.stop()


def test_a_large_file_is_refused_before_it_takes_the_room_that_writes_need(tmp_path: Path):
    with Spool(tmp_path, Floor(tmp_path, 1 << 62)) as spool:
        spool.put(bytes(MEMORY_BYTES))
        with pytest.raises(Refused) as refused:
            spool.put(b"x")
    assert refused.value.code is Code.DISK


def test_a_large_file_has_no_name_in_the_folder(tmp_path: Path):
    with Spool(tmp_path, Floor(tmp_path, 0)) as spool:
        for _ in range(2):
            spool.put(bytes(MEMORY_BYTES))
        assert list(tmp_path.iterdir()) == []
        spool.rewind()
        assert len(spool.read(1 << 30)) == 2 * MEMORY_BYTES


async def test_an_import_that_the_disk_ends_half_way_goes_on_where_it_was(
    here: Api, there: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jsonl, "PART_ENTITIES", 300)
    text = "".join(f'{{"title": "Task {n}"}}\n' for n in range(900))
    for line in text.splitlines():
        await here.ask("POST", "/v1/tasks", json.loads(line))
    raw = await fetched(here)

    def bound(tx: Any) -> None:
        (pages,) = tx.db.execute("PRAGMA page_count").fetchone()
        tx.db.execute(f"PRAGMA max_page_count = {pages + 150}")

    await there.store.write(bound)
    status, answer = await sent(there, raw)
    assert (status, answer["error"]["code"]) == (422, "partly")
    held = len(await there.store.read(lambda snapshot: snapshot.entities("task")))
    assert 0 < held < 900
    await there.store.write(lambda tx: tx.db.execute("PRAGMA max_page_count = 1000000").fetchall())
    answer = (await sent(there, raw))[1]
    assert (answer["tasks"], answer["unchanged"]) == (900 - held, held)
    assert await fetched(there) == raw


async def test_of_very_many_left_out_the_first_are_named(
    here: Api, there: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lines_routes, "SKIPPED_MAX", 1)
    await filled(here)
    lines = (await fetched(here)).replace(b'"kind":"label"', b'"kind":"device"').splitlines(keepends=True)
    lines = [one.replace(b'"kind":"task"', b'"kind":"device"') for one in lines]
    skipped = (await sent(there, b"".join(lines)))[1]["skipped"]
    assert [one["what"] for one in skipped][1:] == ["1 more"]
    assert "roster" in skipped[0]["why"]
