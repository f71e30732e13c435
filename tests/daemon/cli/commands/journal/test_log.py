"""The log at the command line: what is asked for, how changes are drawn, and following it live.

Never waits for a time: what is followed ends by a signal that is sent once its lines are there.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.words.text_diff import word_changes
from tests.daemon.cli import examples
from tests.daemon.cli.examples import TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet, command_environment
from tests.support.patience import LIMIT_S
from tests.support.starts import processes

LOG = "GET /v1/log"


def change(seq: int, after: object, **more: Any) -> dict[str, Any]:
    return examples.CHANGE | {"seq": seq, "after": after} | more


def test_the_log_is_asked_for_part_by_part(placet: Placet, control: FakeControl):
    control.answers(LOG, [])
    texts = ["--field", "status", "--kind", "task", "--by", "user", "--agent", "c0ff", "--device", "my phone"]
    result = placet("log", "passport", *texts, "--since", "monday", "--until", "2026-03-04", "--before", "9")
    assert (result.status, result.err) == (0, "No history of that.\n")
    target = control.requests[-1].target
    for part in (
        "entity=passport",
        "field=status",
        "kind=task",
        "by=user",
        "agent=c0ff",
        "device=my%20phone",
    ):
        assert part in target
    assert "since=monday&until=2026-03-04&before=9" in target
    assert placet("log").err == "No history yet.\n"


def test_values_that_are_left_out_are_counted_with_the_command_that_shows_them(
    placet: Placet, control: FakeControl
):
    cut = [change(seq, None, before=None, field="reason", left_out=True) for seq in (3, 4)]
    control.answers(LOG, [*cut, change(5, "DONE")])
    result = placet("log")
    assert result.out.count("reason: not shown here") == 2
    command = f"placet log {examples.CHANGE['entity']} --field reason --before 5"
    assert f"The values of 2 changes are left out, because they are long: {command}\n" in result.err
    assert f"placet: The values of 2 changes are left out, because they are long: {command}\n" in (
        placet("log", "--plain").err
    )


WHERE = "GET /v1/where"


def test_it_is_told_which_devices_hold_a_thing(placet: Placet, control: FakeControl):
    control.answers(WHERE, examples.WHERE)
    result = placet("log", "--where", "buy milk", COLUMNS="80")
    assert control.requests[-1].target == "/v1/where?of=buy%20milk"
    lines = result.out.splitlines()
    assert lines[0].startswith("Buy milk: 3 commits, the newest of phone, ")
    assert [line.split()[0] for line in lines[-4:]] == ["laptop", "phone", "desk", "old"]
    for line, words in zip(lines[-4:], ("yes", "lacks 2 commits", "not yet", "not known"), strict=True):
        assert words in line
    assert (lines[-4].split()[-2:], lines[-1].split()[-1]) == (["this", "one"], "removed")
    rows = placet("log", "--where", "42", "--plain").out.splitlines()
    assert rows[1].split("\t") == ["f0" * 32, "phone", "2", "2026-03-04T08:00:00.000Z"]
    assert json.loads(placet("log", "--where", "42", "--json").out) == examples.WHERE


def test_it_is_told_which_devices_hold_a_commit(placet: Placet, control: FakeControl):
    devices = [examples.WHERE["devices"][0], examples.WHERE["devices"][1] | {"lacks": 1}]
    more = {"entity": None, "commits": 1, "kind": "commit", "title": "", "devices": devices}
    control.answers(WHERE, examples.WHERE | more)
    lines = placet("log", "--where", "42").out.splitlines()
    assert lines[0].startswith("Commit 42, of phone, ")
    assert "not yet" in lines[-1]


@pytest.mark.parametrize("more", [["x"], ["--follow"], ["--by", "user"]])
def test_where_goes_with_nothing_else(placet: Placet, more: list[str]):
    result = placet("log", "--where", "42", *more)
    assert result.status == 2
    assert "--where cannot be combined with other options" in result.err


def test_a_page_that_is_full_says_how_to_go_back(placet: Placet, control: FakeControl):
    control.answers(LOG, [change(41, "DONE"), change(42, "OPEN")])
    assert placet("log", "--limit", "2").err == "Older changes: placet log … --before 41\n"
    assert placet("log", "--limit", "2", "--json").err == ""
    assert placet("log", "--limit", "3").err == ""
    assert placet("log", "--limit", "2", "--after", "40").err == ""


def test_a_long_title_does_not_break_a_line(placet: Placet, control: FakeControl):
    control.answers(LOG, [change(41, "DONE", title="x" * 80)])
    assert max(map(len, placet("log", COLUMNS="80").out.splitlines())) == 80


def test_long_texts_show_what_changed_of_them(placet: Placet, control: FakeControl):
    words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    fields = change(3, words.replace("seven", "7"), kind="entry", field="text", before=words, title="one two")
    control.answers(LOG, [fields])
    assert placet("log", COLUMNS="80").out == (
        "2 min ago    you on laptop: entry 3f2a  one two\n"
        "             text: …three four five six [-seven-] {+7+} eight nine ten eleven…\n"
    )
    assert words in placet("log", "--plain").out


def test_what_a_newer_version_wrote_is_said_to_be_unknown(placet: Placet, control: FakeControl):
    control.answers(LOG, [change(3, 2, kind="gadget", field="slots", before=1, unknown=True)])
    assert "slots: 1 → 2  (of a newer version)" in placet("log").out


def test_a_verdict_on_an_ask_and_its_use_are_said_as_such(placet: Placet, control: FakeControl):
    about = {"is_about_ask": True, "title": "Run the tests"}
    name = "5a" * 16
    control.answers(
        LOG,
        [
            change(3, "confirmed", kind="decision", field="verdict", before=None, entity="d1" * 16, **about),
            change(3, name, kind="decision", field="item_id", before=None, entity="d1" * 16, **about),
            change(4, name, kind="use", field="ask_id", before=None, entity="e1" * 16, by="agent", **about),
        ],
    )
    out = placet("log").out
    assert "permitted ask 5a5a  Run the tests\n" in out
    assert "used the permission 5a5a  Run the tests\n" in out
    assert len(out.splitlines()) == 2


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_what_differs_is_in_brackets_and_the_rest_is_not(old: list[str], new: list[str]):
    changes = word_changes(" ".join(old), " ".join(new))
    assert ("[-" in changes or "{+" in changes) == (old != new)
    count, come = changes.count("[-"), changes.count("{+")
    assert (count <= len(old), come <= len(new)) == (True, True)


def test_a_text_rewritten_as_a_whole_is_cut():
    changes = word_changes(" ".join(f"old{n}" for n in range(900)), " ".join(f"new{n}" for n in range(900)))
    assert len(changes) < 600
    assert changes.startswith("[-old0")


# -- following ----------------------------------------------------------------------------------------


class _Following:
    """A `placet log --follow` in the background; its lines are read as they come."""

    def __init__(self, home: Path, *words: str, command: tuple[str, ...] = ("log", "--follow")) -> None:
        self.running = processes.Popen(
            [sys.executable, "-m", "daemon", *command, *words],
            env=command_environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.running.stdout is not None
        return self.running.stdout.readline()

    def ended(self) -> tuple[int, str]:
        self.running.send_signal(signal.SIGINT)
        _, err = self.running.communicate(timeout=LIMIT_S)
        return self.running.returncode, err


def _event(seq: int) -> bytes:
    return b"id: %d\nevent: commit\ndata: {}\n\n" % seq


def test_a_stream_of_events_that_is_interrupted_ended_well(home: Path, control: FakeControl):
    control.streams("GET /v1/events", _event(42))
    control.hangs("GET /v1/events")
    following = _Following(home, "--plain", command=("events",))
    assert following.line().startswith("42\t")
    assert following.ended() == (0, "")


def test_following_shows_what_is_there_then_what_comes_and_ends_well(home: Path, control: FakeControl):
    control.answers("GET /healthz", {"feed_end": 41})
    control.answers(LOG, [change(41, "DONE")])
    control.answers(LOG, [change(42, "OPEN")])
    control.answers(LOG, [])
    control.answers(LOG, [change(44, "BLOCKED")])
    control.answers(LOG, [])
    control.streams("GET /v1/events", _event(42), _event(43))
    control.streams("GET /v1/events", _event(44))
    control.hangs("GET /v1/events")
    following = _Following(home, "--jsonl", "--field", "status")
    assert [json.loads(following.line())["after"] for _ in range(3)] == ["DONE", "OPEN", "BLOCKED"]
    assert following.ended() == (0, "")
    targets = [request.target for request in control.asked(LOG)]
    assert targets == [
        "/v1/log?field=status&limit=50",
        *(f"/v1/log?field=status&limit=500&after={after}" for after in (41, 42, 43)),
    ]
    resumed = [request.headers["Last-Event-ID"] for request in control.asked("GET /v1/events")]
    assert resumed[:2] == ["41", "43"]


def test_more_than_a_page_that_came_at_once_is_shown_to_its_end(home: Path, control: FakeControl):
    control.answers("GET /healthz", {"feed_end": 0})
    control.answers(LOG, [])
    control.answers(LOG, [change(seq, seq) for seq in range(1, 501)])
    control.answers(LOG, [change(501, 501)])
    control.streams("GET /v1/events", _event(501))
    control.hangs("GET /v1/events")
    following = _Following(home, "--jsonl")
    assert [json.loads(following.line())["after"] for _ in range(501)] == list(range(1, 502))
    assert following.ended() == (0, "")
    assert [request.target.partition("after=")[2] for request in control.asked(LOG)] == ["", "0", "500"]


def test_a_task_is_followed_by_its_id_whatever_it_is_called_later(home: Path, control: FakeControl):
    control.answers("GET /healthz", {"feed_end": 1})
    control.answers("GET /v1/tasks/passport", examples.task())
    control.answers(LOG, [change(1, "DONE")])
    control.hangs("GET /v1/events")
    following = _Following(home, "passport", "--plain")
    assert following.line().startswith("1\t")
    assert following.ended()[0] == 0
    assert f"entity={TASK}" in control.asked(LOG)[0].target


@pytest.mark.parametrize("words", [["--json"], ["--before", "7"]])
def test_what_cannot_be_followed_is_said(words: list[str], placet: Placet):
    assert placet("log", "--follow", *words).status == 2


def test_the_log_shows_how_the_agent_argued_over_a_tick(placet: Placet, control: FakeControl):
    note = {"id": "3f2a" * 8, "text": "The tests are written.", "author": "user", "happened_at": ""}
    more = {"kind": "checklist_item", "field": "is_checked", "before": False, "evidence": [note]}
    control.answers(LOG, [change(7, True, agent_reason="The note says so.", **more)])
    out = placet("log", COLUMNS="88").out
    assert "the agent says: “The note says so.”" in out
    assert "evidence 3f2a: you, " in out
    assert "“The tests are written.”" in out
