"""What `placet undo` asks of the daemon, and how it says what was put back and what was left.

Never checks what an undo writes: answers are scripted.
"""

import json
from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

UNDO, SHOWN, DECISIONS = "POST /v1/undo", "GET /v1/undo", "POST /v1/decisions"
NAME, REDO = "482-a1b2c3d4e5f6", "483-b1b2c3d4e5f6"


def undone(**values: Any) -> dict[str, Any]:
    row = examples.CHANGE | {"field": "due", "before": "2026-03-05", "after": None, "change": REDO}
    return {"change": NAME, "undo": REDO, "already": False, "written": [row], "written_count": 1} | values


def left(field: str) -> dict[str, Any]:
    return {
        "entity": "ab" * 16,
        "kind": "task",
        "title": "Call Ana",
        "field": field,
        "why": "it was changed since, on Phone",
        "why_id": "changed-since",
        "why_params": {"device": "Phone"},
    }


def test_a_change_is_undone_by_its_name(placet: Placet, control: FakeControl):
    control.answers(UNDO, undone())
    result = placet("undo", NAME)
    assert control.requests[-1].body == {"change": NAME, "via": "cli"}
    assert (result.status, result.err) == (0, f"Take that back: placet undo {REDO}\n")
    assert "due: Thu 5 Mar 2026" in result.out
    assert REDO in result.out


def test_several_changes_are_undone_together(placet: Placet, control: FakeControl):
    control.answers(UNDO, undone())
    placet("undo", NAME, f"470..480-{'a' * 12}, 12-abcd")
    assert control.requests[-1].body["change"] == f"{NAME}, 470..480-{'a' * 12}, 12-abcd"


def test_without_a_name_the_last_change_is_undone(placet: Placet, control: FakeControl):
    control.answers(SHOWN, {"change": NAME, "changes": [], "count": 1})
    control.answers(UNDO, undone())
    assert placet("undo", "--task", "Ana").status == 0
    assert control.requests[-2].target == "/v1/undo?task=Ana"
    assert control.requests[-1].body["change"] == NAME


@pytest.mark.parametrize(("undo", "status"), [(REDO, 8), (None, 6)])
def test_what_is_left_is_named_with_the_reason(
    placet: Placet, control: FakeControl, undo: str | None, status: int
):
    control.answers(UNDO, undone(undo=undo, left=[left("title"), left("deleted")], left_count=2))
    result = placet("undo", NAME)
    assert result.status == status
    assert "left: task “Call Ana”, title: it was changed since, on Phone\n" in result.out
    assert "left: task “Call Ana”: it was changed since, on Phone\n" in result.out


def test_what_was_undone_already_is_no_fault(placet: Placet, control: FakeControl):
    control.answers(UNDO, undone(undo=None, already=True, written=[], written_count=0))
    result = placet("undo", NAME)
    assert (result.status, result.out, result.err) == (0, f"{NAME} was undone already.\n", "")


def test_an_id_is_that_of_a_proposal(placet: Placet, control: FakeControl):
    control.answers(DECISIONS, [examples.verdict("applied")])
    assert placet("undo", "a81c", "--reason", "wrong").status == 0
    assert control.requests[-1].body == {
        "verdict": "undone",
        "via": "cli",
        "items": ["a81c"],
        "reason": "wrong",
    }


@pytest.mark.parametrize(
    "words", [(NAME, "a81c"), (NAME, "--reason", "x"), (NAME, "--task", "Ana"), ("a81c", "--task", "Ana")]
)
def test_what_cannot_be_meant_together_is_refused(
    placet: Placet, control: FakeControl, words: tuple[str, ...]
):
    assert placet("undo", *words).status == 2
    assert control.requests == []


def test_scripts_read_rows_or_the_answer_as_it_is(placet: Placet, control: FakeControl):
    answer = undone(left=[left("title")], left_count=1)
    control.answers(UNDO, answer)
    assert json.loads(placet("undo", NAME, "--json").out) == answer
    control.answers(UNDO, answer)
    rows = [line.split("\t") for line in placet("undo", NAME, "--plain").out.splitlines()]
    assert [row[0] for row in rows] == ["undone", "left"]
    assert rows[1][3:5] == ["Call Ana", "title"]


@pytest.mark.parametrize("redo", [REDO, None])
def test_a_redo_is_offered_of_the_edits_alone(placet: Placet, control: FakeControl, redo: str | None):
    control.answers(UNDO, undone(undo=redo, verdicts=[examples.verdict("applied")]))
    result = placet("undo", NAME)
    assert (result.status, f"placet undo {REDO}" in result.err) == (0, redo is not None)
