"""The routes of series: what comes again by a rule.

Never decides anything: each names a use case, with the days and the rule read.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.route import CREATED, Route
from daemon.control.use_case_routes import read_query, read_ref, write_body, write_ref, write_ref_body
from daemon.journal import series
from daemon.journal.human_input import HumanInput
from daemon.journal.series import (
    PAGE_MAX,
    NewSeries,
    SeriesDay,
    SeriesEdit,
    SeriesEnd,
    SeriesMove,
    SeriesSplit,
)
from daemon.journal.typed_series import read_typed
from daemon.journal.views.series_view import Series
from store.snapshot import Snapshot
from store.transaction import Transaction


class SeriesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of all of them, or instead of the `removed` ones, the oldest first."""

    removed: bool = False
    after: Annotated[str, Meta(max_length=32, description="The id of the last one of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = PAGE_MAX


def routes(human_input: HumanInput) -> list[Route]:  # noqa: C901 - a function for each route
    """Return the part of the table on series; `human_input` reads what people type."""
    typed, today = human_input, human_input.today

    def add(tx: Transaction, body: NewSeries) -> Series:
        return series.add(tx, read_typed(typed, body), today(), typed.zone_name())

    def edit(tx: Transaction, ref: str, body: SeriesEdit) -> Series:
        return series.edit(tx, ref, read_typed(typed, body), today())

    def skip(tx: Transaction, ref: str, body: SeriesDay) -> Series:
        return series.skip(tx, ref, read_typed(typed, body), today())

    def move(tx: Transaction, ref: str, body: SeriesMove) -> Series:
        return series.move(tx, ref, read_typed(typed, body), today())

    def end(tx: Transaction, ref: str, body: SeriesEnd) -> Series:
        return series.end(tx, ref, read_typed(typed, body), today())

    def split(tx: Transaction, ref: str, body: SeriesSplit) -> Series:
        return series.split(tx, ref, read_typed(typed, body), today())

    def remove(tx: Transaction, ref: str) -> Series:
        return series.show(tx, series.remove(tx, ref), today())

    def restore(tx: Transaction, ref: str) -> Series:
        return series.show(tx, series.restore(tx, ref), today())

    def list_all(snapshot: Snapshot, query: SeriesQuery) -> list[Series]:
        return series.list_series(
            snapshot, today(), removed=query.removed, after=query.after or None, limit=query.limit
        )

    def show(snapshot: Snapshot, ref: str) -> Series:
        return series.show(snapshot, ref, today())

    text, path = "/v1/series", "/v1/series/{ref}"
    return [
        write_body("POST", text, "Add a series", add, Series, NewSeries, status=CREATED),
        read_query(text, "List series", list_all, list[Series], SeriesQuery),
        read_ref(path, "Show a series", show, Series),
        write_ref_body("PATCH", path, "Change a series", edit, Series, SeriesEdit),
        write_ref("DELETE", path, "Take a series out of sight", remove, Series),
        write_ref("POST", f"{path}/restore", "Bring a removed series back", restore, Series),
        write_ref_body("POST", f"{path}/skip", "Leave a day of a series out", skip, Series, SeriesDay),
        write_ref_body(
            "POST", f"{path}/move", "Let one task be due on another day", move, Series, SeriesMove
        ),
        write_ref_body("POST", f"{path}/end", "End a series", end, Series, SeriesEnd),
        write_ref_body("POST", f"{path}/split", "Change a series from a day on", split, Series, SeriesSplit),
    ]
