"""The log and the events: who changed what, and when.

Never follows a real feed: answers are scripted.
"""

import json

from tests.daemon.cli import examples
from tests.daemon.cli.examples import ITEM, SET, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet


def test_the_log_tells_who_when_where_and_what(placet: Placet, control: FakeControl):
    reason = examples.CHANGE | {
        "field": "estimate_minutes",
        "before": None,
        "after": 90,
        "why": "the note says so",
    }
    control.answers("GET /v1/log", [examples.CHANGE, reason])
    assert placet("log", "the", "passport", "--limit", "7", "--after", "3").out == (
        "2 min ago    you on laptop: task 3f2a  Renew the passport\n"
        "             status: open → done\n"
        "             estimate: 1 h 30 min\n"
        "             why: the note says so\n"
    )
    assert control.requests[-1].target == "/v1/log?entity=the%20passport&limit=7&after=3"
    assert [json.loads(line)["after"] for line in placet("log", "--jsonl").out.splitlines()] == ["DONE", 90]


def test_events_are_lines_and_resume_where_they_broke(placet: Placet, control: FakeControl):
    control.streams(
        "GET /v1/events", b": hello\n\nid: 7\nevent: change\nda", b'ta: {"a": 1}\n\nid: 8\ndata: cut sh'
    )
    control.streams("GET /v1/events", b"id: 8\ndata: two\ndata: lines\n\n")
    result = placet("events", "--jsonl", "--count", "2", "--after", "6")
    assert [json.loads(line) for line in result.out.splitlines()] == [
        {"id": "7", "event": "change", "data": {"a": 1}},
        {"id": "8", "event": "message", "data": "two\nlines"},
    ]
    assert [request.headers.get("Last-Event-ID") for request in control.requests] == ["6", "7"]


def test_events_begin_after_a_number(placet: Placet, control: FakeControl):
    result = placet("events", "--after", "abc")
    assert (result.status, control.requests) == (2, [])
    assert "--after" in result.err


def test_events_end_when_the_daemon_is_gone(placet: Placet, control: FakeControl):
    control.refuses("GET /v1/events", 403, "forbidden", "not yours")
    assert placet("events").status == 7


def test_a_state_that_differs_is_told_among_the_events_and_not_in_the_log(
    placet: Placet, control: FakeControl
):
    answer = [{"device": "f0" * 32, "device_name": "phone", "differs": differs} for differs in (True, False)]
    stream = "".join(f"event: state\ndata: {json.dumps(element)}\n\n" for element in answer)
    control.streams("GET /v1/events", stream.encode())
    assert placet("events", "--count", "2").out.splitlines() == [
        "phone holds the same changes and shows something else",
        "phone holds the same changes and shows the same again",
    ]
    control.streams("GET /v1/events", stream.encode())
    result = placet("events", "--count", "2", "--jsonl")
    assert [json.loads(line)["data"] for line in result.out.splitlines()] == answer


def test_what_is_done_in_a_mailbox_is_told_among_the_events(placet: Placet, control: FakeControl):
    done = {"mailbox": "box", "taken": 3, "put": 1, "cleared": 2, "trouble": None}
    away = {"mailbox": "stick\x1b", "trouble": "it is gone", "trouble_id": "", "trouble_params": {}}
    stream = "".join(f"event: mailbox\ndata: {json.dumps(element)}\n\n" for element in (done, away))
    control.streams("GET /v1/events", stream.encode())
    first, second = placet("events", "--count", "2").out.splitlines()
    assert first == "box: 3 taken, 1 left, 2 cleared up"
    assert second.endswith(": it is gone")
    assert "\x1b" not in second


def test_an_event_is_told_by_what_it_changed(placet: Placet, control: FakeControl):
    data = json.dumps({"seq": 41, "changes": [examples.CHANGE]})
    control.streams("GET /v1/events", f"id: 41\nevent: commit\ndata: {data}\n\n".encode())
    heading, field = placet("events", "--count", "1").out.splitlines()
    assert heading.endswith("  you on laptop: task 3f2a  Renew the passport")
    assert field == " " * heading.index("you on") + "status: open → done"


def test_the_log_leaves_out_what_only_machines_read(placet: Placet, control: FakeControl):
    added = {"seq": 7, "entity": ITEM, "kind": "checklist_item", "title": "Form"}
    decided = {"seq": 8, "entity": "d" * 32, "kind": "decision", "title": ""}
    labelled = {"seq": 9, "entity": TASK, "kind": "task", "title": "T"}
    changes = [
        *(
            added | {"field": field, "before": None, "after": after}
            for field, after in [
                ("checklist_id", SET),
                ("is_checked", False),
                ("position", "V"),
                ("title", "Form"),
            ]
        ),
        *(
            decided | {"field": field, "before": None, "after": after}
            for field, after in [
                ("args_hash", "ff"),
                ("item_id", ITEM),
                ("reason", "no"),
                ("verdict", "rejected"),
            ]
        ),
        labelled | {"field": "label_ids/home", "before": None, "after": True},
        labelled | {"field": "label_ids/work", "before": True, "after": False},
    ]
    control.answers("GET /v1/log", [examples.CHANGE | change for change in changes])
    assert placet("log").out == (
        "2 min ago    you on laptop: added checklist item a81c  Form\n"
        "2 min ago    you on laptop: rejected proposal a81c\n"
        "             reason: no\n"
        "2 min ago    you on laptop: task 3f2a  T\n"
        "             label: +home\n"
        "             label: -work\n"
    )
    assert len(placet("log", "--plain").out.splitlines()) == len(changes)
