"""A review at a terminal: what each key asks of the daemon, what is shown, and how it ends.

Never checks how the daemon decides: answers are scripted.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from daemon.words.terminal_text import display_width
from tests.daemon.cli import examples
from tests.daemon.cli.examples import ITEM, OTHER, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.pseudo_terminal import terminal

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
    bodies = [request.body for request in control.asked(DECIDE)]
    assert all(set(body["args_hashes"]) == set(body["items"]) for body in bodies)
    return [{key: value for key, value in body.items() if key != "args_hashes"} for body in bodies]


def test_an_item_is_shown_whole_and_y_confirms_it(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown_terminal:
        assert shown_terminal.until(_NEXT) == (
            "\n"
            "1 of 3  Renew the passport\n"
            "Set estimate to 120 minutes\n"
            "  45 min → 2 h\n"
            "  the agent says: “The note says two hours.”\n"
            "  set 51e7aa00 · proposed 1 h ago · expires in 6 days · item a81c\n"
            "Confirm it? [y,n,d,e,s,j,k,a,u,q,?] "
        )
        assert shown_terminal.press("y").splitlines()[:5] == [
            "y",
            "✓ a81c  Set estimate to 120 minutes",
            "",
            "2 of 3  Renew the passport",
            'Set title to "Renew both passports"',
        ]
        assert "\n1 confirmed\n2 are left as they were.\n" in shown_terminal.end("q")
        assert shown_terminal.status == 0
    assert _sent(open_three) == [{"verdict": "confirmed", "items": [ITEM], "via": "cli"}]


def test_a_text_is_compared_line_by_line_and_a_new_item_says_what_is_made_with_it(
    home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        assert "\n  - Renew the passport\n  + Renew both passports\n" in shown_terminal.press("j")
        assert "also: makes the checklist “Todos”" in shown_terminal.press("j")


def test_each_key_sends_its_verdict(home: Path, open_three: FakeControl):
    with terminal(home, "review", "the", "passport") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("n", then="reason) ")
        shown_terminal.press("too long\n")
        shown_terminal.press("n", then="reason) ")
        shown_terminal.press("\n")
        assert "2 rejected, 1 deferred" in shown_terminal.end("d")
        assert shown_terminal.status == 0
    assert open_three.requests[0].target == "/v1/pending?task=the%20passport"
    assert _sent(open_three) == [
        {"verdict": "rejected", "items": [ITEM], "via": "cli", "reason": "too long"},
        {"verdict": "rejected", "items": [SECOND], "via": "cli"},
        {"verdict": "deferred", "items": [THIRD], "via": "cli"},
    ]


def test_who_thinks_better_of_rejecting_is_back_at_the_item(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("n", then="reason) ")
        assert "Confirm it?" in shown_terminal.press("\x04")
        assert "Nothing was decided." in shown_terminal.end("q")
    assert _sent(open_three) == []


def test_looking_around_and_leaving_decides_nothing(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        assert "There is none before" in shown_terminal.press("k")
        assert "2 of 3" in shown_terminal.press("j")
        assert "3 of 3" in shown_terminal.press("\x1b[B")
        assert "This is the last one." in shown_terminal.press("j")
        assert "2 of 3" in shown_terminal.press("\x1b[A")
        assert "  q    leave the rest" in shown_terminal.press("?")
        assert "  q    leave the rest" in shown_terminal.press("x")
        assert "3 of 3" in shown_terminal.press("\r\ns")
        assert "Nothing was decided.\n3 are left" in shown_terminal.end("s")
        assert shown_terminal.status == 0
    assert _sent(open_three) == []


def test_a_shows_what_is_left_of_the_task_before_it_confirms_exactly_that(
    home: Path, open_three: FakeControl
):
    open_three.forgets(PENDING)
    open_three.answers(PENDING, [*_three(), _item("d4" * 16, task_id=OTHER, task_title="Other")])
    results = [examples.verdict("failed", item_id=SECOND), examples.verdict("applied", item_id=THIRD)]
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("j")
        assert "c3c3  Add" in shown_terminal.press("a", then="[y,n] ")
        shown_terminal.press("n")
        shown_terminal.press("a", then="Confirm these 2? [y,n] ")
        assert _sent(open_three) == []
        open_three.forgets(DECIDE)
        open_three.answers(DECIDE, results)
        # What failed is shown again, alone.
        assert "2 of 4" in shown_terminal.press("y")
        assert "4 of 4  Other" in shown_terminal.press("s")
        assert "1 confirmed" in shown_terminal.end("q")
    assert _sent(open_three) == [{"verdict": "confirmed", "items": [SECOND, THIRD], "via": "cli"}]


def test_u_takes_the_last_decision_of_this_review_back_and_shows_it_again(
    home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        assert "Nothing was decided in this review yet." in shown_terminal.press("u")
        shown_terminal.press("y")
        shown_terminal.press("d")
        assert "2 of 3" in shown_terminal.press("u")
        assert "1 of 3" in shown_terminal.press("u")
        assert "Nothing was decided." in shown_terminal.end("q")
    undone = [fields for fields in _sent(open_three) if fields["verdict"] == "reopened"]
    assert [fields["items"] for fields in undone] == [[SECOND], [ITEM]]


def test_what_changed_since_is_compared_and_forced_only_when_asked_for(home: Path, control: FakeControl):
    control.answers(PENDING, [_item(stale=True, base=45, current=60)])
    control.answers(SHOW, examples.task())
    refused = examples.verdict("stale", status="pending", message="it is late", can_force=True)
    control.answers(DECIDE, [refused])
    control.answers(DECIDE, [refused])
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown_terminal:
        page = shown_terminal.until(_NEXT)
        assert (
            "\n  stale: it has changed since\n"
            "  when it was proposed  45 min\n"
            "  now                   1 h\n"
            "  proposed              2 h\n"
        ) in page
        assert "stale" in shown_terminal.press("y", then="Apply it all the same? [y,n] ")
        shown_terminal.press("n")
        shown_terminal.press("y", then="[y,n] ")
        assert "1 confirmed" in shown_terminal.end("y")
    assert [fields.get("force") for fields in _sent(control)] == [None, None, True]


def test_arguments_are_edited_as_json_and_what_is_wrong_with_them_is_told(
    home: Path, open_three: FakeControl, tmp_path: Path
):
    wrong = [examples.verdict("failed", message="cannot be applied: `minutes` is too long")]
    open_three.forgets(DECIDE)
    open_three.answers(DECIDE, wrong)
    open_three.answers(DECIDE, [examples.verdict("applied")])
    path = tmp_path / "written"
    editor = f'sh -c \'cat "$0" > {path}; cp {tmp_path}/new "$0"\''
    with terminal(home, "review", EDITOR=editor, VISUAL="") as shown_terminal:
        shown_terminal.until(_NEXT)
        (tmp_path / "new").write_text("# why\n{not json")
        assert "what you wrote is not JSON: line 2, column 2" in shown_terminal.press("e")
        (tmp_path / "new").write_text('{"minutes": 120}')
        assert "Nothing was changed." in shown_terminal.press("e")
        (tmp_path / "new").write_text('{"minutes": 9000}')
        output = shown_terminal.press("e")
        assert "cannot be applied" in output
        assert "1 of 3" in output
        assert "9000" not in path.read_text()
        (tmp_path / "new").write_text('# shorter\n{"minutes": 90}')
        assert "2 of 3" in shown_terminal.press("e")
        assert "9000" in path.read_text()
        shown_terminal.end("q")
    assert [fields["edit"] for fields in _sent(open_three)] == [{"minutes": 9000}, {"minutes": 90}]
    assert not list(home.rglob("drafts/*"))


@pytest.mark.parametrize("leave", ["\x04", "ctrl-c"])
def test_leaving_by_a_key_tells_what_was_decided_and_gives_the_terminal_back(
    leave: str, home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("y")
        assert not shown_terminal.echoes()
        if leave == "ctrl-c":
            shown_terminal.interrupt()
            last = shown_terminal.until("left as they were.")
        else:
            last = shown_terminal.press(leave, then="left as they were.")
        assert "1 confirmed\n2 are" in last
        assert shown_terminal.echoes()
        assert shown_terminal.status == 0


def test_who_leaves_while_a_decision_is_under_way_is_told_where_it_shows(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        open_three.forgets(DECIDE)
        open_three.hangs(DECIDE)
        shown_terminal.press("y", then="y\n")
        while not open_three.asked(DECIDE):
            continue
        shown_terminal.interrupt()
        last = shown_terminal.end()
        assert "placet decisions shows whether the last decision was taken" in last
        assert "3 are left as they were." in last
        assert shown_terminal.status == 0


def test_keys_that_were_pressed_before_the_question_are_not_its_answer(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        # More than is read at once: what is left would be the answer to the next question.
        shown_terminal.press("y" * 200)
        shown_terminal.end("q")
    assert len(_sent(open_three)) == 1


def test_what_comes_during_a_review_is_told_at_its_end_and_not_slipped_in(home: Path, control: FakeControl):
    control.answers(PENDING, [_item()])
    control.answers(PENDING, [_item(), _item(SECOND), _item(THIRD)])
    control.answers(SHOW, examples.task())
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until("1 of 1")
        shown_terminal.until(_NEXT)
        assert "1 confirmed\n2 more came meanwhile: placet review\n" in shown_terminal.end("y")
    assert _sent(control) == [{"verdict": "confirmed", "items": [ITEM], "via": "cli"}]


def test_what_is_held_back_is_counted_at_the_end_and_did_not_come_meanwhile(home: Path, control: FakeControl):
    """As the person decides, the daemon puts others in the place of what was decided."""
    control.answers(PENDING, [_item(), _item(SECOND, held_back=True)])
    control.answers(PENDING, [_item(), _item(SECOND), _item(THIRD, held_back=True)])
    control.answers(SHOW, examples.task())
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until("1 of 1")
        shown_terminal.until(_NEXT)
        end = shown_terminal.end("y")
        assert "1 confirmed\n1 more waits behind these: placet pending --all\n1 more came meanwhile:" in end


def test_what_was_decided_elsewhere_meanwhile_is_passed_over(home: Path, control: FakeControl):
    first, second, third = _three()
    control.answers(PENDING, [first, second, third])
    control.answers(PENDING, [second | {"stale": True}, third])
    control.answers(SHOW, examples.task())
    with terminal(home, "review") as shown_terminal:
        page = shown_terminal.until(_NEXT)
        assert "a81c no longer waits" in page
        assert "2 of 3" in page
        assert "stale" in page
        assert "2 are left" in shown_terminal.end("q")


def test_only_what_waits_on_the_task_of_an_item_is_read_for_it(home: Path, control: FakeControl):
    other = "d4" * 16
    control.answers(PENDING, [_item(), _item(OTHER, task_id=other)])
    control.answers(PENDING, [_item()])
    control.refuses(PENDING, 404, "not_found", "the task was removed")
    control.answers(PENDING, [])
    control.answers(SHOW, examples.task())
    with terminal(home, "review") as shown_terminal:
        assert "1 of 2" in shown_terminal.until(_NEXT)
        # Its task was removed meanwhile: it waits no more.
        assert "no longer waits" in shown_terminal.end("s")
    targets = [request.target for request in control.asked(PENDING)]
    assert targets[:3] == ["/v1/pending", f"/v1/pending?task={TASK}", f"/v1/pending?task={other}"]


def test_what_the_daemon_showed_is_what_the_decision_is_about(home: Path, control: FakeControl):
    control.answers(PENDING, [_item(args_hash="cd" * 32)])
    control.answers(SHOW, examples.task())
    control.answers(DECIDE, [examples.verdict("applied")])
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.end("y")
    assert control.asked(DECIDE)[0].body["args_hashes"] == {ITEM: "cd" * 32}


def test_a_daemon_that_goes_away_ends_the_review_after_telling_what_was_decided(
    home: Path, open_three: FakeControl
):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("y")
        open_three.socket.unlink()
        last = shown_terminal.end("y")
        assert "1 confirmed\n2 are left" in last
        assert "no daemon answers" in last
        assert shown_terminal.status == 3


def test_a_refused_request_leads_back_to_the_item(home: Path, open_three: FakeControl):
    open_three.forgets(DECIDE)
    open_three.refuses(DECIDE, 400, "usage", "a reason is too long", "shorten it")
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        output = shown_terminal.press("y")
        assert "a reason is too long; shorten it" in output
        assert "1 of 3" in output


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
    with terminal(home, "review") as shown_terminal:
        assert shown_terminal.until(_NEXT).splitlines()[2:8] == [
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
    with terminal(home, "review") as shown_terminal:
        page = shown_terminal.until(_NEXT)
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
    fields = {"id": "9" * 32, "isChecked": False, "reason": HOSTILE, "evidenceIds": ["e1" * 16, HOSTILE]}
    entries = [
        {"id": "e1" * 16, "text": HOSTILE, "author": HOSTILE, "device_name": HOSTILE, "happened_at": HOSTILE}
    ]
    items = [
        _item(tool="set_task_title", args={"title": HOSTILE}, proposed=HOSTILE, **hostile),
        _item(SECOND, tool="update_checklist_item", args=fields, proposed=False, **hostile),
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
    with terminal(home, "review", NO_COLOR="1", COLUMNS="400") as shown_terminal:
        shown_terminal.until("?] ")
        for key in "jjjj":
            shown_terminal.press(key)
        shown_terminal.press("y")
        shown_terminal.end("q")
        assert {letter for letter in shown_terminal.raw if not letter.isprintable()} <= {"\n"}
        assert not any(line.startswith("Confirm it? [y,n] y") for line in shown_terminal.raw.splitlines())


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
    with terminal(home, "review", columns=columns) as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("j")
        shown_terminal.press("a", then="[y,n] ")
        shown_terminal.press("?")
        assert max(map(display_width, shown_terminal.shown.splitlines())) <= columns


def test_colours_are_left_out_where_they_are_not_wanted(home: Path, open_three: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        assert "\x1b[" in shown_terminal.raw
    with terminal(home, "review", NO_COLOR="1") as shown_terminal:
        shown_terminal.until(_NEXT)
        assert "\x1b[" not in shown_terminal.raw


def test_a_terminal_without_single_keys_takes_lines(home: Path, open_three: FakeControl):
    with terminal(home, "review", TERM="dumb") as shown_terminal:
        shown_terminal.until(_NEXT)
        assert "2 of 3" in shown_terminal.press("yes\n")
        assert "3 of 3" in shown_terminal.press("\nj\n", then="3 of 3")
        shown_terminal.until(_NEXT)
        assert "1 confirmed" in shown_terminal.end("q\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--plain"]])
def test_nobody_is_asked_without_a_terminal(form: list[str], placet: Placet, open_three: FakeControl):
    result = placet("review", *form, typed="y\ny\ny\n")
    assert result.status == 5
    assert "3 proposals wait, and a review needs a terminal; see placet pending" in result.err
    assert _sent(open_three) == []
    if form == ["--json"]:
        assert json.loads(result.out)["error"]["code"] == "needs_confirmation"


def test_where_nothing_waits_nothing_is_asked(placet: Placet, control: FakeControl):
    control.answers(PENDING, [])
    result = placet("review")
    assert (result.status, result.out, result.err) == (0, "", "Nothing waits for you.\n")
