"""Shapes of the log: each costs in proportion to its bytes, and the two honest devices go on agreeing.

Never asks how long anything takes.
"""

import pytest

from tests.hostile.proportion import Proportion
from tests.hostile.shape import Shape
from tests.hostile.shapes import chains
from tests.hostile.shapes.catalogue import shape_cases

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.mark.parametrize("shape", shape_cases(chains))
def test_a_shape_of_the_log_costs_in_proportion_to_its_bytes(shape: Shape, proportion: Proportion):
    proportion.assert_linear(shape)
