"""A review at a terminal: what each key asks of the daemon, what is shown, and how it ends.

Never checks how the daemon decides: answers are scripted.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from daemon.cli.text import cells
from tests.daemon.cli import examples
from tests.daemon.cli.conftest import Placet
from tests.daemon.cli.examples import ITEM, OTHER, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.daemon.cli.terminal import terminal

PENDING, DECIDE, SHOW = "GET /v1/pending", "POST /v1/decisions", f"GET /v1/tasks/{TASK}"
SECOND, THIRD = "b2" * 16, "c3" * 16
_NEXT = "?] "


def _item(item: str = ITEM, **values: Any) -> dict[str, Any]:
    return examples.pending(item_id=item, **values)


def _three() -> list[dict[str, Any]]:
    title = {"title": "Renew both passports"}
    return [
        _item(),
        _item(
            SECOND,
            tool="set_task_title",
            args=title,
            summary="-",
            current="Renew the passport",
            proposed=title["title"],
        ),
        _item(THIRD, tool="add_checklist_item", args={"title": "Photos"}, current=None, proposed="Photos"),
    ]


@pytest.fixture
def open_three(control: FakeControl) -> FakeControl:
    """A daemon with three proposals on one task, which does whatever is decided."""
    control.answers(PENDING, _three())
    control.answers(SHOW, examples.task(checklists=[]))
    control.answers(DECIDE, [examples.verdict("applied", message="Set estimate to 120 minutes")])
    return control


def _sent(control: FakeControl) -> list[dict[str, Any]]:
    """Return what was decided; what goes with every decision aside."""
    bodies = [one.body for one in control.asked(DECIDE)]
    assert all(set(body["args_hashes"]) == set(body["items"]) for body in bodies)
    return [{key: value for key, value in body.items() if key != "args_hashes"} for body in bodies]


def test_an_item_is_shown_whole_and_y_confirms_it(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown:
        assert shown.until(_NEXT) == (
            "\n"
            "1 of 3  Renew the passport\n"
            "Set estimate to 120 minutes\n"
            "  45 min → 2 h\n"
            "  the agent says: “The note says two hours.”\n"
            "  set 51e7aa00 · proposed 1 h ago · expires in 6 days · item a81c\n"
            "Confirm it? [y,n,d,e,s,j,k,a,u,q,?] "
        )
        assert shown.press("y").splitlines()[:5] == [
            "y",
            "✓ a81c  Set estimate to 120 minutes",
            "",
            "2 of 3  Renew the passport",
            'Set title to "Renew both passports"',
        ]
        assert "\n1 confirmed\n2 are left as they were.\n" in shown.end("q")
        assert shown.status == 0
    assert _sent(open_three) == [{"verdict": "confirmed", "items": [ITEM], "via": "cli"}]


def test_a_text_is_compared_line_by_line_and_a_new_item_says_what_is_made_with_it(
    home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        assert "\n  - Renew the passport\n  + Renew both passports\n" in shown.press("j")
        assert "also: makes the checklist “Todos”" in shown.press("j")


def test_each_key_sends_its_verdict(home: Path, open_three: FakeControl):
    with terminal(home, "review", "the", "passport") as shown:
        shown.until(_NEXT)
        shown.press("n", then="reason) ")
        shown.press("too long\n")
        shown.press("n", then="reason) ")
        shown.press("\n")
        assert "2 rejected, 1 put off" in shown.end("d")
        assert shown.status == 0
    assert open_three.requests[0].target == "/v1/pending?task=the%20passport"
    assert _sent(open_three) == [
        {"verdict": "rejected", "items": [ITEM], "via": "cli", "reason": "too long"},
        {"verdict": "rejected", "items": [SECOND], "via": "cli"},
        {"verdict": "deferred", "items": [THIRD], "via": "cli"},
    ]


def test_who_thinks_better_of_rejecting_is_back_at_the_item(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        shown.press("n", then="reason) ")
        assert "Confirm it?" in shown.press("\x04")
        assert "Nothing was decided." in shown.end("q")
    assert _sent(open_three) == []


def test_looking_around_and_leaving_decides_nothing(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        assert "There is none before" in shown.press("k")
        assert "2 of 3" in shown.press("j")
        assert "3 of 3" in shown.press("\x1b[B")
        assert "This is the last one." in shown.press("j")
        assert "2 of 3" in shown.press("\x1b[A")
        assert "  q    leave the rest" in shown.press("?")
        assert "  q    leave the rest" in shown.press("x")
        assert "3 of 3" in shown.press("\r\ns")
        assert "Nothing was decided.\n3 are left" in shown.end("s")
        assert shown.status == 0
    assert _sent(open_three) == []


def test_a_shows_what_is_left_of_the_task_before_it_confirms_exactly_that(
    home: Path, open_three: FakeControl
):
    open_three.forgets(PENDING)
    open_three.answers(PENDING, [*_three(), _item("d4" * 16, task_id=OTHER, task_title="Other")])
    results = [examples.verdict("failed", item_id=SECOND), examples.verdict("applied", item_id=THIRD)]
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        shown.press("j")
        assert "c3c3  Add" in shown.press("a", then="[y,n] ")
        shown.press("n")
        shown.press("a", then="Confirm these 2? [y,n] ")
        assert _sent(open_three) == []
        open_three.forgets(DECIDE)
        open_three.answers(DECIDE, results)
        # What failed is shown again, alone.
        assert "2 of 4" in shown.press("y")
        assert "4 of 4  Other" in shown.press("s")
        assert "1 confirmed" in shown.end("q")
    assert _sent(open_three) == [{"verdict": "confirmed", "items": [SECOND, THIRD], "via": "cli"}]


def test_u_takes_the_last_decision_of_this_review_back_and_shows_it_again(
    home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        assert "Nothing was decided in this review yet." in shown.press("u")
        shown.press("y")
        shown.press("d")
        assert "2 of 3" in shown.press("u")
        assert "1 of 3" in shown.press("u")
        assert "Nothing was decided." in shown.end("q")
    undone = [one for one in _sent(open_three) if one["verdict"] == "reopened"]
    assert [one["items"] for one in undone] == [[SECOND], [ITEM]]


def test_what_changed_since_is_compared_and_forced_only_when_asked_for(home: Path, control: FakeControl):
    control.answers(PENDING, [_item(stale=True, base=45, current=60)])
    control.answers(SHOW, examples.task())
    message = "nobody decided in time: --force applies it anyway"
    refused = examples.verdict("stale", status="pending", message=message)
    control.answers(DECIDE, [refused])
    control.answers(DECIDE, [refused])
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown:
        page = shown.until(_NEXT)
        assert (
            "\n  stale: it has changed since\n"
            "  when it was proposed  45 min\n"
            "  now                   1 h\n"
            "  proposed              2 h\n"
        ) in page
        assert "stale" in shown.press("y", then="Apply it all the same? [y,n] ")
        shown.press("n")
        shown.press("y", then="[y,n] ")
        assert "1 confirmed" in shown.end("y")
    assert [one.get("force") for one in _sent(control)] == [None, None, True]


def test_arguments_are_edited_as_json_and_what_is_wrong_with_them_is_told(
    home: Path, open_three: FakeControl, tmp_path: Path
):
    wrong = [examples.verdict("failed", message="cannot be applied: `minutes` is too long")]
    open_three.forgets(DECIDE)
    open_three.answers(DECIDE, wrong)
    open_three.answers(DECIDE, [examples.verdict("applied")])
    written = tmp_path / "written"
    editor = f'sh -c \'cat "$0" > {written}; cp {tmp_path}/new "$0"\''
    with terminal(home, "review", EDITOR=editor, VISUAL="") as shown:
        shown.until(_NEXT)
        (tmp_path / "new").write_text("# why\n{not json")
        assert "what you wrote is not JSON" in shown.press("e")
        (tmp_path / "new").write_text('{"minutes": 120}')
        assert "Nothing was changed." in shown.press("e")
        (tmp_path / "new").write_text('{"minutes": 9000}')
        told = shown.press("e")
        assert "cannot be applied" in told
        assert "1 of 3" in told
        assert "9000" not in written.read_text()
        (tmp_path / "new").write_text('# shorter\n{"minutes": 90}')
        assert "2 of 3" in shown.press("e")
        assert "9000" in written.read_text()
        shown.end("q")
    assert [one["edit"] for one in _sent(open_three)] == [{"minutes": 9000}, {"minutes": 90}]
    assert not list(home.rglob("drafts/*"))


@pytest.mark.parametrize("leave", ["\x04", "ctrl-c"])
def test_leaving_by_a_key_tells_what_was_decided_and_gives_the_terminal_back(
    leave: str, home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        shown.press("y")
        assert not shown.echoes()
        if leave == "ctrl-c":
            shown.interrupt()
            last = shown.until("left as they were.")
        else:
            last = shown.press(leave, then="left as they were.")
        assert "1 confirmed\n2 are" in last
        assert shown.echoes()
        assert shown.status == 0


def test_who_leaves_while_a_decision_is_under_way_is_told_where_it_shows(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        open_three.forgets(DECIDE)
        open_three.hangs(DECIDE)
        shown.press("y", then="y\n")
        while not open_three.asked(DECIDE):
            continue
        shown.interrupt()
        last = shown.end()
        assert "whether the last decision was taken shows in placet decisions" in last
        assert "3 are left as they were." in last
        assert shown.status == 0


def test_keys_that_were_pressed_before_the_question_are_not_its_answer(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        # More than is read at once: what is left would be the answer to the next question.
        shown.press("y" * 200)
        shown.end("q")
    assert len(_sent(open_three)) == 1


def test_what_comes_during_a_review_is_told_at_its_end_and_not_slipped_in(home: Path, control: FakeControl):
    control.answers(PENDING, [_item()])
    control.answers(PENDING, [_item(), _item(SECOND), _item(THIRD)])
    control.answers(SHOW, examples.task())
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown:
        shown.until("1 of 1")
        shown.until(_NEXT)
        assert "1 confirmed\n2 more came meanwhile: placet review\n" in shown.end("y")
    assert _sent(control) == [{"verdict": "confirmed", "items": [ITEM], "via": "cli"}]


def test_what_was_decided_elsewhere_meanwhile_is_passed_over(home: Path, control: FakeControl):
    first, second, third = _three()
    control.answers(PENDING, [first, second, third])
    control.answers(PENDING, [second | {"stale": True}, third])
    control.answers(SHOW, examples.task())
    with terminal(home, "review") as shown:
        page = shown.until(_NEXT)
        assert "a81c waits no more" in page
        assert "2 of 3" in page
        assert "stale" in page
        assert "2 are left" in shown.end("q")


def test_what_the_daemon_showed_is_what_the_decision_is_about(home: Path, control: FakeControl):
    control.answers(PENDING, [_item(args_hash="cd" * 32)])
    control.answers(SHOW, examples.task())
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        shown.end("y")
    assert control.asked(DECIDE)[0].body["args_hashes"] == {ITEM: "cd" * 32}


def test_a_daemon_that_goes_away_ends_the_review_after_telling_what_was_decided(
    home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        shown.press("y")
        open_three.socket.unlink()
        last = shown.end("y")
        assert "1 confirmed\n2 are left" in last
        assert "no daemon answers" in last
        assert shown.status == 3


def test_a_refused_request_leads_back_to_the_item(home: Path, open_three: FakeControl):
    open_three.forgets(DECIDE)
    open_three.refuses(DECIDE, 400, "usage", "a reason is too long", "shorten it")
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        told = shown.press("y")
        assert "a reason is too long; shorten it" in told
        assert "1 of 3" in told


def _of_tick(**args: Any) -> dict[str, Any]:
    listed = examples.task()["checklists"][0]["items"]
    return _item(
        tool="update_checklist_item",
        args={"id": listed[0]["id"], "isChecked": False, **args},
        subject="Photos",
        current={"is_checked": True},
        proposed={"is_checked": False},
        rationale=None,
    )


def test_a_tick_is_shown_with_the_evidence_against_who_set_it(home: Path, control: FakeControl):
    evidence = {"reason": "the drawer was empty", "evidenceIds": ["e1" * 16, "f2" * 16]}
    control.answers(PENDING, [_of_tick(**evidence)])
    control.answers(SHOW, examples.task())
    with terminal(home, "review") as shown:
        assert shown.until(_NEXT).splitlines()[2:8] == [
            'Uncheck: "Photos"',
            "  checked: yes → no",
            "  the agent says: “the drawer was empty”",
            "  ticked by agent on phone, yesterday",
            "  evidence: you on laptop, 2 h ago: “The photos are in the drawer”",
            "  evidence f2f2: the task has no such note",
        ]


def test_other_proposals_for_the_same_and_conflicts_are_named(home: Path, control: FakeControl):
    other = _item(SECOND, args={"minutes": 90}, proposed=90)
    control.answers(PENDING, [_item(disputed=True), other])
    control.answers(SHOW, examples.task(conflicts=[{"field": "estimate_minutes", "versions": []}]))
    with terminal(home, "review") as shown:
        page = shown.until(_NEXT)
        assert "  disputed: your devices decided differently\n" in page
        assert "  also proposed for this: b2b2 Set estimate to 90 minutes\n" in page
        assert "  estimate is in conflict: see placet conflicts\n" in page


HOSTILE = "\x1b[2J\x1b]0;owned\x07 x\u202egnp.exe \x9b31m\u2066\x7f\r\nConfirm it? [y,n] y"


def test_no_text_from_elsewhere_can_drive_the_terminal_or_ask_in_the_place_of_the_review(
    home: Path, control: FakeControl
):
    texts = ("task_title", "subject", "rationale", "current", "base", "summary", "set_id", "expires_at")
    hostile: dict[str, Any] = dict.fromkeys(texts, HOSTILE) | {"stale": True}
    listed = examples.task(title=HOSTILE)["checklists"]
    ticked = {
        "id": "9" * 32,
        "title": HOSTILE,
        "checked_by": HOSTILE,
        "checked_at": HOSTILE,
        "is_checked": True,
    }
    listed[0]["items"] = [ticked]
    said = {"id": "9" * 32, "isChecked": False, "reason": HOSTILE, "evidenceIds": ["e1" * 16, HOSTILE]}
    entries = [
        {"id": "e1" * 16, "text": HOSTILE, "author": HOSTILE, "device_name": HOSTILE, "happened_at": HOSTILE}
    ]
    items = [
        _item(tool="set_task_title", args={"title": HOSTILE}, proposed=HOSTILE, **hostile),
        _item(SECOND, tool="update_checklist_item", args=said, proposed=False, **hostile),
        _item(THIRD, tool="set_task_title", args={"title": "x"}, proposed=HOSTILE, **hostile),
        _item("d4" * 16, tool="assign_task_label", args={"id": HOSTILE}, proposed=True, **hostile),
        _item("e5" * 16, tool=HOSTILE, args={"reason": HOSTILE}, proposed=HOSTILE, **hostile),
    ]
    control.answers(PENDING, items)
    conflicts = [{"field": "title", "versions": []}]
    task = examples.task(
        title=HOSTILE, labels=[HOSTILE], checklists=listed, entries=entries, conflicts=conflicts
    )
    control.answers(SHOW, task)
    control.answers(DECIDE, [examples.verdict(HOSTILE, item_id=HOSTILE, message=HOSTILE)])
    with terminal(home, "review", NO_COLOR="1", COLUMNS="400") as shown:
        shown.until("?] ")
        for key in "jjjj":
            shown.press(key)
        shown.press("y")
        shown.end("q")
        assert {letter for letter in shown.raw if not letter.isprintable()} <= {"\n"}
        assert not any(line.startswith("Confirm it? [y,n] y") for line in shown.raw.splitlines())


@pytest.mark.parametrize("columns", [40, 80])
def test_a_review_fits_a_narrow_terminal(columns: int, home: Path, control: FakeControl):
    long = "A title of many words that goes on and on, " * 8
    items = [
        _item(
            stale=True,
            base=long,
            current=long,
            proposed=long * 2,
            tool="set_task_title",
            args={"title": long},
        ),
        _of_tick(reason=long, evidenceIds=["e1" * 16]) | {"item_id": SECOND},
    ]
    control.answers(PENDING, items)
    control.answers(SHOW, examples.task(title=long))
    with terminal(home, "review", columns=columns) as shown:
        shown.until(_NEXT)
        shown.press("j")
        shown.press("a", then="[y,n] ")
        shown.press("?")
        assert max(map(cells, shown.shown.splitlines())) <= columns


def test_colours_are_left_out_where_they_are_not_wanted(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown:
        shown.until(_NEXT)
        assert "\x1b[" in shown.raw
    with terminal(home, "review", NO_COLOR="1") as shown:
        shown.until(_NEXT)
        assert "\x1b[" not in shown.raw


def test_a_terminal_without_single_keys_takes_lines(home: Path, open_three: FakeControl):
    with terminal(home, "review", TERM="dumb") as shown:
        shown.until(_NEXT)
        assert "2 of 3" in shown.press("yes\n")
        assert "3 of 3" in shown.press("\nj\n", then="3 of 3")
        shown.until(_NEXT)
        assert "1 confirmed" in shown.end("q\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--plain"]])
def test_nobody_is_asked_without_a_terminal(form: list[str], placet: Placet, open_three: FakeControl):
    done = placet("review", *form, typed="y\ny\ny\n")
    assert done.status == 5
    assert "3 proposals wait, and a review needs a terminal; see placet pending" in done.err
    assert _sent(open_three) == []
    if form == ["--json"]:
        assert json.loads(done.out)["error"]["code"] == "needs_confirmation"


def test_where_nothing_waits_nothing_is_asked(placet: Placet, control: FakeControl):
    control.answers(PENDING, [])
    done = placet("review")
    assert (done.status, done.out, done.err) == (0, "", "Nothing waits for you.\n")
