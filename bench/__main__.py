"""Measures everything and prints one table: `python -m bench`.

Never runs as part of the tests.
"""

from pathlib import Path

from bench import live, stores
from bench.table import show

if __name__ == "__main__":
    show([*stores.figures(), *live.figures()], Path("bench/results/figures.json"))
