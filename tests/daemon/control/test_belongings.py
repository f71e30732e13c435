"""The routes of time records, links, labels, categories and relations, through the socket.

Never repeats what their use cases are tested for: only what a route adds.
"""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest

from daemon.control import label_routes, link_routes, time_routes
from daemon.journal.typed import Typed
from tests.daemon.agents.fleet import START_MS
from tests.daemon.control.conftest import Api


@pytest.fixture
async def whole(tmp_path: Path) -> AsyncIterator[Api]:
    typed = Typed(lambda: START_MS, UTC, "en")
    made = Api(tmp_path, [*time_routes.routes(typed), *link_routes.routes(), *label_routes.routes()])
    await made.start()
    yield made
    await made.stop()


async def task(api: Api, title: str, **fields: object) -> str:
    return str((await api.ask("POST", "/v1/tasks", {"title": title, **fields})).json["id"])


async def test_a_timer_starts_stops_is_corrected_removed_and_restored(whole: Api):
    photos = await task(whole, "Photos")
    begun = await whole.ask("POST", "/v1/tasks/photos/timer", {"at": "2 hours ago"})
    assert (begun.status, begun.json["stopped"], begun.json["already"]) == (201, [], False)
    again = await whole.ask("POST", f"/v1/tasks/{photos}/timer", {})
    assert (again.json["id"], again.json["already"]) == (begun.json["id"], True)
    assert [one["id"] for one in (await whole.ask("GET", "/v1/timers")).json] == [begun.json["id"]]
    (stopped,) = (await whole.ask("POST", "/v1/timers/stop", {})).json
    assert (stopped["minutes"], (await whole.ask("POST", "/v1/timers/stop", {})).json) == (120, [])
    record = f"/v1/times/{stopped['id'][:8]}"
    changed = await whole.ask("PATCH", record, {"ended_at": "1 hour ago", "note": "found"})
    assert (changed.json["minutes"], changed.json["note"]) == (60, "found")
    shown = (await whole.ask("GET", f"/v1/tasks/{photos}")).json
    assert (shown["time_spent_minutes"], shown["times"]) == (60, [changed.json])
    assert (await whole.ask("DELETE", record)).json["removed"]
    assert (await whole.ask("GET", "/v1/times?removed=1&task=photos&limit=1")).json[0]["removed"]
    assert not (await whole.ask("POST", f"{record}/restore")).json["removed"]
    assert len((await whole.ask("GET", "/v1/times")).json) == 1


async def test_a_change_that_rests_on_a_state_that_is_gone_is_a_conflict_to_see(whole: Api):
    await task(whole, "Photos")
    begun = (await whole.ask("POST", "/v1/tasks/photos/timer", {"note": "one"})).json
    record = f"/v1/times/{begun['id']}"
    await whole.ask("PATCH", record, {"note": "two"})
    changed = await whole.ask("PATCH", record, {"note": "three", "base": begun["vector_clock"]})
    assert changed.status == 200
    conflicts = (await whole.ask("GET", "/v1/tasks/photos")).json["conflicts"]
    assert [one["field"] for one in conflicts] == ["note"]


async def test_links_are_made_listed_followed_and_removed(whole: Api):
    photos, form = await task(whole, "Photos"), await task(whole, "Form")
    made = await whole.ask("POST", "/v1/tasks/photos/links", {"type": "blocks", "to": "form"})
    assert (made.status, made.json["task_id"]) == (201, form)
    (back,) = (await whole.ask("GET", "/v1/tasks/form/links")).json
    assert (back["direction"], back["task_id"]) == ("from", photos)
    refused = await whole.ask("POST", "/v1/tasks/form/links", {"type": "blocks", "to": "photos"})
    assert (refused.status, refused.code) == (409, "conflict")
    followed = (await whole.ask("GET", f"/v1/relations?entity={photos}")).json
    assert [(one["from"], one["relation"], one["to"]) for one in followed] == [
        (made.json["id"], "link_from", photos)
    ]
    said = {"type": "blocks", "to": "form"}
    assert (await whole.ask("POST", "/v1/tasks/photos/links/remove", said)).json["removed"]
    assert not (await whole.ask("POST", "/v1/tasks/photos/links", said)).json["removed"]
    assert (await whole.ask("DELETE", f"/v1/links/{made.json['id'][:8]}")).json["removed"]
    assert (await whole.ask("GET", "/v1/tasks/form/links")).json == []


@pytest.mark.parametrize("kind", ["labels", "categories"])
async def test_labels_and_categories_are_made_shown_changed_removed_and_restored(whole: Api, kind: str):
    path = f"/v1/{kind}"
    made = await whole.ask("POST", path, {"name": "Home & garden", "color": "green"})
    assert made.status == 201
    one = f"{path}/home%20%26%20GARDEN"
    assert (await whole.ask("GET", one)).json == made.json
    assert (await whole.ask("PATCH", one, {"color": None})).json["color"] is None
    assert (await whole.ask("DELETE", one)).json["removed"]
    assert (await whole.ask("GET", path)).json == []
    assert len((await whole.ask("GET", f"{path}?removed=1")).json) == 1
    assert (await whole.ask("GET", one)).status == 404
    assert not (await whole.ask("POST", f"{one}/restore")).json["removed"]
    await whole.ask("POST", path, {"name": "Work"})
    refused = await whole.ask("PATCH", one, {"name": "work"})
    assert (refused.status, refused.code) == (409, "conflict")


async def test_the_labels_that_a_task_may_be_given_are_listed(whole: Api):
    await whole.ask("POST", "/v1/categories", {"name": "admin", "correction_examples": ["ELSTER"]})
    await whole.ask("POST", "/v1/labels", {"name": "form", "categories": ["admin"]})
    await task(whole, "In", category="admin")
    await task(whole, "Out")
    assert [one["name"] for one in (await whole.ask("GET", "/v1/labels?task=in")).json] == ["form"]
    assert (await whole.ask("GET", "/v1/labels?task=out")).json == []
    assert (await whole.ask("PATCH", "/v1/tasks/out", {"add_labels": ["form"]})).code == "usage"


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
async def test_what_cannot_be_is_refused(whole: Api, method: str, path: str, body: object, status: int):
    await task(whole, "x")
    assert (await whole.ask(method, path, body)).status == status
