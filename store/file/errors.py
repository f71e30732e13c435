"""What can go wrong with the database: each error has one sentence for a person, and a hint on what to do.

Never used for the fault of a peer: those errors are in syncproto.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

from store.sentence import Sentence, sentence

FREE_SOME_SPACE: Final = sentence("free-some-space", "free some space")


class StoreError(Exception):
    """The database cannot do what was asked, as `sentence` says; `hint` is what a person can do about it."""

    hint_sentence: ClassVar[Sentence] = sentence("run-doctor", "run 'placet doctor'")

    def __init__(self, message: Sentence) -> None:
        self.sentence = message
        super().__init__(message.text)

    @property
    def hint(self) -> str:
        """Return the hint in English."""
        return self.hint_sentence.text


class DamagedDatabase(StoreError):
    """The file is not a database of Placet, or its pages are damaged."""

    hint_sentence = sentence(
        "restore-or-join-again", "keep the file, restore a backup, or join again from another device"
    )


class ForeignDatabase(DamagedDatabase):
    """The file is no database at all, or that of another program."""


class NewerDatabase(StoreError):
    """A newer version of Placet wrote the file."""

    hint_sentence = sentence("upgrade-placet", "upgrade placet on this device")


class OldFormat(StoreError):
    """The commits in the file are of a format that this version does not read."""

    hint_sentence = sentence(
        "export-with-the-old-version",
        "export it with the version that wrote it ('placet export jsonl'), move the file away, and import the"
        " export here ('placet import jsonl')",
    )


class DiskFull(StoreError):
    """The file system has no room left; nothing was written."""

    hint_sentence = FREE_SOME_SPACE


class ReadOnlyDatabase(StoreError):
    """The file or its file system cannot be written."""

    hint_sentence = sentence(
        "check-permissions-and-mount", "check the permissions of the data folder and the mount"
    )


def damaged_database(path: Path, reason: object) -> DamagedDatabase:
    """Make the error of a file whose content is damaged; `reason` is what SQLite or a check reported."""
    line = " ".join(str(reason).split())
    return DamagedDatabase(
        sentence("database-damaged", "{path} is damaged: {reason}", path=str(path), reason=line)
    )


def unreadable_commit(seq: int, reason: object) -> DamagedDatabase:
    """Make the error of a commit in the log whose bytes are no longer one."""
    return DamagedDatabase(
        sentence(
            "log-commit-unreadable",
            "commit {seq} of the log cannot be read: {reason}",
            seq=seq,
            reason=str(reason),
        )
    )


def disk_full(path: Path) -> DiskFull:
    """Make the error of a file that its file system has no room for."""
    return DiskFull(sentence("no-space-left", "no space left for {path}", path=str(path)))


def file_failure(path: Path, reason: object) -> StoreError:
    """Make the error of a file that failed in a way that has no class of its own."""
    return StoreError(_file_and_reason(path, reason))


def _file_and_reason(path: Path, reason: object) -> Sentence:
    return sentence("file-failed", "{path}: {reason}", path=str(path), reason=str(reason))


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Raise the errors of the operating system about a file as StoreError."""
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or fault
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(path) from fault
        if fault.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise ReadOnlyDatabase(_file_and_reason(path, reason)) from fault
        raise file_failure(path, reason) from fault
