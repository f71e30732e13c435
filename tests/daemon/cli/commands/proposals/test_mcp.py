"""`placet mcp` without its SDK, and without a name.

Never starts the door: tests/e2e/programs/test_mcp.py does.
"""

from pathlib import Path

from tests.support.commands import Placet
from tests.support.source_tree import ROOT


def test_without_the_sdk_it_says_what_to_install(placet: Placet, tmp_path: Path):
    (tmp_path / "mcp_types.py").write_text("raise ModuleNotFoundError(name='mcp_types')\n")
    result = placet("mcp", "--as", "Claude", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert result.status == 1
    assert "mcp_types is not installed" in result.err
    assert "extra mcp" in result.err


def test_a_name_is_needed(placet: Placet):
    assert placet("mcp").status == 2
