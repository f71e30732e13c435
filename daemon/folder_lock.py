"""One daemon per data folder: a lock that the system releases however the process ends.

Never infers a lock from the existence of the file: only the lock on it counts.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.paths import UnsafeFolder
from store.sentence import Sentence, sentence

FILE_NAME = "daemon.lock"


class DataFolderInUse(Exception):
    """Another daemon uses the folder; the message names its process."""

    def __init__(self, message: Sentence) -> None:
        self.sentence = message
        super().__init__(message.text)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises DataFolderInUse if another process has it, OSError if locking fails."""
    descriptor = os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, folder)
        # The number of an earlier process may be longer than this one's.
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        # The file stays: if it were removed, one process could lock the old file and another a new one.
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise DataFolderInUse(_in_use_sentence(process, folder)) from None


def _in_use_sentence(process: str, folder: Path) -> Sentence:
    """Return the sentence about a folder that another daemon uses; `process` is its id, empty if unknown."""
    if not process:
        return sentence("folder-in-use", "another daemon (process unknown) uses {folder}", folder=str(folder))
    return sentence(
        "folder-in-use-by",
        "another daemon (process {process}) uses {folder}",
        process=process,
        folder=str(folder),
    )


def unsafe_folder_sentence(fault: UnsafeFolder) -> Sentence:
    """Return the sentence about a folder that others may write into, or own."""
    if fault.owner is not None:
        return sentence(
            "folder-of-other-user",
            "{folder} belongs to another user (uid {uid}); name a folder of your own in PLACET_HOME",
            folder=fault.folder,
            uid=str(fault.owner),
        )
    return sentence(
        "folder-unsafe",
        "{folder} is open to other users (mode {mode}); name a folder of your own in PLACET_HOME",
        folder=fault.folder,
        mode=fault.mode,
    )


def is_locked(folder: Path) -> bool:
    """Return whether a daemon has the lock of the folder; a shared lock tests it, and is released at once."""
    try:
        descriptor = os.open(folder / FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
