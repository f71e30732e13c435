"""Replacing a file as a whole: readers see the old content or the new one, also after a crash.

Never resolves a link and never words an error: callers do both. The command line imports this module, so it
imports only what is cheap.
"""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator


class Durability(Enum):
    """What is on the disk when a replacement returns."""

    NONE = "nothing"
    CONTENT = "the content"
    NAME = "the content and its name"


@contextmanager
def replacement(
    file: str | os.PathLike[str], *, mode: int = 0o600, durability: Durability = Durability.NAME
) -> Iterator[BinaryIO]:
    """Give a new file to write, which takes the place of `file` when the block ends.

    The new file lies beside `file`, so that the renaming cannot fail half-way, and the umask narrows `mode`.
    If the block raises, the new file is removed and `file` stays as it was. Raises OSError.
    """
    folder, name = os.path.split(os.path.abspath(file))
    _remove_leftovers(folder, name)
    # A name that nobody guesses: whoever may write to the folder could have put something there before.
    part = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.part")  # noqa: TID251 - any name would do
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            # On a file system without locks, a second writer at the same time can end this one in an error.
            with suppress(OSError):
                _lock(descriptor)
            yield opened
            opened.flush()
            if durability is not Durability.NONE:
                os.fsync(descriptor)
            # Renamed while it is locked: otherwise another writer could take it for a leftover.
            os.replace(part, os.path.join(folder, name))
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise
    if durability is Durability.NAME:
        sync_folder(folder)


def replace_file(
    file: str | os.PathLike[str],
    content: bytes,
    *,
    mode: int = 0o600,
    durability: Durability = Durability.NAME,
) -> None:
    """Replace a file by this content. Raises OSError; the old file is then as it was."""
    with replacement(file, mode=mode, durability=durability) as opened:
        opened.write(content)


def sync_folder(folder: str) -> None:
    """Bring the names in a folder to the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(folder: str, name: str) -> None:
    """Remove what killed writers left, which can contain a private key. A file in the making is locked."""
    for leftover in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.part")):
        # What this user may not open or lock belongs to somebody else.
        with suppress(OSError):
            descriptor = os.open(leftover, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _lock(descriptor)
                os.unlink(leftover)
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> None:
    import fcntl  # imported here: few commands write a file

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
