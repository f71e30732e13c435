"""The control socket as a service manager passes it to the daemon (sd_listen_fds(3)).

Never takes what was passed to another process, another socket than the one that commands connect to, or one
that other users may open. Never passes it on.
"""

import os
import socket
import stat
from collections.abc import MutableMapping
from pathlib import Path
from typing import Final

from store.sentence import Sentence, sentence

FIRST_DESCRIPTOR: Final = 3  # SD_LISTEN_FDS_START
SOCKET_UNIT: Final = "placet.socket"


class UnusableSocket(Exception):
    """The service manager passed something else than the control socket; the message says what."""

    hint_sentence = sentence(
        "renew-socket-unit",
        "run `placet service install --socket` again, or stop it: `systemctl --user disable --now {unit}`",
        unit=SOCKET_UNIT,
    )

    def __init__(self, message: Sentence) -> None:
        self.sentence = message
        super().__init__(message.text)


def take_passed_socket(
    path: Path, environment: MutableMapping[str, str] = os.environ, first: int = FIRST_DESCRIPTOR
) -> socket.socket | None:
    """Return the listening socket at `path` that was passed to this process, None if none was.

    No child inherits it, or learns of it. Raises UnusableSocket if something else was passed.

    The same path is taken for the same socket. Which file a socket has, it does not say: an ioctl would to
    those with CAP_NET_ADMIN, and netlink's unix_diag on kernels that have it. Only its owner can put another
    socket at a path in a folder of 0700, and commands then reach whoever serves that, and not this daemon.
    """
    process, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if process != str(os.getpid()) or count in ("", "0"):
        return None
    if count != "1":
        raise UnusableSocket(
            sentence("sockets-passed", "systemd passed {count} sockets, and Placet has one", count=count)
        )
    fault = _fault_of(first, path)
    if fault is not None:
        raise UnusableSocket(fault)
    os.set_inheritable(first, False)
    listener = socket.socket(fileno=first)
    listener.setblocking(False)
    return listener


def _fault_of(descriptor: int, path: Path) -> Sentence | None:
    """Return why a descriptor is not the socket at `path` that its owner alone may open."""
    where = _path_of_listener(descriptor)
    if where is None:
        return sentence("passed-is-no-socket", "what systemd passed is no Unix socket that listens")
    if os.path.realpath(where) != os.path.realpath(path):
        return sentence(
            "passed-socket-elsewhere",
            "systemd passed the socket {passed}, and commands connect to {path}",
            passed=where,
            path=str(path),
        )
    try:
        status = path.stat()
    except OSError as fault:
        return sentence(
            "passed-socket-gone",
            "the socket {path} that systemd passed is gone: {reason}",
            path=where,
            reason=str(fault.strerror),
        )
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return sentence(
            "passed-socket-unsafe",
            "the socket {path} that systemd passed is open to other users (mode {mode}, uid {uid})",
            path=where,
            mode=f"{stat.S_IMODE(status.st_mode):o}",
            uid=str(status.st_uid),
        )
    return None


def _path_of_listener(descriptor: int) -> str | None:
    """Return the path at which a descriptor listens for streams, None if it does not."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as passed:
            is_stream = (passed.family, passed.type) == (socket.AF_UNIX, socket.SOCK_STREAM)
            listens = is_stream and passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            name = passed.getsockname() if listens else None
    except OSError:
        return None
    return name if isinstance(name, str) and name else None
