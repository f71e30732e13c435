"""The table of `make hostile`: a row for each shape, and its ratio to an honest journal of the same size.

Never measures anything.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tests.hostile.costs import MIB, PHASES, Cost, Measured
from tests.hostile.shape import Shape
from tests.support.source_tree import ROOT

FIGURES = ROOT / "bench" / "results" / "hostile.txt"
"""What the last whole run wrote; git ignores it."""
_NAME_CHARS = 32


@dataclass(frozen=True, slots=True)
class Row:
    """A shape, what it cost, and how it kept honest devices from going on, if it did."""

    shape: Shape
    measured: Measured
    fault: str = ""

    @property
    def per_mib(self) -> Cost:
        """Return the cost of all phases for each MiB that was sent."""
        return self.measured.total.per_mib(self.measured.sent_bytes)

    def with_fault_of(self, act: Callable[[], None]) -> "Row":
        """Return the row, with the fault of something that must be possible after it."""
        try:
            act()
        except AssertionError as fault:
            return replace(self, fault=str(fault).splitlines()[0])
        return self

    def ratio(self, honest: "Row") -> float:
        """Return how many times as much of the processor it takes as an honest journal."""
        return self.per_mib.processor_s / honest.per_mib.processor_s

    def memory_ratio(self, honest: "Row") -> float:
        """Return how many times as much memory it takes as an honest journal."""
        return self.per_mib.memory_mib / honest.per_mib.memory_mib


def header() -> str:
    """Return the head of the printed table."""
    columns = "".join(f"{phase:>9}" for phase in PHASES)
    sums = f"{'all':>9}{'ratio':>7}{'MiB':>7}{'ratio':>7}"
    return f"{'seconds, MiB for each MiB sent':{_NAME_CHARS}}{columns}{sums}"


def line(row: Row, honest: Row) -> str:
    """Return one line of the printed table."""
    if not row.measured.costs:
        return f"{row.shape.name:{_NAME_CHARS}} FAULT {row.fault}"
    fault = f"  FAULT {row.fault}" if row.fault else ""
    phases = "".join(f"{seconds:9.2f}" for seconds in _seconds(row))
    memory = f"{row.per_mib.memory_mib:7.0f}{row.memory_ratio(honest):7.1f}"
    total = f"{row.per_mib.processor_s:9.2f}{row.ratio(honest):7.1f}"
    return f"{row.shape.name:{_NAME_CHARS}}{phases}{total}{memory}{fault}"


def page(rows: Iterable[Row], honest: Row, mib: float) -> str:
    """Return the page that the repository keeps."""
    ordered = sorted(rows, key=lambda row: -row.ratio(honest) if row.measured.costs else 0)
    ordered = [row for row in ordered if row.measured.costs]
    cells = [_cells(row, honest) for row in [honest, *ordered]]
    return "\n".join(
        [
            "# What hostile shapes cost",
            "",
            f"`make hostile` wrote this. About {mib:g} MiB of each shape was sent to two daemons.",
            "Seconds are those of the processor, of both daemons and of the commands, for each MiB sent. MiB",
            "is how much memory grew, for each MiB sent. Ratios are to the honest journal.",
            "",
            "| shape | take | show | export | verify | all | ratio | MiB | ratio |",
            "|---|---|---|---|---|---|---|---|---|",
            *cells,
            "",
        ]
    )


def _cells(row: Row, honest: Row) -> str:
    seconds = [f"{value:.2f}" for value in (*_seconds(row), row.per_mib.processor_s)]
    memory = [f"{row.per_mib.memory_mib:.0f}", f"{row.memory_ratio(honest):.1f}"]
    name = f"{row.shape.name}: {row.shape.attack}"
    return f"| {' | '.join([name, *seconds, f'{row.ratio(honest):.1f}', *memory])} |"


def _seconds(row: Row) -> list[float]:
    return [row.measured.costs[phase].processor_s * MIB / row.measured.sent_bytes for phase in PHASES]
