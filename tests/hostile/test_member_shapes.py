"""Shapes of agents, the roster and frames: each costs in proportion to its bytes; honest devices still agree.

Never asks how long anything takes.
"""

import pytest

from tests.hostile.proportion import Proportion
from tests.hostile.shape import Shape
from tests.hostile.shapes import frames, proposals, roster
from tests.hostile.shapes.catalogue import shape_cases

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.mark.parametrize("shape", shape_cases(frames, proposals, roster))
def test_a_shape_of_a_member_costs_in_proportion_to_its_bytes(shape: Shape, proportion: Proportion):
    proportion.assert_linear(shape)
