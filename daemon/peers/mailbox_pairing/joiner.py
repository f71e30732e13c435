"""The joiner's side of pairing through a mailbox: leave a request, and join once the inviter has answered it.

Never joins twice by one invitation, whenever this process ends, and never joins what it may not join.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from msgspec import structs

from daemon.clock import Clock
from daemon.peers.mailbox_pairing.mailbox_token import MailboxToken
from daemon.peers.mailbox_pairing.pairing_file import OpenJoining, PairingFile
from daemon.peers.mailbox_pairing.pairing_state import MailboxJoining
from daemon.peers.mailboxes.carrier import Carrier, CarrierFault, RingingCarrier
from daemon.peers.mailboxes.carrier_choice import CarrierChoice
from daemon.peers.mailboxes.mailboxes import Mailboxes
from daemon.peers.mailboxes.sealing_key_file import DAY_MS, SealingKeyFile
from daemon.peers.pairing.admission import Admission
from daemon.peers.pairing.handshake import InviterIntroduction, JoinerIntroduction, PairingOutcome
from daemon.peers.roster.cache import RosterCache
from daemon.peers.transport.identity import Identity, public_key_of
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.timestamps import iso_utc
from store.file.errors import StoreError
from store.local import mailboxes as stored_mailboxes
from store.local import used_invitations
from store.local.mailboxes import Mailbox
from store.sentence import Sentence, foreign_text, sentence, sentence_fields
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.mailboxes import invitations
from syncproto.mailboxes.invitations import BLOB_BYTES_MAX, NONCE_BYTES, Answer, Request

WAIT_DAYS = 14
"""So long a device waits for an answer; an invitation lasts half as long, by the inviter's clock."""
NUMBERED_MAX = 100

log = structlog.get_logger("peers")


class MailboxJoiner:
    """Joins through a mailbox. `joined` is called once this device is in another vault."""

    def __init__(
        self,
        db: StoreThreads,
        clock: Clock,
        *,
        identity: Identity,
        members: RosterCache,
        admission: Admission,
        mailboxes: Mailboxes,
        carriers: CarrierChoice,
        keys: SealingKeyFile,
        file: PairingFile,
        look_s: float,
        own_addresses: Callable[[], list[str]],
        joined: Callable[[], Awaitable[None]],
    ) -> None:
        self._db = db
        self._clock = clock
        self._identity = identity
        self._members = members
        self._admission = admission
        self._mailboxes = mailboxes
        self._carriers = carriers
        self._keys = keys
        self._file = file
        self._look_s = look_s
        self._own_addresses = own_addresses
        self._joined = joined
        self._looking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._trouble: Sentence | None = None

    async def start(self) -> None:
        """Go on waiting for an answer, if this device waits for one."""
        if await asyncio.to_thread(lambda: self._file.joining) is not None:
            self._task = asyncio.create_task(self._look_regularly())

    async def stop(self) -> None:
        """Look no more; the request stays where it is."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def join(self, token: MailboxToken, folder: str | None, *, unite: bool) -> str | None:
        """Accept an invitation; return the mailbox through which an answer is awaited, None if it was there.

        `folder` is where a folder of that kind is on this device. Raises Refused. An earlier invitation that
        was accepted through a mailbox is given up.
        """
        if not token.kind and folder is None:
            raise usage_error(
                sentence("mailbox-place-needed", "this invitation is for a folder that both devices reach"),
                sentence("say-folder", "say where it is on this device: placet join --mailbox FOLDER"),
            )
        kind, place = ("folder", folder) if folder is not None else (token.kind, token.place)
        assert place is not None
        await self._check(token.device, unite=unite)
        joining = OpenJoining(
            token.secret,
            token.device,
            await self._free_name(token.name[:60] or kind),
            kind,
            place,
            "" if folder is not None else token.box_secret,
            unite,
            self._clock.now_ms(),
        )
        try:
            await self._with_carrier(joining, _list_blobs)
        except CarrierFault as fault:
            raise usage_error(fault.sentence) from fault
        await self.stop()
        await asyncio.to_thread(self._file.store_joining, joining)
        try:
            await self.look()
        except CarrierFault as fault:
            # A place where nothing can be left, such as a folder that is read-only.
            await asyncio.to_thread(self._file.store_joining, None)
            raise usage_error(fault.sentence) from fault
        await self.start()
        return None if self._file.joining is None else joining.mailbox

    async def state(self) -> MailboxJoining | None:
        """Return for whose answer this device waits, None if it waits for none."""
        joining = await asyncio.to_thread(lambda: self._file.joining)
        if joining is None:
            return None
        return MailboxJoining(
            joining.mailbox,
            joining.place,
            joining.inviter.hex(),
            iso_utc(joining.began_ms),
            **sentence_fields("trouble", self._trouble),
        )

    async def look(self) -> None:
        """Look for the answer once, and see to it that the request is there. Raises Refused, CarrierFault."""
        async with self._looking:
            joining = await asyncio.to_thread(lambda: self._file.joining)
            if joining is not None:
                await self._with_carrier(joining, lambda carrier: self._look(joining, carrier))

    # -- looking ----------------------------------------------------------------------------------------

    async def _look_regularly(self) -> None:
        while self._file.joining is not None:
            await asyncio.sleep(self._look_s)
            try:
                await self.look()
                self._trouble = None
            except (CarrierFault, Refused, StoreError, OSError) as fault:
                trouble = _sentence_of(fault)
                # Said once, and not at each look for two weeks.
                if trouble != self._trouble:
                    log.warning("this device cannot join through its mailbox now", error=str(fault))
                self._trouble = trouble
            except Exception:
                # A bug here ends this look and is logged; it never ends the daemon.
                log.exception("a mailbox could not be looked into for an answer")

    async def _with_carrier(self, joining: OpenJoining, work: Callable[[Carrier], Awaitable[None]]) -> None:
        tag = invitations.names_of(joining.secret).tag
        stored = Mailbox(joining.mailbox, joining.kind, joining.place, joining.began_ms)
        carrier = await self._carriers.make(stored, tag, joining.box_secret or None)
        try:
            await work(carrier)
        finally:
            if isinstance(carrier, RingingCarrier):
                await carrier.close()

    async def _look(self, joining: OpenJoining, carrier: Carrier) -> None:
        blob_names, own = invitations.names_of(joining.secret), self._identity.device
        if self._clock.now_ms() - joining.began_ms > WAIT_DAYS * DAY_MS:
            log.warning("this device waits no more for an answer", mailbox=joining.mailbox)
            await self._give_up(joining, carrier)
            return
        user = await self._db.read(lambda snapshot: used_invitations.user_of(snapshot, blob_names.tag))
        if user is not None:
            # This process ended after it had joined, before it had cleared up.
            await self._finish(joining, carrier)
            return
        raw = await carrier.get(blob_names.answer_to(own), BLOB_BYTES_MAX)
        answer = None if raw is None else self._read_answer(joining, raw)
        if answer is None:
            if raw is not None:
                # It was spoiled on its way: once it is gone, the inviter leaves it again.
                await carrier.delete(blob_names.answer_to(own))
            await self._put_request(joining, carrier)
        elif not answer.vault:
            await self._give_up(joining, carrier)
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence("invitation-used-by-other", "another device has used this invitation"),
                sentence("look-who-joined", "look there who joined: placet devices; then make a new one"),
            )
        else:
            await self._adopt(joining, answer)
            await self._finish(joining, carrier)

    def _read_answer(self, joining: OpenJoining, raw: bytes) -> Answer | None:
        """Return the answer in a blob, None if it is none: the mailbox may hold anything."""
        for key in self._keys.keys:
            try:
                answer = invitations.open_answer(
                    joining.secret,
                    raw,
                    inviter=DeviceId(joining.inviter),
                    own=self._identity.device,
                    key=key,
                )
                return answer if public_key_of(answer.certificate) == answer.public_key else None
            except (RemoteProtocolError, ValueError):
                continue
        return None

    async def _put_request(self, joining: OpenJoining, carrier: Carrier) -> None:
        introduction = await self._check(DeviceId(joining.inviter), unite=joining.unite)
        key = self._keys.present.public_key
        request = Request(
            self._identity.signer.public_key,
            self._identity.certificate,
            introduction.name,
            introduction.addresses[: invitations.ADDRESSES_MAX],
            int(key.suite),
            key.public,
        )
        name = invitations.names_of(joining.secret).request_of(self._identity.device)
        raw = await carrier.get(name, BLOB_BYTES_MAX)
        if raw is not None and _is_same(joining.secret, raw, request):
            return
        nonce = self._clock.randomness(NONCE_BYTES)
        blob = invitations.seal_request(joining.secret, request, self._identity.signer, nonce)
        await carrier.put(name, blob)

    # -- joining ----------------------------------------------------------------------------------------

    async def _check(self, inviter: DeviceId, *, unite: bool) -> JoinerIntroduction:
        """Return how this device introduces itself. Raises Refused if it may not join that inviter now."""
        return await self._admission.require_may_join(inviter, unite, self._own_addresses())

    async def _adopt(self, joining: OpenJoining, answer: Answer) -> None:
        await self._check(DeviceId(joining.inviter), unite=joining.unite)
        tag = invitations.names_of(joining.secret).tag
        outcome = PairingOutcome(
            answer.certificate, answer.public_key, InviterIntroduction(answer.name, answer.vault)
        )
        stored = Mailbox(joining.mailbox, joining.kind, joining.place, self._clock.now_ms())

        def adopt(transaction: Transaction) -> None:
            self._admission.adopt_vault(transaction, outcome)
            stored_mailboxes.add_mailbox(transaction, stored)
            used_invitations.note_use(transaction, tag, transaction.device)

        if joining.box_secret:
            await asyncio.to_thread(self._carriers.secrets.store, joining.mailbox, joining.box_secret)
        await self._db.write(adopt)
        await self._members.refresh()
        log.info("joined through a mailbox", mailbox=joining.mailbox, inviter=answer.name)

    async def _finish(self, joining: OpenJoining, carrier: Carrier) -> None:
        """Look into the mailbox from now on, clear up, and forget the invitation; it may be repeated."""
        await self._joined()
        await self._mailboxes.begin_stored(joining.mailbox)
        blob_names, own = invitations.names_of(joining.secret), self._identity.device
        await carrier.delete(blob_names.answer_to(own))
        await carrier.delete(blob_names.request_of(own))
        await asyncio.to_thread(self._file.store_joining, None)

    async def _give_up(self, joining: OpenJoining, carrier: Carrier) -> None:
        """Forget the invitation, and take back what this device left."""
        await asyncio.to_thread(self._file.store_joining, None)
        blob_names, own = invitations.names_of(joining.secret), self._identity.device
        await carrier.delete(blob_names.answer_to(own))
        await carrier.delete(blob_names.request_of(own))

    async def _free_name(self, wanted: str) -> str:
        """Return the name for a new mailbox, with a number behind it if there is one of that name."""
        stored = await self._db.read(stored_mailboxes.all_mailboxes)
        taken = {mailbox.name for mailbox in stored}
        numbered: Sequence[str] = [wanted, *(f"{wanted}-{number}" for number in range(2, NUMBERED_MAX))]
        return next(name for name in numbered if name not in taken)


async def _list_blobs(carrier: Carrier) -> None:
    await carrier.list_blobs()


def _is_same(secret: bytes, raw: bytes, request: Request) -> bool:
    try:
        return structs.astuple(invitations.open_request(secret, raw)) == structs.astuple(request)
    except RemoteProtocolError:
        return False


def _sentence_of(fault: Exception) -> Sentence:
    return fault.sentence if isinstance(fault, CarrierFault | Refused) else foreign_text(str(fault))
