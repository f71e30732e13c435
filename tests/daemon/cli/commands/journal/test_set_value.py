"""`placet set status`: what a person types, and what the daemon is asked for.

Never starts a daemon.
"""

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("done",), "DONE"),
        (("b",), "BLOCKED"),
        (("on", "hold"), "ON HOLD"),
        (("On-Hold",), "ON HOLD"),
        (("in_prog",), "IN PROGRESS"),
    ],
)
def test_a_status_is_set_by_its_name_or_its_beginning(
    words: tuple[str, ...], status: str, placet: Placet, control: FakeControl
) -> None:
    control.answers("PATCH /v1/tasks/3f2a", examples.task())
    assert placet("set", "status", "3f2a", *words, "--reason", "so it is").status == 0
    assert control.asked("PATCH /v1/tasks/3f2a")[-1].body == {"status": status, "reason": "so it is"}


@pytest.mark.parametrize("words", [("o",), ("finished",)])
def test_words_that_mean_no_status_or_several_are_refused_with_the_names(
    words: tuple[str, ...], placet: Placet
) -> None:
    result = placet("set", "status", "3f2a", *words)
    assert result.status == 2
    assert "one of OPEN, GROOMED, IN PROGRESS, BLOCKED, ON HOLD, DONE, REJECTED" in result.err
