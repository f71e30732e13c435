"""A backup of the journal to be sent: a copy beside it without a name, so that it is gone once it is closed.

Never contains the key of the device.
"""

from pathlib import Path
from typing import BinaryIO, Final

from daemon.disk import DiskFloor
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.upkeep.backup import backup_bytes_max, write_backup

COPY: Final = ".download.backup"


def open_copy(database: Path, floor: DiskFloor) -> BinaryIO:
    """Copy a database, and return the copy, open to be read. Raises Refused if there is no room for it."""
    if (shortfall := floor.shortfall()) is not None:
        raise Refused(RefusalCode.DISK, shortfall)
    needed = backup_bytes_max(database)
    if floor.free_bytes() < needed:
        mib = -(-needed >> 20)
        raise Refused(
            RefusalCode.DISK,
            sentence("backup-needs-space", "a backup needs {mib} MiB of free space meanwhile", mib=mib),
        )
    copy = database.with_name(COPY)
    write_backup(database, copy, _report_nothing)
    try:
        return copy.open("rb")
    finally:
        copy.unlink()


def _report_nothing(stage: str, position: int, end: int) -> None:
    del stage, position, end
