"""A folder as a mailbox: what Syncthing, Dropbox, Nextcloud, NFS, rclone or a person with a stick carries on.

Never follows a link out of the folder, and never makes the folder itself: without its medium it is not there.
"""

import asyncio
import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from daemon.peers.mailboxes.carrier import LISTED_MAX, CarrierFault, ListedBlob, full_sentence
from store.sentence import sentence
from syncproto.mailboxes import names

T = TypeVar("T")

_Candidate = tuple[str, "os.DirEntry[str]"]

END_WITHIN_S = 5.0
STRANGERS_LISTED_MAX = 5000
"""How many blobs are listed of others than members, if these are named."""
FOLDERS_MAX = 1000
"""How many folders of others than members are looked into."""

_GONE = (errno.ENOENT, errno.ENOTDIR)
_FULL = (errno.ENOSPC, errno.EDQUOT)


class FolderCarrier:
    """The blobs of one vault (its tag) in a folder that may be away, read-only or full."""

    def __init__(self, folder: Path, vault: bytes, *, clears_leftovers: bool = True) -> None:
        self._folder = folder
        self._own = folder / vault.hex()
        self._clears_leftovers = clears_leftovers
        self._cleared: set[Path] = set()

    async def put(self, name: str, content: bytes) -> None:
        """Write a file beside its place, and rename it."""
        await self._run(lambda: self._write(name, content))

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return the files whose names can be those of blobs, at most LISTED_MAX."""
        return await self._run(lambda: self._list(first))

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
            if fault.errno in _FULL:
                raise CarrierFault(full_sentence(str(self._folder))) from fault
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
        self._clear_leftovers(file.parent)
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

    def _clear_leftovers(self, folder: Path) -> None:
        """Delete what an earlier process left half written in the folder of this device."""
        if not self._clears_leftovers or folder == self._own or folder in self._cleared:
            return
        self._cleared.add(folder)
        with os.scandir(folder) as entries:
            parts = [
                entry.path for entry in entries if entry.name.startswith(".") and entry.name.endswith(".part")
            ]
        for part in parts:
            with suppress(OSError):
                Path(part).unlink()

    def _list(self, first: Collection[str]) -> list[ListedBlob]:
        if not stat.S_ISDIR(self._folder.stat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self._folder))
        blobs: list[ListedBlob] = []
        for path, entry in self._candidates(first):
            try:
                # Of all that anybody may have put here, only what is listed is looked at.
                if entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    mark = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
                    blobs.append(ListedBlob(path, status.st_size, mark))
            except FileNotFoundError:
                continue
            if len(blobs) >= LISTED_MAX:
                break
        return blobs

    def _candidates(self, first: Collection[str]) -> "Iterator[_Candidate]":
        """Yield what is called as a blob is, with its path: first what begins with a tag, then the rest.

        Anybody who sees a member's tag can name any number of files after it, so members take turns.
        """
        others_max = STRANGERS_LISTED_MAX if first else LISTED_MAX
        by_tag: dict[str, list[os.DirEntry[str]]] = {tag: [] for tag in first}
        others: list[os.DirEntry[str]] = []
        for entry in _entries_of(self._own):
            tag = names.tag_in(entry.name, first)
            most = others_max if tag is None else LISTED_MAX // len(by_tag)
            candidates = others if tag is None else by_tag[tag]
            if len(candidates) < most and (tag is not None or _may_be_of_device(entry.name)):
                candidates.append(entry)
        yield from _in_turn([_expand(entries) for entries in by_tag.values()])
        yield from islice(_expand(others, FOLDERS_MAX), others_max)

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


def _entries_of(folder: Path) -> "Iterator[os.DirEntry[str]]":
    """Yield what lies in a folder, nothing if it is a link or gone."""
    if folder.is_symlink():
        return
    try:
        entries = os.scandir(folder)
    except OSError as fault:
        if fault.errno in _GONE:
            return
        raise
    with entries:
        yield from entries


def _may_be_of_device(name: str) -> bool:
    """Return whether a name can be that of a blob, or of a device's folder, which has no ending."""
    return not name.startswith(".") and ("." not in name or names.is_blob_name(name))


def _expand(entries: "list[os.DirEntry[str]]", folders_max: int | None = None) -> "Iterator[_Candidate]":
    """Yield files that are called as blobs are, and then those in folders, at most so many of these."""
    folders: list[os.DirEntry[str]] = []
    for entry in entries:
        if names.is_blob_name(entry.name):
            yield entry.name, entry
        elif len(folders) != folders_max and entry.is_dir(follow_symlinks=False):
            folders.append(entry)
    for folder in folders:
        for inner in _entries_of(Path(folder.path)):
            if names.is_blob_name(inner.name):
                yield f"{folder.name}/{inner.name}", inner


def _in_turn(sources: "Sequence[Iterator[_Candidate]]") -> "Iterator[_Candidate]":
    """Yield one of each source in turn, until all are at their ends."""
    waiting = deque(sources)
    while waiting:
        source = waiting.popleft()
        if (candidate := next(source, None)) is not None:
            yield candidate
            waiting.append(source)


def _ignore_outcome(thread: "asyncio.Future[T]") -> None:
    if not thread.cancelled():
        thread.exception()
