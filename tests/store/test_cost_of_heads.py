"""What one live change costs on a link between two devices that know many replicas: not all their heads."""

from store.store import Store
from syncproto.commit import SignedCommit
from syncproto.messages import Ack, Commits, Heads, Hello, decode_message, encode_message
from syncproto.session import Session, StoreState
from syncproto.vector_clock import Head
from tests.support.growth import GROWTH, assert_at_most
from tests.support.stores import StoreBench, first_commits, write_entities

SMALL = 1_000
CHANGES = 8
RATIO_MAX = 4.0
"""What goes through all heads takes about 8 times as long for 8 times as many."""


def stand(store: Store) -> StoreState:
    """Return what a link reads of a store."""
    with store.read() as snapshot:
        return StoreState(snapshot.heads(), snapshot.state_hash())


class LiveLink:
    """Two devices that know many replicas and agree; the first one writes, and the second one answers."""

    def __init__(self, bench: StoreBench, name: str, count: int) -> None:
        self.store = bench.store(name)
        with self.store.write() as transaction:
            transaction.accept_page([first.signed for first in first_commits(count)])
        write_entities(self.store, 1)
        state = stand(self.store)
        self.session = Session(bytes(16), None, state)
        self.session.hello_frames()
        # The peer's heads come over the line: none of its objects is one of this device.
        clock = tuple(Head(*head) for head in state.heads.clock)
        first, rest = clock[:1024], clock[1024:]
        self.session.receive(encode_message(Hello([2], bytes(16), None, first, state.state_hash, {})))
        for start in range(0, len(rest) + 1, 1024):
            if self.session.next_page_request() is None:
                self.session.receive(_heads_frame(rest[start : start + 1024]))
        self.change()

    def change(self) -> None:
        """Write a commit, send it, and read the Ack of the peer."""
        for _ in range(CHANGES):
            before = stand(self.store).heads
            write_entities(self.store, 1)
            self.session.feed_grew()
            while (wanted := self.session.next_page_request()) is not None:
                with self.store.read() as snapshot:
                    page = snapshot.page_lacking(wanted.peer_heads, wanted.after, wanted.bytes_max)
                    state = StoreState(snapshot.heads(), snapshot.state_hash())
                frame = self.session.page_frame(page.commits, page.end, state, whole=page.whole)
                if frame is None:
                    continue
                assert _commits_in(frame)
                came, gone = state.heads.changes_since(before)
                self.session.receive(encode_message(Ack(came, gone, state.state_hash)))
            assert self.session.is_level


def _heads_frame(heads: tuple[Head, ...]) -> bytes:
    return encode_message(Heads(heads, ()))


def _commits_in(frame: bytes) -> list[SignedCommit]:
    message = decode_message(frame)
    assert isinstance(message, Commits)
    return message.commits


def test_a_live_change_costs_what_changed_and_not_all_heads(bench: StoreBench):
    small, large = LiveLink(bench, "few", SMALL), LiveLink(bench, "many", GROWTH * SMALL)
    assert_at_most(RATIO_MAX, small.change, large.change)
