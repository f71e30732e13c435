"""What the commands of the journal ask of the daemon, and what they tell of the answer.

Never checks how the daemon decides: answers are scripted.
"""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.examples import AGENT, ITEM, TASK
from tests.daemon.cli.fake_control import READ_LINE, FakeControl
from tests.support.commands import Placet

LIST = "GET /v1/task-lines"
SHOW = f"GET /v1/tasks/{TASK}"


def _body(control: FakeControl, line: str) -> object:
    return control.asked(line)[-1].body


def test_add_needs_no_quotes_and_sends_only_what_was_given(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks", examples.task(), status=201)
    assert placet("add", "Renew", "the", "passport").out == "✓ Added 3f2a  Renew the passport\n"
    assert _body(control, "POST /v1/tasks") == {"title": "Renew the passport"}


def test_add_says_what_was_read_of_the_line_and_what_an_option_gives_is_not_read(
    placet: Placet, control: FakeControl
):
    readings = [{"field": "due", "words": "friday"}, {"field": "labels", "words": "#home"}]
    line = {"title": "Call Ana", "due": "2026-03-06", "priority": None, "labels": ["home"]}
    control.answers(READ_LINE, line | {"readings": readings})
    control.answers("POST /v1/tasks", examples.task() | {"due": "2026-03-06"}, status=201)
    result = placet("add", "Call Ana friday #home", "--label", "new", "--estimate", "2h")
    sent = {"title": "Call Ana", "due": "2026-03-06", "labels": ["home", "new"], "estimate_minutes": "2h"}
    assert _body(control, "POST /v1/tasks") == sent
    query = parse_qs(urlsplit(control.asked(READ_LINE)[-1].target).query)
    assert query == {"line": ["Call Ana friday #home"], "given": ["estimate_minutes"]}
    assert result.err == (
        "Due Fri 6 Mar 2026.\n"
        "Read from the line: friday, #home. To keep them in the title: placet add -- TITLE\n"
    )


def test_add_takes_words_behind_two_hyphens_as_they_are(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks", examples.task(), status=201)
    placet("add", "--priority", "p0", "--", "Call", "Ana", "friday", "#home")
    assert _body(control, "POST /v1/tasks") == {"title": "Call Ana friday #home", "priority": "P0"}
    assert not control.asked(READ_LINE)


@pytest.mark.parametrize("words", [["add"], ["task", "add"]])
def test_add_sends_every_field(words: list[str], placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks", examples.task(), status=201)
    texts = [
        "--status",
        "on hold",
        "--reason",
        "why",
        "--priority",
        "p0",
        "--due",
        "2026-03-06",
        "--estimate",
        "1h30m",
    ]
    placet(*words, "x", *texts, "--label", "a", "--label", "b", "--category", "c")
    assert _body(control, "POST /v1/tasks") == {
        "title": "x",
        "status": "ON HOLD",
        "reason": "why",
        "priority": "P0",
        "due": "2026-03-06",
        "estimate_minutes": "1h30m",
        "labels": ["a", "b"],
        "category": "c",
    }


@pytest.mark.parametrize(
    ("due", "read", "text"),
    [
        ("friday", "2026-03-06", "Due Fri 6 Mar 2026.\n"),
        ("2026-03-06", "2026-03-06", ""),
        ("yesterday", "2020-01-01", "Due Wed 1 Jan 2020: that day has passed.\n"),
        ("none", None, ""),
    ],
)
def test_days_and_lengths_travel_as_they_are_typed_and_the_day_read_is_said(
    due: str, read: str | None, text: str, placet: Placet, control: FakeControl
):
    control.answers(f"PATCH /v1/tasks/{TASK}", examples.task() | {"due": read})
    result = placet("task", "edit", TASK, "--due", due, "--estimate", "2 ore")
    assert (result.status, result.err) == (0, text)
    sent = {"due": None if due == "none" else due, "estimate_minutes": "2 ore"}
    assert _body(control, f"PATCH /v1/tasks/{TASK}") == sent


def test_edit_empties_a_value_with_none(placet: Placet, control: FakeControl):
    control.answers(f"PATCH /v1/tasks/{TASK}", examples.task())
    placet("task", "edit", TASK, "--due", "none", "--label", "none", "--title", "T")
    assert _body(control, f"PATCH /v1/tasks/{TASK}") == {"title": "T", "due": None, "labels": []}
    placet("task", "edit", TASK, "--label", "new")
    assert _body(control, f"PATCH /v1/tasks/{TASK}") == {"add_labels": ["new"]}
    placet("task", "edit", TASK, "--remove-label", "old", "--remove-label", "older", "--label", "new")
    assert _body(control, f"PATCH /v1/tasks/{TASK}") == {
        "add_labels": ["new"],
        "remove_labels": ["old", "older"],
    }


def test_a_title_travels_as_a_reference(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks/über 50%/done", examples.task(status="DONE"))
    assert placet("done", "über", "50%").status == 0
    assert control.requests[-1].target == "/v1/tasks/%C3%BCber%2050%25/done"


def test_a_reference_cannot_leave_its_place_in_the_path(placet: Placet, control: FakeControl):
    placet("show", "../status?x=1#y")
    assert control.requests[-1].target == "/v1/tasks/..%2Fstatus%3Fx%3D1%23y?provenance=1"


def test_list_reads_well_at_eighty_columns(placet: Placet, control: FakeControl):
    others = [
        examples.task(
            id="3f2b" + "0" * 28,
            title="Buy milk",
            priority="P2",
            due=None,
            labels=[],
            checklists=[],
            agent_id=None,
        ),
        examples.task(
            id="c0de" + "0" * 28,
            title="A title so long that it has to give way to the others, at last",
            priority="P0",
            status="IN PROGRESS",
            due="2026-03-03",
            labels=["work", "urgent"],
            waiting=2,
        ),
    ]
    control.answers(LIST, [examples.task(), *others])
    assert placet("list", COLUMNS="80").out == (
        "ID    P   STATUS       DUE        TITLE              LABELS         DONE  AGENT\n"
        "c0de  P0  in progress  yesterday  A title so long…   #work #urgent  1/2   2 wait\n"
        "3f2a  P1  open         Fri        Renew the passpo…  #family        1/2   yes\n"
        "3f2b  P2  open                    Buy milk\n"
    )


def test_a_list_without_dates_or_labels_has_no_columns_for_them(placet: Placet, control: FakeControl):
    control.answers(LIST, [examples.task(due=None, labels=[], checklists=[], agent_id=None)])
    assert placet("list").out.splitlines()[0] == "ID    P   STATUS  TITLE"


def test_what_goes_into_a_pipe_is_not_cut(placet: Placet, control: FakeControl):
    control.answers(LIST, [examples.task(title="x" * 300)])
    assert "x" * 300 in placet("list").out


def test_list_asks_for_all_and_for_the_removed(placet: Placet, control: FakeControl):
    control.answers(LIST, [])
    placet("list", "--all", "--removed")
    assert control.requests[-1].target == "/v1/task-lines?all=1&removed=1&limit=2000"


def test_an_empty_list_says_what_to_do_on_standard_error(placet: Placet, control: FakeControl):
    control.answers(LIST, [])
    control.answers("GET /v1/tasks", [])
    result = placet("list")
    assert (result.status, result.out) == (0, "")
    assert "placet add" in result.err
    assert placet("list", "--json") == type(result)(0, "[]\n", "")


def test_a_list_leaves_out_what_has_not_begun_and_counts_it(placet: Placet, control: FakeControl):
    days = {
        "a": "2026-03-04",
        "b": "2026-03-05",
        "c": "2027-01-01",
        "d": None,
        "e": "soon",
        "f": "2027-01-01",
    }
    tasks = [examples.task(id=name * 32, title=name, start=start) for name, start in days.items()]
    tasks[-1]["status"] = "DONE"
    for path in (LIST, "GET /v1/tasks"):
        control.answers(path, tasks)
    came = placet("list", "--plain")
    assert [row.split("\t")[4] for row in came.out.splitlines()] == ["a", "d", "e", "f"]
    assert placet("list").err == "2 begin later: --later\n"
    assert len(placet("list", "--json").json) == 4
    assert len(placet("list", "--later", "--json").json) == 6
    assert [len(placet("list", option).out.splitlines()) for option in ("--later", "--removed")] == [7, 7]


def test_the_plain_list_has_stable_columns(placet: Placet, control: FakeControl):
    progress = {"total": 4, "completed": 3}
    odd = examples.task(
        id="1" * 32, title="a\tb\nc", due=None, labels=[], checklists=[], checklist_progress=progress
    ) | {"agent_id": None, "waiting": 2}
    control.answers(LIST, [examples.task(), odd])
    assert placet("list", "--plain").out == (
        f"{TASK}\tOPEN\tP1\t2026-03-06\tRenew the passport\tfamily\t1/2\t\t{AGENT}\n"
        f"{'1' * 32}\tOPEN\tP1\t\ta\\tb\\nc\t\t3/4\t2\t\n"
    )


def test_a_long_list_is_read_page_by_page_and_told_as_one(placet: Placet, control: FakeControl):
    pages = [
        [examples.task(id=f"{moment:032x}") for moment in range(first, last)]
        for first, last in ((0, 500), (500, 503))
    ]
    for page in pages:
        control.answers("GET /v1/tasks", page)
    assert placet("list", "--json").json == pages[0] + pages[1]
    assert [request.target for request in control.requests] == ["/v1/tasks", f"/v1/tasks?after={499:032x}"]


def test_a_list_that_ends_after_the_most_pressing_asks_for_no_more(placet: Placet, control: FakeControl):
    tasks = [examples.task(id=f"{moment:032x}", priority="P1", due=None) for moment in range(2000)]
    control.answers(LIST, tasks)
    control.answers(LIST, tasks[:2])
    assert len(placet("list", "--limit", "2002", "--plain").out.splitlines()) == 2002
    control.answers("GET /v1/tasks", tasks[:1])
    assert placet("list", "--limit", "1", "--json").json == tasks[:1]
    assert [request.target for request in control.requests] == [
        "/v1/task-lines?order=priority&begun=1&limit=2000",
        f"/v1/task-lines?order=priority&begun=1&after={1999:032x}&limit=2",
        "/v1/tasks?order=priority&begun=1&limit=1",
    ]


def test_a_list_asks_for_no_more_than_it_shows(placet: Placet, control: FakeControl):
    control.answers(LIST, [])
    control.answers("GET /v1/tasks", [])
    placet("list")
    placet("list", "--json")
    assert [request.target for request in control.requests] == [
        "/v1/task-lines?limit=2000",
        "/v1/tasks",
    ]


def test_show_tells_who_wrote_what(placet: Placet, control: FakeControl):
    control.answers(SHOW, examples.task())
    control.answers(f"GET /v1/agents/{AGENT}", examples.AGENT_JSON)
    item = {"item_id": ITEM, "tool": "update_task_estimate", "args": {"minutes": 90}, "current": 120}
    notes = {"verdict": "says so", "written_at": "2026-03-03T12:00:00Z"}
    control.answers("GET /v1/pending", [item | {"proposed": 90, "notes": notes}])
    assert placet("show", TASK).out == (
        "Renew the passport\n"
        "3f2a · open · P1 · due Fri · 2 h · admin · #family\n"
        "1 proposal waits for you: placet pending 3f2a\n"
        "  Set estimate to 90 minutes\n"
        "    a note says so (yesterday)\n"
        "\n"
        "Todos  1/2\n"
        "  [x] 9c1e  Photos  checked by agent on phone, yesterday\n"
        "  [ ] 9c2f  Form\n"
        "\n"
        "Notes\n"
        "  e1e1  2 h ago, you on laptop\n"
        "    The photos are\n"
        "    in the drawer\n"
        "\n"
        "Report of the agent\n"
        "  Photos are there, the form is not.\n"
        "    left  Fill in the form\n"
    )
    assert control.requests[-1].target == f"/v1/pending?task={examples.task()['id']}"


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        (
            {"lifecycle": "dormant", "lifecycle_reason": "it is paused"},
            "its agent sleeps: it is paused; placet agent resume 3f2a",
        ),
        (
            {"lifecycle": "dormant", "lifecycle_reason": "it failed 5 times in a row: no answer"},
            "its agent sleeps: it failed 5 times in a row: no answer; placet agent resume 3f2a",
        ),
        ({"lifecycle": "dormant"}, "its agent sleeps; it works again when the task is restored"),
        ({"lifecycle": "destroyed"}, "its agent was destroyed, which is final"),
        (
            {"confirmed_without_effect": [ITEM, "b2" * 16]},
            "2 proposals are confirmed, and not in effect: placet confirm a81c b2b2",
        ),
        (
            {"report_decisions_since": 2, "report_changes_since": 1},
            "Report of the agent · 2 decisions since · 1 change since",
        ),
    ],
)
def test_show_tells_how_the_agent_and_its_report_stand(
    agent: dict[str, Any], text: str, placet: Placet, control: FakeControl
):
    control.answers(SHOW, examples.task())
    control.answers(f"GET /v1/agents/{AGENT}", examples.AGENT_JSON | agent)
    assert f"\n{text}\n" in placet("show", TASK, COLUMNS="120").out


def test_show_leaves_out_an_agent_that_is_not_known_here(placet: Placet, control: FakeControl):
    control.answers(SHOW, examples.task())
    displayed = placet("show", TASK)
    assert (displayed.status, "agent is" in displayed.out) == (0, False)


def test_show_names_conflicts_reasons_and_removal(placet: Placet, control: FakeControl):
    versions = [
        {"value": "A", "by": "user", "device_name": "phone", "at": "2026-03-04T11:00:00Z"},
        {"value": "B", "by": "agent", "device_name": "laptop", "at": "2026-03-04T11:30:00Z"},
    ]
    task = examples.task(
        conflicts=[{"field": "title", "versions": versions}],
        status="BLOCKED",
        reason="no form",
        removed=True,
        agent_id=None,
        report=None,
        entries=[],
        checklists=[],
    )
    control.answers(SHOW, task)
    assert placet("show", TASK).out == (
        "Renew the passport\n"
        "3f2a · blocked · P1 · due Fri · 2 h · admin · #family\n"
        "because: no form\n"
        "removed\n"
        "two words on title:\n"
        "  1  “A”  you on phone, 1 h ago · in effect\n"
        "  2  “B”  agent on laptop, 30 min ago\n"
    )


def test_show_asks_once_where_there_is_no_agent_or_no_person(placet: Placet, control: FakeControl):
    control.answers(SHOW, examples.task(agent_id=None))
    placet("show", TASK)
    control.answers(SHOW, examples.task())
    placet("show", TASK, "--json")
    assert [request.line for request in control.requests] == [f"{SHOW}?provenance=1"] * 2


def test_text_that_is_not_utf8_is_refused_with_its_line(placet: Placet):
    result = placet("note", TASK, typed=b"fine\n\xff\n")
    assert result.status == 2
    assert "line 2" in result.err


def test_a_list_is_narrowed_by_what_its_tasks_must_be(placet: Placet, control: FakeControl):
    control.answers(LIST, [examples.task()])
    texts = ["--label", "my home", "--category", "none", "--status", "open", "--priority", "p1"]
    placet("list", *texts, "--due-before", "friday")
    assert control.requests[-1].target == (
        "/v1/task-lines?label=my%20home&category=none&status=open&priority=p1&due_before=friday&limit=2000"
    )
    control.answers(LIST, [])
    placet("list")
    assert placet("list", "--label", "x").err == "No task matches all of that.\n"


def _by(who: str, **more: object) -> dict[str, object]:
    return {"by": who, "at": "2026-03-04T11:30:00Z", "device": "de" * 32, "device_name": "phone"} | more


def test_show_says_what_others_wrote_and_all_of_it_where_asked(placet: Placet, control: FakeControl):
    item = {
        "id": "9c1e" + "0" * 28,
        "title": "Photos",
        "provenance": {"title": _by("user"), "position": _by("user")},
    }
    task = examples.task(
        report=None,
        entries=[],
        agent_id=None,
        checklists=[{"id": "99" * 16, "title": "Todos", "items": [item]}],
        provenance={
            "title": _by("user"),
            "estimate_minutes": _by("agent", item_id="a8" * 16, as_proposed=True),
            "label_ids/family": _by("user", imported_from="todotxt"),
            "due": _by("agent", item_id="a9" * 16, as_proposed=True, question="Which?", answer="This one"),
        },
        status_history=[
            {"status": "OPEN", "reason": None, "origin": _by("user")},
            {"status": "BLOCKED", "reason": "no form", "origin": _by("user")},
        ],
        unknown={"mood": "sunny"},
    )
    control.answers(SHOW, task)
    start = (
        "Renew the passport\n"
        "3f2a · open · P1 · due Fri · 2 h · admin · #family\n"
        "estimate by you on phone, as an agent proposed, 30 min ago\n"
        "due by you on phone, 30 min ago, by the answer “This one” to “Which?”\n"
        "mood: sunny  (of a newer version)\n"
        "\n"
        "Todos  0/1\n"
        "  [ ] 9c1e  Photos\n"
    )
    assert placet("show", TASK).out == start
    assert placet("show", TASK, "--provenance", COLUMNS="80").out == start + (
        "\n"
        "Who wrote what\n"
        "  title  you on phone, 30 min ago\n"
        "  estimate  you on phone, as an agent proposed, 30 min ago\n"
        "  label family  you on phone, 30 min ago, imported from todotxt\n"
        "  due  you on phone, 30 min ago, by the answer “This one” to “Which?”\n"
        "  “Photos”\n"
        "    title  you on phone, 30 min ago\n"
        "\n"
        "Statuses\n"
        "  open  you on phone, 30 min ago\n"
        "  blocked: no form  you on phone, 30 min ago\n"
    )
    rows = placet("show", TASK, "--provenance", "--plain").out.splitlines()
    assert rows[1].split("\t") == [
        *(TASK, "estimate_minutes", "agent", "2026-03-04T11:30:00Z", "phone", "a8" * 16, "")
    ]
    assert len(rows) == 6


@pytest.mark.parametrize("refs", [("3f2a", "3f2b"), ("buy milk", "passport")], ids=["ids", "quoted titles"])
def test_several_tasks_are_done_one_after_the_other(refs, placet: Placet, control: FakeControl):
    for ref in refs:
        control.answers(f"POST /v1/tasks/{ref}/done", examples.task(title=ref))
        control.answers(f"DELETE /v1/tasks/{ref}", examples.task(title=ref))
        control.answers(f"POST /v1/tasks/{ref}/restore", examples.task(title=ref))
    for verb, text in (("done", "Done"), ("remove", "Removed"), ("restore", "Restored")):
        result = placet("task", verb, *refs)
        assert (result.status, result.out) == (0, "".join(f"✓ {text} 3f2a  {ref}\n" for ref in refs))
    result = placet("task", "remove", *refs, "no such")
    assert (result.status, result.err) == (8, "placet: no such: nothing at /v1/tasks/no such\n")


def test_words_that_are_no_ids_are_one_title(placet: Placet, control: FakeControl):
    control.answers("POST /v1/tasks/feed the dog/done", examples.task())
    assert placet("done", "feed", "the", "dog").status == 0


def test_tasks_are_removed_and_restored(placet: Placet, control: FakeControl):
    control.answers(f"DELETE /v1/tasks/{TASK}", examples.task(removed=True))
    control.answers(f"POST /v1/tasks/{TASK}/restore", examples.task())
    assert placet("task", "remove", TASK).out == "✓ Removed 3f2a  Renew the passport\n"
    assert placet("task", "restore", TASK).out == "✓ Restored 3f2a  Renew the passport\n"
