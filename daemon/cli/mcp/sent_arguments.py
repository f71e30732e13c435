"""The arguments of a call as its schema wants them: many models send a list or an object as text.

Never changes what a schema takes as it came: text stays text if text is wanted. What cannot be read stays as
it is, so that the schema refuses it by its place.
"""

from __future__ import annotations

import json
from typing import Any, Final

_TYPES: Final[dict[str, type]] = {"object": dict, "array": list, "integer": int}
"""By the type that a schema wants, what a text that stands for it is read as."""


def typed_arguments(args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return arguments in which text that means a list, an object or a number is one; null is left out."""
    # Many models send null for what they leave out.
    given = {name: value for name, value in args.items() if value is not None}
    typed: dict[str, Any] = _typed_value(given, schema)
    return typed


def _typed_value(value: Any, schema: dict[str, Any]) -> Any:
    wanted = _TYPES.get(schema.get("type", ""))
    if wanted is not None and isinstance(value, str):
        value = _read_text(value, wanted)
    if isinstance(value, dict):
        members = schema.get("properties", {})
        return {name: _typed_value(member, members.get(name, {})) for name, member in value.items()}
    if isinstance(value, list) and "items" in schema:
        return [_typed_value(member, schema["items"]) for member in value]
    return value


def _read_text(text: str, wanted: type) -> Any:
    """Return what a text of JSON means, if that is of the type that is wanted; else the text."""
    try:
        value = json.loads(text, object_pairs_hook=_distinct_members)
    except (ValueError, RecursionError):
        return text
    return value if type(value) is wanted else text


def _distinct_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError if a name stands in it twice: a person would see one of the two."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name is repeated")
    return members
