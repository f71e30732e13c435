"""The text of a file that a person gives, by its bytes.

Never reads a file and never words an error: callers do both. The command line imports this module, so it
imports only what is cheap.
"""

from __future__ import annotations


class NotUtf8(Exception):
    """A text that is not UTF-8; `line` is the first line that is not, counted from 1."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(line)


def decode_utf8(raw: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark. Raises NotUtf8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotUtf8(raw.count(b"\n", 0, error.start) + 1) from error
