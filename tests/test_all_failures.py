"""A table of cases in one test tells each that failed, where and why.

Never uses the table that it tests to judge it.
"""

from pathlib import Path

import pytest

from tests.support.all_failures import all_failures


def run_three_that_fail(ran: list[int]) -> None:
    with all_failures() as case:
        for number in range(4):
            with case(f"number {number}"):
                ran.append(number)
                assert number % 2 == 0, "it is odd"
                if number == 2:
                    int("two")


def test_all_that_failed_are_listed_with_the_line_and_the_others_run():
    ran: list[int] = []
    with pytest.raises(AssertionError) as caught:
        run_three_that_fail(ran)
    first, *lines = str(caught.value).splitlines()
    assert ran == [0, 1, 2, 3]
    assert first == "3 failed:"
    named = [line for line in lines if line.startswith("number ")]
    assert [line.partition(":")[0] for line in named] == ["number 1", "number 2", "number 3"], lines
    assert all(f"{Path(__file__).name}:" in line for line in named)
    assert "AssertionError: it is odd" in named[0]
    assert "ValueError: invalid literal" in named[1]


def test_what_is_no_failure_of_a_case_ends_the_test():
    with pytest.raises(KeyboardInterrupt), all_failures() as case, case("interrupted"):
        raise KeyboardInterrupt


def test_a_table_without_a_failure_passes():
    with all_failures() as case, case("sound"):
        assert True
