"""A folder as a mailbox: what Syncthing, Dropbox, Nextcloud, NFS, rclone or a person with a stick carries on.

Never follows a link out of the folder, and never makes the folder itself: without its medium it is not there.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from daemon.peers.mailboxes.carrier import LISTED_MAX, CarrierFault, ListedBlob
from store.sentence import sentence
from syncproto.mailboxes import names

T = TypeVar("T")

END_WITHIN_S = 5.0
_GONE = (errno.ENOENT, errno.ENOTDIR)


class FolderCarrier:
    """The blobs of one vault (its tag) in a folder that may be away, read-only or full."""

    def __init__(self, folder: Path, vault: bytes) -> None:
        self._folder = folder
        self._own = folder / vault.hex()

    async def put(self, name: str, content: bytes) -> None:
        """Write a file beside its place, and rename it."""
        await self._run(lambda: self._write(name, content))

    async def list_blobs(self) -> list[ListedBlob]:
        """Return the files whose names can be those of blobs, at most LISTED_MAX."""
        return await self._run(self._read_names)

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return what a file contains."""
        return await self._run(lambda: self._read(name, bytes_max))

    async def delete(self, name: str) -> None:
        """Remove a file, and the folders of this vault that are empty then."""
        await self._run(lambda: self._remove(name))

    async def _run(self, work: Callable[[], T]) -> T:
        thread = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            # A thread cannot be ended: whoever ends a visit waits, so that nothing is written after it.
            thread.add_done_callback(_ignore_outcome)
            await asyncio.wait([thread], timeout=END_WITHIN_S)
            raise
        except OSError as fault:
            raise CarrierFault(
                sentence(
                    "mailbox-folder-fault",
                    "{folder} cannot be used: {reason}",
                    folder=str(self._folder),
                    reason=fault.strerror or str(fault),
                )
            ) from fault

    def _write(self, name: str, content: bytes) -> None:
        try:
            self._write_once(name, content)
        except FileNotFoundError:
            # Another device may have removed a folder that was empty; without its medium this fails again.
            self._write_once(name, content)

    def _write_once(self, name: str, content: bytes) -> None:
        file = self._own / name
        # The folder itself is not made: a missing one is a stick that is not there.
        self._own.mkdir(exist_ok=True)
        file.parent.mkdir(exist_ok=True)
        for folder in (self._own, file.parent):
            if folder.is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
        part = file.with_name(f".{file.name}.part")
        try:
            with part.open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
            part.replace(file)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise

    def _read_names(self) -> list[ListedBlob]:
        if not stat.S_ISDIR(self._folder.stat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self._folder))
        blobs: list[ListedBlob] = []
        for path, blob in self._files(self._own, ""):
            if names.is_blob_name(path):
                blobs.append(
                    ListedBlob(path, blob.st_size, f"{blob.st_size}-{blob.st_mtime_ns}-{blob.st_ino}")
                )
                if len(blobs) >= LISTED_MAX:
                    break
        return blobs

    def _files(self, folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the files of a folder and of those directly in it, links left out."""
        if folder.is_symlink():
            return
        try:
            entries = os.scandir(folder)
        except OSError as fault:
            if fault.errno in _GONE:
                return
            raise
        with entries:
            for entry in entries:
                path = f"{prefix}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if not prefix:
                        yield from self._files(Path(entry.path), f"{entry.name}/")
                elif entry.is_file(follow_symlinks=False):
                    try:
                        yield path, entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue

    def _read(self, name: str, bytes_max: int) -> bytes | None:
        try:
            descriptor = os.open(self._own / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as fault:
            if fault.errno in (*_GONE, errno.ELOOP):
                return None
            raise
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return opened.read(bytes_max + 1)

    def _remove(self, name: str) -> None:
        file = self._own / name
        try:
            file.unlink()
        except OSError as fault:
            if fault.errno not in _GONE:
                raise
        # Folders of those that left nothing more, and of invitations that are over, do not gather.
        with suppress(OSError):
            if file.parent != self._own:
                file.parent.rmdir()
            self._own.rmdir()


def _ignore_outcome(thread: "asyncio.Future[T]") -> None:
    if not thread.cancelled():
        thread.exception()
