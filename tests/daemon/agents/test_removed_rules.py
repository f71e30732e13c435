"""The rows of `removed_rules.py` still fit the tree, so that `make teeth` can take each rule away.

Never takes a rule away itself: `teeth.py` does, in a copy.
"""

import ast
from pathlib import Path

from tests.daemon.agents.removed_rules import TABLE
from tests.support.all_failures import all_failures

ROOT = Path(__file__).parents[3]


def test_a_rule_that_is_taken_away_is_found_once_and_leaves_a_program() -> None:
    with all_failures() as case:
        for removed in TABLE:
            with case(removed.rule):
                source = (ROOT / removed.file).read_text("utf-8")
                assert source.count(removed.before) == 1, removed.file
                ast.parse(source.replace(removed.before, removed.after))
                assert not removed.proof or (ROOT / removed.proof).is_file()
