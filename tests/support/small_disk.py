"""Small file systems to run out of: real ones, in a mount namespace that ends with the tests.

Never moves the machine: the process that mounts leaves its mount namespace, for good.
"""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS, linux/sched.h


@cache
def _own_namespace() -> str:
    """Leave the machine's mount namespace; return why that cannot be; nothing if it was done."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS):
        return f"no mount namespace of one's own: {os.strerror(ctypes.get_errno())}"
    # What is mounted from here on must not show up outside.
    return _mount("--make-rprivate", "/")


def _mount(*words: str) -> str:
    result = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    return result.stderr.strip() if result.returncode else ""


class SmallDisk:
    """A file system of a few MiB."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    @property
    def free_bytes(self) -> int:
        statvfs_result = os.statvfs(self.path)
        return statvfs_result.f_bavail * statvfs_result.f_frsize

    def fill(self, leave_bytes: int = 0) -> None:
        """Write until only so much is free."""
        with self._filler.open("ab", buffering=0) as file:
            while (left := self.free_bytes - leave_bytes) > 0:
                file.write(bytes(min(left, 1 << 20)))

    def remove_filler(self) -> None:
        """Take away what `fill` wrote."""
        self._filler.unlink()

    def make_read_only(self) -> None:
        """Let nothing be written any more; no file may be open for writing."""
        assert not _mount("-o", "remount,ro", str(self.path))


@contextmanager
def small_disk(path: Path, mib: int) -> Iterator[SmallDisk]:
    """Mount a file system of `mib` MiB at `path` for as long as the block lasts."""
    path.mkdir(parents=True, exist_ok=True)
    fault = _own_namespace() or _mount("-t", "tmpfs", "-o", f"size={mib}m,mode=700", "placet-test", str(path))
    if fault:
        raise RuntimeError(f"cannot mount a small file system: {fault}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
