"""The floor of free disk space below which new writes are refused.

Never stops a read, and keeps no state: the next call notices space that was freed.
"""

import errno
import os
from pathlib import Path
from typing import Final

from store.file.errors import FREE_SOME_SPACE
from store.sentence import Sentence, foreign_text, sentence

READING_STILL_WORKS: Final = sentence("reading-still-works", "free some space; reading still works")

_HINTS: Final = {
    errno.ENOSPC: FREE_SOME_SPACE,
    errno.EDQUOT: FREE_SOME_SPACE,
    errno.EROFS: sentence(
        "mounted-read-only",
        "its file system is mounted read-only: make it writable, or use another folder",
    ),
    errno.EACCES: sentence("see-owner-and-mode", "see who owns it, and its mode"),
    errno.EADDRINUSE: sentence(
        "something-listens-there", "another daemon or systemd listens there: see `placet service status`"
    ),
    errno.EIO: sentence("disk-may-fail", "the disk may be failing: save what you can, elsewhere"),
}


def free_bytes(folder: Path) -> int:
    """Return the bytes that this user may still write in a folder."""
    statvfs_result = os.statvfs(folder)
    return statvfs_result.f_bavail * statvfs_result.f_frsize


def os_error_sentences(fault: OSError) -> tuple[Sentence, Sentence | None]:
    """Return what the system refused, in its own words, and what a person can do about it."""
    prefix = f"{os.fsdecode(fault.filename)}: " if fault.filename else ""
    return foreign_text(f"{prefix}{fault.strerror or fault}"), _HINTS.get(fault.errno or 0)


class DiskFloor:
    """Knows whether the file system of `folder` has the free space that a write needs."""

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

    def shortfall(self) -> Sentence | None:
        """Return why a write must be refused; None if there is room."""
        free = self.free_bytes()
        if free >= self._bytes_min:
            return None
        return sentence(
            "disk-low",
            "only {free_mib} MiB are free in {folder}, below the floor of {floor_mib} MiB",
            free_mib=free >> 20,
            folder=str(self._folder),
            floor_mib=self._bytes_min >> 20,
        )
