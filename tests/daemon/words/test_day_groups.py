"""What of a list begins later: the command line leaves out what the daemon would.

Never tests what is said of it: the commands' tests do.
"""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from daemon.words.day_groups import begins_later
from store.fold.list_columns import day_text

MARCH_2026_S = 1_774_000_000.0


@given(st.text("-0129W", max_size=11) | st.dates().map(str))
@example("2099-01-01junk")
@example("20990101")
@example("2099-W01-1")
@example("2099-02-30")
@example("2099-001")
@example(" 2099-01-01")
def test_a_start_is_a_day_for_the_command_line_if_it_is_one_for_the_store(start: str) -> None:
    # The machine's zone says which day of March it is.
    assume(not day_text(start).startswith("2026-03"))
    is_later = day_text(start) > "2026-03-31"
    assert begins_later({"status": "OPEN", "start": start}, MARCH_2026_S) == is_later


@pytest.mark.parametrize("start", [None, "", 7, ["2099-01-01"]])
def test_what_is_no_text_is_no_start(start: object) -> None:
    assert not begins_later({"status": "OPEN", "start": start}, MARCH_2026_S)
