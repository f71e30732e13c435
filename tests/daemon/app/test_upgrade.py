"""A database of every earlier schema is copied before it is brought to that of this version.

Never needs a daemon: what one does first is called by itself.
"""

from pathlib import Path

import apsw
import pytest

from daemon.app.upgrade import keep_copy_before_upgrade
from store.file import database
from store.file.database import SchemaRule
from store.file.errors import DiskFull
from tests.support.small_disk import small_disk

STEPS = database._steps()
NUMBERS = [number for number, _ in STEPS]


def older_file(path: Path, count: int) -> Path:
    """Make a database as the version had it whose newest migration is the one of this place."""
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(database, "_steps", lambda: STEPS[:count])
        connection = database.connect(path, SchemaRule.CREATED)
    connection.execute("INSERT INTO watermark VALUES ('page', 7)")
    connection.close()
    return path


def content(path: Path) -> tuple[list[int], list[int]]:
    """Return the migrations of a file, and what it held before."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        numbers = connection.execute("SELECT number FROM migration ORDER BY number")
        kept = connection.execute("SELECT * FROM watermark").fetchall()
        return [int(str(number)) for (number,) in numbers], [int(str(row[-1])) for row in kept]
    finally:
        connection.close()


def test_a_database_of_every_earlier_schema_is_kept_as_it_was_and_upgraded(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for count in range(1, len(STEPS)):
        with subtests.test(newest=NUMBERS[count - 1]):
            folder = tmp_path / str(count)
            folder.mkdir()
            path = older_file(folder / "placet.db", count)
            copy = keep_copy_before_upgrade(path)
            assert copy == folder / f"placet.db.schema-{NUMBERS[count - 1]:04}"
            database.connect(path, SchemaRule.MIGRATED).close()
            assert content(copy) == (NUMBERS[:count], [7])
            assert content(path) == (NUMBERS, [7])
            assert copy.stat().st_mode & 0o777 == 0o600
            assert keep_copy_before_upgrade(path) is None


def test_the_copy_of_an_earlier_upgrade_makes_room(tmp_path: Path) -> None:
    earlier = tmp_path / "placet.db.schema-0001"
    earlier.write_bytes(b"earlier")
    copy = keep_copy_before_upgrade(older_file(tmp_path / "placet.db", 3))
    assert [file.name for file in tmp_path.glob("*.schema-*")] == [copy.name if copy else ""]


def test_without_room_for_the_copy_nothing_is_upgraded_and_nothing_half_stays(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", 2) as disk:
        path = older_file(disk.path / "placet.db", 3)
        before = path.read_bytes()
        disk.fill(leave_bytes=8192)
        with pytest.raises(DiskFull):
            keep_copy_before_upgrade(path)
        assert path.read_bytes() == before
        assert not [file for file in disk.path.iterdir() if "schema" in file.name]


def test_a_new_an_empty_and_a_foreign_file_are_no_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    assert keep_copy_before_upgrade(path) is None
    assert not path.exists()
    path.touch()
    assert keep_copy_before_upgrade(path) is None
    path.write_text("no database at all " * 99)
    assert keep_copy_before_upgrade(path) is None
