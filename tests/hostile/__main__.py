"""`make hostile`: every shape, sent to real daemons, beside an honest journal of the same size.

HOSTILE="MIB NAME ..." changes how much is sent, and which shapes; JOBS how many pairs of daemons run at once.
If all shapes are sent, the table is written. Never sends more
than a few shapes to one pair: each makes its journal longer.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hostile.attacked_pair import AttackedPair, attacked_pair
from tests.hostile.costs import MIB, READINGS, TAKE, Costs, Measured, cost_of_taking, costs_of_reading
from tests.hostile.figures import FIGURES, Row, header, line, page
from tests.hostile.member_link import LinkEnded
from tests.hostile.shape import Shape
from tests.hostile.shapes.catalogue import all_shapes
from tests.hostile.shapes.honest import honest

SHAPES_OF_A_PAIR = 4


def measure(pair: AttackedPair, shape: Shape, size: int, before: Costs) -> tuple[Row, Costs]:
    """Send a shape; return what it cost and what went wrong, and what it costs to read from now on."""
    measured, after, fault = Measured(0, {}), before, ""
    try:
        sent_bytes, take = cost_of_taking(pair, shape, size)
        after = costs_of_reading(pair, READINGS)
        reading = {phase: after[phase] - before[phase] for phase in READINGS}
        measured = Measured(sent_bytes, {TAKE: take, **reading})
        pair.write_on_each()
    except (AssertionError, LinkEnded) as end:
        fault = str(end).splitlines()[0][:300]
    return Row(shape, measured, fault), after


def rows_of_a_pair(shapes: list[Shape], size: int) -> Iterator[Row]:
    """Send shapes to a pair of daemons, up to the first that stops it; at the end it removes the member."""
    waiting = list(shapes)
    while waiting:
        with tempfile.TemporaryDirectory() as folder, attacked_pair(Path(folder)) as pair:
            costs_of_reading(pair, READINGS)  # a daemon imports much at its first answer
            before = costs_of_reading(pair, READINGS)
            while waiting:
                row, before = measure(pair, waiting.pop(0), size, before)
                if not waiting and not row.fault:
                    row = row.with_fault_of(pair.remove_member)
                yield row
                if row.fault:
                    break


def main(words: list[str]) -> int:
    """Measure and print; return the exit status."""
    mib, names = float(words[0]) if words else 1.0, words[1:]
    shapes = [shape for shape in all_shapes() if not names or shape.name in names]
    assert shapes, f"no shape has any of these names: {names}"
    size = int(mib * MIB)
    print(header(), flush=True)
    (honest_row,) = rows_of_a_pair([honest], size)
    print(line(honest_row, honest_row), flush=True)
    groups = [shapes[begin : begin + SHAPES_OF_A_PAIR] for begin in range(0, len(shapes), SHAPES_OF_A_PAIR)]

    def print_rows(group: list[Shape]) -> list[Row]:
        rows = []
        for row in rows_of_a_pair(group, size):
            print(line(row, honest_row), flush=True)
            rows.append(row)
        return rows

    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as jobs:
        rows = [row for group_rows in jobs.map(print_rows, groups) for row in group_rows]
    if not names:
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(page(rows, honest_row, mib))
    return any(row.fault for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
