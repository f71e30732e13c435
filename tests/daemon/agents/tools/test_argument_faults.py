"""What is wrong with edited arguments: what their types report is put into sentences for a person.

Never asks for all of it: what is not known is told as it came.
"""

from typing import Any

import pytest

from daemon.agents.tools.argument_faults import argument_fault
from daemon.agents.tools.arguments import ArgumentFault
from daemon.agents.tools.table import validate_arguments

ID = "9c1e" * 8


def _fault(tool: str, args: dict[str, Any]) -> ArgumentFault:
    with pytest.raises(ArgumentFault) as error:
        validate_arguments(tool, args)
    return error.value


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
        (
            "update_task_due_date",
            {"dueDate": "2026-02-30"},
            "dueDate 2026-02-30 is not a real calendar date (YYYY-MM-DD)",
        ),
        ("update_task_due_date", {"dueDate": 5}, "dueDate has to be a text"),
        ("update_task_priority", {"priority": "P9"}, "priority cannot be 'P9': it is one of P0, P1, P2, P3"),
        ("set_task_title", {"title": " "}, "title cannot be empty"),
        ("set_task_title", {"title": "x" * 401}, "title has to have 400 characters or less"),
        ("add_checklist_item", {"title": "x", "isChecked": "yes"}, "isChecked has to be true or false"),
        ("update_checklist_item", {"id": "9c1e", "title": "x"}, "id has to be a whole id"),
    ],
)
def test_a_person_reads_what_is_wrong_and_not_the_type_that_says_so(
    tool: str, args: dict[str, Any], words: str
) -> None:
    fault = _fault(tool, args)
    assert (fault.why.text, bool(fault.why.id)) == (words, True)
    # A model reads what the type says, with the name of the tool.
    assert str(fault).startswith(f"{tool}: ")


@pytest.mark.parametrize("text", ["", "`minutes` is too long", "Object missing", "a: b: c", "Expected `int`"])
def test_what_is_not_known_is_told_as_it_came(text: str) -> None:
    assert (argument_fault(text).text, argument_fault(text).id) == (text, "")
