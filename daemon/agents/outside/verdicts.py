"""What was decided since an agent of another maker last looked: its sets and asks, as they stand now.

Never tells an agent about what another one proposed or asked.
"""

from msgspec import Struct

from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_views import AskDetails, ask_details
from daemon.agents.outside.own_requests import own_sets
from daemon.agents.outside.proposal_views import ProposedSet
from store.queries.decisions import decisions_after
from store.snapshot import Snapshot
from syncproto.ids import EntityId

SCANNED_MAX = 500
"""How many decisions of all agents one answer looks through; `next` goes on behind them."""


class Verdicts(Struct, frozen=True, kw_only=True):
    """The sets and asks on which something was decided or taken back, each once, as they stand now.

    Given as `after`, `next` asks for what comes later. `more` is true if there is some of it already.
    """

    sets: list[ProposedSet]
    asks: list[AskDetails]
    next: int
    more: bool = False


def verdicts_after(snapshot: Snapshot, agent: EntityId, after: int, now_ms: int) -> Verdicts:
    """Return what was decided on an agent's proposals and asks after a feed position.

    A position beyond the end of the feed is one of a journal before it was put back: it begins anew.
    """
    end = snapshot.feed_end()
    after = 0 if after > end else after
    entries = decisions_after(snapshot, after, SCANNED_MAX)
    names = list(dict.fromkeys(entry.item for entry in entries))
    items = (item for name in names if (item := snapshot.item(name)) is not None)
    asks = [
        ask_details(snapshot, ask, now_ms)
        for name in names
        if (ask := read_ask(snapshot, name)) is not None and ask.agent == agent
    ]
    more = len(entries) >= SCANNED_MAX
    position = entries[-1].seq if more else end
    sets = list(own_sets(snapshot, items, agent, now_ms))
    return Verdicts(sets=sets, asks=asks, next=position, more=more)
