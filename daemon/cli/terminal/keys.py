"""Reads one key at a time from the terminal, or one line if the terminal cannot do that.

Never accepts a key that was pressed before its question was shown, and never leaves the terminal changed.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ_BYTES: Final = 64
_LINE_BYTES_MAX: Final = 1 << 16
_END: Final = "\x04"
_ESCAPE: Final = "\x1b"
_ARROWS: Final = {"\x1b[A": "k", "\x1b[D": "k", "\x1b[B": "j", "\x1b[C": "j"}


class InputEnded(Exception):
    """The person left, by Ctrl-D or by closing the terminal."""


def is_interactive() -> bool:
    """Return whether a person is present: standard input and standard output are both a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


@contextmanager
def key_reader() -> Iterator[KeyReader]:
    """Yield a reader of single keys; if the terminal cannot do that, the reader reads lines."""
    try:
        import termios

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (ImportError, OSError, ValueError):
        yield KeyReader(None, None)
        return
    if os.environ.get("TERM", "dumb") == "dumb":
        yield KeyReader(None, None)
        return
    reader = KeyReader(terminal, before)
    try:
        yield reader
    finally:
        reader.restore_terminal()


class KeyReader:
    """Asks for keys and lines. `before` contains the terminal's original settings."""

    def __init__(self, terminal: int | None, before: Any) -> None:
        self._terminal = terminal
        self._before = before

    def discard_pending(self) -> None:
        """Discard the keys pressed so far: they were meant for something else."""
        if self._terminal is not None:
            import termios
            import tty

            # Set it every time: if this process was stopped meanwhile, the shell has changed the terminal.
            tty.setcbreak(self._terminal, termios.TCSANOW)
            termios.tcflush(self._terminal, termios.TCIFLUSH)

    def restore_terminal(self) -> None:
        """Restore the terminal's original settings, for a line or an editor."""
        if self._terminal is not None:
            from contextlib import suppress
            from termios import TCSADRAIN, error, tcsetattr

            with suppress(error):  # the terminal may be gone, if its window was closed
                tcsetattr(self._terminal, TCSADRAIN, self._before)

    def read_key(self, prompt: str) -> str:
        """Ask for one key and show it; "" for an empty line. Raises `InputEnded` or KeyboardInterrupt."""
        _write(prompt)
        if self._terminal is None:
            return _line()[:1]
        while not (pressed := _wait_for_key(self._terminal)):
            continue
        _write(f"{pressed if pressed.isprintable() else ''}\n")
        return pressed

    def read_line(self, prompt: str) -> str:
        """Ask for a line, with the terminal's own editing. Raises `InputEnded` or KeyboardInterrupt."""
        self.restore_terminal()
        _write(prompt)
        return _line()


def _wait_for_key(terminal: int) -> str:
    """Wait for a key and return it; "" for a key without a meaning here."""
    try:
        received = os.read(terminal, _READ_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise InputEnded from error
    if not received or received[0] == _END:
        _write("\n")
        raise InputEnded
    if received[0] == _ESCAPE:
        return _ARROWS.get(received[:3], "")
    # A person who is used to lines presses Enter after a key.
    return received.strip()[:1]


def _line() -> str:
    try:
        line = sys.stdin.buffer.readline(_LINE_BYTES_MAX)
    except OSError as error:
        raise InputEnded from error
    if not line:
        _write("\n")
        raise InputEnded
    return line.decode("utf-8", "replace").strip()


def _write(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()
