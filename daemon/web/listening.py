"""Where the page is served: the loopback addresses, and the file that keeps port, host and sessions.

Never listens on an address that another machine can reach.
"""

import base64
import errno
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from daemon.browser_access import Session
from daemon.files import Durability, replace_file

FILE_NAME: Final = "page.json"
BACKLOG: Final = 128
PORTS_TRIED_MAX: Final = 16
_LABEL_BYTES: Final = 10

_log = structlog.get_logger("web")


class PageState(Struct, frozen=True, kw_only=True):
    """What stays from start to start: the host's random name, the port, the sessions with their digests."""

    label: str
    port: int = 0
    sessions: tuple[Session, ...] = ()

    @property
    def host(self) -> str:
        """The name under which a browser of this machine finds the page."""
        return f"{self.label}.localhost"


def load_state(folder: Path, randomness: Callable[[int], bytes]) -> PageState:
    """Read the state, or begin a new one: what cannot be read costs no more than to sign in again."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=PageState)
    except FileNotFoundError:
        pass
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as fault:
        _log.warning("the page begins anew", fault=type(fault).__name__)
    return new_state(randomness)


def new_state(randomness: Callable[[int], bytes]) -> PageState:
    """Return a state with a new random name: an origin, and a cookie jar, that no other page has."""
    label = base64.b32encode(randomness(_LABEL_BYTES)).decode().lower()
    return PageState(label=f"placet-{label}")


def store_state(folder: Path, state: PageState) -> None:
    """Store the state for the next start. A disk that refuses costs the sessions alone."""
    try:
        content = msgspec.json.format(msgspec.json.encode(state), indent=2)
        replace_file(folder / FILE_NAME, content, durability=Durability.CONTENT)
    except OSError as fault:
        _log.warning("the sessions of the page cannot be stored", fault=fault.strerror)


def bind_loopback(port: int) -> list[socket.socket]:
    """Bind a port of both loopback addresses; 0 means any that is free on both. Raises OSError.

    A browser tries ::1 as well as 127.0.0.1 for a name below localhost. If the page had only one of them,
    another user of the machine could serve the other and be given the secret.
    """
    for _ in range(PORTS_TRIED_MAX - 1 if port == 0 else 0):
        try:
            return _bind_both(port)
        except OSError as fault:
            # The port is free for one address family, and in use for the other.
            if fault.errno != errno.EADDRINUSE:
                raise
    return _bind_both(port)


def _bind_both(port: int) -> list[socket.socket]:
    sockets = [_bind(socket.AF_INET, "127.0.0.1", port)]
    try:
        sockets.append(_bind(socket.AF_INET6, "::1", int(sockets[0].getsockname()[1])))
    except OSError as fault:
        # A machine without IPv6 has no ::1, and so nobody else has it either.
        if fault.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            close_all(sockets)
            raise
    return sockets


def _bind(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def close_all(sockets: Sequence[socket.socket]) -> None:
    """Close sockets that are not served."""
    for listener in sockets:
        listener.close()
