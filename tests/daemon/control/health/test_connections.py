"""What doctor says of connections, and that the command line says the same.

Never calls anyone.
"""

from typing import Any

import msgspec
import pytest

from daemon.control.health.check import Check
from daemon.control.health.connections import MDNS_SILENCE_MIN_S, check_connections
from daemon.peers.discovery.mdns import DiscoveryStatus
from daemon.peers.linking.device_states import DeviceState, Unreached
from tests.support.sentences import words_by_id

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
    device: DeviceState, trouble: str | None = None, *, paused: bool = False, **nearby: Any
) -> list[Check]:
    return list(check_connections([device], DiscoveryStatus(trouble=trouble, **nearby), paused=paused))


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
    ],
)
def test_a_device_that_is_away_is_told_with_what_to_do(device: DeviceState, code: str, well: bool):
    [check] = found(device)
    assert (check.code, check.well) == (code, well)
    assert all(unreached.seen in check.found for unreached in device.unreached)
    assert check.remedy or code in ("devices_well", "device_called")
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]


def faulty(kind: str, *calls: str, connected: bool = False) -> DeviceState:
    """Return a device whose link ended by a fault, and what calls to it showed since."""
    fault = Unreached(kind, "phone cannot be understood: 3", "device-not-understood", SEEN_THERE)
    return msgspec.structs.replace(
        away(*calls), link_fault=fault, connected=connected, unreached=away(*calls).unreached or [fault]
    )


SEEN_THERE = {"device": "phone", "seen": "3"}
LINK_FAULTS = ("newer", "older", "faulty", "ended_there", "failed_here")


@pytest.mark.parametrize("kind", LINK_FAULTS)
@pytest.mark.parametrize(
    ("calls", "codes"), [((), []), (("no_answer",), ["device_no_answer"]), (("busy",), ["device_busy"])]
)
def test_a_fault_of_a_link_is_told_beside_what_keeps_the_device_away_now(
    kind: str, calls: tuple[str, ...], codes: list[str]
):
    checks = found(faulty(kind, *calls))
    assert [(check.code, check.well) for check in checks] == [
        (f"device_{kind}", False),
        *((code, True) for code in codes),
    ]
    assert checks[0].found == "phone cannot be understood: 3"
    assert all(check.remedy for check in checks)
    for check in checks:
        assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]


def test_a_fault_is_told_of_a_device_that_is_connected_again_until_its_link_works():
    device = msgspec.structs.replace(faulty("faulty"), connected=True, unreached=[])
    assert [check.code for check in found(device)] == ["device_faulty", "devices_well"]


@pytest.mark.parametrize(
    ("count", "unlisted", "names"), [(2, 0, "m0, m1"), (2, 9, "m0, m1 …"), (7, 0, "m0, m1, m2, m3, m4 …")]
)
def test_devices_that_are_left_out_are_named_and_not_told_as_away(count: int, unlisted: int, names: str):
    devices = [msgspec.structs.replace(PHONE, name=f"m{number}", left_out=True) for number in range(count)]
    nearby = DiscoveryStatus(trouble=None)
    left_out, well = check_connections(devices, nearby, paused=False, members_unlisted=unlisted)
    assert (left_out.code, left_out.well, well.code) == ("devices_left_out", False, "devices_well")
    assert left_out.found.endswith(f": {count + unlisted} ({names})")
    assert "--with-admitted" in left_out.remedy
    assert words_by_id(msgspec.to_builtins(left_out), "found", "remedy") == [left_out.found, left_out.remedy]


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
    checks = [check for check in found(device) if check.name == "clock"]
    assert [check.code for check in checks] == ([] if code is None else [code])
    assert all(words in check.found and not check.well for check in checks)
    for check in checks:
        assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]


def test_a_pause_is_told_in_place_of_everyone_who_is_away():
    [check] = found(away("no_answer"), "no interface", paused=True)
    assert (check.code, check.remedy) == ("exchange_paused", "placet sync --resume")
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]


def test_it_is_told_where_this_device_cannot_be_found():
    check = found(PHONE, "this machine has no network address")[-1]
    assert (check.code, check.well) == ("mdns_silent", False)
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]


@pytest.mark.parametrize(
    ("unheard_s", "words"), [(MDNS_SILENCE_MIN_S, "1 minute"), (720.0, "12 minutes"), (7250.0, "2 hours")]
)
def test_a_network_on_which_nobody_is_heard_is_told_with_what_may_be_the_cause(unheard_s: float, words: str):
    check = found(PHONE, unheard_s=unheard_s)[-1]
    # Whoever is simply alone is told what was seen, and that nothing is wrong.
    assert (check.code, check.well) == ("mdns_unheard", True)
    assert check.found.endswith(f"in {words}")
    assert "UDP port 5353" in check.remedy
    assert "peers.static" in check.remedy
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]


@pytest.mark.parametrize(
    ("device", "nearby"),
    [
        (PHONE, {"unheard_s": MDNS_SILENCE_MIN_S - 1}),
        (PHONE, {"unheard_s": None}),
        (PHONE, {"mdns": False}),
        # Here something else is told.
        (PHONE, {"unheard_s": 720.0, "online": False}),
        # Whoever misses nobody is told nothing.
        (msgspec.structs.replace(PHONE, connected=True), {"unheard_s": 720.0}),
        (msgspec.structs.replace(PHONE, removed=True), {"unheard_s": 720.0}),
    ],
)
def test_nobody_is_missed_too_soon_or_where_nobody_would_be_heard(
    device: DeviceState, nearby: dict[str, Any]
):
    assert all(check.name != "mdns" and check.well for check in found(device, **nearby))


def test_a_device_that_cannot_be_found_because_mdns_is_off_is_told_with_that():
    [check] = found(msgspec.structs.replace(PHONE, address=None), mdns=False)
    assert check.code == "device_unsought"
    assert "mdns.enabled" in check.remedy
    assert "peers.static" in check.remedy
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]
    # If its address is known, it is called there, with mDNS or without.
    assert [listed_check.code for listed_check in found(PHONE, mdns=False)] == ["device_called"]


@pytest.mark.parametrize("device", [PHONE, away("not_listening"), away("no_way", "no_answer")])
def test_without_a_network_here_nobody_is_sent_to_the_other_device(device: DeviceState):
    [check] = found(device, online=False)
    assert (check.code, check.well) == ("device_offline", True)
    assert check.remedy.startswith("check the network here")
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]
    # Devices on one machine need none.
    assert found(device, online=False, loopback_address="127.0.0.1")[0].code != "device_offline"


def test_without_a_network_here_it_is_still_told_what_ends_all_exchange():
    assert [check.code for check in found(away("turned_away"), online=False)] == ["device_turned_away"]


def test_who_listens_where_nobody_else_gets_is_told_that_and_nothing_of_the_network():
    # On the loopback interface mDNS finds no fault of its own.
    check = found(PHONE, loopback_address="127.0.0.1", unheard_s=720.0)[-1]
    assert (check.code, "it listens on 127.0.0.1 alone" in check.found) == ("mdns_alone", True)
    assert "listen.host" in check.remedy
    assert words_by_id(msgspec.to_builtins(check), "found", "remedy") == [check.found, check.remedy]
    # If no device is missing, the setting is as somebody wants it.
    assert all(
        listed_check.well
        for listed_check in found(
            msgspec.structs.replace(PHONE, connected=True), loopback_address="127.0.0.1"
        )
    )
