"""Calls that a model wrote as text: which are found, and which words are left as words.

Never asks a server.
"""

import pytest

from daemon.agents.models.openai.text_calls import calls_in_text

DUE = '{"name": "update_task_due_date", "arguments": {"dueDate": "2030-03-14"}}'
REPORT = '{"name": "update_report", "arguments": {"tldr": "a {b} ]"}}'
NAMES = ["update_task_due_date", "update_report"]


@pytest.mark.parametrize(
    "text",
    [
        f"{DUE}\n{REPORT}",
        f"[{DUE}, {REPORT}]",
        f"<tool_call>\n{DUE}\n</tool_call>\n<tool_call>\n{REPORT}\n</tool_call>",
        f"First:\n```json\n{DUE}\n```\nthen\n```json\n{REPORT}\n```",
        "{" + DUE + "}\n{" + REPORT + "}",
        f"<think>{DUE}</think>{DUE}{REPORT}",
        '{"tool": "update_task_due_date", "parameters": {"dueDate": "2030-03-14"}} ' + REPORT,
        '{"type": "function", "function": ' + DUE + "}, " + REPORT,
    ],
)
def test_calls_are_found_in_every_way_in_which_models_write_them(text: str):
    written_calls = calls_in_text(text)
    assert [call.name for call in written_calls] == NAMES
    assert written_calls[0].arguments == {"dueDate": "2030-03-14"}


@pytest.mark.parametrize(
    "text",
    ["", "Nothing to do.", '{"name": "Ana", "arguments": {}}', '{"name": "update_report"}', "{" * 9999],
)
def test_words_are_no_call(text: str):
    assert calls_in_text(text) == []


def test_a_model_that_repeats_itself_without_end_makes_a_bounded_number_of_calls():
    assert len(calls_in_text(DUE * 5000)) <= 200
