"""A terminal of its own for the real `placet`: keys go in when a question is shown; what it shows comes out.

Never waits for a time: only for words that are shown, or for the end.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.commands import COMMAND_S, command_environment
from tests.support.starts import processes

# The last of them may have come in part.
_COLOURS = re.compile(r"\x1b(\[[0-9;]*(m|$)|$)")


class Terminal:
    """What one command shows, and what is typed into it."""

    def __init__(self, descriptor: int, process: "subprocess.Popen[bytes]") -> None:
        self._descriptor = descriptor
        self._process = process
        self._raw = b""
        self._read_to = 0

    @property
    def raw(self) -> str:
        return self._raw.decode("utf-8", "ignore").replace("\r\n", "\n").removesuffix("\r")

    @property
    def shown(self) -> str:
        """Everything so far, without colours."""
        return _COLOURS.sub("", self.raw)

    def until(self, words: str) -> str:
        """Wait until these words are shown, after all that was waited for before; return what came."""
        while words not in self.shown[self._read_to :]:
            assert self._more(), f"ended without {words!r}:\n{self.shown}"
        since = self.shown[self._read_to :]
        index = since.index(words) + len(words)
        self._read_to += index
        return since[:index]

    def press(self, keys: str, then: str = "?] ") -> str:
        """Type keys, and wait until `then` is shown (the next question); return what came."""
        os.write(self._descriptor, keys.encode())
        return self.until(then)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def end(self, keys: str = "") -> str:
        """Type the last keys, wait for the end; return what came."""
        if keys:
            os.write(self._descriptor, keys.encode())
        while self._more():
            continue
        return self.shown[self._read_to :]

    @property
    def status(self) -> int:
        return self._process.wait(COMMAND_S)

    def echoes(self) -> bool:
        """Say whether the terminal shows what is typed, as it does when nothing has changed it."""
        return bool(termios.tcgetattr(self._descriptor)[3] & termios.ECHO)

    def _more(self) -> bool:
        ready, _writable, _broken = select.select([self._descriptor], [], [], COMMAND_S)
        assert ready, f"nothing more came:\n{self.shown}"
        try:
            piece = os.read(self._descriptor, 1 << 16)
        except OSError:
            return False
        self._raw += piece
        return bool(piece)


@contextmanager
def terminal(
    home: Path, *words: str, columns: int = 80, prefix: tuple[str, ...] = (), **environment: str
) -> Iterator[Terminal]:
    """Run `placet WORDS` on a terminal of this width for as long as the block lasts."""
    command = [*prefix, sys.executable, "-m", "daemon", *words]
    with terminal_of(command, command_environment(home, **environment), columns) as shown_terminal:
        yield shown_terminal


@contextmanager
def terminal_of(
    command: Sequence[str], environment: Mapping[str, str] | None = None, columns: int = 80
) -> Iterator[Terminal]:
    """Run any command on a terminal of this width for as long as the block lasts."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = processes.Popen(
        command,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        os.close(ours)
        process.kill()
        process.wait(COMMAND_S)
