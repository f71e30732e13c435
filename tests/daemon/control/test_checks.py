"""What doctor hears from the daemon about its disk, its lease, the clocks and the states of peers.

Never finds fault without a remedy.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import to_builtins

from daemon.agents.agents import homes
from daemon.agents.records import agent_id
from daemon.cli.views.findings import finding_words
from daemon.clock import ClockWatch, since_boot_s
from daemon.control import checks
from daemon.control.checks import Check
from daemon.disk import Floor
from daemon.peers import roster
from daemon.peers.identity import certificate_of
from store.lease import Doubt
from store.store import Store
from store.transaction import Write
from syncproto.codec import Value
from syncproto.ids import DeviceId
from syncproto.keys import Signer
from tests.store.stores import NOW_MS, Bench, exchange, grow, signer_of

YEAR_MS = 365 * 86_400_000


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(bench: Bench) -> Store:
    made = bench.store("a")
    grow(made, 1)
    return made


def clocks(store: Store, now_ms: int, jump_ms: int = 0) -> list[Check]:
    with store.read() as snapshot:
        return list(checks.clocks(snapshot, now_ms, jump_ms))


def unwell(found: Check, *words: str) -> None:
    assert not found.well
    assert found.remedy
    for word in words:
        assert word in found.found


def test_the_disk_is_well_above_its_floor(tmp_path: Path):
    assert checks.disk(Floor(tmp_path, 0)).well
    unwell(checks.disk(Floor(tmp_path, 1 << 60)), "below the floor", "nothing is written")


def test_a_lease_tells_what_the_start_made_of_it():
    assert checks.lease(None, False).well
    begun = checks.lease(Doubt.FILE, False)
    assert (begun.well, Doubt.FILE.value in begun.found) == (True, True)
    unwell(checks.lease(None, True), "cannot be written")


def test_a_clock_that_goes_with_the_log_is_well(store: Store):
    (found,) = clocks(store, NOW_MS + 1000, jump_ms=30_000)
    assert found.well
    (found,) = clocks(store, NOW_MS - 9 * 60_000)
    assert found.well


def test_a_clock_behind_the_newest_change_is_named(store: Store, bench: Bench):
    (found,) = clocks(store, NOW_MS - YEAR_MS)
    unwell(found, "this device", "1 year from now", "2025-06-15")
    bench.now_ms += 3 * 3_600_000
    peer = bench.store("b")
    grow(peer, 1)
    exchange(peer, store)
    (found,) = clocks(store, NOW_MS)
    unwell(found, signer_of("b").device.hex()[:12], "3 hours from now")


@pytest.mark.parametrize(
    ("jump_ms", "words"), [(-YEAR_MS, "back by 1 year"), (7 * 60_000, "forward by 7 minutes")]
)
def test_a_clock_that_was_set_is_told(store: Store, jump_ms: int, words: str):
    (found,) = clocks(store, NOW_MS, jump_ms)
    unwell(found, words)


def given_up(store: Store, title: str, reason: str) -> None:
    with store.write() as tx:
        task = tx.new_id()
        tx.commit([Write(task, "task", {"title": title})])
        fields: dict[str, Value] = {"task_id": task, "display_name": title, "home_device_id": tx.device}
        fields |= {"lifecycle": "dormant", "lifecycle_reason": reason}
        tx.commit([Write(agent_id(task), "agent", fields)])


def test_agents_that_sleep_because_they_failed_are_named_and_paused_ones_are_not(store: Store):
    given_up(store, "Paused", "it is paused")
    with store.read() as snapshot:
        (well,) = checks.agents(snapshot)
    assert well.well
    given_up(store, "Plan the party", "it failed 5 times in a row: no answer")
    with store.read() as snapshot:
        (found,) = checks.agents(snapshot)
    unwell(found, "'Plan the party'", "failed 5 times in a row: no answer")
    assert "placet agent resume" in found.remedy


def live_on_a_removed_phone(store: Store) -> DeviceId:
    seed = bytes([2]) * 32
    phone = Signer(seed).device
    with store.write() as tx:
        task = tx.new_id()
        member = roster.introduce(tx, "phone", certificate_of(seed))
        assert member is not None
        at_home: dict[str, Value] = {"task_id": task, "home_device_id": phone}
        made = [Write(task, "task", {"title": "Plan"}), Write(agent_id(task), "agent", at_home), member]
        tx.commit(made)
        tx.commit([roster.remove(phone)])
    return phone


def test_agents_that_live_on_a_removed_device_are_counted_until_they_are_moved(store: Store):
    phone = live_on_a_removed_phone(store)
    with store.read() as snapshot:
        (found,) = checks.agents(snapshot)
    unwell(found, "phone, which was removed: 1")
    assert "placet agent move" in found.remedy
    with store.write() as tx:
        assert homes(tx) == {phone: 1}
        (agent,) = tx.entities("agent")
        tx.commit([Write(agent.id, "agent", {"home_device_id": tx.device})])
        assert all(one.well for one in checks.agents(tx))


def test_peers_that_show_something_else_are_named(store: Store):
    with store.read() as snapshot:
        (well,) = checks.states(snapshot, [])
        (found,) = checks.states(snapshot, [signer_of("b").device])
    assert well.well
    unwell(found, signer_of("b").device.hex()[:12])


def test_a_device_of_which_two_daemons_run_is_named_with_what_to_do(store: Store):
    with store.read() as snapshot:
        assert not list(checks.twins(snapshot, []))
        (there,) = checks.twins(snapshot, [signer_of("b").device])
    unwell(there, signer_of("b").device.hex()[:12])
    assert "placet restore FILE" in there.remedy


def test_what_a_member_says_of_this_device_is_told_as_its_word(store: Store):
    """It may say anything: nobody is to delete a key for it."""
    with store.read() as snapshot:
        (said,) = checks.twins(snapshot, [], [signer_of("b").device])
    unwell(said, f"{signer_of('b').device.hex()[:12]} says that")
    assert said.remedy.startswith("look for a copy")
    assert "delete" not in said.remedy


def found_in_all_ways(store: Store, folder: Path) -> Iterator[Check]:
    """Find everything that can be found."""
    yield from (checks.disk(Floor(folder, 0)), checks.disk(Floor(folder, 1 << 60)))
    yield from (checks.lease(doubt, False) for doubt in (None, *Doubt))
    yield checks.lease(None, True)
    spans_ms = (6 * 60_000, 3_600_000, 86_400_000, -2 * YEAR_MS)
    yield from (found for span_ms in spans_ms for found in clocks(store, NOW_MS, span_ms))
    yield from (*clocks(store, NOW_MS), *clocks(store, NOW_MS - YEAR_MS))
    with store.read() as snapshot:
        yield from checks.agents(snapshot)
    live_on_a_removed_phone(store)
    with store.read() as snapshot:
        yield from checks.agents(snapshot)
        yield from (*checks.states(snapshot, []), *checks.states(snapshot, [signer_of("b").device]))
        yield from checks.twins(snapshot, [signer_of("b").device], [signer_of("b").device])


def test_the_command_line_words_a_finding_as_the_daemon_does(store: Store, tmp_path: Path):
    for found in found_in_all_ways(store, tmp_path):
        told = {**to_builtins(found), "found": "", "remedy": ""}
        assert finding_words(told) == (found.found, found.remedy)


def test_a_finding_of_a_newer_daemon_is_told_as_it_came():
    told = {"found": "the wind is too strong", "remedy": "wait"}
    for newer in ({"code": "wind", "given": {}}, {"code": "disk_well", "given": {}}, {}):
        assert finding_words({**told, **newer}) == ("the wind is too strong", "wait")


def test_a_watch_sees_jumps_and_no_sleep():
    now, elapsed = [1_000_000], [50.0]
    watch = ClockWatch(lambda: now[0], lambda: elapsed[0])
    now[0] += 3_600_000
    elapsed[0] += 3_600.0
    assert watch.jump_ms() == 0
    now[0] -= YEAR_MS
    assert watch.jump_ms() == -YEAR_MS
    assert since_boot_s() > 0
