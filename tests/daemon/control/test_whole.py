"""The whole API on whole daemons: agents, proposals, decisions, devices, imports.

Never waits for time to pass: what a daemon is asked to wait for, it waits for.
"""

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from daemon.app.composition import CLOSE_WITHIN_S, Daemon
from daemon.clock import SystemClock
from daemon.config import DeviceSettings, ListenSettings, MdnsSettings, Settings, WakeSettings
from daemon.control.error_body import Envelope
from daemon.paths import Paths, make_folders

WAIT_S = 120
NOTE = "This takes 2 hours. It is due 2031-05-17.\n- [ ] Find the photos\n- [ ] Fill in the form\n"


class Device:
    """A running daemon and a client of its socket."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._paths = Paths(str(folder), str(folder), str(folder))
        make_folders(self._paths)
        self.socket = self._paths.socket

    async def start(self) -> None:
        settings = Settings(
            device=DeviceSettings(name=self.name),
            listen=ListenSettings(host="127.0.0.1"),
            mdns=MdnsSettings(enabled=False),
            wake=WakeSettings(debounce_s=0.0, throttle_s=0.0),
        )
        self.daemon = Daemon(self._paths, settings, SystemClock())
        await self.daemon.start()
        connector = aiohttp.UnixConnector(self._paths.socket)
        self._session = aiohttp.ClientSession("http://placet", connector=connector)

    async def stop(self) -> None:
        await self._session.close()
        await self.daemon.stop(CLOSE_WITHIN_S)

    async def ask(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        data = None if body is None else io.BytesIO(msgspec.json.encode(body))
        headers = {"Idempotency-Key": key} if key else {}
        async with self._session.request(method, path, data=data, headers=headers) as response:
            answer = await response.read()
            if response.status >= 400:
                envelope = msgspec.json.decode(answer, type=Envelope)
                return response.status, envelope.error.code
            return response.status, msgspec.json.decode(answer)

    async def text(self, path: str) -> str:
        async with self._session.get(path) as response:
            assert response.content_type == "text/plain"
            return await response.text()

    async def do(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = await self.ask(method, path, body)
        assert status < 400, answer
        return answer

    async def decide(self, verdict: str, **fields: Any) -> list[str]:
        answer = await self.do("POST", "/v1/decisions", {"verdict": verdict, **fields})
        return [decision["result"] for decision in answer]

    async def pending(self) -> dict[str, Any]:
        return {item["tool"]: item for item in await self.do("GET", "/v1/pending")}

    async def propose(self) -> dict[str, Any]:
        """Make a task whose agent proposes; return the open items by tool."""
        task = await self.do("POST", "/v1/tasks", {"title": "Renew the passport"})
        await self.do("POST", f"/v1/tasks/{task['id']}/entries", {"text": NOTE})
        await self.do("POST", "/v1/agents", {"task": task["id"]})
        woken = await self.do("POST", f"/v1/agents/{task['id']}/wake", {"wait": WAIT_S})
        assert woken["task_id"] == task["id"]
        return await self.pending()


Make = Callable[[str], Any]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    devices: list[Device] = []

    async def start_device(name: str) -> Device:
        device = Device(tmp_path / name, name)
        await device.start()
        devices.append(device)
        return device

    yield start_device
    for device in devices:
        await device.stop()


@pytest.fixture
async def laptop(make: Make) -> Device:
    return await make("laptop")  # type: ignore[no-any-return]


async def paired(make: Make, laptop: Device) -> Device:
    phone: Device = await make("phone")
    token = (await laptop.do("POST", "/v1/invitations", {}))["token"]
    joined = await phone.do("POST", "/v1/join", {"token": token})
    assert joined["name"] == "laptop"
    await laptop.do("POST", "/v1/sync", {"wait": WAIT_S})
    return phone


async def test_what_one_device_proposes_the_other_confirms(make: Make, laptop: Device):
    phone = await paired(make, laptop)
    await laptop.propose()
    await laptop.do("POST", "/v1/sync", {"wait": WAIT_S})
    items = await phone.pending()
    estimate = items["update_task_estimate"]
    assert estimate["proposed"] == 120
    assert await phone.decide("confirmed", items=[estimate["item_id"]]) == ["applied"]
    await phone.do("POST", "/v1/sync", {"wait": WAIT_S})
    task = await laptop.do("GET", f"/v1/tasks/{estimate['task_id']}")
    assert task["estimate_minutes"] == 120
    assert task["report"]["tldr"]
    element, other = await laptop.do("GET", "/v1/status"), await phone.do("GET", "/v1/status")
    assert (element["vector"], element["state_hash"]) == (other["vector"], other["state_hash"])
    assert [(peer["name"], peer["connected"], peer["lag"]) for peer in element["peers"]] == [
        ("phone", True, 0)
    ]
    assert element["agents"] == {"active": 1, "due": 0, "running": 0, "dormant": 0}


async def test_giving_an_agent_to_a_task_that_has_one_elsewhere_shows_that_one(make: Make, laptop: Device):
    phone = await paired(make, laptop)
    estimate = (await laptop.propose())["update_task_estimate"]
    await laptop.do("POST", "/v1/sync", {"wait": WAIT_S})
    displayed = await phone.do("POST", "/v1/agents", {"task": estimate["task_id"]})
    assert (displayed["id"], displayed["at_home"]) == (estimate["agent_id"], False)


async def test_a_link_that_is_cut_shows_both_words_and_heals(make: Make, laptop: Device):
    phone = await paired(make, laptop)
    items = await laptop.propose()
    await laptop.do("POST", "/v1/sync", {"wait": WAIT_S})
    assert (await phone.do("POST", "/v1/sync", {"pause": True}))["paused"]
    estimate, due = items["update_task_estimate"]["item_id"], items["update_task_due_date"]["item_id"]
    assert await laptop.decide("confirmed", items=[estimate, due]) == ["applied", "applied"]
    assert await phone.decide("confirmed", items=[estimate]) == ["applied"]
    assert await phone.decide("rejected", items=[due], reason="not this year") == ["applied"]
    assert not (await phone.do("POST", "/v1/sync", {"pause": False}))["paused"]
    async with asyncio.timeout(WAIT_S):
        while not (await laptop.do("GET", "/v1/status"))["peers"][0]["connected"]:
            await laptop.do("POST", "/v1/sync", {})
    await laptop.do("POST", "/v1/sync", {"wait": WAIT_S})
    for device in (laptop, phone):
        left = await device.pending()
        assert left["update_task_due_date"]["disputed"]
        assert "update_task_estimate" not in left
        task = await device.do("GET", "/v1/tasks/passport")
        assert (task["estimate_minutes"], task["due"], task["conflicts"]) == (120, None, [])
    assert "left" in await phone.decide("confirmed", set=items["update_task_due_date"]["set_id"])
    assert (await phone.pending())["update_task_due_date"]["disputed"]
    await phone.decide("confirmed", items=[due])
    assert (await phone.do("GET", "/v1/tasks/passport"))["due"] == "2031-05-17"
    assert await phone.pending() == {}


async def test_a_set_is_decided_item_by_item_in_order_and_a_retry_says_already(laptop: Device):
    items = await laptop.propose()
    change_set = next(iter(items.values()))["set_id"]
    displayed = [
        decision for decision in await laptop.do("GET", "/v1/pending") if decision["set_id"] == change_set
    ]
    before = (await laptop.do("GET", "/v1/status"))["commits"]
    answer = await laptop.do("POST", "/v1/decisions", {"verdict": "confirmed", "set": change_set[:8]})
    assert [decision["item_id"] for decision in answer] == [decision["item_id"] for decision in displayed]
    assert {decision["result"] for decision in answer} == {"applied"}
    assert (await laptop.do("GET", "/v1/status"))["commits"] == before + len(displayed)
    assert set(await laptop.decide("confirmed", set=change_set)) == {"already"}
    task = await laptop.do("GET", "/v1/tasks/passport")
    assert {item["title"] for item in task["checklists"][0]["items"]} == {
        "Find the photos",
        "Fill in the form",
    }


async def test_verdicts_go_back_and_forth(laptop: Device):
    item = (await laptop.propose())["update_task_estimate"]["item_id"]
    assert await laptop.decide("deferred", items=[item]) == ["applied"]
    assert await laptop.decide("confirmed", items=[item], edit={"minutes": 90}) == ["applied"]
    assert (await laptop.do("GET", "/v1/tasks/passport"))["estimate_minutes"] == 90
    assert await laptop.decide("rejected", items=[item]) == ["conflict"]
    assert await laptop.decide("undone", items=[item]) == ["applied"]
    assert (await laptop.do("GET", "/v1/tasks/passport"))["estimate_minutes"] is None
    assert await laptop.decide("confirmed", items=[item]) == ["conflict"]
    assert await laptop.decide("confirmed", items=[item], again=True) == ["applied"]
    assert await laptop.decide("reopened", items=[item]) == ["applied"]
    kinds = {change["kind"] for change in await laptop.do("GET", "/v1/log?entity=passport&limit=500")}
    assert {"decision", "task", "entry"} <= kinds


async def test_what_names_no_item_fails_alone(laptop: Device):
    item = (await laptop.propose())["update_task_estimate"]["item_id"]
    assert await laptop.decide("confirmed", items=["0000", item[:6], "%", item]) == [
        "not_found",
        "applied",
        "not_found",
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"verdict": "confirmed"},
        {"verdict": "confirmed", "items": []},
        {"verdict": "confirmed", "items": ["abc"], "set": "def"},
        {"verdict": "perhaps", "items": ["abc"]},
        {"verdict": "rejected", "items": ["abc"], "edit": {}},
        {"verdict": "confirmed", "items": ["abc", "def"], "edit": {}},
        {"verdict": "confirmed", "items": ["abc"], "via": "carrier pigeon"},
    ],
)
async def test_a_decision_that_means_nothing_is_refused(laptop: Device, body):
    assert await laptop.ask("POST", "/v1/decisions", body) == (400, "usage")


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", "/v1/decisions", {"verdict": "confirmed", "set": "abcdef"}, (404, "not_found")),
        ("POST", "/v1/decisions", {"verdict": "confirmed", "set": "ab"}, (400, "usage")),
        ("POST", "/v1/decisions", {"verdict": "confirmed", "items": ["abcdef", "5"]}, (400, "usage")),
        ("POST", "/v1/decisions", {"verdict": "confirmed", "items": [""]}, (400, "usage")),
        ("POST", "/v1/agents", {"task": "nothing"}, (404, "not_found")),
        ("POST", "/v1/agents", {"task": "x", "model": "oracle"}, (400, "usage")),
        ("GET", "/v1/agents/nothing", None, (404, "not_found")),
        ("POST", "/v1/agents/nothing/wake", {}, (404, "not_found")),
        ("POST", "/v1/agents/nothing/wake", {"wait": -1}, (400, "usage")),
        ("POST", "/v1/agents/nothing/wake", {"wait": 1e9}, (400, "usage")),
        ("GET", "/v1/pending?task=nothing", None, (404, "not_found")),
        ("POST", "/v1/sync", {"wait": 1e9}, (400, "usage")),
        ("POST", "/v1/import", {"format": "word", "name": "x", "text": "y"}, (400, "usage")),
    ],
)
async def test_what_cannot_be_done_is_refused(laptop: Device, method, path, body, expected):
    assert await laptop.ask(method, path, body) == expected


async def test_a_reference_that_is_no_id_is_told_what_one_looks_like(laptop: Device):
    request = {"verdict": "confirmed", "items": ["the first one", "abcdef"]}
    other, unknown = await laptop.do("POST", "/v1/decisions", request)
    assert [other["result"], unknown["result"]] == ["not_found", "not_found"]
    assert "0-9 and a-f" in other["message"]
    assert unknown["message"] == "there is no such proposal"


@pytest.mark.parametrize("token", ["", "not a token", "A" * 9000])
async def test_a_token_that_is_none_is_refused(laptop: Device, token):
    status, code = await laptop.ask("POST", "/v1/join", {"token": token})
    assert 400 <= status < 500
    assert code in ("usage", "forbidden")


async def test_a_token_works_once(make: Make, laptop: Device):
    token = (await laptop.do("POST", "/v1/invitations", {}))["token"]
    phone, tablet = await make("phone"), await make("tablet")
    await phone.do("POST", "/v1/join", {"token": token})
    status, code = await tablet.ask("POST", "/v1/join", {"token": token})
    assert (status, code) in ((403, "forbidden"), (422, "failed"))


async def test_an_invitation_is_never_kept_for_a_retry(laptop: Device):
    element, other = [await laptop.ask("POST", "/v1/invitations", {}, key="k1") for _ in range(2)]
    assert element[1]["token"] != other[1]["token"]


async def test_an_import_is_one_request_and_twice_is_once(laptop: Device):
    text = "# Trip\n\n- [x] Book\n- [ ] Pack\n\nSome words.\n\n# Home\n\n- [ ] Water plants\n"
    body = {"format": "markdown", "name": "todo.md", "text": text}
    tried = await laptop.do("POST", "/v1/import", body | {"dry_run": True})
    assert (tried["tasks"], await laptop.do("GET", "/v1/tasks")) == (2, [])
    used = await laptop.do("POST", "/v1/import", body)
    assert (used["tasks"], used["checklist_items"]) == (2, 3)
    again = await laptop.do("POST", "/v1/import", body)
    assert (again["tasks"], again["updated"], again["unchanged"]) == (0, 0, 2)
    titles = {listed_task["title"] for listed_task in await laptop.do("GET", "/v1/tasks")}
    assert titles == {"Trip", "Home"}


async def test_a_file_beyond_the_limit_of_other_requests_can_be_imported(laptop: Device):
    lines = "".join(f"# Task {n}\n\n{'word ' * 200}\n\n" for n in range(1100))
    assert len(lines) > 1 << 20
    used = await laptop.do("POST", "/v1/import", {"format": "markdown", "name": "big.md", "text": lines})
    assert used["tasks"] == 1100


async def test_nothing_is_taken_of_a_bad_file(laptop: Device):
    body = {"format": "taskwarrior", "name": "x", "text": '[{"uuid": 1}]'}
    assert await laptop.ask("POST", "/v1/import", body) == (422, "failed")
    assert await laptop.do("GET", "/v1/tasks") == []


async def test_the_whole_table_is_described(laptop: Device):
    answer = await laptop.do("GET", "/v1/openapi.json")
    assert {"/v1/status", "/v1/agents", "/v1/decisions", "/v1/import", "/v1/join", "/v1/sync"} <= set(
        answer["paths"]
    )
    names = [method["operationId"] for methods in answer["paths"].values() for method in methods.values()]
    assert len(names) == len(set(names))


async def test_the_metrics_tell_numbers_and_no_words(laptop: Device):
    await laptop.propose()
    text = await laptop.text("/metrics")
    answer = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert int(answer["placet_commits"]) == int(answer["placet_feed_position"]) > 0
    assert int(answer["placet_pending_items"]) > 0
    assert answer['placet_agents{state="active"}'] == "1"
    assert int(answer['placet_runs{status="completed"}']) >= 1
    assert int(answer['placet_requests_total{kind="write",result="done"}']) >= 3
    assert int(answer["placet_resident_bytes"]) > 1 << 20
    assert "passport" not in text
    assert laptop.name not in text


async def test_a_daemon_whose_device_travels_says_the_day_of_where_it_is(
    laptop: Device, monkeypatch: pytest.MonkeyPatch
):
    await laptop.do("POST", "/v1/tasks", {"title": "Pay the rent", "due": "2026-04-01"})
    days, exports = set(), set()
    # More than a day lies between the two: at no moment is it the same day in both.
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        monkeypatch.setenv("TZ", zone)
        days.add((await laptop.do("GET", "/v1/today"))["day"])
        exports.add((await laptop.do("GET", "/v1/export?format=taskwarrior"))[0]["due"])
    assert (len(days), len(exports)) == (2, 2)
