"""The boxes of a relay: the name, the secret and the quota of each, in one file.

Never keeps a secret, only SHA-256 of it, and never says whether it was the name or the secret that was wrong.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import shutil
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE_NAME: Final = "boxes.json"
BLOBS_FOLDER: Final = "blobs"
BOXES_MAX: Final = 1000
SECRET_BYTES: Final = 32
FILE_BYTES_MAX: Final = 1 << 20
"""How long the file may be: with as many boxes as there may be, it has a quarter of that."""
QUOTA_MIB_MAX: Final = 1 << 20
_MIB: Final = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
# Compared with if there is no box of a name, so that both take the same time.
_NOBODY: Final = hashlib.sha256(b"").digest()


class BoxFault(Exception):
    """The boxes cannot be changed so. `code` is `taken`, `unknown`, `name` or `many`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Box(NamedTuple):
    """A box: its name, SHA-256 of its secret, and how many bytes it may keep."""

    name: str
    digest: bytes
    quota: int


class BoxFile:
    """The file with the boxes in a relay's folder. A relay that runs reads it again after each change."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._file = self._folder / FILE_NAME
        self._mark: tuple[int, int, int] | None = None
        self._boxes: dict[str, Box] = {}

    def boxes(self) -> dict[str, Box]:
        """Return the boxes by their names. Raises OSError, ValueError if the file is damaged."""
        try:
            status = self._file.stat()
        except FileNotFoundError:
            self._mark, self._boxes = None, {}
            return self._boxes
        mark = status.st_mtime_ns, status.st_ino, status.st_size
        if mark != self._mark:
            content = self._content()
            try:
                self._boxes = {
                    name: Box(name, bytes.fromhex(box["sha256"]), int(box["quota"]))
                    for name, box in content.items()
                }
            except (AttributeError, KeyError, OverflowError, TypeError) as fault:
                raise ValueError(f"{self._file} is damaged") from fault
            self._mark = mark
        return self._boxes

    def _content(self) -> Any:
        """Return what the file has. Raises OSError, ValueError for what is no file of JSON, or a long one."""
        # Without waiting: a pipe under this name would keep every request waiting.
        with open(
            self._file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)
        ) as opened:
            is_regular = stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
            content = opened.read(FILE_BYTES_MAX + 1) if is_regular else b""
        if not is_regular or len(content) > FILE_BYTES_MAX:
            raise ValueError(f"{self._file} is damaged")
        try:
            return json.loads(content)
        except RecursionError as fault:
            raise ValueError(f"{self._file} is damaged") from fault

    def admit(self, name: str, secret: str) -> Box | None:
        """Return the box of a name if this is its secret, in a time that tells nothing of either."""
        box = self.boxes().get(name)
        digest = hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()
        is_right = hmac.compare_digest(digest, _NOBODY if box is None else box.digest)
        return box if is_right and box is not None else None

    def add(self, name: str, quota_mib: int, randomness: Callable[[int], bytes]) -> str:
        """Make a box and return its secret, which is kept nowhere. Raises BoxFault, OSError."""
        if _NAME.fullmatch(name) is None:
            raise BoxFault("name")
        secret = randomness(SECRET_BYTES).hex()
        with self._change() as boxes:
            if name in boxes:
                raise BoxFault("taken")
            if len(boxes) >= BOXES_MAX:
                raise BoxFault("many")
            boxes[name] = Box(name, hashlib.sha256(secret.encode()).digest(), quota_mib * _MIB)
        return secret

    def change(
        self, name: str, quota_mib: int | None, randomness: Callable[[int], bytes] | None
    ) -> tuple[Box, str | None]:
        """Give a box another quota, and another secret if there is randomness; what it keeps stays.

        Return the box, and its new secret, which is kept nowhere. Raises BoxFault, OSError.
        """
        secret = None if randomness is None else randomness(SECRET_BYTES).hex()
        with self._change() as boxes:
            if name not in boxes:
                raise BoxFault("unknown")
            box = boxes[name]
            digest = box.digest if secret is None else hashlib.sha256(secret.encode()).digest()
            boxes[name] = Box(name, digest, box.quota if quota_mib is None else quota_mib * _MIB)
        return boxes[name], secret

    def remove(self, name: str) -> None:
        """Forget a box, and delete what it keeps. Raises BoxFault, OSError."""
        with self._change() as boxes:
            if boxes.pop(name, None) is None:
                raise BoxFault("unknown")
        self.delete_blobs(name)

    def delete_blobs(self, name: str) -> None:
        """Delete what a box keeps that is no longer there."""
        shutil.rmtree(self._folder / BLOBS_FOLDER / name, ignore_errors=True)

    def bytes_kept(self, name: str) -> int:
        """Return how many bytes the blobs of a box have now."""
        files = (self._folder / BLOBS_FOLDER / name).rglob("*")
        return sum(file.stat().st_size for file in files if file.is_file())

    @contextmanager
    def _change(self) -> Iterator[dict[str, Box]]:
        """Give the boxes to change, and write them if the block ends well; one process at a time."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            boxes = dict(self.boxes())
            yield boxes
            content = {box.name: {"sha256": box.digest.hex(), "quota": box.quota} for box in boxes.values()}
            replace_file(self._file, json.dumps(content, indent=1).encode() + b"\n", mode=0o600)
        finally:
            os.close(descriptor)
