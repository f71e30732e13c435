"""Delays that double, and what they never do: overflow, shrink, or exceed their limit.

Never waits: the delays are only computed.
"""

from hypothesis import given
from hypothesis import strategies as st

from daemon.backoff import Backoff, FailureCount, random_share

LENGTHS = st.floats(min_value=0.001, max_value=86_400)


def test_a_delay_doubles_up_to_its_limit():
    backoff = Backoff(first_s=60, max_s=300)
    assert [backoff.delay_s(failures) for failures in range(6)] == [0, 60, 120, 240, 300, 300]


@given(LENGTHS, LENGTHS, st.integers(1, 10**9))
def test_however_many_failures_a_delay_stays_within_its_limit_and_never_shrinks(first_s, more_s, failures):
    backoff = Backoff(first_s, first_s + more_s)
    assert backoff.delay_s(failures) <= backoff.delay_s(failures + 1) <= backoff.max_s


def test_a_count_that_is_reset_begins_with_the_first_delay():
    failures = FailureCount(Backoff(first_s=1, max_s=8))
    assert [failures.count_failure() for _ in range(5)] == [1, 2, 4, 8, 8]
    failures.reset()
    assert failures.count_failure() == 1


def test_a_random_share_covers_the_range_from_zero_to_below_one():
    assert random_share(bytes) == 0
    assert 0.9999 < random_share(lambda count: b"\xff" * count) < 1
