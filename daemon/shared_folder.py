"""Files in a folder that others may write to: nothing planted there leads out of it, or is waited for.

Never follows a link, never opens what is no regular file, and never finds by path what lies in the folder.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PART_BYTES = 8
GONE = (errno.ENOENT, errno.ENOTDIR)
PART_ENDING = ".part"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PART = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# A link; a socket; what this user may not open: whoever can write to the folder can put each of them there.
_NOT_OURS = (*GONE, errno.ELOOP, errno.ENXIO, errno.EACCES, errno.EPERM)


class SharedFolder:
    """A folder by its descriptor. What its methods raise is OSError."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @contextmanager
    def inner(self, name: str, *, make: bool = False) -> Iterator[SharedFolder]:
        """Open a folder in this one, and make it first if it is not there and `make` is set."""
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self._descriptor)
        with _open_folder(name, self._descriptor) as folder:
            yield folder

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """Yield what lies here. An entry may be asked for its kind as long as this folder is open."""
        with os.scandir(self._descriptor) as entries:
            yield from entries

    def read(self, name: str, bytes_max: int) -> bytes | None:
        """Return a regular file, cut after `bytes_max`; None if there is none that this user may read."""
        try:
            # Looked at before it is opened: to open a device can do something.
            if not stat.S_ISREG(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode):
                return None
            descriptor = os.open(name, _READ, dir_fd=self._descriptor)
        except OSError as fault:
            if fault.errno in _NOT_OURS:
                return None
            raise
        with os.fdopen(descriptor, "rb") as opened:
            # Another file may have come to this name since.
            return opened.read(bytes_max) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None

    def replace(self, name: str, content: bytes, randomness: Callable[[int], bytes]) -> None:
        """Give a file this content as a whole; whatever has its name is replaced, never written to."""
        part = f".{name}.{randomness(PART_BYTES).hex()}{PART_ENDING}"
        descriptor = os.open(part, _PART, 0o666, dir_fd=self._descriptor)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(descriptor)
            os.replace(part, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except BaseException:
            with suppress(OSError):
                os.unlink(part, dir_fd=self._descriptor)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, or a link and the like, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove a folder in this one if it is empty."""
        with suppress(OSError):
            os.rmdir(name, dir_fd=self._descriptor)

    def clear_parts(self, beginning: str = ".") -> None:
        """Remove what killed writers left half written under names that begin so."""
        # Collected first: to remove names while they are listed can leave some out.
        names = [entry.name for entry in self.entries()]
        for name in names:
            if name.startswith(beginning) and name.startswith(".") and name.endswith(PART_ENDING):
                with suppress(OSError):
                    self.remove(name)


@contextmanager
def open_shared(path: Path) -> Iterator[SharedFolder]:
    """Open a folder, which must be no link itself. Raises OSError."""
    with _open_folder(os.fspath(path), None) as folder:
        yield folder


@contextmanager
def _open_folder(name: str, parent: int | None) -> Iterator[SharedFolder]:
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield SharedFolder(descriptor)
    finally:
        os.close(descriptor)
