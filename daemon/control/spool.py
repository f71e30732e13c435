"""A file of any size on its way through the daemon: in memory while small, else unnamed in the data folder.

Never takes the room that writes need, and leaves nothing behind: what has no name goes with its handle.
"""

from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Self

from daemon.disk import Floor
from daemon.journal.errors import Code, Refused

MEMORY_BYTES = 4 << 20


class Spool:
    """Appended to by one thread at a time, then read from its start."""

    def __init__(self, folder: Path, floor: Floor) -> None:
        self.size = 0
        self._folder = folder
        self._floor = floor
        self._file = SpooledTemporaryFile(MEMORY_BYTES, dir=str(folder))  # noqa: SIM115 - closed by `close`

    def put(self, piece: bytes) -> None:
        """Append. Raises Refused where the disk has no room for it."""
        self.size += len(piece)
        shortfall = self._floor.shortfall() if self.size > MEMORY_BYTES else None
        if shortfall is None:
            try:
                self._file.write(piece)
            except OSError as fault:
                shortfall = f"no room in {self._folder}: {fault.strerror}"
        if shortfall is not None:
            raise Refused(
                Code.DISK, shortfall, "free some space: a large file passes through the data folder"
            )

    def rewind(self) -> None:
        """Read from the start again."""
        self._file.seek(0)

    def read(self, count: int) -> bytes:
        """Read on, nothing at the end."""
        return self._file.read(count)

    def line(self, bytes_max: int) -> bytes:
        """Read on to the end of the line, or `bytes_max` of it."""
        return self._file.readline(bytes_max)

    def close(self) -> None:
        """Give the room back."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
