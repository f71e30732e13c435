"""The routes by which the API tells about itself: health, its description, the event stream.

Never touches the journal.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from daemon import __version__
from daemon.control.openapi import openapi_document
from daemon.control.route import AsyncHandler, Call, Nothing, ReadHandler, Route, StreamHandler
from daemon.control.routes.events import MEDIA, EventStreams, ExpiringEvent, From, StateEvent
from daemon.journal.views.structures import Event
from daemon.peers.mailboxes.mailbox_state import MailboxActivity
from store.file.errors import DamagedDatabase
from store.snapshot import Snapshot


class Health(Struct, frozen=True):
    """That the daemon runs and reads its store, with its version and the last position of the feed."""

    status: str
    version: str
    feed_end: int


def routes(events: EventStreams, others: Sequence[Route]) -> list[Route]:
    """Return these routes; the description covers them and `others`."""

    async def description(call: Call[Nothing, Nothing]) -> dict[str, Any]:
        del call
        return openapi_document([*own, *others], __version__)

    own = [
        Route("GET", "/healthz", "Say whether the daemon is well", ReadHandler(_health), Health),
        Route("GET", "/v1/openapi.json", "Describe this API", AsyncHandler(description), dict[str, Any]),
        Route(
            "GET",
            "/v1/events",
            "Follow the feed (events named commit), which devices show another state (state), which "
            "proposals and permissions run out within a day (expiring), and what is done in mailboxes "
            "(mailbox); resumes after Last-Event-ID",
            StreamHandler(events.serve, MEDIA, other_responses=(StateEvent, ExpiringEvent, MailboxActivity)),
            Event,
            query=From,
        ),
    ]
    return own


def _health(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> Health:
    del call
    if snapshot.damage is not None:
        # A store that can be read in part is not well: the answer says what to do.
        raise DamagedDatabase(snapshot.damage.sentence)
    return Health("ok", __version__, snapshot.feed_end())
