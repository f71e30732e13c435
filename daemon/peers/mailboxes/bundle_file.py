"""A file of blobs one behind the other, as it goes in a mail: a carrier that is read or written once.

Never has more than one blob in memory, and never reads beyond what a blob may have.
"""

import asyncio
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from daemon.peers.mailboxes.carrier import LISTED_MAX, CarrierFault, ListedBlob
from store.sentence import Sentence, sentence
from syncproto.errors import RemoteProtocolError
from syncproto.mailboxes import bundle
from syncproto.mailboxes.names import DROP_ENDING

_PIECE_BYTES = 1 << 18


class BundleReader:
    """The blobs of a file, under names that say where in it they are. Nothing can be put or deleted."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def put(self, name: str, content: bytes) -> None:
        """Keep nothing."""

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return the blobs in the file. Raises CarrierFault if it is no bundle, or ends inside a blob."""
        del first
        try:
            return await asyncio.to_thread(self._read_sizes)
        except (OSError, RemoteProtocolError) as fault:
            raise CarrierFault(_cannot_use(self._file, fault)) from fault

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return a blob by its place and length."""
        start, length = map(int, name.removesuffix(DROP_ENDING).split("-"))
        try:
            return await asyncio.to_thread(self._read_at, start, min(length, bytes_max + 1))
        except (OSError, RemoteProtocolError) as fault:
            raise CarrierFault(_cannot_use(self._file, fault)) from fault

    async def delete(self, name: str) -> None:
        """Delete nothing."""

    def _read_sizes(self) -> list[ListedBlob]:
        blobs: list[ListedBlob] = []
        start = 0
        with self._open() as opened:
            for blob in bundle.read_bundle(_pieces_of(opened)):
                # The places have equal lengths: so names are in the order of the file.
                blobs.append(ListedBlob(f"{start:015}-{len(blob)}{DROP_ENDING}", len(blob), str(len(blob))))
                start += len(blob)
                if len(blobs) >= LISTED_MAX:
                    break
        if not blobs:
            raise RemoteProtocolError("it is empty")
        return blobs

    def _read_at(self, start: int, length: int) -> bytes:
        with self._open() as opened:
            opened.seek(start)
            return opened.read(length)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        # Without waiting: a pipe that nobody writes to would keep all other bundles waiting.
        with open(
            self._file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)
        ) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise RemoteProtocolError("it is no regular file")
            yield opened


class BundleWriter:
    """Appends blobs to an open file. There is nothing to list in it yet."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened
        self.blobs = 0
        self.size = 0

    async def put(self, name: str, content: bytes) -> None:
        """Append a blob; its name is not kept."""
        del name
        try:
            await asyncio.to_thread(self._opened.write, content)
        except OSError as fault:
            raise CarrierFault(_cannot_use(Path(str(self._opened.name)), fault)) from fault
        self.blobs += 1
        self.size += len(content)

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return nothing."""
        del first
        return []

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return nothing."""
        del name, bytes_max
        return None

    async def delete(self, name: str) -> None:
        """Delete nothing."""


def _pieces_of(opened: BinaryIO) -> Iterator[bytes]:
    while piece := opened.read(_PIECE_BYTES):
        yield piece


def _cannot_use(file: Path, fault: Exception) -> Sentence:
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return sentence("bundle-fault", "{file} cannot be used: {reason}", file=str(file), reason=reason)
