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
    return median(one for one, _ in pairs), median(other for _, other in pairs)


def show(figures: Sequence[Figure], to: Path) -> None:
    """Print the table and write it beside."""
    for figure in figures:
        print(
            f"{figure.name:<44} {figure.ours:>12,.2f} {figure.baseline:>12,.2f} {figure.unit:<10}"
            f" ratio {figure.ratio:>6.2f}   goal {figure.goal}   (against {figure.baseline_is})"
        )
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps([{**asdict(one), "ratio": one.ratio} for one in figures], indent=1) + "\n")
