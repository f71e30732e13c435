"""What waits for a person, read for the pages that show it, and the rows of its cards.

Never reads the evidence of what is not shown.
"""

from collections.abc import Sequence
from typing import NamedTuple

from daemon.agents.asks import ask_views
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.deciding.waiting_items import PendingItem
from daemon.agents.person import inbox
from daemon.web.decide.ask_rows import AskRow, ask_row
from daemon.web.decide.item_rows import Card, card_of
from daemon.web.frame.frame_counts import frame_counts
from store.snapshot import Snapshot


class Waiting(NamedTuple):
    """All that waits: cards of proposals, and asks."""

    cards: list[inbox.InboxCard]
    asks: list[AskDetails]

    @property
    def items(self) -> list[PendingItem]:
        """Return the proposals of all cards."""
        return [item for card in self.cards for item in card.items]

    def counts(self) -> dict[str, int]:
        """Return the numbers that the frame of the page shows."""
        return frame_counts(self.items, len(self.asks))


def read_waiting(snapshot: Snapshot, now_ms: int, open_per_day: int) -> Waiting:
    """Read all that waits."""
    cards = inbox.list_cards(snapshot, now_ms, open_per_day=open_per_day)
    asks = ask_views.list_asks(snapshot, now_ms, waiting=True)
    return Waiting(cards, asks)


def rows_with_evidence(
    snapshot: Snapshot, entries: Sequence[inbox.InboxCard | AskDetails], now_s: float
) -> list[Card | AskRow]:
    """Return what is shown as rows, with what the notes say of it."""
    cards = [entry for entry in entries if isinstance(entry, inbox.InboxCard)]
    read_cards = iter(inbox.with_evidence(snapshot, cards))
    own_device = snapshot.device.hex()
    return [
        ask_row(entry, own_device, now_s)
        if isinstance(entry, AskDetails)
        else card_of(next(read_cards), now_s)
        for entry in entries
    ]
