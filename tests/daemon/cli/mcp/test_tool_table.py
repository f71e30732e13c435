"""The tools of the door: their bounds are those of the daemon, which they cannot import."""

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from daemon.agents.asks import ask_requests
from daemon.agents.outside import proposals, readable_tasks
from daemon.agents.tools.actions import ACTION_CHARS_MAX
from daemon.cli.mcp.tool_table import MARK_CHARS, TOOLS, output_schema
from daemon.dates.day_reckoner import TEXT_CHARS_MAX
from tests.daemon.cli.mcp import answer_schemas


def properties(tool: str) -> dict[str, Any]:
    (entry,) = [entry for entry in TOOLS if entry.name == tool]
    return entry.properties


def test_an_ask_is_bounded_as_the_daemon_bounds_it():
    ask = properties("ask_permission")
    assert ask["title"]["maxLength"] == ask_requests.TITLE_CHARS_MAX
    assert ask["why"]["maxLength"] == ask_requests.WHY_CHARS_MAX
    assert ask["action"]["properties"]["name"]["maxLength"] == ACTION_CHARS_MAX
    assert ask["options"]["maxItems"] == ask_requests.OPTIONS_MAX
    assert ask["options"]["items"]["maxLength"] == ask_requests.OPTION_CHARS_MAX
    assert ask["valid_minutes"]["maximum"] * 60_000 == ask_requests.LIFETIME_MAX_MS
    execution_chars_max = properties("use_permission")["execution_id"]["maxLength"]
    assert execution_chars_max + 1 + MARK_CHARS == ask_requests.EXECUTION_CHARS_MAX


def test_proposals_are_bounded_as_the_daemon_bounds_them():
    changes = properties("propose_changes")
    assert changes["changes"]["maxItems"] == proposals.CHANGES_MAX
    assert changes["key"]["maxLength"] == proposals.KEY_CHARS_MAX
    assert properties("withdraw")["reason"]["maxLength"] == proposals.WHY_CHARS_MAX
    assert properties("find_tasks")["limit"]["maximum"] == readable_tasks.FOUND_MAX


def test_what_the_tools_answer_is_described_as_the_daemon_answers():
    assert answer_schemas.FILE.read_text(encoding="utf-8") == answer_schemas.answer_schemas(), "make shapes"
    assert [tool.name for tool in TOOLS] == list(answer_schemas.ANSWERS)
    for tool in TOOLS:
        schema = output_schema(tool)
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert "refused" in schema["properties"]


def test_a_text_with_dates_is_bounded_as_the_daemon_bounds_it():
    assert properties("read_dates")["text"]["maxLength"] == TEXT_CHARS_MAX


def parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    groups = [schema.get(key, {}).values() for key in ("properties", "$defs")]
    for part in [part for group in groups for part in group] + schema.get("anyOf", []):
        yield from parts_of(part)
    if "items" in schema:
        yield from parts_of(schema["items"])


def test_each_part_of_a_schema_has_one_type_for_clients_that_read_no_list_of_types():
    inputs = [{"type": "object", "properties": tool.properties} for tool in TOOLS]
    outputs = [output_schema(tool) for tool in TOOLS]
    parts = [part for schema in inputs + outputs for part in parts_of(schema)]
    assert len(parts) > 100
    for part in parts:
        assert isinstance(part.get("type"), str) or "$ref" in part or "anyOf" in part, part
