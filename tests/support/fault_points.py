"""A world that fails on purpose: the n-th thing that a store asks of it kills the process, or goes wrong.

Never stands in for a part of the store: it sits below SQLite, as a VFS, and below the lease, as the system.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import apsw

KILLED = -signal.SIGKILL
InjectedFault = Callable[[], None]


def kill() -> None:
    """End this process as a power switch would."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail_io() -> None:
    """Fail as a dying disk does."""
    raise apsw.IOError("a fault on purpose")


def fill_up() -> None:
    """Fail as a full disk does."""
    raise apsw.FullError("a fault on purpose")


def turn_read_only() -> None:
    """Fail as a file system does that was made read-only under way."""
    raise apsw.ReadOnlyError("a fault on purpose")


class FaultPoints:
    """Counts what is asked of the world; at the given `index`, the fault happens, once."""

    def __init__(self, index: int, fault: InjectedFault, *, statements: bool) -> None:
        self._at = index
        self._fault = fault
        self.count = 0
        self.counting = False
        self._vfs = _Vfs(self)
        if statements:
            apsw.connection_hooks.append(self._trace)
            for name in ("fsync", "pwrite", "utime", "link", "replace", "rename", "unlink"):
                self._watch(name)

    def _watch(self, name: str) -> None:
        real = getattr(os, name)

        def watched(*args: Any, **fields: Any) -> Any:
            self.reach()
            return real(*args, **fields)

        setattr(os, name, watched)

    def _trace(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda _: self.reach())

    def reach(self) -> None:
        """Count one point; if it is the chosen one, let the fault happen."""
        if not self.counting:
            return
        self.count += 1
        if self.count == self._at:
            self._fault()


class _Vfs(apsw.VFS):
    """The system's own file access, with a point before each change."""

    def __init__(self, points: FaultPoints) -> None:
        self._points = points
        super().__init__("faulting", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - apsw's name
        return _File(name, flags, self._points)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802 - apsw's name
        self._points.reach()
        super().xDelete(name, sync)


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], points: FaultPoints) -> None:
        self._points = points
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - apsw's name
        self._points.reach()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's name
        self._points.reach()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802 - apsw's name
        self._points.reach()
        super().xTruncate(size)


def in_child(
    run: Callable[[FaultPoints], None], index: int, fault: InjectedFault, *, statements: bool
) -> int:
    """Run in a process of its own with a fault at its n-th point; return its exit status.

    0: it came to its end, and the point was reached; 1: it failed; 2: there are fewer points than that.
    """
    child = os.fork()
    if child == 0:
        try:
            points = FaultPoints(index, fault, statements=statements)
            run(points)
            os._exit(0 if points.count >= index else 2)
        except BaseException:  # noqa: BLE001 - the parent hears of it by the exit status
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
