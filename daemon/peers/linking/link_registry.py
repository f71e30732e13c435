"""The links that are open now, at most one per pair of devices.

Never lets two links of one pair stay open, and never drops a peer's last contact without recording it.
"""

import asyncio
from collections.abc import Callable, Container, Sequence
from functools import partial

import structlog

from daemon.notifier import Notifier
from daemon.peers.linking import goodbyes
from daemon.peers.linking.divergence import Divergences
from daemon.peers.linking.exchange_faults import ExchangeFaults, LinkFault
from daemon.peers.linking.key_clones import KeyClones
from daemon.peers.linking.link import LinkObserver, PeerLink
from daemon.peers.linking.rate_limit import StorageRateLimit
from daemon.peers.transport.happy_eyeballs import FailedCall
from daemon.peers.transport.limits import PeerLimits, loop_time_s
from daemon.peers.transport.wire import Wire
from store.file.errors import StoreError
from store.local import peer_records
from store.local.exchange_days import ExchangeCounts
from store.queries.dropped_values import heads_of_dropped_values
from store.sentence import Sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import AcceptedPage
from syncproto.ids import DeviceId
from syncproto.messages import WANTED_HEADS_MAX
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock

log = structlog.get_logger("peers")


class LinkRegistry(LinkObserver):
    """The open links. `changed` notifies whenever what is known of a peer may have changed.

    `shortfall` returns why there is no room to store what peers send, None if there is room. `count` is
    called with what happened on the links.
    """

    def __init__(
        self,
        db: StoreThreads,
        notifier: Notifier,
        own: DeviceId,
        now_ms: Callable[[], int],
        limits: PeerLimits,
        *,
        shortfall: Callable[[], Sentence | None] = lambda: None,
        count: Callable[[ExchangeCounts], None] = lambda _counts: None,
    ) -> None:
        self._db = db
        self._notifier = notifier
        self._own = own
        self._now_ms = now_ms
        self._limits = limits
        self._shortfall = shortfall
        self._count = count
        # The one link per pair that counts; a replaced one is in `_running` for a moment longer.
        self._placed: dict[DeviceId, PeerLink] = {}
        self._placed_s: dict[DeviceId, float] = {}
        self._running: set[PeerLink] = set()
        self._unplaced: set[PeerLink] = set()
        self._replaced: dict[PeerLink, asyncio.Task[None]] = {}
        self._probes: dict[PeerLink, asyncio.Task[None]] = {}
        self._last_frame_ms: dict[DeviceId, int] = {}
        self._awaited: dict[PeerLink, set[Head]] = {}
        self._asked_up_to: dict[DeviceId, Head] = {}
        """After which commit to go on asking, if a peer was asked for as many as a Hello can name."""
        self._allowance = StorageRateLimit(limits.stored_bytes, limits.stored_bytes_per_s, loop_time_s)
        self._limit_ending: asyncio.TimerHandle | None = None
        self.divergences = Divergences(db, now_ms, self._report_divergence, limits.divergence_pause_s)
        self.key_clones = KeyClones(limits, loop_time_s)
        self.faults = ExchangeFaults()
        self.changed = Notifier()

    # -- what is known --------------------------------------------------------------------------------

    def link_to(self, peer: DeviceId) -> PeerLink | None:
        """Return the link to a peer, None if there is none."""
        link = self._placed.get(peer)
        return None if link is None or link.ended.is_set() else link

    def live_links(self) -> list[PeerLink]:
        """Return the links that have not ended, also those that still wait for the peer's greeting."""
        return [link for link in self._placed.values() if not link.ended.is_set()]

    def greeted_links(self) -> list[PeerLink]:
        """Return the live links on which the peer's greeting arrived."""
        return [link for link in self.live_links() if link.greeted.is_set()]

    def rate_limited_peers(self) -> list[DeviceId]:
        """Return the linked peers that sent so much that this device now accepts it slowly."""
        return [link.peer for link in self.live_links() if self._allowance.is_limited(link.peer)]

    def appearance(self) -> tuple[object, ...]:
        """Return what a person can see of the links; it is equal as long as they look alike."""
        greeted = {link.peer for link in self.greeted_links()}
        return (
            greeted,
            self.rate_limited_peers(),
            dict(self.divergences.diverging_peers()),
            self.faults.appearance(),
        )

    def owing_peers(self) -> list[DeviceId]:
        """Return the linked peers that owe an answer to what they were sent or asked."""
        return [link.peer for link in self.live_links() if link.owes_answer]

    # -- running a link -------------------------------------------------------------------------------

    def create_link(self, wire: Wire, peer: DeviceId, *, dialled: bool) -> PeerLink:
        """Return a link that does not run yet; pass it to `run_link`."""
        return PeerLink(
            wire,
            peer,
            dialled=dialled,
            db=self._db,
            notifier=self._notifier,
            observer=self,
            limits=self._limits,
            allowance=self._allowance,
            find_wanted=partial(self._find_wanted, peer),
        )

    def _find_wanted(self, peer: DeviceId, snapshot: Snapshot) -> VectorClock:
        """Return the commits to ask a peer for once more, whose state differs: it may have them whole.

        A member may have dropped values that count on their way here.
        """
        if peer not in self.divergences.diverging_peers():
            return EMPTY_CLOCK
        return heads_of_dropped_values(snapshot, WANTED_HEADS_MAX, self._asked_up_to.get(peer))

    async def run_link(self, link: PeerLink) -> None:
        """Run a link to its end, unless the pair has a better one that is alive."""
        self._unplaced.add(link)
        try:
            refusal = await self._place(link)
        finally:
            self._unplaced.discard(link)
        if refusal is not None:
            await link.refuse(refusal)
            return
        self._running.add(link)
        recording = asyncio.create_task(self._record_contact_regularly(link))
        try:
            reason = await link.run()
            log.info("a link ended", peer=link.peer.hex()[:16], reason=reason)
        except Exception:
            # A bug here ends this link and is logged; it never ends the daemon.
            log.exception("a link failed", peer=link.peer.hex()[:16])
        finally:
            recording.cancel()
            await self._finish(link)

    async def _place(self, link: PeerLink) -> str | None:
        """Make a link the one of its pair; return why not if another one stays."""
        if await self._is_out_of_turn(link):
            return goodbyes.KEY_CLONE
        # The link may be asked to end meanwhile: a pause or a removal closes it, and then it gets no place.
        while link.close_reason is None and not self._replace_rival(link):
            rival = self._placed[link.peer]
            reason = goodbyes.NO_SIGN_OF_LIFE
            if await rival.liveness.is_alive():
                if not await self.key_clones.detect_by_age(rival, self._age_s(rival), link):
                    return goodbyes.REDUNDANT
                reason = goodbyes.KEY_CLONE
            await self._close_and_wait(rival, reason)
        return link.close_reason

    async def _is_out_of_turn(self, link: PeerLink) -> bool:
        """Return whether a link is of one of two daemons with one key, while the other one has its turn."""
        rival = self.link_to(link.peer)
        if rival is None or rival.dialled or link.dialled or not self.key_clones.is_cloned(link.peer):
            return False
        # Each daemon gets a whole turn, so that it can deliver what only it has.
        has_turn = self._age_s(rival) < self._limits.clone_turn_s
        return has_turn and await self.key_clones.detect_by_answer(rival, link)

    def _age_s(self, link: PeerLink) -> float:
        return loop_time_s() - self._placed_s[link.peer]

    def _replace_rival(self, link: PeerLink) -> bool:
        """Decide between two links of a pair; return whether the new one gets the place.

        Both sides decide alike: the link that the device with the smaller id dialled stays. Of two links that
        the same side dialled the newer one stays, since the older one is most likely dead.
        """
        rival = self.link_to(link.peer)
        if rival is not None:
            if self._is_preferred(rival) and not self._is_preferred(link):
                return False
            # Only two links that the peer dialled can show that its key runs twice: see
            # `KeyClones.detect_by_answer`.
            if rival.dialled or link.dialled:
                rival.close(goodbyes.REPLACED)
            else:
                task = asyncio.create_task(self._close_replaced(rival, link))
                self._replaced[rival] = task
                task.add_done_callback(partial(self._forget_replaced, rival))
        self._placed[link.peer], self._placed_s[link.peer] = link, loop_time_s()
        return True

    def _is_preferred(self, link: PeerLink) -> bool:
        return link.dialled == (self._own < link.peer)

    async def _close_replaced(self, link: PeerLink, newer: PeerLink) -> None:
        """Close a replaced link when the peer dialled both; if it was alive, two daemons have one key."""
        cloned = await self.key_clones.detect_by_answer(link, newer)
        link.close(goodbyes.KEY_CLONE if cloned else goodbyes.REPLACED)

    def _forget_replaced(self, link: PeerLink, finished: asyncio.Task[None]) -> None:
        del self._replaced[link]
        if not finished.cancelled() and (fault := finished.exception()) is not None:
            log.error("a link that a newer one replaces could not be closed", exc_info=fault)
            link.close(goodbyes.REPLACED)

    async def _finish(self, link: PeerLink) -> None:
        # A newer link may have its place meanwhile.
        if self._placed.get(link.peer) is link:
            del self._placed[link.peer]
        self.changed.notify()
        try:
            await self._record_contact(link)
        finally:
            self._running.discard(link)
            self._awaited.pop(link, None)
            self.changed.notify()

    # -- what calls and links report -------------------------------------------------------------------

    def record_failed_call(self, peer: DeviceId, failed_calls: Sequence[FailedCall]) -> None:
        """Record what was seen at each address of a call that led to no link."""
        self.faults.record_failed_call(peer, failed_calls)
        self._count(ExchangeCounts(failed_calls=1))
        self.changed.notify()

    def record_connection(self, peer: DeviceId) -> None:
        """Record that a call led to a link."""
        self.faults.record_connection(peer)
        self.changed.notify()

    def progress_changed(self, link: PeerLink) -> None:
        """Notify whoever watches the links; once more when a peer is no longer slowed down."""
        self.changed.notify()
        self._await_end_of_limit(link)

    def _await_end_of_limit(self, link: PeerLink) -> None:
        limited_s = self._allowance.limited_for_s(link.peer)
        if limited_s and self._limit_ending is None:
            self._limit_ending = asyncio.get_running_loop().call_later(limited_s, self._report_end_of_limit)

    def _report_end_of_limit(self) -> None:
        self._limit_ending = None
        self.changed.notify()
        for link in self.live_links():
            self._await_end_of_limit(link)

    def frame_received(self, link: PeerLink) -> None:
        """Remember when the peer was heard last."""
        self._last_frame_ms[link.peer] = self._now_ms()

    def states_compared(self, link: PeerLink, *, agree: bool) -> None:
        """Record a comparison, unless the link is being closed: its outcome is of no use any more."""
        if link.close_reason is None:
            if agree:
                self._asked_up_to.pop(link.peer, None)
            self.divergences.record_comparison(link.peer, agree=agree)
            self.changed.notify()

    def goodbye_received(self, link: PeerLink) -> None:
        """Record the peer's reason if it concerns both devices, and if this is the link of the pair."""
        # What a replaced link says is about a time that has passed.
        if self._placed.get(link.peer) is not link:
            return
        if link.peer_goodbye == goodbyes.KEY_CLONE:
            self.key_clones.record_report(link.peer)
        elif link.peer_goodbye == goodbyes.STATES_DIFFER and link.may_have_diverged:
            self.states_compared(link, agree=False)

    def link_works(self, link: PeerLink) -> None:
        """Forget the fault of an earlier link, if this is the link of the pair."""
        if self._placed.get(link.peer) is link:
            self.faults.record_working(link.peer)

    def fault_found(self, link: PeerLink, fault: LinkFault) -> None:
        """Record the fault by which a link ends, if it is the link of the pair."""
        # A newer one shows by itself whether it works.
        if self._placed.get(link.peer) is link:
            self.faults.record_fault(link.peer, fault)
            self._count(ExchangeCounts(faults=1))

    def page_sent(self, link: PeerLink, commits: int) -> None:
        """Count what went to the peer."""
        del link
        self._count(ExchangeCounts(sent=commits))

    def page_stored(self, link: PeerLink, accepted: AcceptedPage) -> None:
        """Count what came; pass on values that this device lacked, as other peers may."""
        if accepted.new_commits:
            self._count(ExchangeCounts(received=accepted.new_commits))
        if accepted.known:
            self._handle_known_commits(link, accepted)

    def _handle_known_commits(self, link: PeerLink, accepted: AcceptedPage) -> None:
        """Pass on values that this device lacked; note what the peer was asked for."""
        for other in self.live_links():
            if accepted.regained and other is not link:
                other.send_again(accepted.regained)
        if accepted.overlong and link.peer in self.divergences.diverging_peers():
            # The peer does not know that this commit is overlong.
            link.send_again(accepted.overlong)
        if link.wanted and accepted.known:
            awaited = self._awaited.setdefault(link, set(link.wanted))
            awaited.difference_update(accepted.known)
            if not awaited:
                self._ask_further(link)

    def _ask_further(self, link: PeerLink) -> None:
        """Greet a peer anew if it has sent all that it was asked for, and there is more to ask for."""
        self._asked_up_to.pop(link.peer, None)
        if len(link.wanted) == WANTED_HEADS_MAX and link.peer in self.divergences.diverging_peers():
            self._asked_up_to[link.peer] = link.wanted[-1]
            link.close(goodbyes.STATES_DIFFER)

    def storage_shortfall(self) -> Sentence | None:
        """Return why there is no room to store what peers send, None if there is room."""
        return self._shortfall()

    def _report_divergence(self, peer: DeviceId) -> None:
        """Report that a peer's state began or ceased to differ: to all who watch, and to the peer itself."""
        # The peer may not have compared the states. The goodbye informs it, and both compare again when they
        # greet each other next.
        if (link := self.link_to(peer)) is not None:
            differs = peer in self.divergences.diverging_peers()
            link.close(goodbyes.STATES_DIFFER if differs else goodbyes.STATES_AGREE)
        self._notifier.notify()
        self.changed.notify()

    # -- closing links --------------------------------------------------------------------------------

    def close_all_but(self, devices: Container[DeviceId], reason: str) -> None:
        """Ask the links to all other peers to end."""
        # All that run, not only those that have the place of their pair: a replaced link is open for a
        # moment more.
        for link in self._running | self._unplaced:
            if link.peer not in devices:
                link.close(reason)

    def probe_links(self, device: DeviceId | None = None) -> None:
        """Ask every link, or the one to `device`, for a sign of life, and end those that give none.

        An address that went or a cable that was pulled may end a connection without any notice.
        """
        for link in self.live_links():
            if device in (None, link.peer) and link not in self._probes:
                task = asyncio.create_task(self._probe(link))
                self._probes[link] = task
                task.add_done_callback(partial(self._end_probe, link))

    async def _probe(self, link: PeerLink) -> None:
        if not await link.liveness.is_alive():
            await self._close_and_wait(link, goodbyes.NO_SIGN_OF_LIFE)

    def _end_probe(self, link: PeerLink, finished: asyncio.Task[None]) -> None:
        self._probes.pop(link, None)
        if not finished.cancelled() and (fault := finished.exception()) is not None:
            log.error("a link could not be checked for a sign of life", exc_info=fault)

    async def _close_and_wait(self, link: PeerLink, reason: str) -> None:
        link.close(reason)
        await link.ended.wait()

    async def wait_until_drained(self) -> None:
        """Wait until no link runs."""
        watch = self.changed.watch()
        while self._running:
            await watch.wait_for_growth(self._limits.goodbye_s)
        if self._limit_ending is not None:
            self._limit_ending.cancel()
        await self.divergences.close()

    # -- recording contacts ---------------------------------------------------------------------------

    async def record_contacts(self) -> None:
        """Store now which commits each linked peer has."""
        for link in self.live_links():
            await self._record_contact(link)

    async def _record_contact_regularly(self, link: PeerLink) -> None:
        await link.greeted.wait()
        self._count(ExchangeCounts(links=1))
        while True:
            await self._record_contact(link)
            await asyncio.sleep(self._limits.contact_record_s)

    async def _record_contact(self, link: PeerLink) -> None:
        """Store which commits the peer has, and when it was heard: its lag is known while it is away."""
        if not link.greeted.is_set():
            return
        vector, replica = link.peer_vector, link.peer_replica
        # Not the present time: if the peer or this machine slept, the link ends long after the last frame.
        last_frame_ms = self._last_frame_ms[link.peer]
        try:
            await self._db.write(
                lambda transaction: peer_records.record_contact(
                    transaction, link.peer, vector, last_frame_ms, replica
                )
            )
        except StoreError as fault:
            # Only a hint is lost; the next contact brings it again.
            log.warning(
                "which commits a peer has could not be stored", peer=link.peer.hex()[:16], error=str(fault)
            )
