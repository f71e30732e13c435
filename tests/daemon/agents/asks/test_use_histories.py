"""No permission is used twice in histories with partitions, crashes, restores and copies.

`make uses` lives through a million of them.
"""

from daemon.agents.asks.use_rule import UseResult
from tests.daemon.agents.asks.use_histories import live_through

HISTORIES = 4000


def test_no_yes_is_used_twice_whatever_happens_to_the_home_device():
    acts, results = live_through(HISTORIES)
    assert acts > HISTORIES / 20
    assert results == set(UseResult)
