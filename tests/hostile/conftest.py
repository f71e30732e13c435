"""The pair of devices that the shapes of one module attack in turn."""

from collections.abc import Iterator

import pytest

from tests.hostile.attacked_pair import attacked_pair
from tests.hostile.proportion import Proportion


@pytest.fixture(scope="module")
def proportion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proportion]:
    """Return two paired devices, a member that attacks them, and what an honest journal costs them."""
    with attacked_pair(tmp_path_factory.mktemp("hostile")) as pair:
        proportion = Proportion(pair)
        yield proportion
        pair.write_on_each()
        pair.remove_member()
