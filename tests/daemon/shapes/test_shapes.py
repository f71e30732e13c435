"""The shapes of the API's answers: those of the daemon, and of the answers that the other tests script.

Never asks a daemon: structures are compared with what is written.
"""

import re
from typing import Any

import msgspec
import pytest

from daemon.control.health.check import Check
from daemon.control.routes.status import Status
from daemon.formats.core.importer import ImportResult
from daemon.peers.linking.device_states import SyncReport
from tests.daemon.cli import examples
from tests.daemon.shapes import shapes


def test_the_shapes_are_those_of_the_daemons_structures():
    """If this fails, run `make shapes`; mypy then names the views that read keys which are gone."""
    for file, text in shapes.shapes_modules().items():
        assert file.read_text(encoding="utf-8") == text


def test_the_answer_of_every_route_has_a_shape():
    """What the generator cannot read fails there; dataclasses are among what it reads."""
    text = "".join(shapes.shapes_modules().values())
    structures = shapes.answered_structures()
    assert {ImportResult, SyncReport, Check, Status} <= set(structures)
    named = {struct: name for name, struct in shapes.SHAPES.items()}
    for struct in structures:
        assert re.search(rf"\b{named.get(struct, f'{struct.__name__}Json')}\b", text), struct
    assert "class SkippedJson(" in text


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
