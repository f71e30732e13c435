"""A device learns by how much the clock of another one is off, from the `Date` of its answer.

Never sets a clock but the test's own.
"""

from datetime import UTC, datetime

import pytest

from daemon.peers.transport.connector import _time_s
from tests.daemon.peers.fleet import Fleet


async def test_a_device_learns_by_how_much_the_clock_of_one_that_it_calls_is_off(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    # Answers are dated by the machine's clock; the caller goes by the test's.
    machine_s = datetime.now(UTC).timestamp()  # noqa: TID251 - as above
    phone.clock.ahead_s = machine_s - phone.clock.now_ms() / 1000 - 3600
    await fleet.pair(desk, phone)
    # Whoever is called learns nothing: the one that called does.
    offsets_s = [
        state.clock_ahead_s
        for state in await phone.peers.devices.states()
        if state.device_id == desk.id.hex()
    ]
    assert [ahead_s for ahead_s in offsets_s if ahead_s is None or abs(ahead_s - 3600) > 60] == []


@pytest.mark.parametrize("date", ["", "yesterday", "Wed, 99 Mar 2026 12:00:00 GMT", "\ud800"])
def test_an_answer_with_an_odd_date_says_nothing_of_a_clock(date: str):
    assert _time_s([date]) is None
    assert _time_s([]) is None


def test_an_answer_is_read_by_its_date():
    assert _time_s(["Thu, 01 Jan 1970 00:01:00 GMT"]) == 60
