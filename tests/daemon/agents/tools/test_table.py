"""The table of tools: names, schemas, and the arguments that each tool accepts.

Never needs a store.
"""

import json

import msgspec
import pytest

from daemon.agents.tools.argument_recovery import recover_arguments
from daemon.agents.tools.arguments import ArgumentFault
from daemon.agents.tools.table import (
    LABEL_TOOLS,
    TOOLS,
    CallMode,
    batch_elements,
    effective_arguments,
    equivalent_names,
    normalised_name,
    split_rationale,
    tool_description,
    validate_arguments,
)


@pytest.mark.parametrize(
    "garbled",
    [
        "set_task_title",
        "setTaskTitle",
        "SetTaskTitle",
        "SET-TASK-TITLE",
        " set task title ",
        "functions.set_task_title",
        "default_api:setTaskTitle",
        "mcp__placet__set_task_title",
        "tools/set_task_title",
        "tool_set_task_title",
    ],
)
def test_garbled_names_are_normalised(garbled: str) -> None:
    assert normalised_name(garbled) == "set_task_title"


def test_an_unknown_name_stays_unknown() -> None:
    assert normalised_name("delete_everything") not in TOOLS
    assert normalised_name("") not in TOOLS


@pytest.mark.parametrize("name", TOOLS)
def test_each_tool_describes_itself_in_camel_case(name: str) -> None:
    description = tool_description(name)
    text = json.dumps(description)
    may_wait = TOOLS[name].mode is not CallMode.IMMEDIATE and name != "ask_question"
    assert description["name"] == name
    assert description["description"]
    assert description["parameters"]["type"] == "object"
    assert description["parameters"]["additionalProperties"] is False
    assert '"due_date"' not in text
    assert '"is_checked"' not in text
    assert ("rationale" in description["parameters"]["properties"]) == may_wait


@pytest.mark.parametrize(
    ("tool", "fields", "remaining"),
    [
        ("set_task_title", {"title": "  Fix it  "}, {"title": "Fix it"}),
        ("set_task_title", {"title": "x" * 400 + "   "}, {"title": "x" * 400}),
        ("update_task_estimate", {"minutes": "120"}, {"minutes": 120}),
        ("update_task_estimate", {"minutes": " 120 "}, {"minutes": 120}),
        ("update_task_estimate", {"minutes": 120.0}, {"minutes": 120}),
        ("update_task_estimate", {"minutes": 1440}, {"minutes": 1440}),
        ("update_task_due_date", {"dueDate": "2028-02-29"}, {"dueDate": "2028-02-29"}),
        ("update_task_priority", {"priority": " p1 "}, {"priority": "P1"}),
        ("add_checklist_item", {"title": "x"}, {"title": "x", "isChecked": False}),
    ],
)
def test_arguments_are_normalised(tool: str, fields: dict[str, object], remaining: dict[str, object]) -> None:
    assert validate_arguments(tool, fields) == remaining


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("set_task_title", {}),
        ("set_task_title", {"title": "   "}),
        ("set_task_title", {"title": "x" * 401}),
        ("set_task_title", {"title": 5}),
        ("set_task_title", {"title": "x", "colour": "red"}),
        ("update_task_estimate", {"minutes": 0}),
        ("update_task_estimate", {"minutes": 1441}),
        ("update_task_estimate", {"minutes": -5}),
        ("update_task_estimate", {"minutes": 1.5}),
        ("update_task_estimate", {"minutes": True}),
        ("update_task_estimate", {"minutes": "soon"}),
        ("update_task_estimate", {"minutes": 10**15}),
        ("update_task_due_date", {"dueDate": "2026-02-29"}),
        ("update_task_due_date", {"dueDate": "tomorrow"}),
        ("update_task_due_date", {"dueDate": "2026-3-5"}),
        ("update_task_due_date", {"due_date": "2026-03-05"}),
        ("update_task_priority", {"priority": "P4"}),
        ("update_task_priority", {"priority": "high"}),
        ("add_checklist_item", {"title": "x", "isChecked": 3}),
        ("update_report", {"title": "x"}),
        ("update_report", {"title": "x", "tldr": "y", "achieved": ["z"] * 26}),
    ],
)
def test_arguments_that_break_a_rule_are_refused_with_the_tools_name(
    tool: str, fields: dict[str, object]
) -> None:
    with pytest.raises(ArgumentFault) as fault:
        validate_arguments(tool, fields)
    assert str(fault.value)


def test_what_a_report_has_nothing_to_say_of_may_be_null() -> None:
    nothing = dict.fromkeys(("goal", "status", "estimate", "due", "achieved", "checklistProgress"))
    bare = {"title": "x", "tldr": "Much to say. " * 50}
    assert validate_arguments("update_report", bare | nothing) == validate_arguments("update_report", bare)


def test_a_models_own_words_are_set_aside_before_anything_is_hashed() -> None:
    args, words = split_rationale({"minutes": 5, "rationale": " because ", "humanSummary": "other"})
    assert (args, words) == ({"minutes": 5}, "because")
    assert split_rationale({"minutes": 5, "humanSummary": "x" * 999})[1] == "x" * 300
    assert split_rationale({"minutes": 5, "rationale": 7}) == ({"minutes": 5}, None)


def test_rewording_is_not_a_new_proposal() -> None:
    assert effective_arguments({"id": "x", "reason": "a", "evidenceIds": [], "confidence": 1}) == {"id": "x"}


# -- recovering arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        '{"minutes": 5}',
        ' {"minutes": 5}\n',
        'Sure!\n```json\n{"minutes": 5}\n```\nDone.',
        '```\n{"minutes": 5}\n```',
        'I will call it with {"minutes": 5} now, and not {"minutes": 6}.',
        {"minutes": 5},
    ],
)
def test_arguments_are_recovered_from_what_models_write(document: str | dict[str, object]) -> None:
    assert recover_arguments(document) == {"minutes": 5}


def test_braces_inside_of_strings_do_not_count() -> None:
    assert recover_arguments('so: {"title": "a } b \\" {"} ok') == {"title": 'a } b " {'}


@pytest.mark.parametrize(
    "text",
    ["", "none", "[1, 2]", "{", '{"a": }', "null", "5", '{"a": 1e999}', "{" * 5000, "x" * 70_000],
)
def test_what_holds_no_object_is_refused(text: str) -> None:
    with pytest.raises(ArgumentFault):
        recover_arguments(text)


@pytest.mark.parametrize(
    "value", [10**30, float("nan"), float("inf"), "\ud800", [[[[[[[[[[[[[1]]]]]]]]]]]]], {"\udfff": 1}]
)
def test_what_the_log_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(ArgumentFault):
        recover_arguments({"a": value})


def test_a_schema_is_what_validation_holds() -> None:
    """Values at the bounds of a schema pass, and values one beyond them do not."""
    bounds = tool_description("update_task_estimate")["parameters"]["properties"]["minutes"]
    assert validate_arguments("update_task_estimate", {"minutes": bounds["maximum"]})
    with pytest.raises(ArgumentFault):
        validate_arguments("update_task_estimate", {"minutes": bounds["maximum"] + 1})
    assert msgspec.json.encode(bounds)


# -- the other tools' arguments -----------------------------------------------------------------------

ID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("tool", "fields", "remaining"),
    [
        ("set_task_title", {"title": "Two\r\n lines\t"}, {"title": "Two  lines"}),
        ("set_task_status", {"status": " in_progress "}, {"status": "IN PROGRESS"}),
        ("set_task_status", {"status": "On-Hold", "reason": " x "}, {"status": "ON HOLD", "reason": "x"}),
        ("set_task_status", {"status": "OPEN", "reason": ""}, {"status": "OPEN"}),
        ("set_task_status", {"status": "OPEN", "reason": None}, {"status": "OPEN"}),
        (
            "set_task_language",
            {"languageCode": "PT_br", "confidence": "High"},
            {"languageCode": "pt-BR", "confidence": "high"},
        ),
        (
            "set_task_language",
            {"languageCode": "zh-hant-tw", "confidence": 0.6},
            {"languageCode": "zh-Hant-TW", "confidence": "medium"},
        ),
        ("assign_task_label", {"id": ID.upper(), "confidence": 0.1}, {"id": ID, "confidence": "low"}),
        ("assign_task_label", {"id": f" {ID} ", "confidence": 1}, {"id": ID, "confidence": "high"}),
        (
            "update_checklist_item",
            {
                "id": ID,
                "isChecked": True,
                "title": None,
                "isArchived": None,
                "reason": " ",
                "evidenceIds": [],
            },
            {"id": ID, "isChecked": True},
        ),
        (
            "update_checklist_item",
            {"id": ID, "isArchived": "false", "evidenceIds": [ID.upper(), ID]},
            {"id": ID, "isArchived": False, "evidenceIds": [ID]},
        ),
        ("add_checklist_item", {"title": "x", "isChecked": None}, {"title": "x", "isChecked": False}),
        ("record_observations", {"observations": [" a ", " ", "b\nc"]}, {"observations": ["a", "b\nc"]}),
        ("retract_proposals", {"itemIds": [ID, ID], "reason": "old"}, {"itemIds": [ID], "reason": "old"}),
    ],
)
def test_what_means_the_same_is_spelled_in_one_way(
    tool: str, fields: dict[str, object], remaining: dict[str, object]
) -> None:
    assert validate_arguments(tool, fields) == remaining
    assert validate_arguments(tool, remaining) == remaining


@pytest.mark.parametrize(
    ("tool", "fields", "text"),
    [
        ("set_task_status", {"status": "DONE"}, "DONE and REJECTED are the user's alone"),
        ("set_task_status", {"status": "WAITING"}, "'WAITING' - at `$.status`; one of BLOCKED, GROOMED"),
        ("set_task_status", {"status": "BLOCKED"}, "BLOCKED needs a reason"),
        ("set_task_status", {"status": "BLOCKED", "reason": "x" * 401}, "length <= 400"),
        ("set_task_language", {"languageCode": "german", "confidence": "high"}, "regex"),
        ("assign_task_label", {"id": "bug", "confidence": "high"}, "regex"),
        ("assign_task_label", {"id": ID}, "confidence"),
        ("update_checklist_item", {"id": ID}, "at least one of isChecked, title and isArchived"),
        ("update_checklist_item", {"id": ID, "reason": "x"}, "at least one of"),
        ("update_checklist_item", {"isChecked": True}, "id"),
        ("update_checklist_item", {"id": ID, "title": " "}, "length >= 1"),
        ("update_checklist_item", {"id": ID, "isChecked": True, "checkedBy": "user"}, "checkedBy"),
        ("update_checklist_item", {"id": ID, "isChecked": True, "checkedBy": None}, "checkedBy"),
        ("update_checklist_item", {"id": ID, "isChecked": True, "evidenceIds": ["x"]}, "regex"),
        (
            "update_checklist_item",
            {"id": ID, "isChecked": True, "evidenceIds": [ID[:-2] + f"{n:02}" for n in range(11)]},
            "length <= 10",
        ),
        ("record_observations", {"observations": "x"}, "array"),
        ("record_observations", {"observations": [5]}, "str"),
        ("record_observations", {"observations": ["x"] * 21}, "length <= 20"),
        ("record_observations", {"observations": ["x" * 1001]}, "length <= 1000"),
        ("retract_proposals", {"itemIds": [], "reason": "x"}, "length >= 1"),
        ("retract_proposals", {"itemIds": [ID]}, "reason"),
        ("update_report", {"title": "x", "tldr": "y", "estimate": 10**15}, "estimate"),
    ],
)
def test_what_breaks_a_rule_is_told_with_the_tool_and_the_rule(
    tool: str, fields: dict[str, object], text: str
) -> None:
    with pytest.raises(ArgumentFault) as fault:
        validate_arguments(tool, fields)
    assert str(fault.value).startswith(f"{tool}: ")
    assert text in str(fault.value)


@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if tool.mode is CallMode.EXPLODED])
def test_a_batch_names_its_elements_and_its_limit_in_its_schema(name: str) -> None:
    tool = TOOLS[name]
    assert tool.element in TOOLS
    property_ = tool_description(name)["parameters"]["properties"][tool.list_argument]
    most = property_["maxItems"]
    listed_task = {"id": ID, "title": "x", "confidence": "high"}
    assert len(batch_elements(name, {tool.list_argument: [listed_task] * most})) == most
    for wrong in ([], [listed_task] * (most + 1), listed_task, None):
        with pytest.raises(ArgumentFault):
            batch_elements(name, {tool.list_argument: wrong})


def test_a_batch_and_its_element_are_one_family() -> None:
    both = {"update_checklist_item", "update_checklist_items"}
    assert equivalent_names("update_checklist_item") == equivalent_names("update_checklist_items") == both
    assert {equivalent_names(name) for name in LABEL_TOOLS} == {LABEL_TOOLS}
    assert equivalent_names("set_task_title") == {"set_task_title"}


def test_every_tool_writes_something_or_is_a_batch_or_the_agents_own() -> None:
    own = {"update_report", "record_observations", "retract_proposals"}
    for name, tool in TOOLS.items():
        assert (name in own) == (not tool.deferrable and tool.mode is not CallMode.EXPLODED)
        arguments = {field.encode_name for field in msgspec.structs.fields(tool.arguments)}
        # What takes a value away has no argument for it.
        assert set(tool.argument_by_field.values()) - {""} <= arguments


@pytest.mark.parametrize("name", TOOLS)
def test_descriptions_are_lines(name: str) -> None:
    assert "\\n" not in json.dumps(tool_description(name))


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("update_task_due_date", {"dueDate": "\uff12\uff10\uff12\uff16-03-15"}),
        ("update_task_due_date", {"dueDate": "2026-W11-1"}),
        ("update_task_estimate", {"minutes": "\uff11\uff12"}),
        ("assign_task_label", {"id": "\uff10" * 32, "confidence": "high"}),
    ],
)
def test_digits_are_plain(tool: str, fields: dict[str, object]) -> None:
    with pytest.raises(ArgumentFault):
        validate_arguments(tool, fields)
