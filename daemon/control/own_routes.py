"""The routes by which the API tells about itself: health, its description, the event stream.

Never touches the journal.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from daemon import __version__
from daemon.control.events import MEDIA, Events, From, StateEvent
from daemon.control.openapi import describe
from daemon.control.routes import Asks, Call, Nothing, Reads, Route, Streams
from daemon.journal.views import Event
from store.snapshot import Snapshot


class Health(Struct, frozen=True):
    """An answer at all means that the daemon runs and reads its store."""

    status: str
    version: str
    feed_end: int


def routes(events: Events, others: Sequence[Route]) -> list[Route]:
    """Return these routes; the description covers them and `others`."""

    async def description(call: Call[Nothing, Nothing]) -> dict[str, Any]:
        del call
        return describe([*own, *others], __version__)

    own = [
        Route("GET", "/healthz", "Say whether the daemon is well", Reads(_health), Health),
        Route("GET", "/v1/openapi.json", "Describe this API", Asks(description), dict[str, Any]),
        Route(
            "GET",
            "/v1/events",
            "Follow the feed (events named commit), and which devices show another state (state); "
            "resumes after Last-Event-ID",
            Streams(events.stream, MEDIA, also=StateEvent),
            Event,
            query=From,
        ),
    ]
    return own


def _health(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> Health:
    del call
    return Health("ok", __version__, snapshot.feed_end())
