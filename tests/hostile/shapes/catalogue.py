"""All shapes, by the module that has them.

Never leaves one out: what a module of shapes defines is sent.
"""

from types import ModuleType

import pytest

from tests.hostile.shape import Shape
from tests.hostile.shapes import chains, frames, journal, proposals, roster, versions

ROOMS = (chains, versions, journal, proposals, roster, frames)


def shapes_of(room: ModuleType) -> list[Shape]:
    """Return the shapes of a module, in its order."""
    return [value for value in vars(room).values() if isinstance(value, Shape)]


def shape_cases(*rooms: ModuleType) -> list[object]:
    """Return the shapes of modules as the cases of a test."""
    return [pytest.param(shape, id=shape.name) for room in rooms for shape in shapes_of(room)]


def all_shapes() -> list[Shape]:
    """Return every hostile shape."""
    return [shape for room in ROOMS for shape in shapes_of(room)]
