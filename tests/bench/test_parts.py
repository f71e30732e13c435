"""A part of the figures that breaks off costs its own figures, and those of no other part.

Never measures anything.
"""

from bench.__main__ import measured
from bench.table import Absent, Figure


def test_a_part_that_breaks_off_is_named_and_the_others_are_measured() -> None:
    figure = Figure("one", 1.0, 1.0, "ms", "another", "<= 2")

    def broken(quick: bool) -> list[Figure | Absent]:
        raise RuntimeError(f"quick: {quick}")

    figures, failed = measured({"first": broken, "second": lambda _quick: [figure]}, quick=True)
    assert failed == ["first"]
    assert figures == [Absent("first", "this part broke off, see above"), figure]
