"""What the page says if something is refused: nothing that only a command line could do.

Never asks a page: the sentences of the daemon are read from its code.
"""

import ast
import re

import pytest

from daemon.refusal import usage_error
from daemon.web.refusals import page_words, refusal_words
from store.sentence import sentence
from tests.support.source_tree import modules, tree_of

COMMAND = re.compile(r"(?<!\S)--[a-z]|confirm --|: placet [a-z]")


def sentences_of(*folders: str) -> list[tuple[str, str]]:
    """Return id and template of each sentence that modules of these folders make."""
    return [
        (str(node.args[0].value), str(node.args[1].value))
        for folder in folders
        for path in modules("daemon")
        if path.is_relative_to(folder)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "sentence"
        and len(node.args) > 1
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[1], ast.Constant)
    ]


def test_no_answer_to_a_verdict_names_an_option_or_a_command():
    decided = sentences_of("daemon/agents/deciding", "daemon/agents/asks", "daemon/agents/person")
    assert len(decided) > 50
    assert [id_ for id_, template in decided if COMMAND.search(page_words(id_, template))] == []


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (sentence("use-agent-create", "give it one: placet agent create"), "no agent; give it one"),
        (sentence("go-on-before", "go on with --before {seq}", seq=3), "no agent"),
        (sentence("remove-passkey", "remove one first"), "no agent; remove one first"),
    ],
)
def test_a_hint_that_is_a_command_is_told_without_it(hint, words):
    assert refusal_words(usage_error(sentence("x", "no agent"), hint)) == words
