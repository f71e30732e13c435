"""`placet relay`: runs the relay until a signal ends it, and makes, changes, lists and removes its boxes.

Never prints a secret but once, to whoever makes the box.
"""

import asyncio
import os
import signal
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from daemon import logs, sd_notify
from daemon.clock import Clock, SystemClock
from daemon.folder_lock import DataFolderInUse, lock_folder
from daemon.paths import UMASK
from daemon.peers.transport import addresses
from daemon.peers.transport.identity import (
    Identity,
    IdentityError,
    certificate_fingerprint,
    load_or_create,
)
from daemon.relay.boxes import BoxFile
from daemon.relay.server import RelayServer

DONE, FAILED, USAGE = 0, 1, 2


def main(folder: str, host: str, port: int, *, certificate: tuple[str, str] | None, unencrypted: bool) -> int:
    """Run the relay in the foreground; return the exit status.

    `certificate` names files (PEM) with a chain and its key; without one, the relay makes a certificate of
    its own, which devices pin. `unencrypted` is plain HTTP, for a proxy on the same machine.
    """
    os.umask(UMASK)
    logs.configure_logging()
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock_folder(Path(folder)):
            tls = None if unencrypted else _tls(Path(folder), certificate)
            asyncio.run(_run(Path(folder), SystemClock(), (host, port, tls)))
    except (OSError, ValueError, IdentityError, DataFolderInUse) as fault:
        sys.stderr.write(f"placet: {' '.join(str(fault).split())}\n")
        return FAILED
    return DONE


async def _run(folder: Path, clock: Clock, place: tuple[str, int, ssl.SSLContext | None]) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    server = RelayServer(folder, clock)
    port = await server.start(*place)
    try:
        sys.stdout.write(f"{'http' if place[2] is None else 'https'}://{place[0]}:{port}\n")
        sys.stdout.flush()
        sd_notify.notify_systemd("READY=1")
        await ended.wait()
        sd_notify.notify_systemd("STOPPING=1")
    finally:
        await server.stop()


def _identity(folder: Path) -> Identity:
    return load_or_create(folder, SystemClock().randomness)


def _tls(folder: Path, certificate: Sequence[str] | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if certificate is None:
        context.load_cert_chain(_identity(folder).file)
    else:
        context.load_cert_chain(*certificate)
    return context


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    return addresses.is_loopback_host(host)


def add_box(folder: str, name: str, quota_mib: int) -> dict[str, Any]:
    """Make a box; return its fields with the secret and the pin. Raises BoxFault, OSError, IdentityError."""
    secret = BoxFile(folder).add(name, quota_mib, SystemClock().randomness)
    pin = certificate_fingerprint(_identity(Path(folder)).certificate).hex()
    return {"box": name, "secret": secret, "quota_mib": quota_mib, "pin": f"sha256={pin}"}


def change_box(folder: str, name: str, quota_mib: int | None, *, new_secret: bool) -> dict[str, Any]:
    """Change a box in place; return its fields, with a secret if that is new. Raises BoxFault, OSError."""
    randomness = SystemClock().randomness if new_secret else None
    box, secret = BoxFile(folder).change(name, quota_mib, randomness)
    changed = {"box": name, "quota_mib": box.quota >> 20}
    return changed if secret is None else changed | {"secret": secret}


def list_boxes(folder: str) -> list[dict[str, Any]]:
    """Return the boxes, and what each keeps. Raises OSError, ValueError."""
    boxes = BoxFile(folder)
    return [
        {"box": box.name, "quota_mib": box.quota >> 20, "bytes": boxes.bytes_kept(box.name)}
        for _, box in sorted(boxes.boxes().items())
    ]


def remove_box(folder: str, name: str) -> None:
    """Forget a box, and delete what it keeps. Raises BoxFault, OSError."""
    BoxFile(folder).remove(name)
