"""Removes each rule in a copy of the tree, and checks that a history fails: `make teeth`.

Never touches the tree itself, and never counts a run that fails anyway: the whole tree must pass first.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.daemon.agents.removed_needs import Removed
from tests.daemon.agents.removed_rules import TABLE

ROOT = Path(__file__).parents[3]
PARTS = ("syncproto", "store", "daemon", "tests")
HISTORIES = int(os.environ.get("HISTORIES") or 200)
SEEDS = (1, 2, 3)
LIVE = """
import sys
from tests.daemon.agents.histories.machine import live_through
live_through(int(sys.argv[1]), int(sys.argv[2]), shrink=False)
"""


def misses(removed: Removed) -> str:
    """Return the error of a history without the rule; empty if no history noticed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _copy(root)
        _remove(removed, root)
        if removed.proof:
            return _ended(root, [sys.executable, "-m", "pytest", "-qx", removed.proof])
        for seed in SEEDS:
            text = lived_through(root, seed)
            if text:
                return text
    return ""


def _copy(root: Path) -> None:
    for part in PARTS:
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "pyproject.toml", root / "pyproject.toml")


def _remove(removed: Removed, root: Path) -> None:
    """Change the text. Raise LookupError if the row does not fit the tree any more."""
    path = root / removed.file
    text = path.read_text("utf-8")
    count = text.count(removed.before)
    if count != 1:
        raise LookupError(f"{removed.rule}: {count} times in {removed.file}: {removed.before!r}")
    path.write_text(text.replace(removed.before, removed.after), "utf-8")


def lived_through(root: Path, seed: int) -> str:
    """Run histories in a copy; return the error that ended them, empty if all passed."""
    return _ended(root, [sys.executable, "-c", LIVE, str(HISTORIES), str(seed)])


def _ended(root: Path, command: list[str]) -> str:
    result = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if not result.returncode:
        return ""
    lines = [line.strip() for line in (result.stdout + result.stderr).splitlines()]
    matching_lines = [line for line in lines if "Error" in line]
    return (matching_lines or lines or ["?"])[0]


def main() -> int:
    """Try all rules, or those whose name contains every given word."""
    wanted = [
        listed_removed
        for listed_removed in TABLE
        if all(word in listed_removed.rule for word in sys.argv[1:])
    ]
    for removed in wanted:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / removed.file
            path.parent.mkdir(parents=True)
            shutil.copyfile(ROOT / removed.file, path)
            _remove(removed, Path(folder))
    text = lived_through(ROOT, SEEDS[0])
    if text:
        print(f"the whole tree fails already: {text}")
        return 1
    toothless = 0
    with ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        tried = {pool.submit(misses, removed): removed for removed in wanted}
        for future in as_completed(tried):
            words = future.result()
            toothless += not words
            print(
                f"{'missed' if words else 'NOT MISSED':10} {tried[future].rule}  [{words[:90]}]", flush=True
            )
    print(f"{len(wanted) - toothless} of {len(wanted)} rules were missed when they were gone")
    return 1 if toothless else 0


if __name__ == "__main__":
    sys.exit(main())
