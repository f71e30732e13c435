"""Python looks through what a test made, and not each time through all that the tests keep.

Never counts seconds.
"""

import gc

from tests.support.garbage import garbage_search_paused


def test_what_collecting_the_tests_made_is_exempt_from_every_search():
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000


def test_a_pause_within_a_pause_ends_with_the_outer_one():
    with garbage_search_paused():
        with garbage_search_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
