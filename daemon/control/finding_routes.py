"""The routes by which tasks are found: lists a line each, and full-text search.

Never decides anything: each names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.routes import Call, Nothing, Reads, Route
from daemon.journal import listing, search
from daemon.journal.filters import Filter, wanted
from daemon.journal.listing import TaskLine
from daemon.journal.search import Found
from daemon.journal.typed import Typed
from store.snapshot import Snapshot

QUERY_CHARS_MAX = 1000


class Page(Filter, frozen=True, forbid_unknown_fields=True):
    """Which tasks: open ones, `all`, or instead the `removed` ones; a page of them, in order of making."""

    all: bool = False
    removed: bool = False
    after: Annotated[str, Meta(max_length=32, description="The id of the last task of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=listing.PAGE_MAX)] = listing.PAGE_MAX


class SearchQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words, "phrases in quotes" and -excluded words; `removed` looks among what was removed too."""

    q: Annotated[str, Meta(max_length=QUERY_CHARS_MAX)]
    limit: Annotated[int, Meta(ge=1, le=search.LIMIT_MAX)] = search.LIMIT_DEFAULT
    after: Annotated[int, Meta(ge=0, le=1_000_000_000, description="The `next` of the page before.")] = 0
    removed: bool = False


def routes(typed: Typed) -> list[Route]:
    """Return the part of the table for lists and search; `typed` reads the days that people type."""

    def lines(snapshot: Snapshot, call: Call[Nothing, Page]) -> list[TaskLine]:
        asked = call.query
        return listing.lines(
            snapshot,
            closed=asked.all,
            removed=asked.removed,
            after=asked.after or None,
            limit=asked.limit,
            wanted=wanted(snapshot, asked, typed.due),
        )

    return [
        Route("GET", "/v1/task-lines", "List tasks, a line each", Reads(lines), list[TaskLine], query=Page),
        Route("GET", "/v1/search", "Find tasks by words", Reads(_search), Found, query=SearchQuery),
    ]


def _search(snapshot: Snapshot, call: Call[Nothing, SearchQuery]) -> Found:
    asked = call.query
    return search.search(snapshot, asked.q, removed=asked.removed, after=asked.after, limit=asked.limit)
