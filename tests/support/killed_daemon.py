"""The `placet` command on a machine that dies: from a commit on, the n-th thing that is asked of it kills it.

Never stands in for a part of the daemon: `fault_points.py` says what is counted. A file that contains the
number makes the next commit the first thing; without the file nothing happens.
"""

import os
from pathlib import Path
from typing import Any

import apsw

from daemon.cli.main import main
from tests.support.fault_points import FaultPoints, kill

KILL_AT = "KILL_AT_POINT"


class CommitFaultPoints(FaultPoints):
    """Fault points that are counted from a commit on, while the file is there."""

    def __init__(self, file: Path) -> None:
        self._file = file
        super().__init__(0, kill, statements=True)

    def _trace(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, self._see)

    def _see(self, event: dict[str, Any]) -> None:
        if event["sql"] == "COMMIT" and not self.counting and self._file.exists():
            self._at, self.count, self.counting = int(self._file.read_text()), 0, True
        self.reach()

    def reach(self) -> None:
        self.counting = self.counting and self._file.exists()
        super().reach()


if __name__ == "__main__":
    points = CommitFaultPoints(Path(os.environ[KILL_AT]))
    main()
