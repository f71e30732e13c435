"""The measure of growth tells what is linear from what is not, on whatever machine it runs.

Never measures code of Placet.
"""

import gc

import pytest

from tests.support.growth import ROUNDS_MAX, Work, assert_at_most, assert_linear


def steps(number: int) -> Work:
    return lambda: sum(range(number))


def test_what_is_linear_passes():
    assert_linear(lambda size: steps(100 * size), 200)


def test_what_is_quadratic_fails():
    with pytest.raises(AssertionError, match="at most 24 times is right"):
        assert_linear(lambda size: steps(size * size), 200)


def test_one_quick_round_is_enough_however_slow_the_others_are():
    rounds = iter([*[100_000] * (ROUNDS_MAX - 1), 1000])
    assert_at_most(8, steps(1000), lambda: sum(range(next(rounds))))


def test_the_collector_runs_again_afterwards():
    with pytest.raises(AssertionError):
        assert_at_most(1, steps(100), steps(100_000))
    assert gc.isenabled()
