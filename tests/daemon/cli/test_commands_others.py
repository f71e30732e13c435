"""What the commands of agents, devices and history ask of the daemon, and what they tell of the answer.

Never checks how the daemon decides: answers are scripted.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.conftest import Placet
from tests.daemon.cli.examples import ITEM, SET, TASK
from tests.daemon.cli.fake_control import FakeControl

SHOW = f"GET /v1/tasks/{TASK}"
DECIDE = "POST /v1/decisions"


def _body(control: FakeControl, line: str) -> Any:
    return control.asked(line)[-1].body


def test_pending_shows_before_and_after_and_whose_words_they_are(placet: Placet, control: FakeControl):
    added = examples.pending(
        item_id="b2" * 16,
        tool="add_checklist_item",
        summary='Add: "Design mockup"',
        current=None,
        rationale=None,
        disputed=True,
        proposed={"title": "Design mockup"},
    )
    other = examples.pending(item_id="c3" * 16, task_id=examples.OTHER, task_title="Other", status="deferred")
    control.answers("GET /v1/pending", [examples.pending(), other, added])
    control.answers(SHOW, examples.task())
    done = placet("pending")
    assert done.out == (
        "Renew the passport\n"
        "  a81c  Set estimate to 120 minutes\n"
        "        45 min → 2 h\n"
        "        the agent says: “The note says two hours.”\n"
        '  b2b2  Add: "Design mockup"  disputed: your devices decided differently\n'
        "        set 51e7aa00 · proposed 1 h ago · expires in 6 days\n"
        "\n"
        "Other\n"
        "  c3c3  Set estimate to 120 minutes  put off\n"
        "        45 min → 2 h\n"
        "        the agent says: “The note says two hours.”\n"
        "        set 51e7aa00 · proposed 1 h ago\n"
    )
    assert done.err == (
        "Decide: placet review, placet confirm a81c, or placet reject a81c --reason WHY\n"
        "A whole set: placet confirm --set 51e7aa00\n"
    )


def test_pending_of_a_removed_task_is_still_shown(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [examples.pending()])
    done = placet("pending")
    assert done.status == 0
    assert done.out.startswith(TASK)


def test_pending_takes_a_task_and_can_be_empty(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [])
    done = placet("pending", "the", "passport")
    assert (done.status, done.out, done.err) == (0, "", "Nothing waits for you.\n")
    assert control.requests[-1].target == "/v1/pending?task=the%20passport"


def test_pending_plain_has_stable_columns(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [examples.pending()])
    row = placet("pending", "--plain").out.rstrip("\n").split("\t")
    assert row == [
        ITEM,
        SET,
        TASK,
        "update_task_estimate",
        "pending",
        "false",
        "Set estimate to 120 minutes",
        "45",
        "120",
        "2026-03-10T13:00:00Z",
        "false",
    ]


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["confirm", "a81c", "b2"], {"verdict": "confirmed", "items": ["a81c", "b2"]}),
        (["confirm", "--set", "51e7"], {"verdict": "confirmed", "set": "51e7"}),
        (
            ["confirm", "a", "--force", "--again"],
            {"verdict": "confirmed", "items": ["a"], "force": True, "again": True},
        ),
        (
            ["confirm", "a", "--edit", '{"minutes": 90}'],
            {"verdict": "confirmed", "items": ["a"], "edit": {"minutes": 90}},
        ),
        (["reject", "a", "--reason", "no"], {"verdict": "rejected", "items": ["a"], "reason": "no"}),
        (["reject", "--set", "s"], {"verdict": "rejected", "set": "s"}),
        (["defer", "a"], {"verdict": "deferred", "items": ["a"]}),
        (["undo", "a"], {"verdict": "undone", "items": ["a"]}),
        (["reopen", "a"], {"verdict": "reopened", "items": ["a"]}),
    ],
)
def test_a_decision_is_sent_as_it_was_given(words, sent, placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("applied", message="Set estimate to 120 minutes")])
    done = placet(*words)
    assert (done.status, done.out) == (0, "✓ a81c  Set estimate to 120 minutes\n")
    assert _body(control, DECIDE) == sent | {"via": "cli"}


@pytest.mark.parametrize(
    ("results", "status"),
    [
        (["applied"], 0),
        (["already", "applied"], 0),
        (["stale"], 6),
        (["stale", "conflict", "obsolete", "expired"], 6),
        (["applied", "stale"], 8),
        (["already", "failed"], 8),
        (["applied", "not_found"], 8),
        (["not_found", "not_found"], 4),
        (["failed"], 1),
        (["stale", "failed"], 1),
        (["a result of a newer daemon"], 1),
    ],
)
def test_the_exit_status_says_what_came_of_all_items(results, status, placet: Placet, control: FakeControl):
    control.answers(
        DECIDE, [examples.verdict(result, item_id=f"{at:032x}") for at, result in enumerate(results)]
    )
    assert placet("confirm", "x", "--json").status == status


def test_a_stale_proposal_says_how_to_go_on(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("stale", message="the estimate is 60 now")])
    done = placet("confirm", "x")
    assert done.out == "✗ a81c  stale     the estimate is 60 now\n"
    assert "--force" in done.err


def test_a_decision_is_answered_in_the_words_of_what_was_decided(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("applied", status="rejected", message="rejected")])
    assert placet("reject", "x").out == "✓ a81c  rejected\n"


def test_a_reason_that_comes_too_late_is_not_lost_in_silence(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("already", message="it is rejected already")])
    assert "reopen it" in placet("reject", "x", "--reason", "too early").err
    assert placet("reject", "x").err == ""


def test_status_is_one_screen(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    assert placet("status").out == (
        "laptop  dededededede\n"
        "  holds      1 204 entities in 3 411 commits\n"
        "  state      5a5a5a5a5a5a\n"
        "  agents     3 active · 1 due · 0 running · 2 dormant\n"
        "  proposals  4 wait for you: placet pending\n"
        "  peers      ● phone  connected  in step\n"
        "             ○ tablet  away, seen 2 h ago  lacks 12 commits\n"
    )
    assert "state_hash\t" + "5a" * 32 in placet("status", "--plain").out


@pytest.mark.parametrize(("linked", "words"), [(True, "12345 commits to come"), (False, "lacks 1 commit")])
def test_status_tells_how_much_is_to_come_from_a_device_that_is_linked(
    placet: Placet, control: FakeControl, linked: bool, words: str
):
    peer = examples.STATUS["peers"][0] | {"connected": linked, "missing": 12345, "lag": 1}
    control.answers("GET /v1/status", examples.STATUS | {"peers": [peer]})
    assert f"  {words}\n" in placet("status").out


def test_devices_tell_who_let_each_of_them_in_and_when(placet: Placet, control: FakeControl):
    one = {**examples.DEVICES[0], "added_by": "desk", "added_at": "2026-03-04T10:00:00Z"}
    lost = {**one, "device_id": "ab" * 32, "name": "lost", "this": False, "removed": True}
    control.answers("GET /v1/devices", [one, lost])
    told = placet("devices").out.splitlines()[3:]
    assert len(told) == 1
    assert told[0].startswith(f"{one['name']} was let in by desk, ")
    rows = placet("devices", "--plain").out.splitlines()
    assert rows[0].split("\t")[-3:] == ["desk", "2026-03-04T10:00:00Z", "false"]


def test_devices_are_a_table(placet: Placet, control: FakeControl):
    control.answers("GET /v1/devices", examples.DEVICES)
    assert placet("devices").out == (
        "ID    NAME    LINK       LACKS  SEEN       ADDRESS\n"
        "dede  laptop  this one\n"
        "f0f0  phone   connected  0      1 min ago  192.168.1.5:4433\n"
        "7a7a  tablet  away       12     2 h ago\n"
    )


def test_an_invitation_is_a_line_of_its_own(placet: Placet, control: FakeControl):
    invitation = {"token": "placet-1-abc", "address": "10.0.0.1:9", "expires_at": "2026-03-04T12:05:00Z"}
    control.answers("POST /v1/invitations", invitation)
    done = placet("pair", "--invite")
    assert done.out == "placet-1-abc\n"
    assert "placet join" in done.err
    assert "in 5 min" in done.err


@pytest.mark.parametrize(
    ("words", "typed"), [(["join"], "tok\n"), (["join", "tok"], ""), (["join"], "\ufefftok")]
)
def test_join_reads_the_token_where_none_is_given(words, typed, placet: Placet, control: FakeControl):
    control.answers("POST /v1/join", {"device_id": "de" * 32, "name": "laptop"})
    done = placet(*words, typed=typed)
    assert (done.status, done.out, done.err) == (0, "✓ Joined laptop\n", "")
    assert _body(control, "POST /v1/join") == {"token": "tok"}


def test_join_passes_on_an_address_and_the_wish_to_unite(placet: Placet, control: FakeControl):
    control.answers("POST /v1/join", {"device_id": "de" * 32, "name": "laptop"})
    placet("join", "--addr", "10.0.0.1:9", "--unite", typed="tok")
    assert _body(control, "POST /v1/join") == {"token": "tok", "address": "10.0.0.1:9", "unite": True}


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ([], {}),
        (["--wait"], {"wait": 30.0}),
        (["--wait", "5"], {"wait": 5.0}),
        (["--pause"], {"pause": True}),
        (["--resume"], {"pause": False}),
    ],
)
def test_sync_may_wait_pause_and_resume(words, sent, placet: Placet, control: FakeControl):
    control.answers("POST /v1/sync", {})
    assert placet("sync", *words).status == 0
    assert _body(control, "POST /v1/sync") == sent


def test_agents_are_created_listed_shown_and_woken(placet: Placet, control: FakeControl):
    agent = examples.AGENT_JSON
    control.answers("POST /v1/agents", agent, status=201)
    control.answers("GET /v1/agents", [agent])
    control.answers("GET /v1/agents/c0ff", agent)
    control.answers("POST /v1/agents/c0ff/wake", agent)
    assert placet("agent", "create", "the", "passport").out == "✓ Created agent c0ff  Renew the passport\n"
    assert _body(control, "POST /v1/agents") == {"task": "the passport"}
    assert placet("agent", "list").out.splitlines()[1].split() == [
        "c0ff",
        "active",
        "autonomous",
        "here",
        "Renew",
        "the",
        "passport",
    ]
    shown = placet("agent", "show", "c0ff").out
    assert "  next wake at           none: nothing new\n" in shown
    assert f"  task                   {examples.TASK[:12]}\n" in shown
    assert "  30 min ago   failed  a note was added: the model did not answer\n" in shown
    assert placet("agent", "wake", "c0ff", "--wait", "3").status == 0
    assert _body(control, "POST /v1/agents/c0ff/wake") == {"wait": 3.0}


def test_the_log_tells_who_when_where_and_what(placet: Placet, control: FakeControl):
    why = examples.CHANGE | {
        "field": "estimate_minutes",
        "before": None,
        "after": 90,
        "why": "the note says so",
    }
    control.answers("GET /v1/log", [examples.CHANGE, why])
    assert placet("log", "the", "passport", "--limit", "7", "--after", "3").out == (
        "2 min ago    you on laptop: task 3f2a  Renew the passport\n"
        "             status: open → done\n"
        "             estimate: 1 h 30 min\n"
        "             why: the note says so\n"
    )
    assert control.requests[-1].target == "/v1/log?entity=the%20passport&limit=7&after=3"
    assert [json.loads(line)["after"] for line in placet("log", "--jsonl").out.splitlines()] == ["DONE", 90]


def test_an_import_sends_the_file_and_tells_what_came_of_it(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / "todo.md"
    file.write_text("# Ünited\n- [ ] one\n", encoding="utf-8")
    done = placet("import", "markdown", str(file))
    assert (done.status, done.out) == (
        0,
        "✓ Imported 2 tasks, 3 checklist items, 1 note\n  skipped line 7: recurring template: not taken\n",
    )
    sent = {"format": "markdown", "name": str(file.resolve()), "text": "# Ünited\n- [ ] one\n"}
    assert _body(control, "POST /v1/import") == sent
    assert placet("import", "markdown", str(file), "--dry-run").out.startswith("✓ Would import 2 tasks")
    assert _body(control, "POST /v1/import") == sent | {"dry_run": True}


def test_an_import_that_takes_nothing_because_of_faults_is_an_error_with_a_line_each(
    placet: Placet, control: FakeControl
):
    faults = [{"line": 3, "message": "no description"}, {"line": 9, "message": "record 2: no uuid"}]
    control.refuses("POST /v1/import", 422, "failed", "2 faults", "mend it", details=faults)
    words = ("import", "taskwarrior", "-", "--name", "x")
    done = placet(*words, typed="[]")
    assert (done.status, done.out) == (1, "")
    assert done.err.splitlines() == [
        "placet: 2 faults; mend it",
        "placet: line 3: no description",
        "placet: line 9: record 2: no uuid",
    ]
    done = placet(*words, "--json", typed="[]")
    assert done.status == 1
    assert done.json == {
        "error": {"code": "failed", "message": "2 faults", "hint": "mend it", "details": faults}
    }


def test_an_import_that_ended_half_way_is_partly_done(placet: Placet, control: FakeControl):
    control.refuses("POST /v1/import", 422, "partly", "200 of 900", "again")
    done = placet("import", "markdown", "-", "--name", "x", typed="# A")
    assert (done.status, done.out) == (8, "")


def test_the_name_of_a_list_is_given_or_that_of_its_file(
    placet: Placet, control: FakeControl, tmp_path: Path
):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / "todo.md"
    file.write_text("# One\n")
    for words, name in (
        (["-", "--name", "shopping"], "shopping"),
        ([str(file), "--name", "shopping"], "shopping"),
        ([str(file)], str(file.resolve())),
    ):
        assert placet("import", "markdown", *words, typed="\n  # One\n").status == 0
        assert _body(control, "POST /v1/import")["name"] == name
    # As it is written: what stands in front of the first line counts its lines.
    placet("import", "markdown", "-", "--name", "x", typed="\n  # One\n")
    assert _body(control, "POST /v1/import")["text"] == "\n  # One\n"


def test_a_file_name_that_is_not_utf_8_is_no_hindrance(placet: Placet, control: FakeControl, tmp_path: Path):
    control.answers("POST /v1/import", examples.IMPORTED)
    file = tmp_path / os.fsdecode(b"caf\xe9.md")
    file.write_text("# One\n")
    assert placet("import", "markdown", str(file)).status == 0
    assert _body(control, "POST /v1/import")["name"] == f"{tmp_path.resolve()}/caf\ufffd.md"


def test_nothing_to_import_is_said_alike_of_a_file_and_of_standard_input(placet: Placet, tmp_path: Path):
    file = tmp_path / "empty.md"
    file.write_text(" \n\n")
    read = placet("import", "markdown", str(file))
    piped = placet("import", "markdown", "-", "--name", "x", typed=" \n\n")
    assert (read.status, piped.status) == (2, 2)
    assert read.err.replace(str(file), "standard input") == piped.err
    assert "standard input is empty" in piped.err


def test_events_are_lines_and_resume_where_they_broke(placet: Placet, control: FakeControl):
    control.streams(
        "GET /v1/events", b": hello\n\nid: 7\nevent: change\nda", b'ta: {"a": 1}\n\nid: 8\ndata: cut sh'
    )
    control.streams("GET /v1/events", b"id: 8\ndata: two\ndata: lines\n\n")
    done = placet("events", "--jsonl", "--count", "2", "--after", "6")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"id": "7", "event": "change", "data": {"a": 1}},
        {"id": "8", "event": "message", "data": "two\nlines"},
    ]
    assert [one.headers.get("Last-Event-ID") for one in control.requests] == ["6", "7"]


def test_a_proposal_that_is_not_there_is_told_apart_from_what_an_id_is(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("not_found", message="an id is up to 32 characters")])
    assert placet("confirm", "zz").out == "✗ a81c  not found  an id is up to 32 characters\n"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["sync", "--wait", "abc"], "'abc' is not a valid number of seconds"),
        (["import", "foo", "x"], "Invalid value for 'FORMAT': 'foo' is not one of 'auto',"),
    ],
)
def test_a_value_that_cannot_be_is_told_in_words_of_people(words: list[str], seen: str, placet: Placet):
    done = placet(*words)
    assert (done.status, seen in done.err) == (2, True), done.err


def test_one_of_each_is_not_told_as_several(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"entities": 1, "commits": 1})
    assert "  holds      1 entity in 1 commit\n" in placet("status").out


def test_events_begin_after_a_number(placet: Placet, control: FakeControl):
    done = placet("events", "--after", "abc")
    assert (done.status, control.requests) == (2, [])
    assert "--after" in done.err


def test_events_end_when_the_daemon_is_gone(placet: Placet, control: FakeControl):
    control.refuses("GET /v1/events", 403, "forbidden", "not yours")
    assert placet("events").status == 7


def test_paths_and_version_need_no_daemon(placet: Placet, home: Path):
    assert placet("paths", "--json").json["socket"] == str(home / "control.sock")
    assert placet("version").out == placet("--version").out
    assert placet("version", "--json").json == {"version": placet("version", "--plain").out.strip()}


def test_doctor_names_what_is_wrong_and_the_remedy(placet: Placet, home: Path):
    home.chmod(0o755)
    done = placet("doctor")
    assert done.status == 1
    assert f"chmod 700 {home}" in done.out
    assert "placet up" in done.out


def test_doctor_is_content_with_a_daemon_that_answers(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("GET /v1/checks", [examples.CHECK])
    done = placet("doctor", "--json")
    assert done.status == 0
    assert all(check["well"] for check in done.json)
    assert examples.CHECK in done.json


def test_doctor_tells_what_the_daemon_finds_wrong(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    found = {"name": "disk", "well": False, "found": "only 3 MiB are free", "remedy": "free some space"}
    control.answers("GET /v1/checks", [found])
    done = placet("doctor")
    assert done.status == 1
    assert "only 3 MiB are free" in done.out
    assert "    free some space" in done.out


def test_doctor_breaks_its_lines_where_the_terminal_ends(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    seen = "; ".join(f"[2001:db8:1:2:3:4:5:{number}]:40123: No route to host" for number in range(6))
    remedy = "see to the network here, and there, and to whatever is between the two of them, at any length"
    found = {"name": "devices", "well": False, "found": f"phone is away: {seen}", "remedy": remedy}
    control.answers("GET /v1/checks", [found])
    out = placet("doctor", COLUMNS="80").out
    # Another finding names the folder of the test, which is one word of any length.
    lines = [line for line in out.splitlines() if str(home) not in line]
    assert max(map(len, lines)) <= 80
    told = " ".join(out.split())
    assert f"phone is away: {seen}" in told
    assert remedy in told


def test_doctor_says_that_a_daemon_does_not_answer_for_itself(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.refuses("GET /v1/checks", 500, "failed", "the daemon met a bug")
    done = placet("doctor")
    assert done.status == 1
    assert "met a bug" in done.out


def test_compact_says_what_it_freed(placet: Placet, control: FakeControl):
    freed = {"older_than_days": 30, "commits": 2, "values": 1300, "bytes": 5 << 20}
    control.answers("POST /v1/compact", freed)
    assert placet("compact", "--older-than", "30").out == "✓ Freed 5.0 MiB: 1 300 values in 2 commits\n"
    assert control.requests[-1].body == {"older_than_days": 30}
    would = placet("compact", "--dry-run", "--older-than", "30")
    assert would.out.startswith("✓ Would free 5.0 MiB")
    assert control.requests[-1].body == {"older_than_days": 30, "dry_run": True}
    assert placet("compact", "--plain").out.splitlines()[0] == "older_than_days\t30"
    assert placet("compact", "--json").json == freed
    assert placet("compact", "--older-than", "0").status == 2


def test_compact_says_that_it_freed_nothing(placet: Placet, control: FakeControl):
    freed = {"older_than_days": 30, "commits": 0, "values": 0, "bytes": 0, "unheard": ["phone\a"]}
    control.answers("POST /v1/compact", freed)
    lines = placet("compact").out.splitlines()
    assert lines[0].startswith("Nothing to let go")
    assert lines[1].endswith(r": phone\x07")


def test_an_ambiguous_reference_lists_what_it_could_mean(placet: Placet, control: FakeControl):
    candidates = [
        {"id": TASK, "title": "Renew the passport"},
        {"id": examples.OTHER, "title": "Passport photos"},
    ]
    control.refuses(
        "GET /v1/tasks/pass", 409, "ambiguous", "'pass' could mean 2", "say more", candidates=candidates
    )
    done = placet("show", "pass")
    assert done.status == 2
    assert (
        done.err
        == "placet: 'pass' could mean 2; 3f2a 'Renew the passport', 77ab 'Passport photos'; say more\n"
    )
    assert placet("show", "pass", "--json").json["error"]["candidates"] == candidates


def test_a_sync_never_claims_more_than_is_known(placet: Placet, control: FakeControl):
    peers = examples.STATUS["peers"]
    line = "POST /v1/sync"
    control.answers(line, {"complete": True, "paused": False, "peers": peers})
    control.answers(line, {"complete": False, "paused": False, "peers": peers})
    control.answers(line, {"complete": True, "paused": False, "peers": peers[1:]})
    control.answers(line, {"complete": True, "paused": True, "peers": peers})
    control.answers(line, {"complete": True, "paused": False, "peers": []})
    assert [placet("sync").out.splitlines()[0] for _ in range(5)] == [
        "✓ In step with 1 device",
        "Not in step yet",
        "No other device is connected",
        "Exchange is paused: placet sync --resume",
        "No other device yet",
    ]


def test_a_device_that_shows_another_state_is_in_step_nowhere(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    peers = [phone | {"differs": True}, tablet]
    words = [
        "phone showed something else when it last held the same changes",
        "run 'placet verify' on both devices",
    ]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    control.answers("GET /v1/devices", peers)
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    status, devices, sync = placet("status"), placet("devices"), placet("sync", "--wait")
    for done in (status, devices, sync):
        lines = [line.strip() for line in done.out.splitlines()]
        assert lines.index(words[1]) == lines.index(words[0]) + 1
        assert "in step" not in done.out.lower()
        assert all(len(line) <= 80 for line in lines)
    assert "● phone  connected  differs" in status.out
    assert (status.status, devices.status, sync.status) == (0, 0, 1)
    told = placet("sync", "--json")
    assert (told.status, told.json["complete"], told.json["peers"][0]["differs"]) == (1, False, True)


def test_a_pause_is_no_failure_because_a_device_differs(placet: Placet, control: FakeControl):
    peers = [examples.STATUS["peers"][0] | {"differs": True}]
    control.answers("POST /v1/sync", {"complete": False, "paused": True, "peers": peers})
    assert [placet("sync", f"--{what}").status for what in ("pause", "resume")] == [0, 0]
    assert placet("sync", "--resume", "--wait").status == 1


def test_what_a_device_lacks_stands_beside_that_its_state_differed(placet: Placet, control: FakeControl):
    """It is compared again when both hold the same: until then, what it showed is past."""
    phone = examples.STATUS["peers"][0] | {"differs": True, "lag": 5}
    peers = [phone, phone | {"missing": 2, "connected": True}]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    lines = placet("status").out.splitlines()
    assert any(line.endswith("differs  lacks 5 commits") for line in lines)
    assert any(line.endswith("differs  2 commits to come") for line in lines)


def test_what_is_said_of_devices_with_long_names_ends_where_the_terminal_does(
    placet: Placet, control: FakeControl
):
    long = "Maria's old notebook in the kitchen, on the second shelf"
    entered = {"added_by": long, "added_by_id": "ab" * 32, "added_at": "2026-03-04T10:00:00Z"}
    phone = examples.STATUS["peers"][0] | entered
    peers = [
        phone
        | {"name": long, "differs": True, "unanswered": True}
        | {"added_heard_at": "2099-01-01T00:00:00Z"}
    ]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    control.answers("GET /v1/devices", peers)
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    for told in (placet(name, COLUMNS="80").out.splitlines() for name in ("status", "devices", "sync")):
        said = [line for line in told if "connected" not in line]
        assert all(len(line) <= 80 for line in said), told


def test_who_owes_an_answer_is_named(placet: Placet, control: FakeControl):
    peers = [examples.STATUS["peers"][0] | {"unanswered": True}]
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    done = placet("sync")
    assert done.out.splitlines()[:2] == ["Not in step yet", "phone has not answered yet"]
    assert done.status == 0


def test_a_state_that_differs_is_told_among_the_events_and_not_in_the_log(
    placet: Placet, control: FakeControl
):
    told = [{"device": "f0" * 32, "device_name": "phone", "differs": differs} for differs in (True, False)]
    stream = "".join(f"event: state\ndata: {json.dumps(one)}\n\n" for one in told)
    control.streams("GET /v1/events", stream.encode())
    assert placet("events", "--count", "2").out.splitlines() == [
        "phone holds the same changes and shows something else",
        "phone holds the same changes and shows the same again",
    ]
    control.streams("GET /v1/events", stream.encode())
    done = placet("events", "--count", "2", "--jsonl")
    assert [json.loads(line)["data"] for line in done.out.splitlines()] == told


def test_tasks_are_removed_and_restored(placet: Placet, control: FakeControl):
    control.answers(f"DELETE /v1/tasks/{TASK}", examples.task(removed=True))
    control.answers(f"POST /v1/tasks/{TASK}/restore", examples.task())
    assert placet("task", "remove", TASK).out == "✓ Removed 3f2a  Renew the passport\n"
    assert placet("task", "restore", TASK).out == "✓ Restored 3f2a  Renew the passport\n"


def test_an_event_is_told_by_what_it_changed(placet: Placet, control: FakeControl):
    data = json.dumps({"seq": 41, "changes": [examples.CHANGE]})
    control.streams("GET /v1/events", f"id: 41\nevent: commit\ndata: {data}\n\n".encode())
    heading, field = placet("events", "--count", "1").out.splitlines()
    assert heading.endswith("  you on laptop: task 3f2a  Renew the passport")
    assert field == " " * heading.index("you on") + "status: open → done"


def test_a_stale_or_empty_value_is_told_before_it_is_confirmed(placet: Placet, control: FakeControl):
    item = examples.pending(
        stale=True, current=None, task_title="T", tool="update_task_due_date", proposed="2026-05-01"
    )
    control.answers("GET /v1/pending", [item])
    assert placet("pending").out.splitlines()[1:3] == [
        "  a81c  Set estimate to 120 minutes  stale: it has changed since",
        "        nothing → 2026-05-01",
    ]


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


def test_several_values_that_changed_since_are_compared_one_by_one(placet: Placet, control: FakeControl):
    told = examples.verdict(
        "stale",
        status="pending",
        message="several of its values changed since: --force applies it anyway",
        base={"title": "A", "is_checked": False},
        current={"title": "B", "is_checked": True},
        proposed={"title": "C", "is_checked": False},
    )
    control.answers(DECIDE, [told])
    assert placet("confirm", "x").out == (
        "✗ a81c  stale     several of its values changed since: --force applies it anyway\n"
        "                  when it was proposed  title: A, checked: no\n"
        "                  now                   title: B, checked: yes\n"
        "                  proposed              title: C, checked: no\n"
    )


def test_only_what_is_stale_is_offered_to_be_forced(placet: Placet, control: FakeControl):
    control.answers("POST /v1/decisions", [examples.verdict("conflict")])
    done = placet("confirm", "x")
    assert (done.status, done.err) == (6, "")


def test_a_setting_for_up_needs_a_value(placet: Placet):
    done = placet("up", "--set", "listen.port")
    assert done.status == 2
    assert "'listen.port' is not KEY=VALUE" in done.err
