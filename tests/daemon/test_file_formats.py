"""What a file is by its name.

Never asks what the commands and the page say of it: their tests do.
"""

import pytest

from daemon import file_formats


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("TODO.md", "markdown"),
        ("list.MARKDOWN", "markdown"),
        ("a.b.txt", "todotxt"),
        ("tasks.json", "taskwarrior"),
        ("calendar.ics", "icalendar"),
        ("all.jsonl", file_formats.JSON_LINES),
        ("photo.jpg", None),
        ("txt", None),
        (".txt", None),
        ("", None),
    ],
)
def test_the_ending_of_a_name_says_the_format(name: str, format_: str | None):
    assert file_formats.format_by_ending(name) == format_
