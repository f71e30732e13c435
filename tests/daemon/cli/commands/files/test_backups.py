"""Keeping the journal, as far as no journal is needed for it.

Never writes beside a test's own folder.
"""

from pathlib import Path

from tests.support.commands import Placet


def test_a_backup_onto_a_file_or_into_no_folder_is_refused_before_anything_is_looked_at(
    placet: Placet, tmp_path: Path
):
    path = tmp_path / "elsewhere" / "there"
    path.parent.mkdir()
    path.write_text("mine")
    # There is no journal here, and that is not what is said.
    onto, into = placet("backup", str(path)), placet("backup", str(tmp_path / "none" / "b"))
    assert (onto.status, into.status) == (5, 1)
    assert onto.err == f"placet: {path} exists; add --force to replace it\n"
    assert "b cannot be written: No such file or directory; nothing was kept" in into.err
    assert path.read_text() == "mine"


def test_a_check_of_a_file_that_is_missing_says_what_may_be_named(placet: Placet, tmp_path: Path):
    result = placet("verify", str(tmp_path / "none"))
    assert result.status == 4
    assert result.err.count("\n") == 1
    assert f"there is no backup {tmp_path / 'none'}; name a backup, or no file" in result.err
