"""What comes before a database is brought to the schema of this version: a copy of it, and time for that.

Never lets a database be changed of which no whole copy is beside it.
"""

from pathlib import Path
from typing import Final

import structlog

from daemon import sd_notify
from store.file import database
from store.upkeep import backup

UPGRADE_WITHIN_S: Final = 3600
"""So long a service manager waits for a start that copies and changes a large database."""

log = structlog.get_logger("daemon")


def keep_copy_before_upgrade(path: Path) -> Path | None:
    """Copy a database of an earlier schema; None if there is nothing to upgrade. Raises StoreError."""
    schema = database.outdated_schema(path)
    if schema is None:
        return None
    sd_notify.notify_systemd(sd_notify.more_time(UPGRADE_WITHIN_S))
    copy = backup.keep_before_upgrade(path, schema)
    log.info("the database is brought to the schema of this version", kept_before=str(copy))
    return copy
