"""Commands of the installed program, one after another in one process: only their own work is measured then.

Never shows what they print. It ends with 1 if a command failed; what is not found is no failure, nor is what
`verify` finds wrong.
"""

import gc
import json
import os
import sys
from pathlib import Path

from daemon.cli.main import run

_EXIT_FAILED, _EXIT_NOT_FOUND = 1, 4
_CODES = (0, _EXIT_FAILED, _EXIT_NOT_FOUND)


def main(commands: list[list[str]]) -> int:
    """Run the commands; return the exit status."""
    # As the program does: one short answer makes no garbage worth collecting.
    gc.disable()
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the whole run
    statuses = [run(words) for words in commands]
    failed = [
        f"{' '.join(words)}: {status}"
        for words, status in zip(commands, statuses, strict=True)
        if status not in _CODES
    ]
    print(*failed, sep="\n", file=sys.stderr, end="")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
