"""The import contracts of `pyproject.toml`, checked where the tests are.

Never restates them: import-linter reads the one place that they are written in.
"""

import subprocess
import sysconfig
from pathlib import Path

from tests.source import ROOT


def test_imports_go_one_way_and_each_third_party_has_one_owner() -> None:
    linter = Path(sysconfig.get_path("scripts")) / "lint-imports"
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
