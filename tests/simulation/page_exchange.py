"""Pages between two devices, as links bring them: what a peer lacks by its vector, cut at a size.

Never decides who talks to whom, and never passes on what a store would not serve.
"""

from collections.abc import Sequence
from typing import Protocol

from store.store import Store
from store.transaction import AcceptedPage
from syncproto.commit import SignedCommit
from syncproto.vector_clock import VectorClock
from tests.simulation.device import SimulatedDevice


class PageReceiver(Protocol):
    """A device, as far as a link knows it."""

    @property
    def store(self) -> Store: ...
    def take(self, page: Sequence[SignedCommit]) -> AcceptedPage: ...


def take_pages(
    device: PageReceiver, peer: PageReceiver, vector: VectorClock, page_bytes: int, pages: int
) -> int:
    """Accept at most so many pages of what a peer has beyond a vector; return how many commits were new."""
    took, after = 0, 0
    with peer.store.read() as feed:
        for _ in range(pages):
            page = feed.page_lacking(vector, after, page_bytes)
            if not page.commits:
                break
            took += device.take(page.commits).new_commits
            after = page.end
    return took


def pages_for(device: SimulatedDevice, peer: SimulatedDevice, page_bytes: int) -> list[list[SignedCommit]]:
    """Return all the pages that a peer would send to a device that has said its vector just now."""
    with device.store.read() as snapshot:
        vector = snapshot.vector()
    pages: list[list[SignedCommit]] = []
    after = 0
    with peer.store.read() as feed:
        while True:
            page = feed.page_lacking(vector, after, page_bytes)
            if not page.commits:
                return pages
            pages.append(page.commits)
            after = page.end
