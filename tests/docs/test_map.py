"""What the front pages say about where a thing is, and which files a change touches, is so.

Never judges whether a row is missing: only whether one that is there leads astray.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.support.source_tree import PACKAGES, ROOT, modules, text_of, tree_of

ARCHITECTURE, CONTRIBUTING = Path("ARCHITECTURE.md"), Path("CONTRIBUTING.md")
FORMATS = frozenset({"icalendar", "markdown", "taskwarrior", "todotxt"})


def defined_names(path: Path) -> frozenset[str]:
    """Return the names of a module's classes, functions, methods and module variables."""
    nodes = list(ast.walk(tree_of(path)))
    defined = {
        node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return frozenset(defined | {node.id for node in module_variables(tree_of(path))})


def module_variables(tree: ast.Module) -> list[ast.Name]:
    """Return the variables that a module binds outside of classes and functions."""
    targets = [
        target
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    ]
    return [target for target in targets if isinstance(target, ast.Name)]


def located_names(document: Path) -> list[tuple[str, str]]:
    """Return (module, name): a table has "`module.py`, `name`", a list names both in one item."""
    text = text_of(document)
    behind = re.findall(r"`([\w/]+\.py)`, `(\w+)`", text)
    before = [
        (path, name)
        for point in re.findall(r"^\* .*(?:\n  .*)*", text, re.MULTILINE)
        for path in re.findall(r"`([\w/]+\.py)`", point)
        for name in re.findall(r"`([A-Za-z_]+)`", point)
    ]
    return behind + before


def format_section() -> str:
    """Return what CONTRIBUTING.md says about a new format."""
    return text_of(CONTRIBUTING).split("\n### A format\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("document", [ARCHITECTURE, CONTRIBUTING], ids=str)
def test_what_is_said_to_be_in_a_module_is_defined_there(document: Path) -> None:
    located = located_names(document)
    assert len(located) >= 3
    assert not [(path, name) for path, name in located if name not in defined_names(Path(path))]


def test_few_files_name_formats_and_all_of_them_are_listed() -> None:
    listed = format_section()
    naming = [
        str(path)
        for path in [*modules(*PACKAGES), Path("pyproject.toml")]
        if len(FORMATS.intersection(re.findall(r"\w+", text_of(path)))) >= 2
    ]
    assert len(naming) == 3, naming
    assert not [path for path in naming if f"`{path}`" not in listed]


def test_every_file_and_folder_that_a_usual_change_touches_exists() -> None:
    table = text_of(CONTRIBUTING).split("## The ten most usual changes")[1].split("\n## ")[0]
    paths = re.findall(r"`((?:[\w-]+/)+(?:[\w-]+\.\w+)?)`", table)
    assert len(paths) > 30
    assert not [path for path in paths if not (ROOT / path).exists()]
