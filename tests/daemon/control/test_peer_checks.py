"""What doctor says of connections, and that the command line says the same.

Never calls anyone.
"""

import msgspec
import pytest

from daemon.cli.views.findings import finding_words
from daemon.control.checks import Check
from daemon.control.peer_checks import connections
from daemon.peers.states import DeviceState, Unreached

PHONE = DeviceState(
    device_id="f0" * 32,
    name="phone",
    this=False,
    connected=False,
    address="10.0.0.2:9",
    lag=3,
    missing=0,
    last_seen=None,
    removed=False,
    added_by=None,
    added_by_id=None,
    added_heard_at=None,
    added_at=None,
    clock_ahead_s=None,
    unreached=[],
)


def found(
    device: DeviceState, trouble: str | None = None, *, paused: bool = False, alone: str | None = None
) -> list[Check]:
    return list(connections([device], trouble, paused=paused, alone=alone))


def away(*kinds: str) -> DeviceState:
    return msgspec.structs.replace(PHONE, unreached=[Unreached(kind, f"seen: {kind}") for kind in kinds])


@pytest.mark.parametrize(
    ("device", "code", "well"),
    [
        (msgspec.structs.replace(PHONE, connected=True), "devices_well", True),
        (msgspec.structs.replace(PHONE, removed=True), "devices_well", True),
        (msgspec.structs.replace(PHONE, this=True), "devices_well", True),
        (msgspec.structs.replace(PHONE, this=True, removed=True), "device_removed_here", False),
        (PHONE, "device_called", True),
        (msgspec.structs.replace(PHONE, address=None), "device_nowhere", True),
        (away("no_answer"), "device_no_answer", True),
        (away("not_listening", "no_way"), "device_not_listening", True),
        (away("no_way"), "device_no_way", True),
        (away("busy", "no_answer"), "device_busy", True),
        (away("no_answer", "turned_away"), "device_turned_away", False),
        (away("another", "not_listening"), "device_another", False),
        (away("newer", "not_listening"), "device_newer", False),
        (away("older"), "device_older", False),
    ],
)
def test_a_device_that_is_away_is_told_with_what_to_do(device: DeviceState, code: str, well: bool):
    [check] = found(device)
    assert (check.code, check.well) == (code, well)
    assert all(one.seen in check.found for one in device.unreached)
    assert check.remedy or code in ("devices_well", "device_called")
    assert finding_words(msgspec.to_builtins(check)) == (check.found, check.remedy)


@pytest.mark.parametrize(
    ("ahead_s", "code", "words"),
    [
        (7200, "clock_ahead_there", "120 minutes ahead of"),
        (-180, "clock_behind_there", "3 minutes behind"),
        (120, None, ""),
        (-120, None, ""),
        (0, None, ""),
    ],
)
def test_a_clock_that_is_not_with_this_one_is_told(ahead_s: int, code: str | None, words: str):
    device = msgspec.structs.replace(PHONE, connected=True, clock_ahead_s=ahead_s)
    told = [check for check in found(device) if check.name == "clock"]
    assert [check.code for check in told] == ([] if code is None else [code])
    assert all(words in check.found and not check.well for check in told)
    for check in told:
        assert finding_words(msgspec.to_builtins(check)) == (check.found, check.remedy)


def test_a_pause_is_told_in_place_of_everyone_who_is_away():
    [check] = found(away("no_answer"), "no interface", paused=True)
    assert (check.code, check.remedy) == ("exchange_paused", "placet sync --resume")
    assert finding_words(msgspec.to_builtins(check)) == (check.found, check.remedy)


def test_it_is_told_where_this_device_cannot_be_found():
    check = found(PHONE, "this machine has no network address")[-1]
    assert (check.code, check.well) == ("mdns_silent", False)
    assert finding_words(msgspec.to_builtins(check)) == (check.found, check.remedy)


def test_who_listens_where_nobody_else_gets_is_told_that_and_nothing_of_the_network():
    check = found(PHONE, "no multicast here", alone="127.0.0.1")[-1]
    assert (check.code, "it listens on 127.0.0.1 alone" in check.found) == ("mdns_alone", True)
    assert "listen.host" in check.remedy
    assert finding_words(msgspec.to_builtins(check)) == (check.found, check.remedy)
    # Where mDNS works, on that one machine, it is as somebody wants it.
    assert all(one.well for one in found(PHONE, alone="127.0.0.1"))
