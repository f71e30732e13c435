"""What is hidden from an agent of another maker is answered as what is not there, at every entrance.

Never compares what was named: each reference reads REF in the answers that are compared.
"""

import json
from collections.abc import AsyncIterator
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.control.routes import asks
from daemon.control.routes.decisions import DecisionRoutes
from daemon.control.routes.journal import checklists, entries, labels
from daemon.control.routes.outside import OutsideRoutes
from daemon.journal.human_input import HumanInput
from syncproto.ids import id_to_text
from tests.daemon.control.conftest import Answer, Api
from tests.support.fleet import DAY_MS, START_MS

OWN, OTHER = "Claude", "Codex"
NOWHERE = "f" * 32
ESTIMATE = {"tool": "update_task_estimate", "args": {"minutes": 90}}
KEYS = count()


class Entrance(NamedTuple):
    """A request in which REF stands for what is named."""

    method: str
    path: str
    body: dict[str, Any] | None = None


class Scene(NamedTuple):
    """A journal of which the agent may read one task, and all ids that are none of its business."""

    api: Api
    task: str
    own_set: str
    hidden: dict[str, str]


def change(tool: str, **args: Any) -> Entrance:
    body = {"agent": OWN, "task": "TASK", "changes": [{"tool": tool, "args": args}]}
    return Entrance("POST", "/v1/proposals", body)


LABEL = {"id": "REF", "confidence": "high"}
USE = {"agent": OWN, "args_hash": "0" * 64, "execution_id": "x"}
ENTRANCES = [
    Entrance("GET", f"/v1/readable-tasks/REF?agent={OWN}"),
    Entrance("POST", "/v1/proposals", {"agent": OWN, "task": "REF", "changes": [ESTIMATE]}),
    Entrance("GET", f"/v1/proposals/REF?agent={OWN}"),
    Entrance("POST", "/v1/proposals/REF/withdraw", {"agent": OWN}),
    Entrance("POST", "/v1/proposals/SET/withdraw", {"agent": OWN, "items": ["REF"]}),
    Entrance("GET", f"/v1/asks/REF?agent={OWN}"),
    Entrance("POST", "/v1/asks/REF/use", USE),
    Entrance("POST", "/v1/asks/REF/withdraw", {"agent": OWN}),
    Entrance("GET", f"/v1/receipts/REF?agent={OWN}"),
    change("update_checklist_item", id="REF", isChecked=True),
    change("update_checklist_item", id="REF", title="Other words", reason="It says so in the mail."),
    change("assign_task_label", **LABEL),
    change("assign_task_label", id="REF", confidence="low"),
    change("assign_task_labels", labels=[LABEL]),
    change("remove_task_label", id="REF"),
    change("clear_task_due_date", evidenceIds=["REF"]),
    change(
        "ask_question",
        question="Which label?",
        answers=[
            {
                "text": "That one",
                "tool": "assign_task_label",
                "arguments": {"id": "REF", "confidence": "high"},
            },
            {"text": "None"},
        ],
    ),
]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    api = Api(tmp_path, [*labels.routes(), *checklists.routes()])
    typed = HumanInput(lambda: START_MS, UTC, "en")
    api.routes += entries.routes(typed)
    api.routes += OutsideRoutes(api.store, api.notifier, lambda: START_MS, typed, ProposalLimits()).routes()
    api.routes += asks.routes(lambda: START_MS)
    api.routes += DecisionRoutes(api.store, lambda: START_MS, reason_min=20, open_per_day=50).routes()
    await api.start()
    yield await _make(api)
    await api.stop()


async def _make(api: Api) -> Scene:
    async def made(path: str, body: dict[str, Any]) -> Any:
        answer = await api.ask("POST", path, body)
        assert answer.status == 201, answer.json
        return answer.json

    for name in (OWN, OTHER):
        await made("/v1/external-agents", {"name": name})
    limits = {"scope": "categories", "daily_limits": {"proposals": 10_000, "bytes": 1 << 30}}
    await api.ask("PATCH", f"/v1/external-agents/{OWN}", limits)
    task = (await made("/v1/tasks", {"title": "Write to Ana", "due": "2030-01-02"}))["id"]
    hidden: dict[str, str] = {}
    for name in ("task", "removed task"):
        hidden[name] = (await made("/v1/tasks", {"title": f"Secret {name}", "category": "Health"}))["id"]
    hidden["category"] = (await api.ask("GET", "/v1/categories")).json[0]["id"]
    for name in ("label", "removed label"):
        body = {"name": f"Secret {name}", "categories": ["Health"] if name == "label" else []}
        hidden[name] = (await made("/v1/labels", body))["id"]
    await made(f"/v1/tasks/{hidden['task']}/checklist", {"title": "Secret item"})
    await made(f"/v1/tasks/{task}/checklist", {"title": "Secret removed item"})
    items = await api.store.read(
        lambda snapshot: {entity.text("title"): entity for entity in snapshot.entities("checklist_item")}
    )
    hidden["item"], hidden["removed item"] = (
        id_to_text(items[f"Secret {name}"].id) for name in ("item", "removed item")
    )
    for name, owner in (("entry", hidden["task"]), ("removed entry", task)):
        hidden[name] = (await made(f"/v1/tasks/{owner}/entries", {"text": f"Secret {name}"}))["id"]
    for path in (
        f"entries/{hidden['removed entry']}",
        f"tasks/{hidden['removed task']}",
        f"labels/{hidden['removed label']}",
        f"checklist-items/{hidden['removed item']}",
    ):
        assert (await api.ask("DELETE", f"/v1/{path}")).status == 200
    proposal = {"changes": [ESTIMATE], "key": "k"}
    theirs = await made("/v1/proposals", proposal | {"agent": OTHER, "task": hidden["task"]})
    hidden |= {"set": theirs["set"], "proposal": theirs["items"][0]["item"]}
    ask = {"name": "send_mail", "args": {}, "title": "Secret ask", "not_after": START_MS + DAY_MS, "key": "k"}
    hidden["ask"] = (await made("/v1/asks", ask | {"agent": OTHER}))["ask_id"]
    hidden["agent"] = (await api.ask("GET", f"/v1/external-agents/{OTHER}")).json["id"]
    own = await made("/v1/proposals", proposal | {"agent": OWN, "task": task})
    return Scene(api, task, own["set"], hidden)


async def answer_to(scene: Scene, entrance: Entrance, ref: str) -> str:
    """Return the status and the words of an answer, with REF for what was named."""
    text = json.dumps(entrance.body).replace("TASK", scene.task).replace("REF", ref)
    body: Any = json.loads(text)
    if entrance.path == "/v1/proposals":
        body["key"] = str(next(KEYS))
    path = entrance.path.replace("REF", ref).replace("SET", scene.own_set)
    answer = await scene.api.ask(entrance.method, path, body)
    if answer.status == 201:
        assert all(item["item"] is None for item in answer.json["items"]), (entrance, answer.json)
        answer.json.pop("set")
    return f"{answer.status} {json.dumps(answer.json)}".replace(ref, "REF")


async def test_what_is_hidden_is_answered_as_what_is_not_there(scene: Scene) -> None:
    wrong = []
    for entrance in ENTRANCES:
        # Calls of tools take whole ids alone: what is shorter is refused by its form.
        for length in (32,) if (entrance.body or {}).get("task") == "TASK" else (32, 31, 8, 3):
            expected = await answer_to(scene, entrance, NOWHERE[:length])
            for name, identifier in scene.hidden.items():
                answer = await answer_to(scene, entrance, identifier[:length])
                if answer != expected or "Secret" in answer:
                    wrong.append(f"{entrance.path} {name} {length}: {answer}\n  not {expected}")
    assert not wrong, "\n".join(wrong)


async def proposals_of_task(scene: Scene, title: str) -> tuple[Answer, str]:
    """Propose a new task; return the answer, and what the agent reads of it later."""
    body = {"agent": OWN, "changes": [{"tool": "add_task", "args": {"title": title}}], "key": str(next(KEYS))}
    proposed = await scene.api.ask("POST", "/v1/proposals", body)
    later = await scene.api.ask("GET", f"/v1/proposals/{proposed.json['set']}?agent={OWN}")
    words = [(item["state"], item["reason"], item["disputed"]) for item in later.json["items"]]
    return proposed, f"{proposed.status} {later.json['state']} {words}".replace(title, "REF")


async def test_a_title_tells_nothing_of_a_task_beyond_the_scope(scene: Scene) -> None:
    """Old: "a task … is open already" named it, and a proposal of that title stood as obsolete."""
    (_, expected), (proposed, answer) = (
        await proposals_of_task(scene, "Nobody has this"),
        await proposals_of_task(scene, "Secret task"),
    )
    assert answer == expected
    assert "already" in (await proposals_of_task(scene, "Write to Ana"))[1]
    # Confirmed, and then put where the agent may not look: the word that a person gave it there is not told.
    (item,) = proposed.json["items"]
    verdict = {"verdict": "confirmed", "items": [item["item"]]}
    assert (await scene.api.ask("POST", "/v1/decisions", verdict)).json[0]["result"] == "applied"
    titled = await scene.api.store.read(
        lambda snapshot: [
            id_to_text(task.id)
            for task in snapshot.entities("task")
            if task.text("title") == "Secret task" and id_to_text(task.id) not in scene.hidden.values()
        ]
    )
    moved = {"title": "Secret words", "category": "Health"}
    assert (await scene.api.ask("PATCH", f"/v1/tasks/{titled[0]}", moved)).status == 200
    again, _ = await proposals_of_task(scene, "Secret task")
    assert ("words" in str(again.json), again.json["state"]) == (False, "pending")


async def test_a_name_that_became_hidden_is_not_read_from_an_own_proposal(scene: Scene) -> None:
    label = (await scene.api.ask("POST", "/v1/labels", {"name": "Mail"})).json["id"]
    assign = {"tool": "assign_task_label", "args": {"id": label, "confidence": "high"}}
    body = {"agent": OWN, "task": scene.task, "changes": [assign], "key": "label"}
    proposed = (await scene.api.ask("POST", "/v1/proposals", body)).json
    assert "Mail" in proposed["items"][0]["summary"]
    edited = {"name": "Secret name", "categories": ["Health"]}
    assert (await scene.api.ask("PATCH", f"/v1/labels/{label}", edited)).status == 200
    for path in (
        f"/v1/proposals/{proposed['set']}",
        "/v1/proposals",
        f"/v1/readable-tasks/{scene.task}",
    ):
        answer = await scene.api.ask("GET", f"{path}?agent={OWN}")
        assert (answer.status, "Secret" in str(answer.json)) == (200, False), path


async def test_an_own_ask_and_its_receipt_are_read_by_a_whole_id_alone(scene: Scene) -> None:
    ask = {"name": "send_mail", "args": {}, "title": "Mail Ana", "not_after": START_MS + DAY_MS, "key": "k"}
    own = (await scene.api.ask("POST", "/v1/asks", ask | {"agent": OWN})).json["ask_id"]
    for path in (f"/v1/asks/{own}", f"/v1/receipts/{own}"):
        assert (await scene.api.ask("GET", f"{path}?agent={OWN}")).status == 200
        assert (await scene.api.ask("GET", f"{path[:-1]}?agent={OWN}")).status == 404
        # A person's own program gives no agent, and a part of an id.
        assert (await scene.api.ask("GET", path[:-1])).status == 200
