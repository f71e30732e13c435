"""Places for new lines among those that a person may have moved.

Never looks at how a place is written.
"""

from daemon.journal.imports.places import Places
from daemon.journal.positions import between


def test_new_lines_follow_the_line_before_them_also_where_the_order_here_is_another():
    first = between(None, None)
    second = between(first, None)
    places = Places([first, second])
    places.pass_by(second)
    after_second = places.take()
    places.pass_by(first)
    one, two = places.take(), places.take()
    places.pass_by(first)
    three = places.take()
    assert first < three < one < two < second < after_second


def test_a_malformed_place_is_no_landmark():
    places = Places(["", "nonsense!"])
    places.pass_by("")
    first = places.take()
    places.pass_by("nonsense!")
    assert first < places.take()
