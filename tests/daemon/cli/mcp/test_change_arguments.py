"""What a model reads of the arguments of a change: all tools, and examples that the daemon takes."""

import pytest

from daemon.agents.tools.table import TOOLS, batch_elements, tool_description, validate_arguments
from daemon.cli.mcp.change_arguments import EXAMPLES, argument_line
from daemon.cli.mcp.tool_table import TOOLS as DOOR_TOOLS
from daemon.cli.mcp.tool_table import input_schema


def line(tool: str) -> str:
    return argument_line({"name": tool, "arguments": tool_description(tool)["parameters"]})


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("set_task_title", "{title: string (1 to 400), evidenceIds?: [string, ...]}"),
        ("update_task_estimate", "{minutes: integer (1 to 1440), "),
        ("update_task_due_date", '{dueDate: "YYYY-MM-DD", '),
        ("update_task_priority", '{priority: "P0" | "P1" | "P2" | "P3", '),
        ("assign_task_label", '{id: id of 32 digits, confidence: "high" | "low" | "medium"}'),
        (
            "add_multiple_checklist_items",
            "{items: [{title: string (1 to 400), isChecked?: boolean}, ...] (1 to 20)}",
        ),
    ],
)
def test_the_types_the_choices_and_the_bounds_of_arguments_are_said(tool: str, words: str):
    assert f"{tool}: {words}" in line(tool)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_the_daemon_takes_the_example_of_each_tool(tool: str):
    element = TOOLS[tool].element
    if element is None or tool == "ask_question":
        validate_arguments(tool, EXAMPLES[tool])
        return
    for member in batch_elements(tool, EXAMPLES[tool]):
        validate_arguments(element, member)


def test_each_tool_that_a_change_may_call_has_an_example_and_a_line():
    described = [
        {"name": name, "description": "", "arguments": tool_description(name)["parameters"]}
        for name, tool in TOOLS.items()
        if tool.mode.value != "immediate" and name != "answer_question"
    ]
    assert [tool["name"] for tool in described if tool["name"] not in EXAMPLES] == []
    (propose,) = (tool for tool in DOOR_TOOLS if tool.name == "propose_changes")
    words = input_schema(propose, described)["properties"]["changes"]["items"]["properties"]["args"][
        "description"
    ]
    assert [name for name in EXAMPLES if f"\n{name}: {{" not in words] == []
