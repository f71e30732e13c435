"""The form of a JSON Lines export: what stands on a line, and how values that JSON lacks are written.

Never has two spellings for one thing: what is read and written again is the same bytes.
"""

import base64
from typing import Any

import msgspec
from msgspec import Struct

from syncproto.codec import Value
from syncproto.ids import ID_BYTES, from_text, text

NAME = "placet-jsonl"
VERSION = 1
LINE_BYTES_MAX = 4 << 20
"""Beyond what an entity of Placet's own limits can come to: a longer line is not one."""

_ID, _BYTES, _MAP = "$id", "$bytes", "$map"


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: str
    version: int


class End(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: without it, a file was cut off."""

    end: bool


class Wrote(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A write: by whom (user, agent, system), when, on which device, in which commit.

    `effect` is the change item that was confirmed by it, `origin` what an import said of it, `fields` the
    fields that have their values of it.
    """

    by: str
    at_ms: int
    n: int
    device: str
    device_name: str = ""
    replica: str
    counter: int
    hash: str
    effect: str | None = None
    origin: dict[str, Any] | None = None
    fields: list[str] = []


class Other(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is not the one in effect, and the place of its write in `writes`."""

    value: Any
    write: int


class Line(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """An entity.

    `fields` are the values in effect, `conflicts` those that stand beside them, best first. `beneath` show
    again if a confirmation is undone; `imported` are the last that another import gave, where not in effect.
    `made` is the write that made the entity. `seen` says up to which commit of each replica the file knows
    the entity. `touched`: a person has written to it, although no value of theirs is left. `outlived`: it is
    in sight in spite of a deletion.
    """

    id: str
    kind: str
    fields: dict[str, Any]
    conflicts: dict[str, list[Other]] = {}
    beneath: dict[str, list[Other]] = {}
    imported: dict[str, Other] = {}
    made: int
    writes: list[Wrote]
    seen: dict[str, int]
    touched: bool = False
    outlived: bool = False


encoder = msgspec.json.Encoder(order="deterministic")
_line = msgspec.json.Decoder(Line)
_header = msgspec.json.Decoder(Header)
_end = msgspec.json.Decoder(End)


def written(told: Header | Line | End) -> str:
    """Write a line of the file."""
    return encoder.encode(told).decode() + "\n"


def line(raw: bytes) -> Line | End:
    """Read a line after the first. Raises msgspec.MsgspecError, UnicodeDecodeError or RecursionError."""
    return _end.decode(raw) if raw.startswith(b'{"end"') else _line.decode(raw)


def header(raw: bytes) -> Header:
    """Read the first line. Raises as `line` does."""
    return _header.decode(raw)


def to_json(value: Value) -> Any:
    """Write a value for JSON: ids and other bytes as maps of one key that begins with `$`."""
    if isinstance(value, bytes):
        if len(value) == ID_BYTES:
            return {_ID: text(value)}
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [to_json(one) for one in value]
    if isinstance(value, dict):
        told = {key: to_json(one) for key, one in value.items()}
        return {_MAP: told} if _is_marked(told) else told
    return value


def from_json(told: Any) -> Value:
    """Read what `to_json` wrote. Raises ValueError with what was seen."""
    if isinstance(told, list):
        return [from_json(one) for one in told]
    if not isinstance(told, dict):
        return told  # type: ignore[no-any-return]
    if not _is_marked(told):
        return {key: from_json(one) for key, one in told.items()}
    ((mark, one),) = told.items()
    if mark == _MAP and isinstance(one, dict):
        return {key: from_json(below) for key, below in one.items()}
    if isinstance(one, str) and mark == _ID:
        return from_text(one)
    if isinstance(one, str) and mark == _BYTES:
        return base64.b64decode(one, validate=True)
    raise ValueError(f"a value that is marked {mark[:40]!r}, which nothing is")


def _is_marked(told: dict[str, Any]) -> bool:
    return len(told) == 1 and next(iter(told)).startswith("$")
