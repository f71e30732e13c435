"""The form of a JSON Lines export: the content of a line, and how values that JSON lacks are written.

Never has two spellings for one thing: what is read and written again is the same bytes.
"""

import base64
from typing import Any

import msgspec
from msgspec import Struct

from syncproto.codec import Value
from syncproto.ids import ID_BYTES, id_from_text, id_to_text

FORMAT_NAME = "placet-jsonl"
FORMAT_VERSION = 1
END_TEXT = '{"end":true}'
LINE_BYTES_MAX = 4 << 20
"""Beyond what an entity of Placet's own limits can come to: a longer line is not one."""

ROSTER_KIND = "device"
"""The kind whose entities are membership: they are neither written to a file nor read from one."""

_ID, _BYTES, _MAP = "$id", "$bytes", "$map"


class UnknownMark(ValueError):
    """A value that is marked by a word that marks nothing; `mark` is its beginning."""

    def __init__(self, mark: str) -> None:
        self.mark = mark[:40]
        super().__init__(f"a value that is marked {self.mark!r}, which nothing is")


class HeaderLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line. `format` is always `placet-jsonl`, and `version` 1."""

    format: str
    version: int


class EndLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: without it, a file was cut off."""

    end: bool


class WriteRow(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
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


class OtherValue(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is not the one in effect, and the place of its write in `writes`."""

    value: Any
    write: int


class EntityLine(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """An entity.

    `fields` are the values in effect, `conflicts` those that stand beside them, best first. `beneath` show
    again if a confirmation is undone; `imported` are the last that another import gave, if they are not in
    effect; a deletion that the entity outlived is left out. `made` is the write that made the entity. `seen`
    says up to which commit of each replica the file knows the entity. `touched`: a person has written to it,
    although no value of theirs is left. `outlived`: it is in sight in spite of a deletion;
    `outlived_beneath`: it would be if confirmations were undone.
    """

    id: str
    kind: str
    fields: dict[str, Any]
    conflicts: dict[str, list[OtherValue]] = {}
    beneath: dict[str, list[OtherValue]] = {}
    imported: dict[str, OtherValue] = {}
    made: int
    writes: list[WriteRow]
    seen: dict[str, int]
    touched: bool = False
    outlived: bool = False
    outlived_beneath: bool = False


encoder = msgspec.json.Encoder(order="deterministic")
_line = msgspec.json.Decoder(EntityLine)
_header = msgspec.json.Decoder(HeaderLine)
_end = msgspec.json.Decoder(EndLine)


def encode_line(line: HeaderLine | EntityLine | EndLine) -> str:
    """Write a line of the file."""
    return encoder.encode(line).decode() + "\n"


def decode_line(raw: bytes) -> EntityLine | EndLine:
    """Read a line after the first. Raises msgspec.MsgspecError, UnicodeDecodeError or RecursionError."""
    return _end.decode(raw) if raw.startswith(b'{"end"') else _line.decode(raw)


def decode_header(raw: bytes) -> HeaderLine:
    """Read the first line. Raises as `line` does."""
    return _header.decode(raw)


def value_to_json(value: Value) -> Any:
    """Write a value for JSON: ids and other bytes as maps of one key that begins with `$`."""
    if isinstance(value, bytes):
        if len(value) == ID_BYTES:
            return {_ID: id_to_text(value)}
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [value_to_json(element) for element in value]
    if isinstance(value, dict):
        encoded = {key: value_to_json(element) for key, element in value.items()}
        return {_MAP: encoded} if _is_marked(encoded) else encoded
    return value


def value_from_json(document: Any) -> Value:
    """Read what `value_to_json` wrote. Raises ValueError with what was seen."""
    if isinstance(document, list):
        return [value_from_json(element) for element in document]
    if not isinstance(document, dict):
        return document  # type: ignore[no-any-return]
    if not _is_marked(document):
        return {key: value_from_json(element) for key, element in document.items()}
    ((mark, content),) = document.items()
    if mark == _MAP and isinstance(content, dict):
        return {key: value_from_json(below) for key, below in content.items()}
    if isinstance(content, str) and mark == _ID:
        return id_from_text(content)
    if isinstance(content, str) and mark == _BYTES:
        return base64.b64decode(content, validate=True)
    raise UnknownMark(mark)


def _is_marked(fields: dict[str, Any]) -> bool:
    return len(fields) == 1 and next(iter(fields)).startswith("$")
