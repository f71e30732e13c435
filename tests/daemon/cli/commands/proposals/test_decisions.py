"""What `placet decisions` asks of the daemon, and how it tells who decided what.

Never checks how a status is folded: answers are scripted.
"""

import json
from typing import Any

import msgspec
import pytest

from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.waiting_items import PendingItem
from daemon.words.terminal_text import display_width
from tests.daemon.cli import examples
from tests.daemon.cli.examples import ITEM, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

DECISIONS = "GET /v1/decisions"


def _decision(**values: Any) -> dict[str, Any]:
    return examples.DECISION | values


@pytest.mark.parametrize(
    ("example", "answer"),
    [
        (examples.DECISION, DecisionRecord),
        (examples.pending(), PendingItem),
        (examples.verdict("applied"), DecisionResult),
    ],
)
def test_the_scripted_answers_have_the_keys_that_the_daemon_sends(
    example: dict[str, Any], answer: type[msgspec.Struct]
):
    encode_names = {field.encode_name for field in msgspec.structs.fields(answer)}
    always = {field.encode_name for field in msgspec.structs.fields(answer) if field.required}
    assert always <= set(example) <= encode_names


def test_each_decision_is_told_with_who_where_when_and_why(placet: Placet, control: FakeControl):
    listed = [
        _decision(seq=44, verdict="undone", status="rejected", reason="the\nother one"),
        _decision(seq=43, status="rejected", counts=False),
        _decision(
            seq=42,
            item_id="b2" * 16,
            edited_args={"minutes": 90, "dueDate": "2026-05-01"},
            disputed=True,
            device_name="phone",
        ),
        _decision(seq=41, item_id="c3" * 16, verdict="rejected", status="rejected", task_title=""),
    ]
    control.answers(DECISIONS, listed)
    result = placet("decisions", "the", "passport")
    assert result.out == (
        "undone     a81c  Set estimate to 120 minutes\n"
        "           30 min ago · you on laptop · “Renew the passport”\n"
        "           why: the\n"
        "           other one\n"
        "confirmed  a81c  Set estimate to 120 minutes\n"
        "           30 min ago · you on laptop · “Renew the passport”\n"
        "           now: rejected\n"
        "confirmed  b2b2  Set estimate to 120 minutes\n"
        "           30 min ago · you on phone · “Renew the passport”\n"
        "           with: minutes: 90, due: 2026-05-01\n"
        "           disputed: your devices decided differently\n"
        "rejected   c3c3  Set estimate to 120 minutes\n"
        "           30 min ago · you on laptop\n"
    )
    assert (result.status, result.err) == (0, "")
    assert control.requests[-1].target == "/v1/decisions?task=the%20passport&limit=50"


def test_where_there_may_be_more_it_says_how_to_go_on(placet: Placet, control: FakeControl):
    control.answers(DECISIONS, [_decision(seq=42), _decision(seq=41)])
    result = placet("decisions", "--limit", "2", "--before", "50")
    assert result.err == "Older decisions: placet decisions … --before 41\n"
    assert control.requests[-1].target == "/v1/decisions?before=50&limit=2"
    assert placet("decisions", "--limit", "3").err == ""


def test_nothing_decided_is_said(placet: Placet, control: FakeControl):
    control.answers(DECISIONS, [])
    assert (placet("decisions").out, placet("decisions").err) == ("", "Nothing was decided yet.\n")
    assert placet("decisions", "--before", "3").err == "Nothing older was decided.\n"


def test_scripts_get_what_the_daemon_said(placet: Placet, control: FakeControl):
    control.answers(DECISIONS, [_decision(reason="no\tneed")])
    assert placet("decisions", "--json").json == [_decision(reason="no\tneed")]
    assert json.loads(placet("decisions", "--jsonl").out) == _decision(reason="no\tneed")
    assert placet("decisions", "--plain").out.rstrip("\n").split("\t") == [
        "41",
        ITEM,
        TASK,
        "update_task_estimate",
        "confirmed",
        "user",
        "laptop",
        "2026-03-04T11:30:00Z",
        "no\\tneed",
        "cli",
        "confirmed",
        "false",
        "Set estimate to 120 minutes",
    ]


@pytest.mark.parametrize("columns", [40, 80])
def test_long_words_are_broken_to_the_width(columns: int, placet: Placet, control: FakeControl):
    long = "words that go on and on " * 9
    control.answers(
        DECISIONS,
        [_decision(tool="set_task_title", args={"title": long}, reason=long, task_title=long, disputed=True)],
    )
    result = placet("decisions", COLUMNS=str(columns))
    assert max(map(display_width, result.out.splitlines())) <= columns


def test_a_confirmation_without_its_effect_is_told_with_what_to_do(placet: Placet, control: FakeControl):
    control.answers(DECISIONS, [_decision(without_effect=True)])
    assert "confirmed, and not in effect: placet confirm a81c" in placet("decisions").out


def test_a_decision_shows_how_the_agent_argued_over_a_tick(placet: Placet, control: FakeControl):
    evidence = [
        {"id": "3f2a" * 8, "text": "The tests\nare written.", "author": "user", "happened_at": ""},
        {"id": "99be" * 8, "text": "", "author": "", "happened_at": ""},
    ]
    control.answers(DECISIONS, [_decision(agent_reason="The note says so.", evidence=evidence)])
    out = placet("decisions", COLUMNS="88").out
    assert "the agent says: “The note says so.”" in out
    assert "evidence 3f2a: you, " in out
    assert "“The tests are written.”" in out
    assert "evidence 99be: the task has no such note" in out


def test_a_verdict_on_an_ask_is_told_by_its_action_and_never_as_a_change(
    placet: Placet, control: FakeControl
):
    """An action that has the name of a tool would read as that tool's change."""
    on_ask = _decision(
        is_ask=True,
        tool="set_task_title",
        args={"title": "x\u202e"},
        status="used",
        task_title="",
        reason=None,
    )
    by_rule = on_ask | {"rule": "8d" * 16, "by": "system", "status": "permitted"}
    control.answers(DECISIONS, [on_ask, by_rule, on_ask | {"verdict": "rejected", "status": "refused"}])
    out = placet("decisions").out
    assert 'permitted  a81c  set_task_title {"title": "x\\u202e"}' in out
    assert out.count("now: ") == 1
    assert "now: used" in out
    assert "by your rule 8d8d8d8d" in out
    assert "refused    a81c" in out
