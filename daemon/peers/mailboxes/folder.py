"""A folder as a mailbox: what Syncthing, Dropbox, Nextcloud, NFS, rclone or a person with a stick carries on.

Never follows a link out of the folder, and never makes the folder itself: without its medium it is not there.
"""

import asyncio
import errno
import os
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from daemon.clock import SystemClock
from daemon.peers.mailboxes.carrier import LISTED_MAX, CarrierFault, ListedBlob, full_sentence
from daemon.shared_folder import GONE, SharedFolder, open_shared
from store.sentence import sentence
from syncproto.mailboxes import names

T = TypeVar("T")

_Candidate = tuple[str, "os.DirEntry[str]"]
StuckWork = dict[Path, "asyncio.Future[Any]"]

END_WITHIN_S = 5.0
OPERATION_S_MAX = 120.0
"""How long a file system may take for one listing, reading or writing before it counts as away."""
STRANGERS_LISTED_MAX = 5000
"""How many blobs are listed of others than members, if these are named."""
FOLDERS_MAX = 1000
"""How many folders of others than members are looked into."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
_system_randomness = SystemClock().randomness


class FolderCarrier:
    """The blobs of one vault (its tag) in a folder that may be away, read-only or full, and is not trusted.

    `stuck` has the work, by folder, that a file system has not answered; the carriers of a daemon share it.
    """

    def __init__(
        self,
        folder: Path,
        vault: bytes,
        *,
        randomness: Callable[[int], bytes] = _system_randomness,
        stuck: StuckWork | None = None,
        clears_leftovers: bool = True,
    ) -> None:
        self._folder = folder
        self._vault = vault.hex()
        self._randomness = randomness
        self._stuck: StuckWork = {} if stuck is None else stuck
        self._clears_leftovers = clears_leftovers
        self._cleared: set[str] = set()

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
        earlier = self._stuck.get(self._folder)
        if earlier is not None and not earlier.done():
            raise self._no_answer()
        thread = _in_thread(work)
        try:
            await asyncio.wait([thread], timeout=OPERATION_S_MAX)
        except asyncio.CancelledError:
            # A thread cannot be ended: whoever ends a visit waits, so that nothing is written after it.
            await asyncio.wait([thread], timeout=END_WITHIN_S)
            self._note_stuck(thread)
            raise
        self._note_stuck(thread)
        if not thread.done():
            raise self._no_answer()
        try:
            return thread.result()
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

    def _note_stuck(self, thread: "asyncio.Future[Any]") -> None:
        """Remember a thread that waits for the file system: meanwhile no other one is sent after it."""
        if thread.done():
            # Retrieved here, since whoever is cancelled asks for no outcome.
            thread.exception()
            self._stuck.pop(self._folder, None)
        else:
            self._stuck[self._folder] = thread

    def _no_answer(self) -> CarrierFault:
        return CarrierFault(
            sentence(
                "mailbox-folder-no-answer",
                "{folder} cannot be used: its file system does not answer",
                folder=str(self._folder),
            )
        )

    def _write(self, name: str, content: bytes) -> None:
        try:
            self._write_once(name, content)
        except FileNotFoundError:
            # Another device may have removed a folder that was empty; without its medium this fails again.
            self._write_once(name, content)

    def _write_once(self, name: str, content: bytes) -> None:
        device, _, last = name.rpartition("/")
        # The folder itself is not made: a missing one is a stick that is not there.
        with open_shared(self._folder) as top, top.inner(self._vault, make=True) as own:
            if not device:
                self._clear_leftovers(own, name, f".{last}.")
                own.replace(last, content, self._randomness)
                return
            with own.inner(device, make=True) as folder:
                self._clear_leftovers(folder, device, ".")
                folder.replace(last, content, self._randomness)

    def _clear_leftovers(self, folder: SharedFolder, place: str, beginning: str) -> None:
        """Delete what an earlier process left half written in the folder of this device, or for one file."""
        if self._clears_leftovers and place not in self._cleared:
            self._cleared.add(place)
            folder.clear_parts(beginning)

    def _list(self, first: Collection[str]) -> list[ListedBlob]:
        blobs: list[ListedBlob] = []
        with open_shared(self._folder) as top:
            try:
                with top.inner(self._vault) as own:
                    for path, entry in _candidates(own, first):
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
            except OSError as fault:
                if fault.errno not in GONE:
                    raise
        return blobs

    def _read(self, name: str, bytes_max: int) -> bytes | None:
        device, _, last = name.rpartition("/")
        try:
            with open_shared(self._folder) as top, top.inner(self._vault) as own:
                if not device:
                    return own.read(last, bytes_max + 1)
                with own.inner(device) as folder:
                    return folder.read(last, bytes_max + 1)
        except OSError as fault:
            if fault.errno in GONE:
                return None
            raise

    def _remove(self, name: str) -> None:
        device, _, last = name.rpartition("/")
        try:
            with open_shared(self._folder) as top:
                with top.inner(self._vault) as own:
                    if device:
                        with own.inner(device) as folder:
                            folder.remove(last)
                        # Folders of those that left nothing more, and of invitations that are over.
                        own.remove_folder(device)
                    else:
                        own.remove(last)
                top.remove_folder(self._vault)
        except OSError as fault:
            if fault.errno not in GONE:
                raise


def tidy_vaults(folder: Path, is_vault: Callable[[str], bool]) -> list[str]:
    """Remove what killed writers and earlier versions left in the folders of vaults; return those that stay.

    Only for a folder in which no process but this one writes. Raises OSError.
    """
    vaults: list[str] = []
    with open_shared(folder) as top:
        for vault in sorted(entry.name for entry in top.entries() if is_vault(entry.name)):
            with suppress(OSError), top.inner(vault) as own:
                vaults.append(vault)
                own.clear_parts()
                for name in [entry.name for entry in own.entries()]:
                    with suppress(OSError), own.inner(name) as inner:
                        inner.clear_parts()
                    own.remove_folder(name)
            top.remove_folder(vault)
        left = {entry.name for entry in top.entries()}
    return [vault for vault in vaults if vault in left]


def _candidates(own: SharedFolder, first: Collection[str]) -> "Iterator[_Candidate]":
    """Yield what is called as a blob is, with its path: first what begins with a tag, then the rest.

    Anybody who sees a member's tag can name any number of files after it, so members take turns.
    """
    others_max = STRANGERS_LISTED_MAX if first else LISTED_MAX
    by_tag: dict[str, list[os.DirEntry[str]]] = {tag: [] for tag in first}
    others: list[os.DirEntry[str]] = []
    for entry in own.entries():
        tag = names.tag_in(entry.name, first)
        most = others_max if tag is None else LISTED_MAX // len(by_tag)
        candidates = others if tag is None else by_tag[tag]
        if len(candidates) < most and (tag is not None or _may_be_of_device(entry.name)):
            candidates.append(entry)
    yield from _in_turn([_expand(own, entries) for entries in by_tag.values()])
    yield from islice(_expand(own, others, FOLDERS_MAX), others_max)


def _may_be_of_device(name: str) -> bool:
    """Return whether a name can be that of a blob, or of a device's folder, which has no ending."""
    return not name.startswith(".") and ("." not in name or names.is_blob_name(name))


def _expand(
    own: SharedFolder, entries: "list[os.DirEntry[str]]", folders_max: int | None = None
) -> "Iterator[_Candidate]":
    """Yield files that are called as blobs are, and then those in folders, at most so many of these."""
    folders: list[str] = []
    for entry in entries:
        if names.is_blob_name(entry.name):
            yield entry.name, entry
        elif len(folders) != folders_max and entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
    for name in folders:
        # It may be gone by now, or have become a link, or let nobody in.
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError), own.inner(name) as folder:
            for inner in folder.entries():
                if names.is_blob_name(inner.name):
                    yield f"{name}/{inner.name}", inner


def _in_turn(sources: "Sequence[Iterator[_Candidate]]") -> "Iterator[_Candidate]":
    """Yield one of each source in turn, until all are at their ends."""
    waiting = deque(sources)
    while waiting:
        source = waiting.popleft()
        if (candidate := next(source, None)) is not None:
            yield candidate
            waiting.append(source)


def _in_thread(work: Callable[[], T]) -> "asyncio.Future[T]":
    """Run work in a thread of its own: one that waits for ever keeps neither others nor the end waiting."""
    outcome: Future[T] = Future()

    def run() -> None:
        outcome.set_running_or_notify_cancel()
        try:
            outcome.set_result(work())
        except BaseException as fault:  # noqa: BLE001 - raised where the outcome is asked for
            outcome.set_exception(fault)

    Thread(target=run, name="mailbox-folder", daemon=True).start()
    return asyncio.wrap_future(outcome)
