"""A bad cable: a process that carries Ethernet frames between two hosts, loses some, and takes its time.

Stands in for `tc netem`, which not every kernel has: it needs TAP devices alone. Drawn from a seed: the same
frames, in the same order, meet the same losses. Never reads a frame, and never puts one before another of its
direction. Run as a program: `python poor_wire.py '{"ends": [[namespace, interface], ...], ...}'`; it says
"ready" once both interfaces are there, and takes new terms as lines of JSON.
"""

import ctypes
import fcntl
import json
import os
import random
import selectors
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET, linux/sched.h
_FRAME_BYTES = 1 << 16
_QUEUE_BYTES = 64 * 1024
"""What a router's buffer holds; what comes beyond is dropped, as there."""


def tap(namespace: str, name: str) -> int:
    """Make an interface in a namespace; return the end of it that carries frames."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path(f"/run/netns/{namespace}").open() as entry:
        if libc.setns(entry.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
    return end


@dataclass
class Direction:
    """What travels one way."""

    to: int
    drawn: random.Random
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    queued_bytes: int = 0
    free_at_s: float = 0.0

    def take(self, frame: bytes, now_s: float, *, loss: float, delay_s: float, bytes_per_s: float) -> None:
        """Lose a frame, or say when it arrives: behind those before it, at the pace of the cable."""
        if self.drawn.random() < loss or self.queued_bytes + len(frame) > _QUEUE_BYTES:
            return
        self.free_at_s = max(self.free_at_s, now_s) + (len(frame) / bytes_per_s if bytes_per_s else 0.0)
        self.waiting.append((self.free_at_s + delay_s, frame))
        self.queued_bytes += len(frame)

    def deliver(self, now_s: float) -> None:
        """Hand over what is due."""
        while self.waiting and self.waiting[0][0] <= now_s:
            _, frame = self.waiting.popleft()
            self.queued_bytes -= len(frame)
            try:
                os.write(self.to, frame)
            except OSError:
                # The interface is down, or its queue is full: lost, as on any cable.
                continue


def carry(ends: tuple[int, int], seed: int, terms: dict[str, float]) -> None:
    """Carry frames until standard input ends."""
    ways = {number: Direction(to, random.Random(f"{seed}/{number}")) for number, to in (ends, ends[::-1])}
    with selectors.DefaultSelector() as waiting:
        for end in (*ends, sys.stdin.fileno()):
            waiting.register(end, selectors.EVENT_READ)
        while True:
            due = [way.waiting[0][0] for way in ways.values() if way.waiting]
            wait_s = max(min(due) - time.monotonic(), 0.0) if due else None
            for key, _ in waiting.select(wait_s):
                if key.fd not in ways:
                    line = sys.stdin.readline()
                    if not line:
                        return
                    terms = json.loads(line)
                else:
                    ways[key.fd].take(os.read(key.fd, _FRAME_BYTES), time.monotonic(), **terms)
            for way in ways.values():
                way.deliver(time.monotonic())


def main() -> None:
    """Make the two interfaces and carry."""
    document = json.loads(sys.argv[1])
    ends = [tap(namespace, name) for namespace, name in document["ends"]]
    print("ready", flush=True)
    carry((ends[0], ends[1]), document["seed"], document["terms"])


if __name__ == "__main__":
    main()
