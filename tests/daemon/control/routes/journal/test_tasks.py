"""The routes of checklists, entries, conflicts and the log: what they take, answer and refuse.

Never looks beneath the API; every answer is held to its description by the client.
"""

from typing import Any

import pytest

from tests.daemon.control.conftest import Api


async def created(api: Api, path: str, body: dict[str, Any]) -> Any:
    answer = await api.ask("POST", path, body)
    assert answer.status in (200, 201), answer.json
    return answer.json


@pytest.fixture
async def task(api: Api) -> str:
    return str((await created(api, "/v1/tasks", {"title": "Renew the passport"}))["id"])


async def test_a_line_is_read_with_the_categories_that_there_are_and_adds_nothing(api: Api):
    await created(api, "/v1/tasks", {"title": "Buy stamps", "category": "Errands"})
    line = "line=Call%20Ana%2045%20min%20%23home%20p1%20@errands%20@bob"
    assert (await api.ask("GET", f"/v1/captured-line?{line}")).json["readings"] == []
    query = f"{line.removesuffix('%20@bob')}&keep=p1%0A@none&given=labels,due"
    answer = (await api.ask("GET", f"/v1/captured-line?{query}")).json
    assert answer == {
        "title": "Call Ana 45 min #home p1",
        "due": None,
        "due_time": None,
        "estimate_minutes": None,
        "labels": [],
        "priority": None,
        "category": "Errands",
        "every": None,
        "readings": [{"field": "category", "words": "@errands"}],
    }
    assert len((await api.ask("GET", "/v1/tasks")).json) == 1


async def test_items_go_where_they_are_put_and_come_back(api: Api, task: str):
    element, two = [
        await created(api, f"/v1/tasks/{task}/checklist", {"title": title}) for title in ("A", "B")
    ]
    item = f"/v1/checklist-items/{element['id']}"
    moved = await created(api, f"{item}/move", {"after": two["id"]})
    assert (moved["id"], moved["checklist_id"]) == (element["id"], element["checklist_id"])
    assert (await api.ask("DELETE", item)).json["removed"]
    lists = (await api.ask("GET", f"/v1/tasks/{task}/checklists")).json
    assert [listed_item["title"] for listed_item in lists[0]["items"]] == ["B"]
    removed = (await api.ask("GET", f"/v1/tasks/{task}/checklists?removed=1")).json
    assert [listed_item["title"] for listed_item in removed[0]["items"]] == ["A"]
    await created(api, f"{item}/restore", {})
    lists = (await api.ask("GET", f"/v1/tasks/{task}/checklists")).json
    assert [listed_item["title"] for listed_item in lists[0]["items"]] == ["B", "A"]


async def test_whole_checklists_are_made_renamed_moved_removed_and_restored(api: Api, task: str):
    several = f"/v1/tasks/{task}/checklists"
    listed_task, two = [await created(api, several, {"title": title}) for title in ("One", "Two")]
    path = f"/v1/checklists/{two['id']}"
    renamed = await api.ask("PATCH", path, {"title": "Zwei", "base": two["vector_clock"]})
    assert renamed.json["title"] == "Zwei"
    await created(api, f"{path}/move", {"before": listed_task["id"]})
    assert [member["title"] for member in (await api.ask("GET", several)).json] == ["Zwei", "One"]
    assert (await api.ask("DELETE", path)).json["removed"]
    assert [member["title"] for member in (await api.ask("GET", f"{several}?removed=1")).json] == ["Zwei"]
    assert not (await created(api, f"{path}/restore", {}))["removed"]


async def test_notes_are_read_with_times_as_they_are_typed(api: Api, task: str):
    several = f"/v1/tasks/{task}/entries"
    note = await created(
        api, several, {"text": "x", "happened_at": "yesterday 14:00", "source": "transcript"}
    )
    assert (note["happened_at"], note["source"]) == ("2026-03-19T14:00:00.000Z", "transcript")
    path = f"/v1/entries/{note['id']}"
    changed = await api.ask("PATCH", path, {"text": "y", "happened_at": "2026-03-01T10:00:00Z"})
    assert (changed.json["text"], changed.json["happened_at"]) == ("y", "2026-03-01T10:00:00.000Z")
    assert (await api.ask("DELETE", path)).json["removed"]
    assert (await api.ask("GET", several)).json == []
    assert (await api.ask("GET", path)).json["removed"]
    assert [element["id"] for element in (await api.ask("GET", f"{several}?removed=1")).json] == [note["id"]]
    await created(api, f"{path}/restore", {})
    assert (await api.ask("GET", f"/v1/entries/{note['id'][:8]}")).json["text"] == "y"


async def test_a_task_is_shown_with_who_wrote_what_where_it_is_asked_for(api: Api, task: str):
    await created(api, f"/v1/tasks/{task}/entries", {"text": "x"})
    assert "provenance" not in (await api.ask("GET", f"/v1/tasks/{task}")).json
    json = (await api.ask("GET", f"/v1/tasks/{task}?provenance=1")).json
    assert json["provenance"]["title"]["by"] == "user"
    assert json["entries"][0]["provenance"]["text"]["device"] == json["provenance"]["title"]["device"]
    assert [element["status"] for element in json["status_history"]] == ["OPEN"]


async def test_the_log_is_asked_for_part_by_part(api: Api, task: str):
    await api.ask("PATCH", f"/v1/tasks/{task}", {"priority": "P0", "due": "2026-04-01"})
    json = (
        await api.ask("GET", f"/v1/log?entity={task}&field=priority&by=user&kind=task&since=yesterday")
    ).json
    assert [(change["before"], change["after"]) for change in json] == [(None, "P2"), ("P2", "P0")]
    back = (await api.ask("GET", f"/v1/log?before={json[-1]['seq']}&field=priority")).json
    assert back == json[:1]
    assert (await api.ask("GET", "/v1/log?until=2020-01-01T00:00:00Z")).json == []


async def test_there_is_nothing_to_settle_on_one_device(api: Api, task: str):
    assert (await api.ask("GET", "/v1/conflicts")).json == []
    assert (await api.ask("GET", f"/v1/conflicts?task={task}")).json == []


@pytest.mark.parametrize(
    ("line", "body", "expected"),
    [
        ("POST /v1/checklist-items/abcdef/move", {"first": True}, (404, "not_found")),
        ("POST /v1/checklists/abcdef/move", {}, (404, "not_found")),
        ("PATCH /v1/checklists/abcdef", {}, (400, "usage")),
        ("DELETE /v1/checklists/ab", None, (400, "usage")),
        ("GET /v1/entries/nonsense", None, (404, "not_found")),
        ("POST /v1/tasks/passport/entries", {"text": "x", "source": "import"}, (400, "usage")),
        ("POST /v1/tasks/passport/entries", {"text": "x", "happened_at": "soonish"}, (400, "usage")),
        ("POST /v1/tasks/passport/entries", {"text": "x" * (128 * 1024 + 1)}, (400, "usage")),
        ("GET /v1/log?by=nobody", None, (400, "usage")),
        ("GET /v1/log?device=toaster", None, (404, "not_found")),
        ("GET /v1/log?since=soonish", None, (400, "usage")),
        ("POST /v1/conflicts/keep", {"entity": "passport", "field": "title", "n": 0}, (400, "usage")),
        ("POST /v1/conflicts/keep", {"entity": "passport", "field": "title", "n": 1}, (404, "not_found")),
    ],
)
@pytest.mark.usefixtures("task")
async def test_what_means_nothing_is_refused_and_changes_nothing(
    line: str, body: Any, expected: tuple[int, str], api: Api
):
    before = await api.commits()
    method, path = line.split()
    answer = await api.ask(method, path, body)
    assert (answer.status, answer.code) == expected
    assert await api.commits() == before
