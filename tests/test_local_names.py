"""A name of a function's own says what it holds.

Never imports the code that it reads.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.source_tree import PACKAGES, modules, tree_of

EMPTY_NAMES = frozenset(
    {
        "asked",
        "at",
        "each",
        "found",
        "held",
        "known",
        "many",
        "of",
        "one",
        "said",
        "seen",
        "there",
        "these",
        "told",
    }
)
"""Words that leave open whether a thing, its id or a list of both is meant."""
OPTIONS = frozenset({"at"})
"""Parameters of commands are named as their options are: `--at`."""
FIELDS = {
    Path("tests/store/fold/test_item.py"): {"seen"},
    Path("tests/vectors/commit_writer.py"): {"seen"},
}
"""Helpers that write a decision name its field `seen` as the journal does."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of all that a module binds inside functions, comprehensions and parameters."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store(), lineno=line):
                yield line, name
            case ast.arg(arg=name, lineno=line):
                yield line, name
            case ast.ExceptHandler(name=str(name), lineno=line):
                yield line, name
            case ast.MatchAs(name=str(name), lineno=line) | ast.MatchStar(name=str(name), lineno=line):
                yield line, name


def fields_of_classes(tree: ast.AST) -> frozenset[tuple[int, str]]:
    """Return line and name of what a class declares: its fields are read with their owner before them."""
    return frozenset(
        (statement.lineno, target.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    )


def allowed_names(path: Path) -> frozenset[str]:
    """Return the empty names that a module may use."""
    return (OPTIONS if path.is_relative_to("daemon/cli/commands") else frozenset()) | FIELDS.get(path, set())


def empty_names(path: Path) -> list[str]:
    """Return the places of a module's empty names."""
    tree = tree_of(path)
    banned, declared = EMPTY_NAMES - allowed_names(path), fields_of_classes(tree)
    return [
        f"{path}:{line}: {name}"
        for line, name in bound_names(tree)
        if name in banned and (line, name) not in declared
    ]


def test_a_local_name_says_what_it_holds() -> None:
    rooms = (*PACKAGES, "bench", "tests")
    assert [place for path in modules(*rooms) for place in empty_names(path)] == []


@pytest.mark.parametrize(
    "source",
    [
        "for one in entries: pass",
        "found = 1",
        "def show(held): pass",
        "[x for x, told in pairs]",
        "try: pass\nexcept OSError as seen: pass",
        "if (said := read()): pass",
        "match value:\n    case [*many]: pass",
        "lambda one: 1",
    ],
)
def test_every_way_to_bind_a_name_is_read(source: str) -> None:
    assert not EMPTY_NAMES.isdisjoint(name for _, name in bound_names(ast.parse(source)))


def test_a_field_of_a_class_is_no_local_name() -> None:
    tree = ast.parse("class Decision:\n    seen: tuple[str, ...]")
    assert set(bound_names(tree)) == fields_of_classes(tree)
