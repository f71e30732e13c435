"""Imports as requests: what they hold up, what ends them, and how they fail.

Never waits for time to pass: the first commit says that an import is under way.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from daemon.control.routes.transfers import imports
from daemon.formats.core.importer import PART_ELEMENTS
from daemon.formats.importing import Imports
from tests.daemon.control.conftest import Answer, Api
from tests.support.fleet import START_MS

SECTIONS = 6 * PART_ELEMENTS
LONG = "".join(f"# Task {n}\n\nwords\n\n" for n in range(SECTIONS))


@pytest.fixture
async def importing(tmp_path: Path) -> AsyncIterator[Api]:
    api = Api(tmp_path, [])
    api.routes += imports.routes(Imports(api.store, lambda: UTC, lambda: START_MS))
    await api.start()
    yield api
    await api.stop()


def request(text: str = LONG, format_: str = "markdown", **more: Any) -> dict[str, Any]:
    return {"format": format_, "name": "todo", "text": text, **more}


async def started_import(api: Api) -> "asyncio.Task[Answer]":
    """Send a long import; return once its first part is in."""
    first = asyncio.Event()
    api.store.on_commit.append(first.set)
    sent = asyncio.create_task(api.ask("POST", "/v1/import", request()))
    await first.wait()
    return sent


async def test_other_writes_get_their_turn_during_a_long_import(importing: Api):
    sent = await started_import(importing)
    added = await importing.ask("POST", "/v1/tasks", {"title": "In between"})
    assert not sent.done()
    answer = await sent
    assert (answer.json["tasks"], answer.json["entries"]) == (SECTIONS, SECTIONS)
    newest = (await importing.ask("GET", "/v1/log?limit=1")).json
    assert added.json["id"] not in {change["entity"] for change in newest}
    assert (await importing.ask("POST", "/v1/import", request())).json["unchanged"] == SECTIONS


async def test_how_far_an_import_is_can_be_asked_meanwhile(importing: Api):
    sent = await started_import(importing)
    (answer,) = (await importing.ask("GET", "/v1/import")).json
    assert (answer["format"], answer["name"], answer["tasks"]) == ("markdown", "todo", SECTIONS)
    assert 0 <= answer["done"] < SECTIONS
    await sent
    assert (await importing.ask("GET", "/v1/import")).json == []


async def test_an_import_that_is_refused_is_no_longer_under_way(importing: Api):
    await importing.ask("POST", "/v1/import", request("{", "taskwarrior"))
    assert (await importing.ask("GET", "/v1/import")).json == []


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("todotxt", "(A) rake +garden\n"),
        ("icalendar", "BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:1\nEND:VTODO\nEND:VCALENDAR"),
    ],
)
async def test_lists_and_calendars_come_in_once(importing: Api, format_: str, text: str):
    assert (await importing.ask("POST", "/v1/import", request(text, format_))).json["tasks"] == 1
    again = (await importing.ask("POST", "/v1/import", request(text, format_))).json
    assert (again["tasks"], again["unchanged"]) == (0, 1)


async def test_an_import_that_the_disk_ends_half_way_says_how_far_it_came(importing: Api):
    def bound(tx: Any) -> None:
        (pages,) = tx.db.execute("PRAGMA page_count").fetchone()
        tx.db.execute(f"PRAGMA max_page_count = {pages + 150}")

    await importing.store.write(bound)
    refused = await importing.ask("POST", "/v1/import", request())
    assert (refused.status, refused.code) == (422, "partly")
    count = len(await importing.store.read(lambda snapshot: snapshot.entities("task")))
    assert 0 < count < SECTIONS
    assert f"{count} of the file's {SECTIONS} tasks" in refused.json["error"]["message"]
    assert "again" in refused.json["error"]["hint"]
    await importing.store.write(lambda tx: tx.db.execute("PRAGMA max_page_count = 1000000").fetchall())
    again = await importing.ask("POST", "/v1/import", request())
    assert (again.json["tasks"], again.json["unchanged"]) == (SECTIONS - count, count)


async def test_a_file_with_faults_is_refused_with_each_of_them(importing: Api):
    text = '{"uuid": 1}\n{"uuid": "a", "description": "x", "status": "odd"}\n'
    for dry_run in (False, True):
        refused = await importing.ask("POST", "/v1/import", request(text, "taskwarrior", dry_run=dry_run))
        assert (refused.status, refused.code) == (422, "failed")
        error = refused.json["error"]
        assert [detail["line"] for detail in error["details"]] == [1, 2]
        assert "odd" in error["details"][1]["message"]
        assert "nothing" in error["message"]
    assert await importing.commits() == 0


async def test_what_has_no_fault_comes_in_if_the_client_says_so(importing: Api):
    text = '{"uuid": 1}\n{"uuid": "a", "description": "x", "status": "pending"}\n'
    body = request(text, "taskwarrior") | {"skip_faulty": True}
    answer = (await importing.ask("POST", "/v1/import", body)).json
    assert (answer["tasks"], [faulty["line"] for faulty in answer["faulty"]]) == (1, [1])


async def test_a_dry_run_only_reads_also_below_the_floor(tmp_path: Path):
    api = Api(tmp_path, [])
    api.routes += imports.routes(Imports(api.store, lambda: UTC, lambda: START_MS))
    api.floor = 1 << 62
    await api.start()
    tried = await api.ask("POST", "/v1/import", request(dry_run=True), key="k")
    assert (tried.status, tried.json["tasks"]) == (200, SECTIONS)
    refused = await api.ask("POST", "/v1/import", request())
    assert (refused.status, refused.code) == (507, "disk")
    assert await api.commits() == 0
    await api.stop()
