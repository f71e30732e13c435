"""Arguments as models send them, and what becomes of each before the schema looks at it."""

from typing import Any

import pytest

from daemon.cli.mcp.sent_arguments import typed_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "words": {"type": "string"},
        "count": {"type": "integer"},
        "names": {"type": "array", "items": {"type": "string"}},
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"args": {"type": "object"}, "why": {"type": "string"}},
            },
        },
    },
}


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"count": "5"}, {"count": 5}),
        ({"count": " 5 "}, {"count": 5}),
        ({"count": None, "words": "x"}, {"words": "x"}),
        ({"names": '["a", "b"]'}, {"names": ["a", "b"]}),
        ({"changes": '[{"args": {"a": 1}}]'}, {"changes": [{"args": {"a": 1}}]}),
        ({"changes": ['{"args": "{}"}']}, {"changes": [{"args": {}}]}),
        ({"changes": [{"args": '{"a": "[1]"}'}]}, {"changes": [{"args": {"a": "[1]"}}]}),
    ],
)
def test_text_that_means_what_the_schema_wants_is_taken(sent: dict[str, Any], taken: dict[str, Any]):
    assert typed_arguments(sent, SCHEMA) == taken


@pytest.mark.parametrize(
    "sent",
    [
        {"words": "[1, 2]"},
        {"words": "5"},
        {"count": "5.0"},
        {"count": "true"},
        {"count": "five"},
        {"count": 5.5},
        {"names": '{"a": 1}'},
        {"names": "a, b"},
        {"names": '["a"'},
        {"changes": [{"args": '{"to": "ana", "to": "eve"}'}]},
        {"changes": "[" * 5000},
        {"unknown": "[1]"},
    ],
)
def test_what_means_something_else_stays_as_it_came(sent: dict[str, Any]):
    assert typed_arguments(sent, SCHEMA) == sent
