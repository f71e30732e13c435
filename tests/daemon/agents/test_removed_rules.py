"""The rows of `removed_rules.py` still fit the tree, so that `make teeth` can take each rule away.

Never takes a rule away itself: `teeth.py` does, in a copy.
"""

import ast
from pathlib import Path

import pytest

from tests.daemon.agents.removed_needs import Removed
from tests.daemon.agents.removed_rules import TABLE

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("removed", TABLE, ids=lambda removed: removed.rule)
def test_a_rule_that_is_taken_away_is_found_once_and_leaves_a_program(removed: Removed) -> None:
    source = (ROOT / removed.file).read_text("utf-8")
    assert source.count(removed.before) == 1, removed.file
    ast.parse(source.replace(removed.before, removed.after))
    assert not removed.proof or (ROOT / removed.proof).is_file()
