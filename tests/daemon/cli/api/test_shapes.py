"""The shapes of the API's answers: those of the daemon, and of the answers that the other tests script.

Never asks a daemon: structures are compared with what is written.
"""

from typing import Any

import msgspec
import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.api import shapes


def test_the_shapes_are_those_of_the_daemons_structures():
    """If this fails, run `make shapes`; mypy then names the views that read keys which are gone."""
    assert shapes.FILE.read_text(encoding="utf-8") == shapes.shapes_module()


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("TaskJson", examples.task()),
        ("PendingItemJson", examples.pending()),
        ("DecisionResultJson", examples.verdict("applied")),
    ],
)
def test_the_other_tests_script_answers_that_the_daemon_could_give(name: str, example: dict[str, Any]):
    encode_names = {field.encode_name for field in msgspec.structs.fields(shapes.SHAPES[name])}
    assert set(example) <= encode_names
