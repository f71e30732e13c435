"""Where a timeline is drawn: a lane for each device, and a track for each line between rows.

Never knows what a row says. Each row is drawn by itself, so that it can be as high as its words.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

LANES_MAX: Final = 6
"""Devices beyond these share the last lane."""
TRACKS_MAX: Final = 4
"""Lines beyond these at the same height are not drawn: their words say the same."""
_STEP: Final = 16
_MARGIN: Final = 10


class Edge(NamedTuple):
    """A line between two rows: `upper` is the one further up. `kind` is how it is drawn."""

    upper: int
    lower: int
    kind: str


class Segment(NamedTuple):
    """A piece of a line in one row, in which it begins, ends, or passes by."""

    x: int
    begins: bool
    ends: bool
    kind: str


class Row(NamedTuple):
    """One row: the dot's place, and the pieces of the lines that begin, end, or pass by."""

    dot_x: int
    segments: list[Segment]


class Drawing(NamedTuple):
    """All rows, the places of the lanes, and how wide it is, in pixels."""

    width: int
    lanes: list[int]
    rows: list[Row]


def draw(lanes: Sequence[int], edges: Sequence[Edge]) -> Drawing:
    """Return the drawing of rows that are in these lanes, counted from 0, with these lines between them."""
    count = min(max(lanes, default=-1) + 1, LANES_MAX)
    places = [_MARGIN + _STEP * lane for lane in range(count)]
    tracks = _tracks(edges)
    width = _MARGIN * 2 + _STEP * (
        max(count - 1, 0) + max((track + 1 for track in tracks.values()), default=0)
    )
    rows = [Row(places[min(lane, LANES_MAX - 1)], []) for lane in lanes]
    for edge, track in tracks.items():
        x = _MARGIN + _STEP * (count + track)
        for index in range(edge.upper, edge.lower + 1):
            rows[index].segments.append(Segment(x, index == edge.upper, index == edge.lower, edge.kind))
    return Drawing(width, places, rows)


def _tracks(edges: Sequence[Edge]) -> dict[Edge, int]:
    """Give each line the first track that is free at its height; leave out those that find none."""
    tracks: dict[Edge, int] = {}
    ends = [-1] * TRACKS_MAX
    for edge in sorted(set(edges)):
        track = next((track for track, end in enumerate(ends) if end < edge.upper), None)
        if track is not None and edge.upper < edge.lower:
            tracks[edge], ends[track] = track, edge.lower
    return tracks
