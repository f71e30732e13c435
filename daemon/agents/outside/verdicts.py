"""What was decided since an agent of another maker last looked: its sets and asks, as they stand now.

Never tells an agent about what another one proposed or asked.
"""

from msgspec import Struct

from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_views import AskDetails, ask_details
from daemon.agents.outside.proposal_views import ProposedSet, set_ids, set_of_agent
from store.fold.item import Item
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
    sets: dict[EntityId, ProposedSet] = {}
    asks: dict[EntityId, AskDetails] = {}
    for name in dict.fromkeys(entry.item for entry in entries):
        item = snapshot.item(name)
        if item is not None:
            sets |= _sets_of(snapshot, item, agent, now_ms)
        ask = read_ask(snapshot, name)
        if ask is not None and ask.agent == agent:
            asks[name] = ask_details(snapshot, ask, now_ms)
    more = len(entries) >= SCANNED_MAX
    position = entries[-1].seq if more else end
    return Verdicts(sets=list(sets.values()), asks=list(asks.values()), next=position, more=more)


def _sets_of(snapshot: Snapshot, item: Item, agent: EntityId, now_ms: int) -> dict[EntityId, ProposedSet]:
    """Return the agent's own sets that propose an item, by the id of the first change set of each."""
    own = {}
    for occurrence in item.occurrences:
        change_set = None if occurrence.agent != agent else snapshot.entity(occurrence.change_set)
        if change_set is None:
            continue
        first = set_ids(change_set.text("run_key"), occurrence.task)[0]
        stored = snapshot.entity(first)
        listed = None if stored is None else set_of_agent(snapshot, stored, agent, now_ms)
        if listed is not None:
            own[first] = listed
    return own
