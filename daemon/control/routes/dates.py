"""The route of days, times and lengths in a text: agents ask it, because models reckon days wrongly.

Never reads the journal, so it tells whoever asks nothing of what is in it.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.control.route import Route
from daemon.control.use_case_routes import read_query
from daemon.dates.day_reckoner import TEXT_CHARS_MAX, DatesRead
from daemon.journal.human_input import HumanInput
from store.snapshot import Snapshot


class DatesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A text, and when, where and in which language it is read: now, here, and the person's if left out."""

    text: Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS_MAX)]
    moment: Annotated[str, Meta(max_length=40, description="ISO 8601; without an offset, in the zone.")] = ""
    zone: Annotated[str, Meta(max_length=64, description="As the IANA calls it, such as Europe/Berlin.")] = ""
    language: Literal["en", "de", "es", "fr", "ro"] | None = None


def routes(human_input: HumanInput) -> list[Route]:
    """Return the part of the table on dates; `human_input` knows the time, zone and language here."""

    def show(snapshot: Snapshot, query: DatesQuery) -> DatesRead:
        del snapshot
        return human_input.reckon_days(query.text, query.moment, query.zone, query.language)

    return [read_query("/v1/dates", "Read days, times and lengths in a text", show, DatesRead, DatesQuery)]
