"""The project's own files as the tests of the source see them.

Never imports what it reads: a file that does not even import is measured all the same.
"""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("syncproto", "store", "daemon")


@cache
def tracked() -> tuple[Path, ...]:
    """Return the files of the project, relative to its root: what git tracks, or would once added."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    names = listed.stdout.decode().split("\0")
    return tuple(sorted(Path(name) for name in set(names) if name and (ROOT / name).is_file()))


def text_of(path: Path) -> str:
    """Return a tracked file's text; empty for what is no text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def modules(*folders: str) -> list[Path]:
    """Return the Python files of these top-level folders."""
    return [path for path in tracked() if path.suffix == ".py" and path.parts[0] in folders]


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(text_of(path), str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method of a module."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return a function's lines, from `def` to its last one."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1
