"""The routes of time records, links, labels, categories and relations, through the socket.

Never repeats what their use cases are tested for: only what a route adds.
"""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest

from daemon.control.routes.journal import labels, links, times
from daemon.journal.human_input import HumanInput
from tests.daemon.control.conftest import Api
from tests.support.fleet import START_MS


@pytest.fixture
async def started_api(tmp_path: Path) -> AsyncIterator[Api]:
    typed = HumanInput(lambda: START_MS, UTC, "en")
    api = Api(tmp_path, [*times.routes(typed), *links.routes(), *labels.routes()])
    await api.start()
    yield api
    await api.stop()


async def task(api: Api, title: str, **fields: object) -> str:
    return str((await api.ask("POST", "/v1/tasks", {"title": title, **fields})).json["id"])


async def test_a_timer_starts_stops_is_corrected_removed_and_restored(started_api: Api):
    photos = await task(started_api, "Photos")
    answer = await started_api.ask("POST", "/v1/tasks/photos/timer", {"at": "2 hours ago"})
    assert (answer.status, answer.json["stopped"], answer.json["already"]) == (201, [], False)
    again = await started_api.ask("POST", f"/v1/tasks/{photos}/timer", {})
    assert (again.json["id"], again.json["already"]) == (answer.json["id"], True)
    assert [element["id"] for element in (await started_api.ask("GET", "/v1/timers")).json] == [
        answer.json["id"]
    ]
    (stopped,) = (await started_api.ask("POST", "/v1/timers/stop", {})).json
    assert (stopped["minutes"], (await started_api.ask("POST", "/v1/timers/stop", {})).json) == (120, [])
    record = f"/v1/times/{stopped['id'][:8]}"
    changed = await started_api.ask("PATCH", record, {"ended_at": "1 hour ago", "note": "found"})
    assert (changed.json["minutes"], changed.json["note"]) == (60, "found")
    json = (await started_api.ask("GET", f"/v1/tasks/{photos}")).json
    assert (json["time_spent_minutes"], json["times"]) == (60, [changed.json])
    assert (await started_api.ask("DELETE", record)).json["removed"]
    assert (await started_api.ask("GET", "/v1/times?removed=1&task=photos&limit=1")).json[0]["removed"]
    assert not (await started_api.ask("POST", f"{record}/restore")).json["removed"]
    assert len((await started_api.ask("GET", "/v1/times")).json) == 1


async def test_a_change_that_rests_on_a_state_that_is_gone_is_a_conflict_to_see(started_api: Api):
    await task(started_api, "Photos")
    json = (await started_api.ask("POST", "/v1/tasks/photos/timer", {"note": "one"})).json
    record = f"/v1/times/{json['id']}"
    await started_api.ask("PATCH", record, {"note": "two"})
    changed = await started_api.ask("PATCH", record, {"note": "three", "base": json["vector_clock"]})
    assert changed.status == 200
    conflicts = (await started_api.ask("GET", "/v1/tasks/photos")).json["conflicts"]
    assert [conflict["field"] for conflict in conflicts] == ["note"]


async def test_links_are_made_listed_followed_and_removed(started_api: Api):
    photos, form = await task(started_api, "Photos"), await task(started_api, "Form")
    answer = await started_api.ask("POST", "/v1/tasks/photos/links", {"type": "blocks", "to": "form"})
    assert (answer.status, answer.json["task_id"]) == (201, form)
    (back,) = (await started_api.ask("GET", "/v1/tasks/form/links")).json
    assert (back["direction"], back["task_id"]) == ("from", photos)
    refused = await started_api.ask("POST", "/v1/tasks/form/links", {"type": "blocks", "to": "photos"})
    assert (refused.status, refused.code) == (409, "conflict")
    followed = (await started_api.ask("GET", f"/v1/relations?entity={photos}")).json
    assert [(element["from"], element["relation"], element["to"]) for element in followed] == [
        (answer.json["id"], "link_from", photos)
    ]
    words = {"type": "blocks", "to": "form"}
    assert (await started_api.ask("POST", "/v1/tasks/photos/links/remove", words)).json["removed"]
    assert not (await started_api.ask("POST", "/v1/tasks/photos/links", words)).json["removed"]
    assert (await started_api.ask("DELETE", f"/v1/links/{answer.json['id'][:8]}")).json["removed"]
    assert (await started_api.ask("GET", "/v1/tasks/form/links")).json == []


@pytest.mark.parametrize("kind", ["labels", "categories"])
async def test_labels_and_categories_are_made_shown_changed_removed_and_restored(started_api: Api, kind: str):
    path = f"/v1/{kind}"
    answer = await started_api.ask("POST", path, {"name": "Home & garden", "color": "green"})
    assert answer.status == 201
    text = f"{path}/home%20%26%20GARDEN"
    assert (await started_api.ask("GET", text)).json == answer.json
    assert (await started_api.ask("PATCH", text, {"color": None})).json["color"] is None
    assert (await started_api.ask("DELETE", text)).json["removed"]
    assert (await started_api.ask("GET", path)).json == []
    assert len((await started_api.ask("GET", f"{path}?removed=1")).json) == 1
    assert (await started_api.ask("GET", text)).status == 404
    assert not (await started_api.ask("POST", f"{text}/restore")).json["removed"]
    await started_api.ask("POST", path, {"name": "Work"})
    refused = await started_api.ask("PATCH", text, {"name": "work"})
    assert (refused.status, refused.code) == (409, "conflict")


async def test_the_labels_that_a_task_may_be_given_are_listed(started_api: Api):
    await started_api.ask("POST", "/v1/categories", {"name": "admin", "correction_examples": ["ELSTER"]})
    await started_api.ask("POST", "/v1/labels", {"name": "form", "categories": ["admin"]})
    await task(started_api, "In", category="admin")
    await task(started_api, "Out")
    assert [element["name"] for element in (await started_api.ask("GET", "/v1/labels?task=in")).json] == [
        "form"
    ]
    assert (await started_api.ask("GET", "/v1/labels?task=out")).json == []
    assert (await started_api.ask("PATCH", "/v1/tasks/out", {"add_labels": ["form"]})).code == "usage"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/tasks/x/timer", {"at": "half past whenever"}, 400),
        ("POST", "/v1/tasks/x/timer", {"when": "now"}, 400),
        ("POST", "/v1/tasks/nowhere/timer", {}, 404),
        ("POST", "/v1/timers/stop", {"record": "abcdef"}, 404),
        ("GET", "/v1/times?limit=501", None, 400),
        ("GET", "/v1/times?task=nowhere", None, 404),
        ("PATCH", "/v1/times/abcdef", {"note": "x"}, 404),
        ("POST", "/v1/tasks/x/links", {"type": "loves", "to": "x"}, 400),
        ("POST", "/v1/tasks/x/links", {"type": "basic", "to": "x"}, 400),
        ("DELETE", "/v1/links/abcdef", None, 404),
        ("GET", "/v1/relations", None, 400),
        ("POST", "/v1/labels", {"name": "x", "color": "reddish"}, 400),
        ("POST", "/v1/labels", {"name": "x", "categories": ["nowhere"]}, 404),
        ("POST", "/v1/categories", {"name": "x", "correction_examples": ["x"] * 101}, 400),
        ("PATCH", "/v1/categories/x", {"name": None}, 400),
    ],
)
async def test_what_cannot_be_is_refused(started_api: Api, method: str, path: str, body: object, status: int):
    await task(started_api, "x")
    assert (await started_api.ask(method, path, body)).status == status
