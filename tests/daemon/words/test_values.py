"""The words of values, and what a change leads from and to."""

import pytest

from daemon.words.values import sides_of_change


@pytest.mark.parametrize(
    ("before", "after", "field", "sides"),
    [
        ("DONE", None, "status", ("DONE", "OPEN")),
        (None, "DONE", "status", ("OPEN", "DONE")),
        (None, "OPEN", "status", (None, "OPEN")),
        ("OPEN", "DONE", "status", ("OPEN", "DONE")),
        (None, "2027-03-15", "due", (None, "2027-03-15")),
    ],
)
def test_a_task_that_has_no_status_yet_is_open(
    before: str | None, after: str | None, field: str, sides: tuple[str | None, str | None]
):
    assert sides_of_change(before, after, field) == sides
