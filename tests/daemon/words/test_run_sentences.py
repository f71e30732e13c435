"""The sentence that says what a run came to: what it counts, and what it leaves out."""

import json
from typing import Any

import pytest

from daemon.words.run_sentences import confirmation_words, list_words, run_words


def call(tool: str, outcome: str = "queued", items: int = 1, **args: Any) -> list[Any]:
    action = {"kind": "action", "tool": tool, "text": json.dumps(args)}
    return [action, {"kind": "tool_result", "tool": tool, "outcome": outcome, "item_ids": ["1"] * items}]


ENDED: dict[str, Any] = {"kind": "summary", "ended": {"proposals": 0, "calls": 0}}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (
            [
                *call("add_multiple_checklist_items", items=3),
                *call("update_task_due_date"),
                *call("update_task_estimate", minutes=90),
                *call("update_task_estimate", minutes=120),
                *call("update_report", "done"),
                ENDED,
            ],
            "Proposed 3 steps, a due date and 2 h; wrote its report",
        ),
        ([*call("ask_question", items=4), ENDED], "Asked 1 question"),
        ([*call("update_task_estimate", minutes="x")], "Proposed a length"),
        ([*call("made_up_tool")], "Proposed 1 other change"),
        ([*call("update_task_due_date", "refused"), ENDED], "1 call was refused"),
        ([*call("retract_proposals", "done"), ENDED], "Took proposals back"),
        ([ENDED], "Proposed nothing"),
        ([{"kind": "summary", "ended": {"proposals": 2}}], "Made 2 proposals"),
        ([{"kind": "system", "error": True, "text": "no answer"}], "Broke off: no answer"),
        ([{"kind": "user", "trigger": "why"}], ""),
        (
            [{"kind": "action", "tool": "update_task_due_date", "text": "[" * 90_000}, ENDED],
            "Proposed nothing",
        ),
    ],
)
def test_a_run_is_one_sentence(messages: list[Any], words: str):
    assert run_words(messages) == words


def test_what_a_person_confirmed_is_no_deed_of_the_run():
    confirmed: Any = {
        "kind": "action",
        "item_id": "1",
        "tool": "set_task_title",
        "args": {"title": "New"},
    }
    answered: Any = {**confirmed, "kind": "tool_result", "outcome": "queued"}
    assert run_words([confirmed, answered]) == ""
    assert confirmation_words(confirmed) == 'You confirmed: Set title to "New"'


def test_a_list_is_joined_as_people_do():
    assert [list_words(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
