"""Figures of the command line, and of an import through it, with one daemon of this machine.

Never measures inside the daemon: it calls it as a user does.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.raw import replay_s, rows_of
from bench.table import Figure, paired
from tests.support.devices import Device
from tests.support.starts.processes import PLACET

COMMANDS, TASKS, IMPORTED = 21, 1000, 10_000
IMPORT_COMMITS_AT_ONCE = 100
"""The importer writes 300 elements a transaction; a task with its checklist and item is one commit."""

_MEASURED = (
    (["list", "--plain"], "<= 6"),
    (["--help"], "<= 5"),
    (["add", "one more"], "<= 5"),
    (["search", "--plain", "number 77"], "<= 5"),
)


def _markdown(count: int, marks: str) -> str:
    """Return a file of so many tasks, each with these marks and a checklist of one item."""
    return "\n".join(f"# Task number {number}{marks}\n\n- [ ] a step\n" for number in range(count))


def import_tasks(device: Device, name: str, count: int, marks: str = "") -> None:
    """Import so many tasks by the command, each with these marks."""
    file = device.home / f"{name}.md"
    file.write_text(_markdown(count, marks), "utf-8")
    result = subprocess.run(
        [PLACET, "import", "markdown", str(file)], env=device.environment, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr


def command_ms(words: list[str], device: Device) -> float:
    start = time.perf_counter()
    subprocess.run(words, env=device.environment, stdout=subprocess.DEVNULL, check=True)
    return 1e3 * (time.perf_counter() - start)


def _commands(device: Device) -> list[Figure]:
    import_tasks(device, "few", TASKS)
    bare = [sys.executable, "-c", "pass"]
    found_figures = []
    for words, goal in _MEASURED:
        command = [str(PLACET), *words]
        mine, theirs = paired(
            lambda command=command: command_ms(command, device),  # type: ignore[misc]
            lambda: command_ms(bare, device),
            COMMANDS,
        )
        name = f"placet {' '.join(words)}" + (f", {TASKS} tasks" if words[0] == "list" else "")
        found_figures.append(Figure(name, mine, theirs, "ms", "python -c pass", goal))
    return found_figures


def _imported(device: Device, folder: Path) -> Figure:
    """Import many tasks, and write the rows that it left as fast as SQLite takes them."""
    start = time.perf_counter()
    import_tasks(device, "many", IMPORTED)
    seconds = time.perf_counter() - start
    device.stop()
    rows = rows_of(device.home / "placet.db")
    raw = replay_s(rows, folder / "raw-import.db", IMPORT_COMMITS_AT_ONCE)
    return Figure(
        f"placet import of {IMPORTED} tasks, {IMPORTED} checklists and items",
        IMPORTED / seconds,
        IMPORTED / raw,
        "tasks/s",
        "raw apsw, same rows",
        "(shown)",
    )


def figures() -> list[Figure]:
    """Measure everything here."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        few, large = Device("few", folder / "few"), Device("many", folder / "many")
        try:
            few.start()
            commands = _commands(few)
            few.stop()
            large.start()
            return [*commands, _imported(large, folder)]
        finally:
            for device in (few, large):
                if device.daemon is not None and device.daemon.poll() is None:
                    device.kill()
