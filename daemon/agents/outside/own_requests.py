"""What an agent of another maker has before a person, and what was decided of it lately.

Never tells an agent about what another one proposed or asked.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_views import AskDetails, ask_details, list_asks
from daemon.agents.outside.proposal_views import ProposedSet, set_ids, set_of_agent
from store.fold.item import Item
from store.queries.decisions import newest_decisions
from store.snapshot import Snapshot
from syncproto.ids import EntityId

LISTED_MAX = 50
SCANNED_MAX = 500
"""How many decisions of all agents are looked through for those of one."""


class OwnRequests(Struct, frozen=True, kw_only=True):
    """Sets and asks of one agent, the latest first, 50 of each at most. `more`: some are left out."""

    sets: list[ProposedSet]
    asks: list[AskDetails]
    more: bool


def waiting_requests(snapshot: Snapshot, agent: EntityId, now_ms: int) -> OwnRequests:
    """Return what of an agent's proposals and asks waits for a person."""
    items = reversed(snapshot.open_items(now_ms))
    # An open item may be obsolete: then nothing of its set waits.
    waiting = (own for own in own_sets(snapshot, items, agent, now_ms) if own.state == "pending")
    listed = list(islice(waiting, LISTED_MAX + 1))
    asks = list_asks(snapshot, now_ms, waiting=True, agent=agent)
    asks.sort(key=lambda ask: (ask.made_at, ask.ask_id), reverse=True)
    return _within_bounds(listed, asks, more=False)


def decided_requests(snapshot: Snapshot, agent: EntityId, now_ms: int) -> OwnRequests:
    """Return the proposals and asks of an agent on which something was decided last."""
    entries = newest_decisions(snapshot, SCANNED_MAX)
    names = list(dict.fromkeys(entry.item for entry in entries))
    items = (item for name in names if (item := snapshot.item(name)) is not None)
    listed = list(islice(own_sets(snapshot, items, agent, now_ms), LISTED_MAX + 1))
    asks = [
        ask_details(snapshot, ask, now_ms)
        for name in names
        if (ask := read_ask(snapshot, name)) is not None and ask.agent == agent
    ]
    return _within_bounds(listed, asks, more=len(entries) >= SCANNED_MAX)


def own_sets(
    snapshot: Snapshot, items: Iterable[Item], agent: EntityId, now_ms: int
) -> Iterator[ProposedSet]:
    """Return the agent's own sets that propose one of the items, each once, in the order of the items."""
    listed: set[EntityId] = set()
    for item in items:
        for occurrence in item.occurrences:
            change_set = None if occurrence.agent != agent else snapshot.entity(occurrence.change_set)
            if change_set is None:
                continue
            first = set_ids(change_set.text("run_key"), occurrence.task)[0]
            stored = None if first in listed else snapshot.entity(first)
            own = None if stored is None else set_of_agent(snapshot, stored, agent, now_ms)
            listed.add(first)
            if own is not None:
                yield own


def _within_bounds(sets: list[ProposedSet], asks: list[AskDetails], *, more: bool) -> OwnRequests:
    is_cut = more or len(sets) > LISTED_MAX or len(asks) > LISTED_MAX
    return OwnRequests(sets=sets[:LISTED_MAX], asks=asks[:LISTED_MAX], more=is_cut)
