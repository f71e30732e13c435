"""How long work reports its progress to whoever started it.

Never knows who listens, or whether anybody does.
"""

from collections.abc import Callable

ReportProgress = Callable[[str, int, int], None]
"""Called now and then with the stage in plain words ("reading the log"), the position, and the end.

The end is 0 if it is not known."""

_REPORT_EVERY = 500


def report_positions(stage: str, end: int, report: ReportProgress) -> Callable[[int], None]:
    """Return what reports some positions of the feed, the last among them."""

    def report_position(position: int) -> None:
        if position % _REPORT_EVERY == 0 or position == end:
            report(stage, position, end)

    return report_position
