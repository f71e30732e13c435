"""Pages between two devices, as links bring them: what a peer lacks by its vector, cut at a size.

Never decides who talks to whom, and never passes on what a store would not serve.
"""

from collections.abc import Sequence
from typing import Protocol

from store.store import Store
from store.transaction import Taken
from syncproto.commit import SignedCommit
from syncproto.heads import Clock
from tests.simulation.device import Device


class Linked(Protocol):
    """A device, as far as a link knows it."""

    @property
    def store(self) -> Store: ...
    def take(self, page: Sequence[SignedCommit]) -> Taken: ...


def take_pages(device: Linked, peer: Linked, vector: Clock, page_bytes: int, pages: int) -> int:
    """Take up to so many pages of what a peer holds beyond a vector; return how many commits were new."""
    took, after = 0, 0
    with peer.store.read() as feed:
        for _ in range(pages):
            page = feed.page(vector, after, page_bytes)
            if not page.commits:
                break
            took += device.take(page.commits).new
            after = page.end
    return took


def plan(device: Device, peer: Device, page_bytes: int) -> list[list[SignedCommit]]:
    """Return all the pages that a peer would send to a device that has said its vector just now."""
    with device.store.read() as snapshot:
        vector = snapshot.vector()
    pages: list[list[SignedCommit]] = []
    after = 0
    with peer.store.read() as feed:
        while True:
            page = feed.page(vector, after, page_bytes)
            if not page.commits:
                return pages
            pages.append(page.commits)
            after = page.end
