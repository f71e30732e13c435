"""The folders of Placet, and how a socket is reached whose path is too long.

Never opens a file, and imports only what starting Python has already loaded:
the command line reads this before every answer.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FOLDER_MODE = 0o700
UMASK = 0o077
"""What Placet makes is for its owner alone."""
# sockaddr_un has room for 108 bytes, one of which is the closing zero.
_SOCKET_PATH_BYTES_MAX = 107


class UnsafeFolder(Exception):
    """A folder that others may write into, or own, cannot hold Placet's files.

    `owner` is the uid of the other user that it belongs to, None if its mode is what is wrong. The message is
    the sentence that `sentence_id` names and `params` fill; it is made where sentences are known.
    """

    def __init__(self, folder: str, mode: int, owner: int | None = None) -> None:
        self.folder, self.mode, self.owner = folder, f"{mode:o}", owner
        self.sentence_id, self.params = "folder-unsafe", {"folder": folder, "mode": self.mode}
        text = f"is open to other users (mode {mode:o})"
        if owner is not None:
            self.sentence_id, self.params = "folder-of-other-user", {"folder": folder, "uid": str(owner)}
            text = f"belongs to another user (uid {owner})"
        super().__init__(f"{folder} {text}; name a folder of your own in PLACET_HOME")


class Paths(NamedTuple):
    """The three folders of one daemon, and the files that both sides name."""

    config: str
    data: str
    runtime: str

    @property
    def config_file(self) -> str:
        return os.path.join(self.config, "config.toml")

    @property
    def database(self) -> str:
        return os.path.join(self.data, "placet.db")

    @property
    def socket(self) -> str:
        return os.path.join(self.runtime, "control.sock")

    def folders(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.config, self.data, self.runtime)))


def find_paths(environment: Mapping[str, str] = os.environ) -> Paths:
    """Return the folders: beneath `PLACET_HOME` if it is set, else the XDG folders."""
    home = environment.get("PLACET_HOME")
    if home:
        folder = os.path.abspath(os.path.expanduser(home))
        return Paths(folder, folder, folder)
    return Paths(
        _xdg(environment, "XDG_CONFIG_HOME", "~/.config"),
        _xdg(environment, "XDG_DATA_HOME", "~/.local/share"),
        # Without a login session there is no runtime folder; the state folder is
        # the user's own too, and the socket in it is replaced at the next start.
        _xdg(environment, "XDG_RUNTIME_DIR", "~/.local/state"),
    )


def _xdg(environment: Mapping[str, str], name: str, default: str) -> str:
    base = environment.get(name, "")
    # The XDG specification has relative values ignored.
    if not os.path.isabs(base):
        base = os.path.expanduser(default)
    return os.path.join(base, "placet")


def make_folders(paths: Paths) -> None:
    """Make the folders that are missing, all closed to other users.

    Raises `UnsafeFolder` for one that others may write into, `OSError` if
    the system refuses.
    """
    for folder in paths.folders():
        _make_folder(folder)


def _make_folder(folder: str) -> None:
    parent = os.path.dirname(folder)
    if not os.path.isdir(parent):
        _make_folder(parent)
    try:
        os.mkdir(folder, _FOLDER_MODE)
    except FileExistsError:
        _close_folder(folder)


def _close_folder(folder: str) -> None:
    """Take other users' access away, but never from a folder that they share."""
    status = os.stat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        # Its owner could read all, and replace it: root that starts this by mistake meets such a folder too.
        raise UnsafeFolder(folder, mode, status.st_uid)
    if mode & stat.S_IWOTH:
        raise UnsafeFolder(folder, mode)
    if mode & ~_FOLDER_MODE:
        os.chmod(folder, _FOLDER_MODE)


@contextmanager
def short_address(socket_path: str) -> Iterator[str]:
    """Give the address to bind or connect to; good only inside the `with` block.

    Listener and client both use it: a path that is too long for the system is
    reached through a descriptor of its folder, which must be open meanwhile.
    """
    if len(os.fsencode(socket_path)) <= _SOCKET_PATH_BYTES_MAX:
        yield socket_path
        return
    folder, name = os.path.split(socket_path)
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
