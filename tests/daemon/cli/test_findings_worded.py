"""What `verify` finds, in the language of the person: every sentence that the store can say.

Never makes a damaged file: tests/store does.
"""

import ast
from collections.abc import Iterator

import pytest

from daemon.cli import words
from daemon.cli.views.soundness import finding_retold
from tests.locale.catalogs import TRANSLATED
from tests.source import ROOT

_SAYS = ("Fault", "Finding")


def said(file: str) -> Iterator[str]:
    """Find the sentences of the findings that are made in a module, with something in each gap."""
    for node in ast.walk(ast.parse((ROOT / "store" / file).read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SAYS:
            yield from filter(None, map(_sentence, [node.args[0], *node.args[2:3]]))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id in ("seen", "remedy", "_MEND_FILE", "_MEND_TABLES"):
                yield from filter(None, [_sentence(node.value)])


def _sentence(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.JoinedStr):
        return ""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else _in_gap(part) for part in node.values
    )


def _in_gap(gap: ast.AST) -> str:
    name = gap.value.id if isinstance(gap, ast.FormattedValue) and isinstance(gap.value, ast.Name) else ""
    return {"cause": "commit 7 of replica 3f2a", "ends": "at number 7"}.get(name, "7")


SENTENCES = sorted(
    {*said("verifying.py"), *said("logcheck.py"), "the index of words is not that of the entities"}
)


def test_the_sentences_of_the_store_are_found():
    assert len(SENTENCES) >= 30
    assert "commits are missing" in SENTENCES


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_finding_is_told_in_english(language: str):
    try:
        words.speak(language)
        assert [one for one in SENTENCES if finding_retold(one) == one] == []
    finally:
        words.speak("en")


@pytest.mark.parametrize("sentence", [*SENTENCES, "the wind is too strong", ""])
def test_a_finding_in_english_is_told_as_it_came(sentence: str):
    assert finding_retold(sentence) == sentence
