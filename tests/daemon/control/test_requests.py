"""What the control API takes, refuses and answers.

Never calls a use case but through the socket.
"""

import asyncio
import gzip
import os
import socket
import stat
import zlib
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from daemon.control.health import this_device
from daemon.control.server import open_socket
from daemon.refusal import RefusalCode, Refused
from store.file.errors import DiskFull, ReadOnlyDatabase, StoreError, damaged_database
from store.sentence import foreign_text
from syncproto.errors import CommitTooLarge, LocalProtocolError
from tests.daemon.control.conftest import Api, Probe

TASK = {"title": "Renew the passport"}


async def test_a_task_goes_in_and_comes_out(api: Api):
    answer = await api.ask("POST", "/v1/tasks", TASK | {"labels": ["family"], "due": "2026-03-06"})
    assert answer.status == 201
    task = f"/v1/tasks/{answer.json['id']}"
    assert (await api.ask("POST", f"{task}/entries", {"text": "The photos are here"})).status == 201
    assert (await api.ask("POST", f"{task}/checklist", {"title": "Form"})).status == 201
    json = (await api.ask("GET", task)).json
    assert (json["labels"], json["due"]) == (["family"], "2026-03-06")
    assert [entry["text"] for entry in json["entries"]] == ["The photos are here"]
    item = json["checklists"][0]["items"][0]
    ticked = await api.ask("PATCH", f"/v1/checklist-items/{item['id'][:6]}", {"is_checked": True})
    assert (ticked.json["is_checked"], ticked.json["checked_by"]) == (True, "user")
    assert (await api.ask("POST", f"{task}/done", {})).json["status"] == "DONE"
    assert (await api.ask("GET", "/v1/tasks")).json == []
    assert len((await api.ask("GET", "/v1/tasks?all=1")).json) == 1
    assert (await api.ask("DELETE", task)).json["removed"]
    assert len((await api.ask("GET", "/v1/tasks?removed=true")).json) == 1
    assert not (await api.ask("POST", f"{task}/restore")).json["removed"]
    assert {change["kind"] for change in (await api.ask("GET", "/v1/log")).json} >= {
        "task",
        "entry",
        "label",
    }


async def test_days_and_lengths_are_taken_in_words_and_answered_strictly(api: Api):
    answer = await api.ask("POST", "/v1/tasks", TASK | {"due": "in zwei Wochen", "estimate_minutes": "1h30"})
    # The clock of these tests stands at Friday, 20 March 2026.
    assert (answer.json["due"], answer.json["estimate_minutes"]) == ("2026-04-03", 90)
    task = f"/v1/tasks/{answer.json['id']}"
    changed = await api.ask("PATCH", task, {"due": "vineri", "estimate_minutes": 20})
    assert (changed.json["due"], changed.json["estimate_minutes"]) == ("2026-03-27", 20)
    emptied = await api.ask("PATCH", task, {"due": "none", "estimate_minutes": None})
    assert (emptied.json["due"], emptied.json["estimate_minutes"]) == (None, None)
    for body in ({"due": "3/4"}, {"due": "soon"}, {"estimate_minutes": "long"}, {"estimate_minutes": "0"}):
        refused = await api.ask("PATCH", task, body)
        assert (refused.status, refused.code) == (400, "usage")
    assert (await api.ask("PATCH", task, {"due": "yesterday"})).json["due"] == "2026-03-19"


async def test_a_task_is_found_by_a_part_of_its_title_with_any_signs_in_it(api: Api):
    answer = await api.ask("POST", "/v1/tasks", {"title": "50 % off / ä?#"})
    found_answer = await api.ask("GET", "/v1/tasks/50%20%25%20off%20%2F%20%C3%A4%3F%23")
    assert found_answer.json["id"] == answer.json["id"]


async def test_an_ambiguous_reference_lists_the_candidates(api: Api):
    for title in ("Buy milk", "Buy eggs"):
        await api.ask("POST", "/v1/tasks", {"title": title})
    refused = await api.ask("GET", "/v1/tasks/buy")
    assert (refused.status, refused.code) == (409, "ambiguous")
    assert {listed_task["title"] for listed_task in refused.json["error"]["candidates"]} == {
        "Buy milk",
        "Buy eggs",
    }


@pytest.mark.parametrize(
    ("method", "path", "raw", "status", "code"),
    [
        ("POST", "/v1/tasks", b"", 400, "usage"),
        ("POST", "/v1/tasks", b"{", 400, "usage"),
        ("POST", "/v1/tasks", b"[]", 400, "usage"),
        ("POST", "/v1/tasks", b"null", 400, "usage"),
        ("POST", "/v1/tasks", b"\xff\xfe", 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": 7}', 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": "x", "colour": "red"}', 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": "\\ud800"}', 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": "x", "estimate_minutes": 1.5}', 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": "x", "estimate_minutes": true}', 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": "x", "labels": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400, "usage"),
        ("POST", "/v1/tasks", b'{"title": "x", "due": "2026-02-30"}', 400, "usage"),
        ("GET", "/v1/tasks?everything=1", None, 400, "usage"),
        ("GET", "/v1/tasks?all=1&all=0", None, 400, "usage"),
        ("GET", "/v1/tasks?all=perhaps", None, 400, "usage"),
        ("GET", "/v1/log?limit=0", None, 400, "usage"),
        ("GET", "/v1/log?limit=501", None, 400, "usage"),
        ("GET", "/v1/log?after=-1", None, 400, "usage"),
        ("GET", "/v1/tasks/nothing", None, 404, "not_found"),
        ("PATCH", "/v1/checklist-items/abcdef", b"{}", 404, "not_found"),
        ("GET", "/v2/tasks", None, 404, "not_found"),
        ("PUT", "/v1/tasks", b"{}", 405, "usage"),
    ],
)
async def test_bad_input_is_answered_in_one_form_and_changes_nothing(  # noqa: PLR0917 - pytest passes names
    api: Api, method, path, raw, status, code
):
    before = await api.commits()
    refused = await api.ask(method, path, raw=raw)
    assert (refused.status, refused.code) == (status, code)
    assert "\n" not in refused.json["error"]["message"]
    assert await api.commits() == before


async def test_a_request_beyond_one_mebibyte_is_refused(api: Api):
    refused = await api.ask("POST", "/v1/tasks", raw=b'{"title": "x"}' + b" " * (1 << 20))
    assert refused.code == "usage"
    assert (await api.ask("GET", "/v1/tasks")).json == []


async def test_the_most_that_each_field_takes_fits_in_one_commit(api: Api):
    names = [f"{n:03d}" + "語" * 97 for n in range(100)]
    widest = {
        "title": "語" * 400,
        "labels": names,
        "category": "語" * 100,
        "status": "BLOCKED",
        "reason": "語" * 2000,
    }
    assert (await api.ask("POST", "/v1/tasks", widest)).status == 201
    text = "語" * (128 * 1024 // 3)
    assert (await api.ask("POST", "/v1/tasks/語/entries", {"text": text})).status == 201
    assert (await api.ask("POST", "/v1/tasks/語/entries", {"text": text + "語"})).code == "usage"


async def test_a_bug_is_told_and_logged_without_its_words(api: Api):
    with capture_logs() as logged:
        answer = await api.ask("GET", "/v1/bug")
    assert (answer.status, answer.code) == (500, "failed")
    assert "private words" not in answer.json["error"]["message"]
    (line,) = logged
    assert (line["event"], line["kind"], line["route"]) == ("bug", "RuntimeError", "GET /v1/bug")
    assert "_bug" in line["at"]
    assert "private words" not in str(line)


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (DiskFull(foreign_text("no space left")), 507, "disk"),
        (ReadOnlyDatabase(foreign_text("read-only")), 422, "failed"),
        (StoreError(foreign_text("locked")), 422, "failed"),
        (CommitTooLarge("300000 bytes"), 400, "usage"),
        (LocalProtocolError("an integer beyond 64 bits"), 400, "usage"),
        (Refused(RefusalCode.TIMEOUT, foreign_text("not yet")), 504, "timeout"),
        (Refused(RefusalCode.NEEDS_CONFIRMATION, foreign_text("sure?")), 412, "needs_confirmation"),
        (Refused(RefusalCode.STALE, foreign_text("changed")), 409, "stale"),
        (Refused(RefusalCode.PARTLY, foreign_text("some")), 422, "partly"),
    ],
)
async def test_faults_of_the_world_are_answered_by_what_can_be_done(
    api: Api, probe: Probe, fault, status, code
):
    probe.fault = fault
    answer = await api.ask("GET", "/v1/bug")
    assert (answer.status, answer.code) == (status, code)
    assert str(fault) in answer.json["error"]["message"]


async def test_below_the_floor_writes_are_refused_and_reads_go_on(tmp_path: Path):
    api = Api(tmp_path, [])
    api.floor = 1 << 62
    await api.start()
    refused = await api.ask("POST", "/v1/tasks", TASK)
    assert (refused.status, refused.code) == (507, "disk")
    assert (await api.ask("GET", "/v1/tasks")).json == []
    await api.stop()


async def test_below_the_floor_what_only_looks_is_not_refused(tmp_path: Path, probe: Probe):
    api = Api(tmp_path, probe.routes())
    api.floor = 1 << 62
    await api.start()
    refused = await api.ask("POST", "/v1/count")
    assert (refused.status, refused.code) == (507, "disk")
    assert (await api.ask("POST", "/v1/look", key="k")).json == 1
    assert (await api.ask("POST", "/v1/look", key="k")).json == 2
    await api.stop()


# -- Idempotency-Key --------------------------------------------------------------------------------------


async def test_a_retry_with_the_same_key_gets_the_same_answer_and_does_nothing(api: Api):
    first = await api.ask("POST", "/v1/tasks", TASK, key="k1")
    before = await api.commits()
    assert await api.ask("POST", "/v1/tasks", TASK, key="k1") == first
    assert await api.commits() == before


async def test_the_same_key_for_something_else_is_refused(api: Api):
    await api.ask("POST", "/v1/tasks", TASK, key="k1")
    refused = await api.ask("POST", "/v1/tasks", {"title": "Other"}, key="k1")
    assert (refused.status, refused.code) == (409, "conflict")
    other_path = await api.ask("POST", "/v1/tasks/renew/done", {}, key="k1")
    assert other_path.code == "conflict"


async def test_what_was_refused_may_be_tried_again_with_its_key(api: Api):
    assert (await api.ask("POST", "/v1/tasks/renew/done", {}, key="k1")).status == 404
    await api.ask("POST", "/v1/tasks", TASK)
    assert (await api.ask("POST", "/v1/tasks/renew/done", {}, key="k1")).status == 200


async def test_many_retries_at_once_do_it_once(api: Api):
    answers = await asyncio.gather(*(api.ask("POST", "/v1/tasks", TASK, key="k1") for _ in range(20)))
    assert len({answer.json["id"] for answer in answers}) == 1


async def test_asks_with_one_key_wait_for_each_other(api: Api, probe: Probe):
    answers = await asyncio.gather(*(api.ask("POST", "/v1/count", {}, key="k1") for _ in range(20)))
    assert {answer.json for answer in answers} == {1}
    assert probe.runs == 1


async def test_an_answer_with_a_secret_is_never_kept(api: Api):
    assert (await api.ask("POST", "/v1/secret", {}, key="k1")).json == 1
    assert (await api.ask("POST", "/v1/secret", {}, key="k1")).json == 2


@pytest.mark.parametrize("key", ["x" * 129, "with space"])
async def test_a_key_that_is_none_is_refused(api: Api, probe: Probe, key):
    assert (await api.ask("POST", "/v1/tasks", TASK, key=key)).code == "usage"
    # The same if no answer is kept, and if this request writes nothing.
    assert (await api.ask("POST", "/v1/secret", {}, key=key)).code == "usage"
    assert (await api.ask("POST", "/v1/look", {}, key=key)).code == "usage"
    assert probe.runs == 0


async def test_a_kept_answer_outlives_the_daemon(tmp_path: Path):
    api = Api(tmp_path, [])
    await api.start()
    first = await api.ask("POST", "/v1/tasks", TASK, key="k1")
    await api.stop()
    again = Api(tmp_path, [])
    await again.start()
    assert await again.ask("POST", "/v1/tasks", TASK, key="k1") == first
    await again.stop()


# -- the socket -------------------------------------------------------------------------------------------


async def test_the_socket_is_the_users_alone(api: Api):
    assert stat.S_IMODE(api.path.stat().st_mode) == 0o600


async def test_another_user_is_refused_whatever_the_permissions(tmp_path: Path):
    api = Api(tmp_path, [])
    await api.start(uid=os.getuid() + 1)
    refused = await api.ask("GET", "/v1/tasks")
    assert (refused.status, refused.code) == (403, RefusalCode.FORBIDDEN)
    await api.stop()


async def test_a_socket_that_a_killed_daemon_left_is_replaced_and_none_is_left(tmp_path: Path):
    left = open_socket(tmp_path / "control.sock")
    left.close()
    api = Api(tmp_path, [])
    await api.start()
    assert (await api.ask("GET", "/healthz")).json["status"] == "ok"
    await api.stop()
    assert not api.path.exists()


async def test_a_socket_path_beyond_the_systems_limit_is_handled(tmp_path: Path):
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    folder.mkdir(parents=True)
    api = Api(folder, [])
    await api.start()
    assert (await api.ask("GET", "/healthz")).status == 200
    await api.stop()


async def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path):
    with pytest.raises(OSError, match="No such file"):
        open_socket(tmp_path / "nowhere" / "control.sock")


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b'{"title": "a"}', mtime=0)),
        ("deflate", zlib.compress(b'{"title": "a"}')),
        ("gzip", b"\x1f\x8b not so " * 9),
        ("odd", b'{"title": "a"}'),
    ],
)
async def test_a_packed_body_is_refused_and_never_unpacked(api: Api, encoding: str, packed: bytes):
    """A few bytes of it could unpack to any size."""
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    async with api.session.post("/v1/tasks", data=packed, headers=headers) as response:
        answer = await response.json()
    assert (response.status, answer["error"]["code"], answer["error"]["id"]) == (
        400,
        "usage",
        "body-unreadable",
    )
    assert (await api.ask("GET", "/v1/tasks")).json == []


async def test_what_is_not_http_is_answered_and_harms_nobody(api: Api):
    with socket.socket(socket.AF_UNIX) as raw:
        raw.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(raw, str(api.path))
        await loop.sock_sendall(raw, b"\x16\x03\x01 not http\r\n\r\n")
        assert b"400" in await loop.sock_recv(raw, 4096)
    assert (await api.ask("GET", "/healthz")).status == 200


async def test_a_database_that_was_found_damaged_is_not_well_and_takes_nothing_more(tmp_path: Path):
    api = Api(tmp_path, [])
    await api.start()
    kept = await api.ask("POST", "/v1/tasks", {"title": "Call Ana"})
    api.store._store.damage = damaged_database(api.store._store.path, "page 7")
    well = await api.ask("GET", "/healthz")
    assert (well.status, well.code) == (422, RefusalCode.FAILED)
    assert "is damaged: page 7" in well.json["error"]["message"]
    assert "restore a backup" in well.json["error"]["hint"]
    refused = await api.ask("POST", "/v1/tasks", {"title": "Call Bea"})
    assert (refused.status, refused.code) == (422, RefusalCode.FAILED)
    assert "nothing is written to it" in refused.json["error"]["message"]
    # What was acknowledged is still there to be read, and exported.
    assert (await api.ask("GET", f"/v1/tasks/{kept.json['id']}")).json["title"] == "Call Ana"
    (check,) = [await api.store.read(this_device.check_database)]
    assert (check.well, check.code) == (False, "database_damaged")
    await api.stop()
