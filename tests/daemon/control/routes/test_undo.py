"""Changes by their names, and their undo, over the API."""

import pytest

from daemon.journal.undo import undo as undo_of_edits
from tests.daemon.control.conftest import Api

pytestmark = pytest.mark.asyncio
UNDO = "/v1/undo"


async def test_each_write_names_its_change_and_a_retry_names_the_same(api: Api) -> None:
    made = await api.ask("POST", "/v1/tasks", {"title": "Call Ana"}, key="k")
    assert made.change is not None
    assert (await api.ask("POST", "/v1/tasks", {"title": "Call Ana"}, key="k")).change == made.change
    again = await api.ask("PATCH", f"/v1/tasks/{made.json['id']}", {"title": "Call Ana"})
    assert again.change is None
    assert (await api.ask("GET", "/v1/tasks")).change is None


async def test_a_change_is_undone_by_its_name_and_its_undo_is_a_redo(api: Api) -> None:
    task = (await api.ask("POST", "/v1/tasks", {"title": "Call Ana"})).json["id"]
    edit = await api.ask("PATCH", f"/v1/tasks/{task}", {"title": "Call Bea"})
    undone = await api.ask("POST", UNDO, {"change": edit.change})
    assert undone.json["undo"] == undone.change
    (row,) = undone.json["written"]
    assert (row["title"], row["field"], row["before"], row["after"]) == (
        "Call Ana",
        "title",
        "Call Bea",
        "Call Ana",
    )
    assert (await api.ask("POST", UNDO, {"change": edit.change})).json["already"]
    await api.ask("POST", UNDO, {"change": undone.change})
    assert (await api.ask("GET", f"/v1/tasks/{task}")).json["title"] == "Call Bea"


async def test_the_last_change_is_shown_and_undone_step_by_step(api: Api) -> None:
    task = (await api.ask("POST", "/v1/tasks", {"title": "Call Ana"})).json["id"]
    edit = await api.ask("PATCH", f"/v1/tasks/{task}", {"due": "2026-04-01"})
    shown = (await api.ask("GET", UNDO)).json
    assert (shown["change"], shown["count"], shown["undone"]) == (edit.change, 1, False)
    await api.ask("POST", UNDO)
    await api.ask("POST", UNDO, {"task": "Call Ana"})
    assert (await api.ask("GET", f"/v1/tasks/{task}")).status == 404
    nothing = await api.ask("POST", UNDO)
    assert (nothing.status, nothing.code) == (404, "not_found")


async def test_the_log_names_changes_and_says_what_was_undone(api: Api) -> None:
    task = (await api.ask("POST", "/v1/tasks", {"title": "Call Ana"})).json["id"]
    edit = await api.ask("PATCH", f"/v1/tasks/{task}", {"due": "2026-04-01"})
    undo = await api.ask("POST", UNDO)
    rows = (await api.ask("GET", "/v1/log?field=due")).json
    assert [(row["change"], row["undone"], row["undoes"], row["why"]) for row in rows] == [
        (edit.change, True, None, None),
        (undo.change, False, edit.change, f"undo of {edit.change}"),
    ]


async def test_what_was_changed_since_is_left_with_the_reason(api: Api) -> None:
    task = (await api.ask("POST", "/v1/tasks", {"title": "Call Ana"})).json["id"]
    edit = await api.ask("PATCH", f"/v1/tasks/{task}", {"due": "2026-04-01"})
    await api.ask("PATCH", f"/v1/tasks/{task}", {"due": "2026-04-02"})
    undone = await api.ask("POST", UNDO, {"change": edit.change})
    (left,) = undone.json["left"]
    assert (undone.status, undone.json["undo"], left["field"], left["why_id"]) == (
        200,
        None,
        "due",
        "changed-since",
    )


async def test_several_changes_are_undone_together_or_not_at_all(api: Api) -> None:
    names = [
        (await api.ask("POST", "/v1/tasks", {"title": title})).change for title in ("Call Ana", "Call Bea")
    ]
    refused = await api.ask("POST", UNDO, {"change": f"{names[0]}, 7-abcdef"})
    assert refused.status == 404
    assert len((await api.ask("GET", "/v1/tasks")).json) == 2
    await api.ask("POST", UNDO, {"change": ", ".join(map(str, names))})
    assert (await api.ask("GET", "/v1/tasks")).json == []


async def test_a_change_and_a_task_are_not_named_together(api: Api) -> None:
    refused = await api.ask("POST", UNDO, {"change": "1-abcd", "task": "x"})
    assert (refused.status, refused.code) == (400, "usage")


async def test_an_undo_in_parts_is_one_change_and_a_retry_gets_the_same_answer(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_of_edits, "PART_OPERATIONS", 1)
    names = [(await api.ask("POST", "/v1/tasks", {"title": title})).change for title in ("Ana", "Bea", "Eva")]
    first = await api.ask("POST", UNDO, {"change": ", ".join(map(str, names))}, key="k")
    assert first.json["undo"] == first.change
    retry = await api.ask("POST", UNDO, {"change": ", ".join(map(str, names))}, key="k")
    assert (retry.json, retry.change) == (first.json, first.change)
    assert (await api.ask("GET", UNDO)).status == 404
    assert (await api.ask("POST", UNDO, {"change": first.change})).json["left"] == []
    assert len((await api.ask("GET", "/v1/tasks")).json) == 3
