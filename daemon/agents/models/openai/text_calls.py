"""The calls that a small model wrote as text, because it or its server does not know how to make native ones.

Never takes words for a call: only an object that names a tool and has arguments is one.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from daemon.agents.models.openai.unusable_answers import spoken_text
from daemon.agents.tools.table import TOOLS, normalised_name

PROBE_TOOL: Final = "ready"
"""The tool by which a server is tried; no run offers it."""
TEXT_CHARS_MAX = 64 * 1024
_CALLS_MAX = 200
_DECODER = json.JSONDecoder(strict=False)
_DOUBLED = re.compile(r"\{\{(?=\s*\"(?:name|tool)\")")
_START = re.compile(r"[\[{]")


class WrittenCall(NamedTuple):
    """A call that stood in the text of an answer."""

    name: str
    arguments: object


def calls_in_text(text: str, extra_names: frozenset[str] = frozenset()) -> list[WrittenCall]:
    """Return the calls of known tools that a text contains, in order; what was thought aloud does not count.

    They may stand one after another, in a list, in fences or in tags, and with doubled braces, which the
    template of some models teaches them. `extra_names` are names to take beside those of the tools.
    """
    spoken = spoken_text(text)[:TEXT_CHARS_MAX]
    calls: list[WrittenCall] = []
    for value in _values(_single_braces(spoken)):
        for member in value if isinstance(value, list) else [value]:
            call = _call(member)
            if call is not None and (normalised_name(call.name) in TOOLS or call.name in extra_names):
                calls.append(call)
    return calls[:_CALLS_MAX]


def _single_braces(text: str) -> str:
    """Return a text in which a call that begins with two braces begins with one; the rest is left."""
    return _DOUBLED.sub("{", text)


def _values(text: str) -> Iterator[Any]:
    """Yield each JSON object or list of a text that is not within another one."""
    position = 0
    while (start := _START.search(text, position)) is not None:
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value


def _call(member: Any) -> WrittenCall | None:
    if not isinstance(member, dict):
        return None
    function = member.get("function")
    fields = function if isinstance(function, dict) else member
    name = fields.get("name", fields.get("tool"))
    arguments = fields.get("arguments", fields.get("parameters", fields.get("input")))
    if isinstance(name, str) and isinstance(arguments, dict | str):
        return WrittenCall(name, arguments)
    return None
