"""Keeping the journal, as far as no journal is needed for it.

Never writes beside a test's own folder.
"""

from pathlib import Path

from tests.daemon.cli.conftest import Placet


def test_a_backup_onto_a_file_or_into_no_folder_is_refused_before_anything_is_looked_at(
    placet: Placet, tmp_path: Path
):
    there = tmp_path / "elsewhere" / "there"
    there.parent.mkdir()
    there.write_text("mine")
    # There is no journal here, and that is not what is said.
    onto, into = placet("backup", str(there)), placet("backup", str(tmp_path / "none" / "b"))
    assert (onto.status, into.status) == (5, 1)
    assert onto.err == f"placet: {there} exists; add --force to replace it\n"
    assert "b cannot be written: No such file or directory; nothing was kept" in into.err
    assert there.read_text() == "mine"


def test_a_check_of_a_file_that_is_missing_says_what_may_be_named(placet: Placet, tmp_path: Path):
    done = placet("verify", str(tmp_path / "none"))
    assert done.status == 4
    assert done.err.count("\n") == 1
    assert f"there is no backup {tmp_path / 'none'}; name a backup, or no file" in done.err
