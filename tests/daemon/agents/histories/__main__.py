"""Many histories at once, on all processors: `make histories`, or `HISTORIES=500 SEED=3 make histories`.

Never counts a history that was not judged to its end.
"""

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.daemon.agents.histories.machine import live_through

AT_ONCE = 250


def main() -> int:
    """Draw the histories in shares of different seeds; tell of each, and of all at the end."""
    wanted, first = int(os.environ.get("HISTORIES") or 20_000), int(os.environ.get("SEED") or 1)
    seeds = range(first, first + -(-wanted // AT_ONCE))
    met: Counter[str] = Counter()
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        shares = {pool.submit(live_through, min(AT_ONCE, wanted), one): one for one in seeds}
        for share in as_completed(shares):
            met += share.result()
            print(f"{met['histories']} histories, {met['steps']} steps (seed {shares[share]})", flush=True)
    print(*(f"{count:9} {what}" for what, count in sorted(met.items())), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
