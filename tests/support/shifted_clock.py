"""The `placet` command on a machine whose clock is wrong by what a file says, in milliseconds.

Never changes anything else: only the wall's clock is another one, time itself goes on as ever.
"""

import os
from pathlib import Path

from daemon.app import startup
from daemon.cli.main import main
from daemon.clock import SystemClock

SHIFT = "SHIFT_CLOCK_BY"


class ShiftedClock(SystemClock):
    """The system's clock, put forward or back at any moment."""

    def now_ms(self) -> int:
        return super().now_ms() + int(Path(os.environ[SHIFT]).read_text())


if __name__ == "__main__":
    startup.SystemClock = ShiftedClock  # type: ignore[attr-defined]
    main()
