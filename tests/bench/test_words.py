"""What `python -m bench` takes: help costs nothing, and a word that it does not know is refused.

Never measures.
"""

import pytest

from bench import __main__ as bench


@pytest.mark.parametrize("words", [["--help"], ["-h", "stores"]])
def test_help_names_the_parts_and_measures_nothing(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(words) == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in bench.PARTS)


def test_a_word_that_is_no_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["stores", "--quik", "mailbox"]) == 2
    assert "no part named --quik, mailbox" in capsys.readouterr().err
