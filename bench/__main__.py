"""Measures everything and prints one table: `python -m bench [--quick] [PART...]`, parts as named below.

Never runs as part of the tests.
"""

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench import bringing, browsing, commands, deciding, inbox, life, live, mailboxes, page, stores, waking
from bench.table import Absent, Figure, show
from tests.support.environment import keep_compiled

Part = Callable[[bool], Sequence[Figure | Absent]]

PARTS: dict[str, Part] = {
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

USAGE = f"""\
usage: python -m bench [--quick] [PART...]

Measures all parts, or those that are named, and prints one table; --quick measures smaller stores.
Parts: {", ".join(PARTS)}"""


def main(words: Sequence[str]) -> int:
    """Measure what the words say; return the exit status."""
    if {"--help", "-h"} & set(words):
        print(USAGE)
        return 0
    unknown = [word for word in words if word not in PARTS and word != "--quick"]
    if unknown:
        print(f"bench: there is no part named {', '.join(unknown)}\n{USAGE}", file=sys.stderr)
        return 2
    # Whoever installs a package has it compiled: what is measured is what they wait for.
    keep_compiled()
    chosen = [name for name in PARTS if name in words] or list(PARTS)
    figures, failed = measured({name: PARTS[name] for name in chosen}, quick="--quick" in words)
    show(figures, Path("bench/results/figures.json"))
    return 1 if failed else 0


def measured(parts: Mapping[str, Part], *, quick: bool) -> tuple[list[Figure | Absent], list[str]]:
    """Return the figures of all parts, and which parts broke off: the others are measured all the same."""
    figures: list[Figure | Absent] = []
    failed: list[str] = []
    for name, measure in parts.items():
        try:
            figures += measure(quick)
        except Exception:  # noqa: BLE001 - whatever one part met, the others are worth their minutes
            traceback.print_exc()
            figures.append(Absent(name, "this part broke off, see above"))
            failed.append(name)
    return figures, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
