"""What is wrong with edited arguments: what their types say is put into words.

Never asks for all of it: what is not known is told as it came.
"""

from typing import Any

import pytest

from daemon.agents.arguments import ArgumentFault
from daemon.agents.tools import validated
from daemon.cli.faults import fault_words
from daemon.cli.sentences import retold

ID = "9c1e" * 8


def _fault(tool: str, args: dict[str, Any]) -> str:
    with pytest.raises(ArgumentFault) as caught:
        validated(tool, args)
    return str(caught.value)


@pytest.mark.parametrize(
    ("tool", "args", "words"),
    [
        ("update_task_estimate", {"minutes": 0}, "minutes has to be 1 or more"),
        ("update_task_estimate", {"minutes": 5000}, "minutes has to be 1440 or less"),
        ("update_task_estimate", {"minutes": 1.5}, "minutes has to be a whole number"),
        ("update_task_estimate", {"minutes": None}, "minutes has to be a whole number"),
        ("update_task_estimate", {"mins": 5}, "it has no argument mins"),
        ("update_task_estimate", {}, "it lacks the argument minutes"),
        ("update_task_due_date", {"dueDate": "tomorrow"}, "dueDate has to be a day such as 2026-03-15"),
        ("update_task_due_date", {"dueDate": "2026-02-30"}, "dueDate has to be a day such as 2026-03-15"),
        ("update_task_due_date", {"dueDate": 5}, "dueDate has to be a text"),
        ("update_task_priority", {"priority": "P9"}, "priority cannot be 'P9'"),
        ("set_task_title", {"title": " "}, "title cannot be empty"),
        ("set_task_title", {"title": "x" * 401}, "title has to have 400 characters or less"),
        ("add_checklist_item", {"title": "x", "isChecked": "yes"}, "isChecked has to be true or false"),
        ("update_checklist_item", {"id": "9c1e", "title": "x"}, "id has to be a whole id"),
    ],
)
def test_a_person_reads_what_is_wrong_and_not_the_type_that_says_so(
    tool: str, args: dict[str, Any], words: str
) -> None:
    told = _fault(tool, args)
    assert fault_words(told) == words
    assert retold(f"cannot be applied: {told}") == f"cannot be applied: {words}"


@pytest.mark.parametrize("told", ["", "`minutes` is too long", "Object missing", "a: b: c", "Expected `int`"])
def test_what_is_not_known_is_told_as_it_came(told: str) -> None:
    assert fault_words(told) == told
