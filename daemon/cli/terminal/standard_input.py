"""Reads what a person types or pipes into a command.

Never prompts without a terminal, and never reads without a limit.
"""

from __future__ import annotations

import sys
from typing import Final

import click

from daemon import text_files
from daemon.cli.api.command_error import CommandError
from daemon.words.translation import _, gettext_noop

STANDARD_INPUT: Final = gettext_noop("standard input")
_BYTES_MAX: Final = 64 << 20


def prompted_secret(what: str, prompt: str) -> str:
    """Ask for a secret on the terminal, which does not show it; else read one line of standard input."""
    if sys.stdin is not None and sys.stdin.isatty():
        typed: str = click.prompt(_(prompt), hide_input=True, err=True)
        return typed
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline(_BYTES_MAX)
    if secret := decode_utf8(line, STANDARD_INPUT).strip():
        return secret
    message = _("no {what} was given").format(what=_(what))
    raise CommandError("usage", message, _("type it when you are asked, or pipe it"))


def can_prompt() -> bool:
    """Report whether a person can be asked: there is a terminal to type on, and one to see the question."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def prompted_text(prompt: str, default: str) -> str:
    """Ask on the terminal; Enter takes the default. Only where `can_prompt` says so."""
    typed: str = click.prompt(prompt, default=default, err=True)
    return typed


def piped_text(what: str) -> str:
    """Read all of standard input. Raises `CommandError` on a terminal: few people know how to end it."""
    return _decode(piped_bytes(what), what)


def piped_bytes(what: str) -> bytes:
    """Read all of standard input as bytes; refuses a terminal as `piped_text` does."""
    if sys.stdin is None or sys.stdin.isatty():
        raise missing_input(what)
    return sys.stdin.buffer.read(_BYTES_MAX)


def _decode(text: bytes, what: str) -> str:
    decoded = decode_utf8(text, STANDARD_INPUT).strip()
    if not decoded:
        raise missing_input(what)
    return decoded


def decode_utf8(text: bytes, where: str, otherwise: str = "") -> str:
    """Decode UTF-8, with or without a byte order mark. Raises `CommandError` with the line of the fault."""
    try:
        return text_files.decode_utf8(text)
    except text_files.NotUtf8 as error:
        message = _("{where} is not UTF-8 at line {line}").format(where=source_name(where), line=error.line)
        raise CommandError("usage", message, otherwise or _("convert it first")) from error


def source_name(where: str) -> str:
    """Return the name of a text's source; the name of a file is not translated."""
    return _(where) if where == STANDARD_INPUT else where


def missing_input(what: str) -> CommandError:
    """Return the error for an input that is needed but was not given."""
    message = _("no {what} was given").format(what=_(what))
    return CommandError("usage", message, _("give it as an argument or on standard input"))
