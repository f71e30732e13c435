"""Places for new lines among those that a person may have moved.

Never looks at how a place is written.
"""

from daemon.formats.core.line_positions import LinePositions
from daemon.journal.fields.positions import position_between


def test_new_lines_follow_the_line_before_them_also_where_the_order_here_is_another():
    first = position_between(None, None)
    second = position_between(first, None)
    places = LinePositions([first, second])
    places.advance_past(second)
    after_second = places.next_position()
    places.advance_past(first)
    text, two = places.next_position(), places.next_position()
    places.advance_past(first)
    three = places.next_position()
    assert first < three < text < two < second < after_second


def test_a_malformed_place_is_no_landmark():
    places = LinePositions(["", "nonsense!"])
    places.advance_past("")
    first = places.next_position()
    places.advance_past("nonsense!")
    assert first < places.next_position()
