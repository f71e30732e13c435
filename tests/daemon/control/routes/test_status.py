"""What status and metrics show of many replicas and devices.

Never asks a daemon: the answers are made from a store and from devices of the test.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from daemon.control.routes import metrics, status
from daemon.peers.linking.device_states import DeviceList, DeviceState
from daemon.peers.mailboxes.mailbox_state import MailboxActivity, MailboxState
from syncproto.ids import id_to_text
from tests.daemon.control.health.test_connections import PHONE
from tests.support.stores import StoreBench, first_commits, write_entities


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[StoreBench]:
    store_bench = StoreBench(tmp_path)
    yield store_bench
    store_bench.close()


@pytest.mark.parametrize(("replicas", "left_out"), [(3, 0), (10, 7)])
def test_the_vector_is_shown_up_to_a_number_of_replicas_with_this_devices_own(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch, replicas: int, left_out: int
):
    monkeypatch.setattr(status, "REPLICAS_SHOWN_MAX", 4)
    store = bench.store("a")
    write_entities(store, 2)
    with store.write() as transaction:
        transaction.accept_page([commit.signed for commit in first_commits(replicas)])
    with store.read() as snapshot:
        vector, count = status._shown_vector(snapshot)
        assert snapshot.replica is not None
        assert vector[id_to_text(snapshot.replica)] == 2
    assert (len(vector), count) == (min(replicas + 1, 4), left_out)


def members(count: int, **fields: bool) -> list[DeviceState]:
    return [
        msgspec.structs.replace(PHONE, device_id=f"{number:064x}"[::-1], **fields) for number in range(count)
    ]


def test_metrics_have_a_series_for_each_device_that_is_linked_with_and_no_other():
    linkable, left_out = members(3), members(5, left_out=True)
    families = {family.name: family for family in metrics._peers(DeviceList([*linkable, *left_out], 90, 7))}
    assert len(families["peer_connected"].samples) == len(families["peer_lag_commits"].samples) == 3
    assert families["peers_left_out"].samples == {(): 95}


def test_metrics_have_a_series_for_each_mailbox_and_count_what_was_done_there():
    box = MailboxState("box", "folder", "/box", None, None, "", {}, 3, 700, 0, 0, 0, [])
    away = MailboxState("away", "relay", "https://x/y", None, "gone", "x", {}, 0, 0, 0, 0, 0, [])
    families = {family.name: family for family in metrics._mailboxes([box, away])}
    assert families["mailbox_usable"].samples == {(("mailbox", "box"),): 1, (("mailbox", "away"),): 0}
    assert families["mailbox_bytes"].samples[(("mailbox", "box"),)] == 700
    done = MailboxActivity("box", None, 5, 2, 3, 4, 1, None, "", {})
    totals = {family.name: family.samples for family in metrics._mailbox_activities([done])}
    assert {name: samples[(("mailbox", "box"),)] for name, samples in totals.items()} == {
        "mailbox_visits_total": 5,
        "mailbox_faults_total": 1,
        "mailbox_taken_total": 2,
        "mailbox_put_total": 3,
        "mailbox_cleared_total": 4,
    }
