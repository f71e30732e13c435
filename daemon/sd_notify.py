"""Tells the service manager how the daemon stands (sd_notify(3)).

Never fails the daemon: without a manager there is nobody to tell.
"""

import os
import socket
import time
from collections.abc import Mapping

READY = "READY=1"
STOPPING = "STOPPING=1"
ALIVE = "WATCHDOG=1"


def more_time(limit_s: int) -> str:
    """Return the state of a daemon whose start may take as long as this from now on."""
    return f"EXTEND_TIMEOUT_USEC={limit_s * 1_000_000}"


def reload_state() -> str:
    """Return the state of a daemon that reads its settings again, until it says `READY`."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def notify_systemd(state: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send one state to the socket that NOTIFY_SOCKET names; say whether it went out."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    # A leading "@" stands for the zero byte of Linux's abstract addresses.
    name = "\0" + address[1:] if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.settimeout(1.0)
            channel.sendto(state.encode(), name)
    except OSError:
        return False
    return True


def watchdog_limit_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the seconds within which the manager wants `ALIVE` from this process, None if it wants none."""
    text = environment.get("WATCHDOG_USEC", "")
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(text) / 1e6 if text.isascii() and text.isdigit() and int(text) else None
