"""`make hostile`: every shape, sent to a fresh pair of daemons, beside an honest journal of the same size.

HOSTILE="MIB NAME ..." changes how much is sent, and which shapes. If all are sent, the table is written.
"""

import sys
import tempfile
from pathlib import Path

from tests.hostile.attacked_pair import attacked_pair
from tests.hostile.costs import MIB, READINGS, Measured, cost_of_taking, costs_of_reading
from tests.hostile.figures import FIGURES, Row, header, line, page
from tests.hostile.member_link import LinkEnded
from tests.hostile.shape import Shape
from tests.hostile.shapes.catalogue import all_shapes
from tests.hostile.shapes.honest import honest


def measure(shape: Shape, size: int) -> Row:
    """Send a shape to a fresh pair; return what it cost, and what went wrong."""
    measured, fault = Measured(0, {}), ""
    with tempfile.TemporaryDirectory() as folder, attacked_pair(Path(folder)) as pair:
        costs_of_reading(pair, READINGS)  # a daemon imports much at its first answer
        before = costs_of_reading(pair, READINGS)
        try:
            sent_bytes, take = cost_of_taking(pair, shape, size)
            after = costs_of_reading(pair, READINGS)
            reading = {phase: after[phase] - before[phase] for phase in READINGS}
            measured = Measured(sent_bytes, {"take": take, **reading})
            pair.write_on_each()
            pair.remove_member()
        except (AssertionError, LinkEnded) as end:
            fault = str(end).splitlines()[0][:300]
    return Row(shape, measured, fault)


def main(words: list[str]) -> int:
    """Measure and print; return the exit status."""
    mib, names = float(words[0]) if words else 1.0, words[1:]
    shapes = [shape for shape in all_shapes() if not names or shape.name in names]
    assert shapes, f"no shape has any of these names: {names}"
    size = int(mib * MIB)
    print(header(), flush=True)
    honest_row = measure(honest, size)
    print(line(honest_row, honest_row), flush=True)
    rows = []
    for shape in shapes:
        rows.append(measure(shape, size))
        print(line(rows[-1], honest_row), flush=True)
    if not names:
        FIGURES.write_text(page(rows, honest_row, mib))
    return any(row.fault for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
