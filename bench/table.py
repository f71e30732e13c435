"""One figure a row: ours, the baseline, their ratio, and the goal; printed and written as JSON.

Never judges: whether a goal is met is for the reader.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement: `ours` and `baseline` in `unit`, and the ratio that the goal is about."""

    name: str
    ours: float
    baseline: float
    unit: str
    baseline_is: str
    goal: str

    @property
    def ratio(self) -> float:
        """Return ours over the baseline."""
        return self.ours / self.baseline


def paired(ours: Callable[[], float], baseline: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Measure the two in turn and return both medians, so that a drifting machine drifts for both."""
    pairs = [(ours(), baseline()) for _ in range(rounds)]
    return median(first for first, _ in pairs), median(other for _, other in pairs)


@dataclass(frozen=True, slots=True)
class Absent:
    """What could not be measured here, and why."""

    name: str
    not_available: str


_HEAD = f"{'figure':<56} {'ours':>13} {'baseline':>13} {'unit':<10} {'ratio':>8}  {'goal':<8} against"


def show(figures: Sequence[Figure | Absent], to: Path) -> None:
    """Print the table and write it beside."""
    print(_HEAD)
    for figure in figures:
        print(_line(figure))
    documents = [asdict(row) | ({"ratio": row.ratio} if isinstance(row, Figure) else {}) for row in figures]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(documents, indent=1) + "\n")


def _line(figure: Figure | Absent) -> str:
    if isinstance(figure, Absent):
        return f"{figure.name:<56} not available: {figure.not_available}"
    return (
        f"{figure.name:<56} {figure.ours:>13,.2f} {figure.baseline:>13,.2f} {figure.unit:<10}"
        f" {figure.ratio:>8.2f}  {figure.goal:<8} {figure.baseline_is}"
    )
