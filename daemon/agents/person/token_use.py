"""What an agent's runs took of its model: tokens, run by run.

Never estimates: what a model did not count is not here.
"""

from msgspec import Struct

from daemon.timestamps import stamp_utc
from store.snapshot import Snapshot
from syncproto.ids import EntityId

RUNS_READ_MAX = 500


class RunTokens(Struct, frozen=True, kw_only=True):
    """The tokens of one run. `at` is when it ended, ISO 8601 in UTC; `cached` are among those sent."""

    at: str
    model: str
    sent: int
    received: int
    cached: int = 0


def tokens_of_runs(snapshot: Snapshot, agent: EntityId, now_ms: int) -> list[RunTokens]:
    """Return what the newest 500 runs of an agent took, the newest first, none dated later than now."""
    runs = []
    for identifier in snapshot.newest_ids_pointing_at(agent, "agent_usage", RUNS_READ_MAX):
        usage = snapshot.entity(identifier)
        if usage is not None and usage.created is not None:
            sent, received, cached = (usage.value(name) for name in ("input", "output", "cached"))
            runs.append(
                RunTokens(
                    at=stamp_utc(usage.created.ms, now_ms),
                    model=usage.text("model"),
                    sent=sent if type(sent) is int else 0,
                    received=received if type(received) is int else 0,
                    cached=cached if type(cached) is int else 0,
                )
            )
    return runs
