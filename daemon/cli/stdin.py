"""What is typed or piped into a command.

Never prompts without a terminal, and never reads without a limit.
"""

from __future__ import annotations

import sys
from typing import Final

from daemon.cli.refusals import Refusal
from daemon.cli.words import _, later

STANDARD_INPUT: Final = later("standard input")
_BYTES_MAX: Final = 64 << 20


def typed(what: str, prompt: str) -> str:
    """Read one line: asked for on a terminal, else the first line of standard input."""
    if sys.stdin is None:
        raise missing(what)
    if sys.stdin.isatty():
        print(f"{_(prompt)} ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.buffer.readline(_BYTES_MAX)
    return _told(line, what)


def piped(what: str) -> str:
    """Read all of standard input; refused on a terminal, where nobody would know to end it."""
    return _told(piped_bytes(what), what)


def piped_bytes(what: str) -> bytes:
    """Read all of standard input as it is, refused as by `piped`."""
    if sys.stdin is None or sys.stdin.isatty():
        raise missing(what)
    return sys.stdin.buffer.read(_BYTES_MAX)


def _told(text: bytes, what: str) -> str:
    told = decoded(text, STANDARD_INPUT).strip()
    if not told:
        raise missing(what)
    return told


def decoded(text: bytes, where: str, otherwise: str = "") -> str:
    """Read UTF-8, with or without a byte order mark."""
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        seen = _("{where} is not UTF-8 at line {line}").format(where=source_name(where), line=line)
        raise Refusal("usage", seen, otherwise or _("convert it first")) from error


def source_name(where: str) -> str:
    """Say where a text came from: a file by its name, which is nobody's to translate."""
    return _(where) if where == STANDARD_INPUT else where


def missing(what: str) -> Refusal:
    """Say that nothing was given where something is needed."""
    seen = _("no {what} was given").format(what=_(what))
    return Refusal("usage", seen, _("give it as an argument or on standard input"))
