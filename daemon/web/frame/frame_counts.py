"""The numbers of what waits that the frame of every page shows.

Never counted in another way anywhere: what a page has read already, it gives.
"""

from collections.abc import Iterable

from daemon.agents.asks import ask_views
from daemon.agents.deciding.waiting_items import PendingItem, list_waiting_items, waiting_count
from store.snapshot import Snapshot


def frame_counts(items: Iterable[PendingItem], asks: int) -> dict[str, int]:
    """Return the numbers as the template of the frame calls them."""
    return {"waiting_count": waiting_count(items), "asks_count": asks}


def read_frame_counts(snapshot: Snapshot, now_ms: int) -> dict[str, int]:
    """Read and count what waits."""
    return frame_counts(list_waiting_items(snapshot, now_ms), ask_views.count_open_asks(snapshot, now_ms))
