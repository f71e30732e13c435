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
from daemon.control.routes.transfers import exports, jsonl_import
from daemon.control.routes.transfers.exports import ExportRoutes
from daemon.control.routes.transfers.jsonl_import import JsonlImportRoutes
from daemon.control.spool import MEMORY_BYTES, Spool
from daemon.disk import DiskFloor
from daemon.formats.jsonl import reader
from daemon.journal.references.change_names import CHANGE_HEADER
from daemon.refusal import RefusalCode, Refused
from tests.daemon.control.conftest import Api

LONG = "word " * 20_000


def folder_in(folder: Path, name: str) -> Path:
    path = folder / name
    path.mkdir()
    return path


async def with_files(folder: Path, floor: int = 0) -> Api:
    api = Api(folder, [])
    api.floor = floor
    room = DiskFloor(folder, floor)
    api.routes += ExportRoutes(api.store, folder, room, lambda: UTC).routes()
    api.routes += JsonlImportRoutes(api.store, folder, room).routes()
    await api.start()
    return api


@pytest.fixture
async def source_api(tmp_path: Path) -> AsyncIterator[Api]:
    api = await with_files(folder_in(tmp_path, "here"))
    yield api
    await api.stop()


@pytest.fixture
async def target_api(tmp_path: Path) -> AsyncIterator[Api]:
    api = await with_files(folder_in(tmp_path, "there"))
    yield api
    await api.stop()


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


def stripped(answer: Any) -> Any:
    """Take out the clocks, which name commits of one journal."""
    if isinstance(answer, dict):
        return {key: stripped(nested) for key, nested in answer.items() if key != "vector_clock"}
    return [stripped(nested) for nested in answer] if isinstance(answer, list) else answer


async def dialled(api: Api) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with paths.short_address(str(api.path)) as address:
        return await asyncio.open_unix_connection(address)


async def test_a_journal_goes_from_one_store_to_another_and_out_again(source_api: Api, target_api: Api):
    await filled(source_api)
    raw = await fetched(source_api)
    status, answer = await sent(target_api, raw)
    assert (status, answer["tasks"], answer["checklist_items"], answer["others"]) == (200, 1, 1, 2)
    assert await fetched(target_api) == raw
    tasks = [(await api.ask("GET", "/v1/tasks/passport")).json for api in (source_api, target_api)]
    assert stripped(tasks[0]) == stripped(tasks[1])
    commits = await target_api.commits()
    assert (await sent(target_api, raw))[1]["unchanged"] == 4
    assert await target_api.commits() == commits


async def test_an_import_names_its_change_and_the_same_file_again_names_none(
    source_api: Api, target_api: Api
):
    await filled(source_api)
    raw = await fetched(source_api)
    async with target_api.session.post("/v1/import/jsonl", data=raw) as response:
        change = response.headers[CHANGE_HEADER]
    async with target_api.session.post("/v1/import/jsonl", data=raw) as response:
        assert CHANGE_HEADER not in response.headers
    assert (await target_api.ask("POST", "/v1/undo", {"change": change})).json["left"] == []
    assert (await target_api.ask("GET", "/v1/tasks")).json == []


async def test_a_format_that_is_not_known_is_refused_with_those_that_are(source_api: Api):
    refused = await source_api.ask("GET", "/v1/export?format=word")
    assert (refused.status, refused.code) == (400, "usage")
    assert "markdown" in refused.json["error"]["hint"]


class Watched:
    """Says when a file begins to be sent, and when that has ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self._send = exports._send_file
        monkeypatch.setattr(exports, "_send_file", self._sent)

    async def _sent(self, request: Any, spool: Any, headers: Any) -> Any:
        self.begun.set()
        try:
            return await self._send(request, spool, headers)
        finally:
            self.ended.set()


async def test_a_client_that_stalls_holds_no_snapshot(source_api: Api, monkeypatch: pytest.MonkeyPatch):
    await filled(source_api, notes=40)
    watched = Watched(monkeypatch)
    _, writer = await dialled(source_api)
    writer.write(b"GET /v1/export?format=jsonl HTTP/1.0\r\n\r\n")
    await watched.begun.wait()
    await source_api.ask("POST", "/v1/tasks", {"title": "Meanwhile"})
    # A reader that was left open would keep the write-ahead log from being folded in whole.
    folded = source_api.store._store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not watched.ended.is_set()
    assert folded is not None
    assert folded[0] == 0
    writer.transport.abort()
    await watched.ended.wait()


async def test_a_client_that_does_not_read_on_is_cut_short_of_the_length(
    source_api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exports, "WRITE_WITHIN_S", 0.05)
    await filled(source_api, notes=40)
    watched = Watched(monkeypatch)
    reader, writer = await dialled(source_api)
    writer.write(b"GET /v1/export?format=jsonl HTTP/1.0\r\n\r\n")
    await watched.ended.wait()
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    length = next(int(line.split()[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
    assert 0 < len(body) < length
    writer.close()


@pytest.mark.parametrize("dry", ["", "?dry_run=1"])
async def test_a_file_with_faults_brings_nothing_and_names_each_line(
    source_api: Api, target_api: Api, dry: str
):
    await filled(source_api)
    lines = (await fetched(source_api)).splitlines(keepends=True)
    lines[1] = b"{}\n"
    lines[3] = re.sub(rb'"made":\d', b'"made":9', lines[3])
    status, answer = await sent(target_api, b"".join(lines), dry)
    assert (status, answer["error"]["code"]) == (422, "failed")
    assert [detail["line"] for detail in answer["error"]["details"]] == [2, 4]
    assert await target_api.commits() == 0


async def test_a_file_that_was_cut_off_brings_nothing(source_api: Api, target_api: Api):
    await filled(source_api)
    raw = await fetched(source_api)
    cut = raw[: raw.rindex(b"\n", 0, -1) + 1]
    status, answer = await sent(target_api, cut)
    assert (status, "cut off" in answer["error"]["details"][0]["message"]) == (422, True)
    assert await target_api.commits() == 0


async def test_a_client_that_goes_half_way_brings_nothing(source_api: Api, target_api: Api):
    await filled(source_api)
    raw = await fetched(source_api)
    _, writer = await dialled(target_api)
    head = f"POST /v1/import/jsonl HTTP/1.0\r\nContent-Length: {len(raw) + 9}\r\n\r\n"
    writer.write(head.encode() + raw)
    await writer.drain()
    writer.transport.abort()
    # Imports run one after the other: once this one is through, the other has been dropped.
    assert (await sent(target_api, raw, "?dry_run=1"))[0] == 200
    assert await target_api.commits() == 0


async def test_a_dry_run_says_what_would_come(source_api: Api, target_api: Api):
    await filled(source_api)
    assert (await sent(target_api, await fetched(source_api), "?dry_run=1"))[1]["tasks"] == 1
    assert await target_api.commits() == 0


async def test_below_the_floor_of_free_space_nothing_is_taken_but_a_small_export_goes(tmp_path: Path):
    api = await with_files(tmp_path, floor=1 << 62)
    assert (await sent(api, b""))[1]["error"]["code"] == "disk"
    assert (await fetched(api)).count(b"\n") == 2
    await api.stop()


def test_a_large_file_is_refused_before_it_takes_the_room_that_writes_need(tmp_path: Path):
    with Spool(tmp_path, DiskFloor(tmp_path, 1 << 62)) as spool:
        spool.append(bytes(MEMORY_BYTES))
        with pytest.raises(Refused) as refused:
            spool.append(b"x")
    assert refused.value.code is RefusalCode.DISK


def test_a_large_file_has_no_name_in_the_folder(tmp_path: Path):
    with Spool(tmp_path, DiskFloor(tmp_path, 0)) as spool:
        for _ in range(2):
            spool.append(bytes(MEMORY_BYTES))
        assert list(tmp_path.iterdir()) == []
        spool.rewind()
        assert len(spool.read(1 << 30)) == 2 * MEMORY_BYTES


async def test_an_import_that_the_disk_ends_half_way_goes_on_where_it_was(
    source_api: Api, target_api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reader, "PART_ENTITIES", 300)
    text = "".join(f'{{"title": "Task {n}"}}\n' for n in range(900))
    for line in text.splitlines():
        await source_api.ask("POST", "/v1/tasks", json.loads(line))
    raw = await fetched(source_api)

    def bound(tx: Any) -> None:
        (pages,) = tx.db.execute("PRAGMA page_count").fetchone()
        tx.db.execute(f"PRAGMA max_page_count = {pages + 150}")

    await target_api.store.write(bound)
    status, answer = await sent(target_api, raw)
    assert (status, answer["error"]["code"]) == (422, "partly")
    count = len(await target_api.store.read(lambda snapshot: snapshot.entities("task")))
    assert 0 < count < 900
    await target_api.store.write(lambda tx: tx.db.execute("PRAGMA max_page_count = 1000000").fetchall())
    answer = (await sent(target_api, raw))[1]
    assert (answer["tasks"], answer["unchanged"]) == (900 - count, count)
    assert await fetched(target_api) == raw


async def test_of_very_many_left_out_the_first_are_named(
    source_api: Api, target_api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jsonl_import, "SKIPPED_MAX", 1)
    await filled(source_api)
    lines = (
        (await fetched(source_api)).replace(b'"kind":"label"', b'"kind":"device"').splitlines(keepends=True)
    )
    lines = [line.replace(b'"kind":"task"', b'"kind":"device"') for line in lines]
    skipped = (await sent(target_api, b"".join(lines)))[1]["skipped"]
    assert [skipped_line["what"] for skipped_line in skipped][1:] == ["1 more"]
    assert "roster" in skipped[0]["why"]
