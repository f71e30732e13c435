"""The `placet` command on a machine that sleeps: its timers do not count the seconds that a file tells of.

Stands in for a suspend, in which CLOCK_MONOTONIC stops while the time of day and CLOCK_BOOTTIME go on. Never
lets anything else see it: whoever runs this stops the process for as long.
"""

import os
import time
from pathlib import Path

SLEPT = "SLEPT_FOR"


def _sleep_uncounted() -> None:
    counted, slept = time.monotonic, Path(os.environ[SLEPT])
    time.monotonic = lambda: counted() - float(slept.read_text())


if __name__ == "__main__":
    _sleep_uncounted()
    # Only now: whatever is imported from here on finds the clock as it is on such a machine.
    from daemon.cli.main import main

    main()
