"""A file of any size on its way through the daemon: in memory while small, else unnamed in the data folder.

Never uses the space that writes need, and leaves nothing behind: the system removes an unnamed file with its
handle.
"""

from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Self

from daemon.disk import DiskFloor
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence

MEMORY_BYTES = 4 << 20


class Spool:
    """Appended to by one thread at a time, then read from its start."""

    def __init__(self, folder: Path, floor: DiskFloor) -> None:
        self.size = 0
        self._folder = folder
        self._floor = floor
        self._file = SpooledTemporaryFile(MEMORY_BYTES, dir=str(folder))  # noqa: SIM115 - closed by `close`

    def append(self, piece: bytes) -> None:
        """Append. Raises Refused if the disk has no room for it."""
        self.size += len(piece)
        shortfall = self._floor.shortfall() if self.size > MEMORY_BYTES else None
        if shortfall is None:
            try:
                self._file.write(piece)
            except OSError as fault:
                shortfall = sentence(
                    "no-room-in-folder",
                    "no room in {folder}: {fault}",
                    folder=str(self._folder),
                    fault=fault.strerror or str(fault),
                )
        if shortfall is not None:
            raise Refused(
                RefusalCode.DISK,
                shortfall,
                sentence(
                    "free-space-for-file",
                    "free some space: a large file is kept in the data folder meanwhile",
                ),
            )

    def rewind(self) -> None:
        """Read from the start again."""
        self._file.seek(0)

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most `count`; empty at the end."""
        return self._file.read(count)

    def line(self, bytes_max: int) -> bytes:
        """Return the rest of the line, at most `bytes_max` bytes of it."""
        return self._file.readline(bytes_max)

    def close(self) -> None:
        """Free the space."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
