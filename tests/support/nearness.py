"""How near the tests are to what changed: who imports it, and who imports those, by the text of the imports.

Never imports what it reads, and never says that a far test is not concerned: it only begins later.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.source_tree import project_files

_IMPORTS = re.compile(r"^ *from ([\w.]+) import (?:\(([^)]*)\)|([^(\n]*))|^ *import ([\w.]+)", re.MULTILINE)
_TEST_FOLDER = "tests"
BASE = "origin/main"


def imported_names(text: str) -> set[str]:
    """Return the dotted names that may be modules which this text imports."""
    names = set()
    for package, in_lines, in_line, module in _IMPORTS.findall(text):
        words = re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", in_lines or in_line))
        names |= {module or package, *(f"{package}.{word}" for word in words if package)}
    return names


def distances(texts: Mapping[Path, str], changed: Iterable[Path]) -> dict[Path, int]:
    """Return how many imports each file is away from what changed; what is not reached is left out.

    `texts` are those of the modules. A test of the same name in the mirror of the folder imports its module,
    and each module of a folder takes what else changed there for its own: a template, a catalog, a conftest.
    """
    by_name = {_dotted(path): path for path in texts}
    importers: dict[Path, set[Path]] = defaultdict(set)
    for path, text in texts.items():
        for name in imported_names(text):
            if name in by_name:
                importers[by_name[name]].add(path)
        mirror = Path(_TEST_FOLDER, path.parent, f"test_{path.name}")
        if mirror in texts:
            importers[path].add(mirror)
    nearest = _first(texts, changed)
    reached = dict.fromkeys(nearest, 0)
    while nearest:
        nearest = {other for path in nearest for other in importers[path]} - reached.keys()
        reached |= dict.fromkeys(nearest, max(reached.values()) + 1)
    return reached


def _first(texts: Mapping[Path, str], changed: Iterable[Path]) -> set[Path]:
    first = set()
    for path in changed:
        if path in texts and path.name != "conftest.py":
            first.add(path)
        else:
            first |= {other for other in texts if path.parent in other.parents and path.parent != Path()}
    return first


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def module_texts(root: Path) -> dict[Path, str]:
    """Return the text of each module of the project."""
    return {path: (root / path).read_text("utf-8") for path in project_files() if path.suffix == ".py"}


def changed_files(root: Path) -> list[Path]:
    """Return what the branch and its working tree changed since `origin/main`; nothing without git."""
    base = _git(root, "merge-base", "HEAD", BASE) or ["HEAD"]
    names = [
        *_git(root, "diff", "--name-only", base[0]),
        *_git(root, "ls-files", "--others", "--exclude-standard"),
    ]
    return sorted({Path(name) for name in names})


def files_of_room(room: str) -> list[Path]:
    """Return the files of a folder and of its mirror among the tests, or a file itself; empty if none is."""
    wanted = Path(room)
    folders = {wanted, Path(_TEST_FOLDER, wanted)}
    return [path for path in project_files() if folders & {path, *path.parents}]


def _git(root: Path, *words: str) -> list[str]:
    try:
        result = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return result.stdout.splitlines() if result.returncode == 0 else []
