"""The rows of `removed_rules.py` still fit the tree, so that `make teeth` can take each rule away.

Never takes a rule away itself: `teeth.py` does, in a copy.
"""

import ast
from pathlib import Path

import pytest

from tests.daemon.agents.removed_rules import TABLE

ROOT = Path(__file__).parents[3]


def test_a_rule_that_is_taken_away_is_found_once_and_leaves_a_program(subtests: pytest.Subtests) -> None:
    for removed in TABLE:
        with subtests.test(removed.rule):
            source = (ROOT / removed.file).read_text("utf-8")
            assert source.count(removed.before) == 1, removed.file
            ast.parse(source.replace(removed.before, removed.after))
            assert not removed.proof or (ROOT / removed.proof).is_file()
