"""Remedies are there: a row for each finding of `doctor` that needs somebody, and commands that exist.

Never judges whether a remedy helps.
"""

import ast
import re
from pathlib import Path

import pytest

from daemon.cli.main import _SECTIONS
from tests.support.source_tree import modules, text_of, tree_of

TEXT = text_of(Path("docs/troubleshooting.md"))
COMMANDS = frozenset(name for section in _SECTIONS.values() for name in section)
# A command after a colon or in backquotes, as in "run: placet up".
COMMAND = re.compile(r"(?:`|: )placet ([a-z][a-z-]+)")


def codes_of_troubles() -> set[str]:
    """Return the codes that a call of `make_check` names as a constant beside `well=False`."""
    codes = set[str]()
    for path in (path for path in modules("daemon") if "health" in path.parts):
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            values = {keyword.arg: keyword.value for keyword in node.keywords}
            well, code = values.get("well"), values.get("code")
            if isinstance(well, ast.Constant) and well.value is False and isinstance(code, ast.Constant):
                codes.add(str(code.value))
    return codes


def test_each_trouble_that_doctor_names_has_a_row() -> None:
    codes = codes_of_troubles()
    assert len(codes) > 15
    assert not {code for code in codes if f"`{code}`" not in TEXT}


@pytest.mark.parametrize("package", ["store", "daemon"])
def test_each_command_that_a_sentence_names_exists(package: str) -> None:
    unknown = {
        f"{path}: placet {command}"
        for path in modules(package)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for command in COMMAND.findall(node.value)
        if command not in COMMANDS
    }
    assert not unknown
