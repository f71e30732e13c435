"""The import contracts of `pyproject.toml`, checked where the tests are.

Never restates them: import-linter reads the one place that they are written in.
"""

import subprocess
import sysconfig
from pathlib import Path

from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT


def test_imports_go_one_way_and_each_third_party_has_one_owner() -> None:
    linter = Path(sysconfig.get_path("scripts")) / "lint-imports"
    result = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
