"""Measures everything and prints one table: `python -m bench [--quick] [PART...]`, parts as named below.

Never runs as part of the tests.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import bringing, browsing, commands, deciding, inbox, life, live, mailboxes, page, stores, waking
from bench.table import Absent, Figure, show

PARTS: dict[str, Callable[[bool], Sequence[Figure | Absent]]] = {
    "stores": lambda _quick: stores.figures(),
    "live": lambda _quick: live.figures(),
    "commands": lambda _quick: commands.figures(),
    "page": lambda _quick: page.figures(),
    "browsing": lambda _quick: browsing.figures(),
    "inbox": lambda _quick: inbox.figures(),
    "deciding": lambda _quick: deciding.figures(),
    "waking": lambda _quick: waking.figures(),
    "bringing": lambda quick: bringing.figures(quick=quick),
    "mailboxes": lambda quick: mailboxes.figures(quick=quick),
    "life": lambda quick: life.figures(quick=quick),
}

if __name__ == "__main__":
    words = sys.argv[1:]
    chosen = [name for name in PARTS if name in words] or list(PARTS)
    figures = [figure for name in chosen for figure in PARTS[name]("--quick" in words)]
    show(figures, Path("bench/results/figures.json"))
