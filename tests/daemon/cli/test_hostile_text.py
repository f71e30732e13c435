"""Text that somebody else wrote: no command lets it drive the terminal.

Never starts a daemon: answers are scripted.
"""

import os

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

LIST = "GET /v1/task-lines"
WHOLE_LIST = "GET /v1/tasks"
HOSTILE = "\x1b[2J\x1b]0;owned\x07 x\u202egnp.exe \x9b31m\u2066\x7f\r\nplacet: all is well"


def _hostile_answers(control: FakeControl) -> list[list[str]]:
    """Put hostile text everywhere that text can stand, and name the commands that show it."""
    task = examples.task(
        title=HOSTILE,
        status=HOSTILE,
        reason=HOSTILE,
        category=HOSTILE,
        labels=[HOSTILE],
        label_colors={HOSTILE: HOSTILE},
        times=[dict.fromkeys(examples.TIME_RECORD, HOSTILE)],
        links=[dict.fromkeys(examples.LINK, HOSTILE)],
        due=HOSTILE,
        conflicts=[
            {"field": HOSTILE, "versions": [{"value": HOSTILE, "by": HOSTILE, "device_name": HOSTILE}]}
        ],
        report={"tldr": HOSTILE, "achieved": [HOSTILE]},
        entries=[{"text": HOSTILE, "author": HOSTILE, "device_name": HOSTILE, "happened_at": HOSTILE}],
        checklists=[
            {
                "id": "c",
                "title": HOSTILE,
                "items": [
                    {
                        "id": HOSTILE,
                        "title": HOSTILE,
                        "checked_by": HOSTILE,
                        "checked_at": HOSTILE,
                        "checked_on": HOSTILE,
                    }
                ],
            }
        ],
    )
    peer = {"device_id": HOSTILE, "name": HOSTILE, "address": HOSTILE, "last_seen": HOSTILE}
    everything = dict.fromkeys(examples.CHANGE, HOSTILE)
    control.answers(LIST, [task])
    control.answers(WHOLE_LIST, [task])
    snippet = [{"text": HOSTILE, "hit": hit} for hit in (False, True)]
    place = {"id": HOSTILE, "kind": HOSTILE, "field": HOSTILE, "snippet": snippet}
    result = {"id": HOSTILE, "title": HOSTILE, "status": HOSTILE, "places": [place]}
    control.answers("GET /v1/search", {"tasks": [result], "next": None})
    control.answers(f"GET /v1/tasks/{examples.TASK}", task)
    control.answers(f"GET /v1/tasks/{examples.TASK}/checklists", task["checklists"])
    control.answers(f"GET /v1/tasks/{examples.TASK}/entries", task["entries"])
    control.answers("GET /v1/entries/x", task["entries"][0])
    control.answers(
        "GET /v1/pending",
        [
            examples.pending(
                summary=HOSTILE,
                rationale=HOSTILE,
                current=HOSTILE,
                proposed=HOSTILE,
                set_id=HOSTILE,
                created_at=HOSTILE,
                expires_at=HOSTILE,
            )
        ],
    )
    control.answers("GET /v1/decisions", [dict.fromkeys(examples.DECISION, HOSTILE)])
    versions = [{"value": HOSTILE, "by": HOSTILE, "device_name": HOSTILE, "at": HOSTILE}]
    hostile = dict.fromkeys(("entity", "kind", "field", "name", "title", "task_title"), HOSTILE)
    control.answers("GET /v1/conflicts", [hostile | {"versions": versions}])
    control.answers(
        "GET /v1/status", examples.STATUS | {"name": HOSTILE, "peers": [peer], "agents": {HOSTILE: 1}}
    )
    control.answers("GET /v1/devices", [peer])
    record = dict.fromkeys(examples.TIME_RECORD, HOSTILE)
    control.answers("GET /v1/times", [record, record | {"is_running": False, "device": "x"}])
    control.answers("GET /v1/timers", [record, record | {"is_here": False}])
    link = dict.fromkeys(examples.LINK, HOSTILE)
    control.answers("GET /v1/tasks/x/links", [link, link | {"task_removed": False}])
    for kind, example in (("labels", examples.LABEL), ("categories", examples.CATEGORY)):
        control.answers(f"GET /v1/{kind}", [dict.fromkeys(example, HOSTILE)])
    control.answers("GET /v1/log", [everything])
    holding = dict.fromkeys(examples.WHERE["devices"][0], HOSTILE) | {
        "lacks": 0,
        "this": False,
        "removed": False,
    }
    where = dict.fromkeys(examples.WHERE, HOSTILE) | {"commits": 1, "devices": [holding]}
    control.answers("GET /v1/where", where)
    control.answers("GET /v1/agents", [dict.fromkeys(examples.AGENT_JSON, HOSTILE)])
    control.answers("GET /v1/external-agents", [dict.fromkeys(examples.EXTERNAL_AGENT_JSON, HOSTILE)])
    control.answers(
        "GET /v1/agents/x", dict.fromkeys((*examples.AGENT_JSON, HOSTILE), HOSTILE) | {"report": {}}
    )
    control.answers("POST /v1/decisions", [examples.verdict("applied", message=HOSTILE, item_id=HOSTILE)])
    control.answers("POST /v1/join", {"device_id": HOSTILE, "name": HOSTILE})
    control.answers("POST /v1/invitations", {"token": HOSTILE, "address": HOSTILE, "expires_at": HOSTILE})
    control.answers("POST /v1/sync", {"peers": [peer]})
    skipped = {"line": 1, "what": HOSTILE, "why": HOSTILE}
    control.answers("POST /v1/import", {"tasks": 1, "skipped": [skipped]})
    control.refuses(
        "POST /v1/agents", 422, "failed", HOSTILE, details=[{"line": HOSTILE, "message": HOSTILE}]
    )
    control.refuses(
        "POST /v1/tasks", 400, "usage", HOSTILE, HOSTILE, candidates=[{"id": HOSTILE, "title": HOSTILE}]
    )
    control.streams("GET /v1/events", f"id: {HOSTILE[:9]}\nevent: x\ndata: {HOSTILE[:20]}\n\n".encode())
    return [
        ["list"],
        ["search", "x"],
        ["show", examples.TASK],
        ["check", "list", examples.TASK],
        ["entry", "list", examples.TASK],
        ["entry", "show", "x"],
        ["pending"],
        ["decisions"],
        ["conflicts"],
        ["status"],
        ["devices"],
        ["log"],
        ["log", "--where", "x"],
        ["timer", "status"],
        ["timer", "list"],
        ["link", "list", "x"],
        ["label", "list"],
        ["category", "list"],
        ["agent", "list"],
        ["agent", "show", "x"],
        ["confirm", "x"],
        ["join"],
        ["pair", "--invite"],
        ["sync"],
        ["import", "markdown", "-", "--name", HOSTILE.replace("\0", "")],
        ["agent", "create", "x"],
        ["add", "x"],
        ["events", "--count", "1"],
        ["nope" + HOSTILE],
        ["doctor"],
    ]


@pytest.mark.parametrize("form", [[], ["--plain"], ["--json"]])
def test_no_text_from_elsewhere_can_drive_the_terminal(form: list[str], placet: Placet, control: FakeControl):
    for words in _hostile_answers(control):
        result = placet(*words, *form, typed="x")
        text = result.out + result.err
        assert text, words
        hidden = {letter for letter in text if not letter.isprintable()} - {"\n", "\t"}
        assert not hidden, (words, hidden)
        assert not any(line.startswith("placet: all is well") for line in text.splitlines()), words


def test_words_that_are_not_utf_8_are_named_and_never_sent(placet: Placet, control: FakeControl):
    bad = os.fsdecode(b"caf\xe9")
    wrong = []
    for words in (
        ["add", bad],
        ["add", "a", "--label", bad],
        ["show", bad],
        ["list", "--label", bad],
        ["search", bad],
        ["note", "a", bad],
        ["done", bad],
        ["task", "edit", "a", "--title", bad],
        ["check", "add", "a", bad],
        ["undo", bad],
        ["config", "set", "device.name", bad],
    ):
        sent = len(control.requests)
        result = placet(*words)
        requests = control.requests[sent:]
        is_sent = "caf" in str([(request.target, request.body) for request in requests])
        if result.status != 2 or "not UTF-8" not in result.err or is_sent:
            wrong.append((words[:2], result, requests))
    assert wrong == []
