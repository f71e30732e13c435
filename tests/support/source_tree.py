"""The project's own files as the tests of the source see them.

Never imports what it reads: a file that does not even import is measured all the same.
"""

import ast
import gc
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.garbage import garbage_search_paused

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("syncproto", "store", "daemon")


# Folders that no file of the project is in, for a tree of which git tells nothing.
UNTRACKED = frozenset({"__pycache__", "build", "dist", "node_modules", "installed", "mutants"})
HIDDEN = frozenset({".ci", ".github", ".gitignore", ".gitattributes", ".editorconfig"})


@cache
def project_files() -> tuple[Path, ...]:
    """Return the files of the project, relative to its root: what git tracks, or would once added.

    Without git, or if it knows nothing of this folder: all files but what tools leave behind.
    """
    return _tracked_by_git() or tuple(sorted(_walked()))


def _tracked_by_git() -> tuple[Path, ...]:
    if not shutil.which("git"):
        return ()
    # The folder may belong to somebody else, as in a container; nothing here is run for its owner.
    listed = subprocess.run(
        [
            "git",
            "-c",
            f"safe.directory={ROOT}",
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ],
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    names = listed.stdout.decode().split("\0")
    return tuple(sorted(Path(name) for name in set(names) if name and (ROOT / name).is_file()))


def _walked() -> Iterator[Path]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if _is_ours(name)]
        yield from (Path(folder, name).relative_to(ROOT) for name in names if _is_ours(name))


def _is_ours(name: str) -> bool:
    if name.startswith("."):
        return name in HIDDEN
    return name not in UNTRACKED and not name.endswith((".egg-info", ".pyc", ".mo"))


def text_of(path: Path) -> str:
    """Return a tracked file's text; empty for what is no text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def modules(*folders: str) -> list[Path]:
    """Return the Python files of these top-level folders."""
    return [path for path in project_files() if path.suffix == ".py" and path.parts[0] in folders]


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    with garbage_search_paused():
        tree = ast.parse(text_of(path), str(path))
    # It is kept, so that no search for garbage need look through it again.
    gc.freeze()
    return tree


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method of a module."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def function_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return a function's lines, from `def` to its last one."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1
