"""The floor of free disk space below which new writes are refused.

Never stops a read, and remembers nothing: space that comes back is noticed at the next question.
"""

import errno
import os
from pathlib import Path
from typing import Final

_HINTS: Final = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EROFS: "its file system is mounted read-only: make it writable, or use another folder",
    errno.EACCES: "see who owns it, and its mode",
    errno.EIO: "the disk may be failing: save what you can, elsewhere",
}


def free_bytes(folder: Path) -> int:
    """Return the bytes that this user may still write in a folder."""
    seen = os.statvfs(folder)
    return seen.f_bavail * seen.f_frsize


def in_words(fault: OSError) -> tuple[str, str]:
    """Say what the system refused, and what a person can do about it."""
    where = f"{os.fsdecode(fault.filename)}: " if fault.filename else ""
    return f"{where}{fault.strerror or fault}", _HINTS.get(fault.errno or 0, "")


class Floor:
    """Knows whether the file system that holds `folder` still has the room that a write needs."""

    __slots__ = ("_bytes_min", "_folder")

    def __init__(self, folder: Path, bytes_min: int) -> None:
        self._folder = folder
        self._bytes_min = bytes_min

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def bytes_min(self) -> int:
        return self._bytes_min

    def free_bytes(self) -> int:
        """Return the bytes that this user may still write there."""
        return free_bytes(self._folder)

    def shortfall(self) -> str | None:
        """Say in one line why a write must be refused; None where there is room."""
        free = self.free_bytes()
        if free >= self._bytes_min:
            return None
        floor = f"below the floor of {self._bytes_min >> 20} MiB"
        return f"only {free >> 20} MiB are free in {self._folder}, {floor}"
