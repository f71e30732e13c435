"""What can go wrong with the database, each with one line for a person and a hint on what to do.

Never used for a peer's faults: those are syncproto's.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StoreError(Exception):
    """The database cannot do what was asked; `hint` says what a person can do."""

    hint = "run 'placet doctor'"


class DamagedDatabase(StoreError):
    """The file is not a database of Placet's, or its pages are damaged."""

    hint = "keep the file, restore a backup, or join again from another device"


class NewerDatabase(StoreError):
    """A newer version of Placet wrote the file."""

    hint = "upgrade placet on this device"


class DiskFull(StoreError):
    """The file system has no room left; nothing was written."""

    hint = "free some space; placet goes on by itself"


class ReadOnlyDatabase(StoreError):
    """The file or its file system cannot be written."""

    hint = "check the permissions of the data folder and the mount"


@contextmanager
def file_faults_in_words(path: Path) -> Iterator[None]:
    """Turn the system's errors about a file into ours."""
    try:
        yield
    except OSError as fault:
        said = f"{path}: {fault.strerror or fault}"
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space left for {path}") from fault
        if fault.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise ReadOnlyDatabase(said) from fault
        raise StoreError(said) from fault
