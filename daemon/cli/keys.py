"""One key at a time from the terminal, or one line where the terminal cannot do that.

Never takes a key that was pressed before its question stood there, and never leaves the terminal changed.
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


class Ended(Exception):
    """The person left, by Ctrl-D or by closing the terminal."""


def is_watched() -> bool:
    """Say whether a person is there: both ends are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


@contextmanager
def keys() -> Iterator[Keys]:
    """Take keys one by one for as long as the block lasts, where the terminal can."""
    try:
        import termios

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (ImportError, OSError, ValueError):
        yield Keys(None, None)
        return
    if os.environ.get("TERM", "dumb") == "dumb":
        yield Keys(None, None)
        return
    held = Keys(terminal, before)
    try:
        yield held
    finally:
        held.give_back()


class Keys:
    """Asks for keys and lines. `before` is what the terminal was like."""

    def __init__(self, terminal: int | None, before: Any) -> None:
        self._terminal = terminal
        self._before = before

    def clear(self) -> None:
        """Forget what was pressed so far: it was meant for something else."""
        if self._terminal is not None:
            import termios
            import tty

            # Each time anew: whoever stopped this process meanwhile has set the terminal for themselves.
            tty.setcbreak(self._terminal, termios.TCSANOW)
            termios.tcflush(self._terminal, termios.TCIFLUSH)

    def give_back(self) -> None:
        """Let the terminal be as it was, for a line or an editor."""
        if self._terminal is not None:
            from contextlib import suppress
            from termios import TCSADRAIN, error, tcsetattr

            with suppress(error):  # it may be gone, with the window that it was in
                tcsetattr(self._terminal, TCSADRAIN, self._before)

    def key(self, prompt: str) -> str:
        """Ask for one key and show it; "" for a line without any. Raises `Ended`, or KeyboardInterrupt."""
        _write(prompt)
        if self._terminal is None:
            return _line()[:1]
        while not (pressed := _pressed(self._terminal)):
            continue
        _write(f"{pressed if pressed.isprintable() else ''}\n")
        return pressed

    def line(self, prompt: str) -> str:
        """Ask for a line, with the terminal's own editing; raises `Ended`, or KeyboardInterrupt."""
        self.give_back()
        _write(prompt)
        return _line()


def _pressed(terminal: int) -> str:
    """Wait for a key; "" for one that says nothing."""
    try:
        came = os.read(terminal, _READ_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise Ended from error
    if not came or came[0] == _END:
        _write("\n")
        raise Ended
    if came[0] == _ESCAPE:
        return _ARROWS.get(came[:3], "")
    # Whoever is used to lines presses Enter after a key.
    return came.strip()[:1]


def _line() -> str:
    try:
        line = sys.stdin.buffer.readline(_LINE_BYTES_MAX)
    except OSError as error:
        raise Ended from error
    if not line:
        _write("\n")
        raise Ended
    return line.decode("utf-8", "replace").strip()


def _write(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()
