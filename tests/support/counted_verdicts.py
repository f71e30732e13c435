"""The status that decisions on an item come to, as a store counts them: one after the other, in its tables.

Never writes to a file.
"""

from collections.abc import Iterable
from functools import cache
from itertools import count

import apsw

from store.file import database
from store.fold import proposal_index
from store.fold.proposal_index import ParsedDecision
from store.fold.tallies import VerdictTallies
from store.fold.verdicts import ItemStatus, Opinion
from tests.support.stores import entity_id

_numbers = count(1)


@cache
def empty_tables() -> apsw.Connection:
    """Open tables of a store in memory, without a log: each item there is used once."""
    return database.open_temporary()


def counted_status(opinions: Iterable[Opinion]) -> ItemStatus:
    """Count the decisions on one item in the order given, and write the tally between any two."""
    db, item = empty_tables(), entity_id(next(_numbers))
    tallies = VerdictTallies(db)
    for seq, opinion in enumerate(opinions):
        tallies.add_opinion(item, opinion)
        proposal_index.record_decision(db, ParsedDecision(item, opinion), seq)
        for decided, status in tallies.write():
            assert status is not None
            proposal_index.write_item_status(db, decided, status, proposal_index.NEVER_EXPIRES_MS)
    return proposal_index.read_item_status(db, item)
