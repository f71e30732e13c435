"""The note that keeps the attributes of a Taskwarrior record which the journal has no field for.

Never guesses at a text: each line is an attribute's name and its value as JSON, or the note is a person's.
"""

import re
from collections.abc import Iterable

import msgspec

from daemon.formats.taskwarrior.records import as_json, kept_json, text_in_json

KEY = "attributes"
"""What ends the key of the note; no note of a file's own has such a key."""
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_LINE = re.compile(r'([A-Za-z_][\w.]*|"(?:[^"\\]|\\.)*"): (.+)', re.ASCII)


def write(attributes: Iterable[tuple[str, str]]) -> str:
    """Write attributes with their values as JSON; a name that is more than letters is JSON too."""
    return "\n".join(f"{_write_name(name)}: {raw}" for name, raw in attributes)


def read(text: str) -> dict[str, str] | None:
    """Return what `write` wrote, None if a line is anything else."""
    attributes: dict[str, str] = {}
    try:
        for line in text.split("\n"):
            match = _LINE.fullmatch(line)
            if match is None:
                return None
            name = text_in_json(match[1]) if match[1].startswith('"') else match[1]
            attributes[name or ""] = kept_json(match[2].encode())
            msgspec.json.decode(match[2], type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return attributes


def _write_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else as_json(name)
