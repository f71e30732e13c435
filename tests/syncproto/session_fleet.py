"""A few stores in memory, and links between them that lose frames and break, all of it from one seed.

Never waits: the caller says what happens next. What must hold at every step is checked at every step.
"""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from store.log.pages import FeedPage
from store.store import Store
from store.transaction import EntityWrite, Transaction
from syncproto import commit, messages
from syncproto.commit import SignedCommit
from syncproto.errors import RemoteProtocolError
from syncproto.ids import EntityId, ReplicaId
from syncproto.keys import Signer
from syncproto.messages import Commits
from syncproto.send_window import WINDOW_PAGES
from syncproto.session import (
    AckReceived,
    ByeReceived,
    PageRequest,
    SendFrame,
    Session,
    StatesCompared,
    StoreCommits,
    StoreState,
)
from syncproto.vector_clock import Head

VAULT = bytes(16)
START_MS = 1_750_000_000_000
ENTITIES = [EntityId(bytes([n]) * 16) for n in range(1, 9)]


def standing(transaction: Transaction) -> StoreState:
    """Return what a store holds."""
    return StoreState(transaction.heads(), transaction.state_hash())


class Site:
    """A store, and this side of each of its links."""

    def __init__(self, name: int, device: int, chance: random.Random) -> None:
        self.name = name
        self.device = device
        self._chance = chance
        self.store = Store.open(
            Path(":memory:"),
            signer=Signer(bytes([device]) * 32),
            now_ms=lambda: START_MS + self._chance.randrange(1000),
            randomness=self._chance.randbytes,
        )
        self.ends: dict[int, End] = {}
        self.largest_page = 0

    def write(self, commits: int, size: int) -> None:
        """Make some commits in one transaction, each a write to one entity."""
        with self.store.write() as transaction:
            for _ in range(commits):
                entity = self._chance.choice(ENTITIES)
                transaction.commit(
                    [EntityWrite(entity, "task", {f"f{self._chance.randrange(3)}": "x" * size})]
                )
        self.grew()

    def grew(self) -> None:
        """Inform every link that the feed may have grown."""
        for end in self.ends.values():
            end.session.feed_grew()

    def standing(self) -> StoreState:
        """Return what is held."""
        with self.store.write() as transaction:
            return standing(transaction)

    def become(self, original: "Site") -> None:
        """Hold a copy of another site's file: from then on both write as one replica."""
        with self.store._writer.backup("main", original.store._writer, "main") as copying:
            copying.step()
        self.store._log.reload()


@dataclass
class End:
    """One side of a link: the session, what it was asked for, and what it has sent that is under way."""

    site: Site
    session: Session
    now_s: Callable[[], float]
    under_way: deque[bytes] = field(default_factory=deque)
    asked: PageRequest | None = None
    to_take: deque[list[SignedCommit]] = field(default_factory=deque)
    unacked: int = 0
    agreed: int = 0

    def send(self, frame: bytes) -> None:
        """Put a frame on the way."""
        assert len(frame) <= messages.FRAME_BYTES_MAX
        message = messages.decode_message(frame)
        if isinstance(message, Commits):
            self.unacked += 1
            assert self.unacked <= WINDOW_PAGES
            check_ends_signed(message.commits)
            self.site.largest_page = max(self.site.largest_page, len(frame))
        self.under_way.append(frame)

    def receive(self, frame: bytes) -> None:
        """Process a frame of the other side."""
        for event in self.session.receive(frame, self.now_s()):
            match event:
                case SendFrame(answer):
                    self.send(answer)
                case StoreCommits(commits):
                    self.to_take.append(commits)
                    assert len(self.to_take) <= WINDOW_PAGES
                case AckReceived():
                    self.unacked -= 1
                case StatesCompared(agree=agree):
                    self.compared(agree)
                case ByeReceived(reason=reason):
                    raise AssertionError(reason)

    def compared(self, agree: bool) -> None:
        """Fail if a session found states that differ."""
        assert agree, "equal vectors and different states"
        self.agreed += 1

    def compare(self) -> None:
        """Compare what the other side said last, as after each page."""
        states_compared = self.session.compare_states()
        if states_compared is not None:
            self.compared(states_compared.agree)

    def ask(self) -> bool:
        """Ask the session for its next page, to be read later."""
        self.asked = self.session.next_page_request() if self.asked is None else self.asked
        return self.asked is not None

    def read(self) -> None:
        """Read the page that was asked for, and send it."""
        wanted, self.asked = self.asked, None
        assert wanted is not None
        with self.site.store.write() as transaction:
            page: FeedPage = transaction.page_lacking(wanted.peer_heads, wanted.after, wanted.bytes_max)
            frame = self.session.page_frame(
                page.commits, page.end, standing(transaction), self.now_s(), whole=page.whole
            )
        self.compare()
        if frame is not None:
            self.send(frame)

    def take(self) -> None:
        """Store the oldest page that came, then acknowledge it."""
        commits = self.to_take.popleft()
        with self.site.store.write() as transaction:
            accepted_page = transaction.accept_page(commits)
            after = standing(transaction)
        for frame in self.session.ack_frames(accepted_page.heads, accepted_page.forked, after):
            self.send(frame)
        self.compare()
        if accepted_page.new_commits:
            self.site.grew()


def check_ends_signed(commits: list[SignedCommit]) -> None:
    """Fail if the last commit of a run has no signature; runs are told apart by what follows what."""
    ends: dict[bytes, SignedCommit] = {}
    for signed in commits:
        received = commit.decode_commit(signed)
        ends.pop(received.commit.previous, None)
        ends[received.hash] = signed
    assert all(signed.signature for signed in ends.values()), "a run that ends without signature"


class SessionFleet:
    """Sites by number, and the links between them."""

    def __init__(self, seed: int, sites: int) -> None:
        self.chance = random.Random(seed)
        self.now_s = 0.0
        self._moments = random.Random(f"{seed}, moments")
        self._step_s = self._moments.choice((0.0, 0.001, 0.1, 10.0))
        self.sites = [Site(name, name + 1, self.chance) for name in range(sites)]
        self.cloned = False
        self.faults = 0

    def clone(self) -> Site:
        """Add a copy of a site, as a backup that is started beside its original would be."""
        original = self.chance.choice(self.sites)
        copy = Site(len(self.sites), original.device, self.chance)
        copy.become(original)
        self.sites.append(copy)
        self.cloned = True
        return copy

    def pairs(self) -> list[tuple[Site, Site]]:
        """Return who may be linked: everyone with everyone."""
        return [(site, other) for site in self.sites for other in self.sites if site.name < other.name]

    def connect(self, other_site: Site, other: Site) -> None:
        """Make a link if there is none."""
        if other.name in other_site.ends:
            return
        for site, peer in ((other_site, other), (other, other_site)):
            store_state = site.standing()
            with site.store.write() as transaction:
                replica: ReplicaId | None = transaction.replica
            end = End(site, Session(VAULT, replica, store_state), lambda: self.now_s)
            site.ends[peer.name] = end
            for frame in end.session.hello_frames():
                end.send(frame)

    def cut(self, site: Site, other: Site) -> None:
        """Break a link: what is under way and what is not yet stored is lost."""
        site.ends.pop(other.name, None)
        other.ends.pop(site.name, None)

    def moves(self) -> list[tuple[str, Site, Site]]:
        """Return everything that could happen next on a link."""
        moves_found = []
        for site in self.sites:
            for name, end in sorted(site.ends.items()):
                other = self.sites[name]
                if end.under_way:
                    moves_found.append(("deliver", site, other))
                if end.asked is not None or end.ask():
                    moves_found.append(("read", site, other))
                if end.to_take:
                    moves_found.append(("take", site, other))
        return moves_found

    def move(self, kind: str, site: Site, other: Site) -> None:
        """Let one thing happen; a page that is refused breaks the link, and is a bug unless there are clones.

        If a replica forked and neither side knows it yet, a side may seem to hold what it does not.
        """
        end = site.ends[other.name]
        self.now_s += self._moments.random() * self._step_s
        try:
            if kind == "deliver":
                other.ends[site.name].receive(end.under_way.popleft())
            elif kind == "read":
                end.read()
            else:
                end.take()
        except RemoteProtocolError:
            if not self.cloned:
                raise
            self.faults += 1
            self.cut(site, other)

    def step(self) -> bool:
        """Let one thing happen that chance picks; say whether there was any."""
        possible = self.moves()
        if possible:
            self.move(*self.chance.choice(possible))
        return bool(possible)

    def settle(self, moves_max: int) -> None:
        """Let everything happen that is under way."""
        for _ in range(moves_max):
            if not self.step():
                return
        raise AssertionError("the fleet does not come to rest")

    def heads(self) -> list[tuple[Head, ...]]:
        """Return each site's vector."""
        return [site.standing().heads.clock for site in self.sites]

    def close(self) -> None:
        """Drop the stores."""
        for site in self.sites:
            site.store.close()
