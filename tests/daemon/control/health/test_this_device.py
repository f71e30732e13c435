"""What doctor hears from the daemon about its disk, its lease, the clocks and the states of peers.

Never finds fault without a remedy.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from daemon.agents.person.agent_overview import count_by_home
from daemon.agents.tools.agent_record import agent_id
from daemon.clock import ClockWatch, since_boot_s
from daemon.control.health import this_device
from daemon.control.health.check import Check
from daemon.disk import DiskFloor
from daemon.peers.roster import member_records
from daemon.peers.transport.identity import certificate_from_seed
from daemon.words.sentences import answer_words
from store.file.lease import ReplicaDoubt
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import DeviceId
from syncproto.keys import Signer
from tests.support.sentences import with_local_times, words_by_id
from tests.support.stores import NOW_MS, StoreBench, exchange, signer_of, write_entities

YEAR_MS = 365 * 86_400_000


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[StoreBench]:
    store_bench = StoreBench(tmp_path)
    yield store_bench
    store_bench.close()


@pytest.fixture
def store(bench: StoreBench) -> Store:
    new_store = bench.store("a")
    write_entities(new_store, 1)
    return new_store


def clocks(store: Store, now_ms: int, jump_ms: int = 0) -> list[Check]:
    with store.read() as snapshot:
        return list(this_device.check_clocks(snapshot, now_ms, jump_ms))


def unwell(check: Check, *words: str) -> None:
    assert not check.well
    assert check.remedy
    for word in words:
        assert word in check.found


def test_the_disk_is_well_above_its_floor(tmp_path: Path):
    assert this_device.check_disk(DiskFloor(tmp_path, 0)).well
    unwell(this_device.check_disk(DiskFloor(tmp_path, 1 << 60)), "below the floor", "nothing is written")


def test_a_lease_tells_what_the_start_made_of_it():
    assert this_device.check_lease(None, False).well
    check = this_device.check_lease(ReplicaDoubt.FILE, False)
    assert (check.well, ReplicaDoubt.FILE.value in check.found) == (True, True)
    unwell(this_device.check_lease(None, True), "cannot be written")


def test_a_clock_that_goes_with_the_log_is_well(store: Store):
    (check,) = clocks(store, NOW_MS + 1000, jump_ms=30_000)
    assert check.well
    (check,) = clocks(store, NOW_MS - 9 * 60_000)
    assert check.well


def test_a_clock_behind_the_newest_change_is_named(store: Store, bench: StoreBench):
    (check,) = clocks(store, NOW_MS - YEAR_MS)
    unwell(check, "this device", "1 year from now", "2025-06-15")
    bench.now_ms += 3 * 3_600_000
    peer = bench.store("b")
    write_entities(peer, 1)
    exchange(peer, store)
    (check,) = clocks(store, NOW_MS)
    unwell(check, signer_of("b").device.hex()[:12], "3 hours from now")


@pytest.mark.parametrize(
    ("jump_ms", "words"), [(-YEAR_MS, "back by 1 year"), (7 * 60_000, "forward by 7 minutes")]
)
def test_a_clock_that_was_set_is_told(store: Store, jump_ms: int, words: str):
    (check,) = clocks(store, NOW_MS, jump_ms)
    unwell(check, words)


def given_up(store: Store, title: str, reason: str) -> None:
    with store.write() as tx:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": title})])
        fields: dict[str, Value] = {"task_id": task, "display_name": title, "home_device_id": tx.device}
        fields |= {"lifecycle": "dormant", "lifecycle_reason": reason}
        tx.commit([EntityWrite(agent_id(task), "agent", fields)])


def test_agents_that_sleep_because_they_failed_are_named_and_paused_ones_are_not(store: Store):
    given_up(store, "Paused", "it is paused")
    with store.read() as snapshot:
        (well,) = this_device.check_failed_agents(snapshot)
    assert well.well
    given_up(store, "Plan the party", "it failed 5 times in a row: no answer")
    with store.read() as snapshot:
        (check,) = this_device.check_failed_agents(snapshot)
    unwell(check, "'Plan the party'", "failed 5 times in a row: no answer")
    assert "placet agent resume" in check.remedy


def live_on_a_removed_phone(store: Store) -> DeviceId:
    seed = bytes([2]) * 32
    phone = Signer(seed).device
    with store.write() as tx:
        task = tx.new_id()
        member = member_records.introduction_write(tx, "phone", certificate_from_seed(seed))
        assert member is not None
        at_home: dict[str, Value] = {"task_id": task, "home_device_id": phone}
        entity_writes = [
            EntityWrite(task, "task", {"title": "Plan"}),
            EntityWrite(agent_id(task), "agent", at_home),
            member,
        ]
        tx.commit(entity_writes)
        tx.commit([member_records.removal_write(phone)])
    return phone


def test_agents_that_live_on_a_removed_device_are_counted_until_they_are_moved(store: Store):
    phone = live_on_a_removed_phone(store)
    with store.read() as snapshot:
        (check,) = this_device.check_failed_agents(snapshot)
    unwell(check, "phone, which was removed: 1")
    assert "placet agent move" in check.remedy
    with store.write() as tx:
        assert count_by_home(tx) == {phone: 1}
        (agent,) = tx.entities("agent")
        tx.commit([EntityWrite(agent.id, "agent", {"home_device_id": tx.device})])
        assert all(checked.well for checked in this_device.check_failed_agents(tx))


def test_peers_that_show_something_else_are_named(store: Store):
    with store.read() as snapshot:
        (well,) = this_device.check_peer_states(snapshot, [])
        (check,) = this_device.check_peer_states(snapshot, [signer_of("b").device])
    assert well.well
    unwell(check, signer_of("b").device.hex()[:12])


def test_a_device_of_which_two_daemons_run_is_named_with_what_to_do(store: Store):
    with store.read() as snapshot:
        assert not list(this_device.check_cloned_keys(snapshot, []))
        (check,) = this_device.check_cloned_keys(snapshot, [signer_of("b").device])
    unwell(check, signer_of("b").device.hex()[:12])
    assert "placet restore FILE" in check.remedy


def test_what_a_member_says_of_this_device_is_told_as_its_word(store: Store):
    """It may say anything: nobody is to delete a key for it."""
    with store.read() as snapshot:
        (check,) = this_device.check_cloned_keys(snapshot, [], [signer_of("b").device])
    unwell(check, f"{signer_of('b').device.hex()[:12]} says that")
    assert check.remedy.startswith("look for a copy")
    assert "delete" not in check.remedy


def test_of_many_devices_some_are_named_and_the_others_counted(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(this_device, "DEVICES_SHOWN_MAX", 2)
    devices = [DeviceId(bytes([number]) * 32) for number in range(5)]
    with store.read() as snapshot:
        checks = list(this_device.check_peer_states(snapshot, devices))
    assert [check.given for check in checks] == [{"device": "0" * 12}, {"device": "01" * 6}, {"count": 3}]
    assert {(check.code, check.well) for check in checks} == {("state_differs", False)}


def found_in_all_ways(store: Store, folder: Path) -> Iterator[Check]:
    """Find everything that can be found."""
    yield from (
        this_device.check_disk(DiskFloor(folder, 0)),
        this_device.check_disk(DiskFloor(folder, 1 << 60)),
    )
    yield from (this_device.check_lease(doubt, False) for doubt in (None, *ReplicaDoubt))
    yield this_device.check_lease(None, True)
    spans_ms = (6 * 60_000, 3_600_000, 86_400_000, -2 * YEAR_MS)
    yield from (check for span_ms in spans_ms for check in clocks(store, NOW_MS, span_ms))
    yield from (*clocks(store, NOW_MS), *clocks(store, NOW_MS - YEAR_MS))
    with store.read() as snapshot:
        yield from this_device.check_failed_agents(snapshot)
    live_on_a_removed_phone(store)
    with store.read() as snapshot:
        yield from this_device.check_failed_agents(snapshot)
        yield from (
            *this_device.check_peer_states(snapshot, []),
            *this_device.check_peer_states(snapshot, [signer_of("b").device]),
        )
        yield from this_device.check_cloned_keys(snapshot, [signer_of("b").device], [signer_of("b").device])
        yield from this_device.check_flooding_peers(snapshot, [snapshot.device] * 30)


def test_the_command_line_words_a_finding_as_the_daemon_does(store: Store, tmp_path: Path):
    for check in found_in_all_ways(store, tmp_path):
        found_words, remedy_words = words_by_id(to_builtins(check), "found", "remedy")
        assert found_words == with_local_times(check.found)
        assert remedy_words == check.remedy


def test_a_finding_of_a_newer_daemon_is_told_as_it_came():
    texts: dict[str, Any] = {"found": "the wind is too strong", "remedy": "wait"}
    for newer in ({"found_id": "wind", "found_params": {}}, {"found_id": "disk-free"}, {}):
        answer = texts | newer
        assert (answer_words(answer, "found"), answer_words(answer, "remedy")) == (
            "the wind is too strong",
            "wait",
        )


def test_a_watch_sees_jumps_and_no_sleep():
    now, elapsed = [1_000_000], [50.0]
    watch = ClockWatch(lambda: now[0], lambda: elapsed[0])
    now[0] += 3_600_000
    elapsed[0] += 3_600.0
    assert watch.jump_ms() == 0
    now[0] -= YEAR_MS
    assert watch.jump_ms() == -YEAR_MS
    assert since_boot_s() > 0
