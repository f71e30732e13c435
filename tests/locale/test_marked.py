"""What the command line says to people is marked for translation.

Never looks at what a function returns: only at what is handed to those that speak.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.locale import catalogs

_SPEAK = {"CommandError": 1, "UsageError": 0, "write_remark": 0, "prompt": 0, "Column": 0}
"""What speaks to people, and from which argument on."""
_TYPED = {"journalctl --user -u placet", "placet web --print"}
"""Hints that are nothing but a command."""


def unmarked(text: str) -> list[str]:
    """Return the words that are handed to what speaks, as they are written."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [word for call in calls for word in _in_call(call)]


def _in_call(call: ast.Call) -> Iterator[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in _SPEAK:
        for argument in call.args[_SPEAK[name] :]:
            yield from _bare(argument)
    for keyword in call.keywords:
        # One in a single piece is found where it stands.
        if keyword.arg == "help" and isinstance(keyword.value, ast.JoinedStr):
            yield from _bare(keyword.value)


def _bare(node: ast.AST) -> Iterator[str]:
    """Find literal words; what is called, `_` or another, answers for itself."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
        yield node.value
    elif not isinstance(node, ast.Call | ast.Subscript | ast.Compare):
        for child in ast.iter_child_nodes(node):
            yield from _bare(child)


def test_no_words_are_said_as_they_are_written():
    assert not [
        f"{name}: {text}"
        for name in catalogs.MODULES
        for text in unmarked(name.read_text(encoding="utf-8"))
        if text not in _TYPED
    ]


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("CommandError('usage', 'no such thing')", ["no such thing"]),
        ("CommandError('usage', _('no such thing'), f'see {what}')", ["see "]),
        ("output.write_remark('a' if b else _('c'))", ["a"]),
        ("click.UsageError(_('{a}').format(a=1), context)", []),
        ("Column('ID', width_max=3)", ["ID"]),
        ("Column(later('ID')), Column('')", []),
        ("option('--x', help=f'{a} or so')", [" or so"]),
        ("option('--x', help='or so')", []),
    ],
)
def test_what_is_not_marked_is_found(source: str, texts: list[str]):
    assert unmarked(source) == texts
