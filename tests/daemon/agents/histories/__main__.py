"""Many histories at once, on all processors: `make histories`, or `make histories HISTORIES=500 SEED=3`.

Never counts a history that was not judged to its end.
"""

import os
import sys
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.daemon.agents.histories.machine import live_through

AT_ONCE = 100


def share(histories: int, seed: int) -> tuple[Counter[str], str]:
    """Run the histories of one seed; return the cases that they met, and the one that fails, if any."""
    try:
        return live_through(histories, seed, shrink=False), ""
    except Exception:  # noqa: BLE001 - whatever it is, it is told, and the other seeds go on
        return Counter(), f"seed {seed}:\n{traceback.format_exc()}"


def main() -> int:
    """Draw the histories in shares of different seeds; report each share, and all of them at the end."""
    wanted, first = int(os.environ.get("HISTORIES") or 20_000), int(os.environ.get("SEED") or 1)
    seeds = range(first, first + -(-wanted // AT_ONCE))
    met: Counter[str] = Counter()
    failed = []
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        shares = [pool.submit(share, min(AT_ONCE, wanted), seed) for seed in seeds]
        for future in as_completed(shares):
            result, failure = future.result()
            met += result
            failed += [failure] if failure else []
            print(failure or f"{met['histories']} histories, {met['steps']} steps", flush=True)
    print(*(f"{count:9} {what}" for what, count in sorted(met.items())), sep="\n")
    print(f"{len(failed)} of {len(shares)} seeds failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
