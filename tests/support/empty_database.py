"""An empty database of this version, made once by the migrations and copied for each store of a test.

Never lies where a file is: a test of how databases are made, refused or leased opens its path by itself.
"""

import tempfile
from functools import cache
from pathlib import Path

from store.file import database
from store.file.database import SchemaRule


@cache
def _content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        database.connect(path, SchemaRule.CREATED).close()
        return path.read_bytes()


def lay_empty_database(path: Path) -> Path:
    """Return the path, with an empty database there if there is no file.

    To run the migrations is two thirds of what a new store costs.
    """
    if not path.exists():
        path.write_bytes(_content())
    return path
