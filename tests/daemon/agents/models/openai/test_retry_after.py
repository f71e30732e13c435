"""The header in which a server asks to be left alone: read as a length of time, or passed over.

Never asks a server.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.models.openai.client import HttpReply
from daemon.agents.models.openai.retry_policy import retry_after_header_s
from tests.support.fleet import START_MS


def asked_s(text: str) -> float | None:
    return retry_after_header_s(HttpReply(429, {"retry-after": text}, b""), START_MS)


def test_seconds_and_dates_are_read():
    assert (asked_s("3"), asked_s("1.5")) == (3.0, 1.5)
    assert asked_s("Thu, 01 Jan 1970 00:00:00 GMT") == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "-5",
        "nan",
        "inf",
        "Mon, 01 Jan 2026 00:00:00 +99999999999999",
        "Mon, 01 Jan 999999999999 00:00:00 GMT",
        "Mon, 1 Jan 10000000000000000000000 0:0:0",
    ],
)
def test_what_is_no_length_of_time_is_passed_over(text: str):
    assert asked_s(text) is None


@given(st.text(max_size=40) | st.from_regex(r"Mon, [0-9]{1,30} Jan [0-9]{1,30} [0-9:]{1,30} [+-][0-9]{1,30}"))
def test_a_header_of_any_form_is_read_or_passed_over(text: str):
    assert (asked_s(text) or 0.0) >= 0.0
