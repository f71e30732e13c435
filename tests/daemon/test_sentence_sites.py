"""Whatever the daemon tells a person has an id: no refusal, fault or finding is made of bare words.

Never looks at what a function returns: only at what is passed to those that report.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.locale import catalogs
from tests.support.source_tree import ROOT

_STORE_ERRORS = ("StoreError", "DamagedDatabase", "NewerDatabase", "DiskFull", "ReadOnlyDatabase")
_MODEL_FAULTS = (
    *("ModelFault", "ModelUnavailable", "ModelMisconfigured", "BudgetSpent", "AnswerFault"),
    *("PromptTooLong", "RequestNotUnderstood", "ServerUnreached"),
)
_FILE_FAULTS = ("MalformedLine", "MalformedRecord", "MalformedEntity")
_START_FAULTS = ("ConfigError", "DataFolderInUse", "CannotListen", "IdentityError")
_PEER_FAULTS = ("BadAddress", "Unreachable", "ConnectionRejected", "PairingFailed")
_SENTENCES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*_STORE_ERRORS, *_MODEL_FAULTS, *_FILE_FAULTS, *_START_FAULTS, *_PEER_FAULTS), (0,)),
    **dict.fromkeys(("ArgumentFault", "AgentHindered"), (0,)),
    **dict.fromkeys(("Detail", "ImportFault", "MalformedCalendar", "Outlook", "_Refused"), (1,)),
    "usage_error": (0, 1),
    "Refused": (1, 2),
    "not_found": (2,),
    "make_check": (1, 2),
    "skipped": (2,),
    "decision_result": (3,),
    "foreign_text": (0,),
}
"""What reports to a person, and which of its arguments are sentences."""
_FACTORIES = {"DecisionResult": "decision_result", "Check": "make_check", "Skipped": "describe_skipped"}
"""Answers with sentences, and the only function that makes each."""


def bare_words(text: str) -> list[str]:
    """Return the words that are passed to what reports, and are no sentence."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [word for call in calls for word in _in_call(call)]


def _in_call(call: ast.Call) -> Iterator[str]:
    for position in _SENTENCES.get(_name(call), ()):
        if position < len(call.args):
            yield from _letters(call.args[position])


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _letters(node: ast.AST) -> Iterator[str]:
    """Yield the literal words of an argument; what is called in it makes its own words."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if any(map(str.isalpha, node.value)):
            yield node.value
    elif not isinstance(node, ast.Call | ast.Subscript | ast.Compare):
        for child in ast.iter_child_nodes(node):
            yield from _letters(child)


def test_nothing_is_reported_in_bare_words():
    assert [
        f"{path.relative_to(ROOT)}: {words}"
        for path in catalogs.DAEMON_MODULES
        for words in bare_words(path.read_text(encoding="utf-8"))
    ] == []


def test_each_answer_with_sentences_is_made_in_one_place():
    created: dict[str, list[str]] = {}
    for path in catalogs.DAEMON_MODULES:
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in _FACTORIES):
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                for name in {_name(call) for call in calls} & _FACTORIES.keys():
                    created.setdefault(name, []).append(function.name)
    assert created == {name: [function] for name, function in _FACTORIES.items()}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Refused(code, 'no such thing')", ["no such thing"]),
        ("Refused(code, sentence('a', 'b'), f'see {what}')", ["see "]),
        ("raise errors.StoreError('locked' if a else sentence('b', 'c'))", ["locked"]),
        ("usage_error(foreign_text(str(fault)))", []),
        ("usage_error(foreign_text('it is late'))", ["it is late"]),
        ("foreign_text(f'{kind}: {fault}')", []),
        ("Refused(code, _SENTENCES['a key'], None)", []),
        ("Outlook(None, 'never')", ["never"]),
    ],
)
def test_bare_words_are_found(source: str, expected: list[str]):
    assert bare_words(source) == expected
