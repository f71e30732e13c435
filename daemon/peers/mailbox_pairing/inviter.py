"""The inviter's side of pairing through a mailbox: take the first request that opens, let in, answer.

Never lets in two devices by one invitation, nor one device twice, whenever this process ends.
"""

import asyncio
from dataclasses import dataclass, field, replace

import structlog

from daemon.clock import Clock
from daemon.peers.mailbox_pairing import mailbox_token
from daemon.peers.mailbox_pairing.mailbox_token import MailboxToken
from daemon.peers.mailbox_pairing.pairing_file import OpenInvitation, PairingFile
from daemon.peers.mailbox_pairing.pairing_state import MailboxInvitation
from daemon.peers.mailboxes.carrier import Carrier, CarrierFault, ListedBlob, RingingCarrier
from daemon.peers.mailboxes.carrier_choice import CarrierChoice
from daemon.peers.roster import member_records
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.member_records import Member
from daemon.peers.transport import addresses
from daemon.peers.transport.identity import Identity, public_key_of
from daemon.timestamps import iso_utc
from store.local import peer_records, used_invitations
from store.local.mailboxes import Mailbox
from store.local.used_invitations import Use
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.errors import RemoteProtocolError
from syncproto.mailboxes import invitations, names
from syncproto.mailboxes.invitations import BLOB_BYTES_MAX, NONCE_BYTES, SECRET_BYTES, Answer, Request
from syncproto.mailboxes.sealing_keys import PublicSealingKey, PublishedKey, SealingSuite

LIFETIME_MS = 7 * 86_400_000
ANSWERED_MS = 14 * 86_400_000
"""So much longer the answer is kept for a newcomer that was let in; it waits no longer than that."""
CLEAR_WITHIN_S = 5.0
REQUESTS_MAX = 64
"""How many blobs are read at a look: a flood of them delays, and ends nothing."""
ID_BYTES = 8

log = structlog.get_logger("peers")


@dataclass
class _Look:
    """What this process knows of an invitation: its carrier, and what it has made of each request there.

    `answered` has the name of the answer by the request's name and mark, None if there is nothing to answer.
    """

    carrier: Carrier
    answered: dict[tuple[str, str], str | None] = field(default_factory=dict)


class MailboxInviter:
    """The invitations of this device through mailboxes. `own_name` is what it is called without an entry."""

    def __init__(
        self,
        db: StoreThreads,
        clock: Clock,
        *,
        identity: Identity,
        members: RosterCache,
        carriers: CarrierChoice,
        file: PairingFile,
        own_name: str,
    ) -> None:
        self._db = db
        self._clock = clock
        self._identity = identity
        self._members = members
        self._carriers = carriers
        self._file = file
        self._own_name = own_name
        self._looks: dict[str, _Look] = {}
        # No invitation ends while somebody is let in by it: it would never be answered.
        self._turn = asyncio.Lock()

    async def invite(self, stored: Mailbox) -> tuple[OpenInvitation, str]:
        """Offer one device to join through a mailbox, for a week; return the invitation and its token.

        An earlier invitation through this mailbox is over, unless a device has used it.
        """
        vault = await self._db.read(lambda snapshot: snapshot.vault())
        assert vault is not None, "an invitation before the first start was over"
        secret = self._clock.randomness(SECRET_BYTES)
        expires_ms = self._clock.now_ms() + LIFETIME_MS
        invitation = OpenInvitation(
            self._clock.randomness(ID_BYTES).hex(),
            secret,
            names.vault_tag(vault).hex(),
            stored.name,
            expires_ms,
        )
        async with self._turn:
            for earlier in self._open_through(stored.name):
                if await self._use_of(earlier) is None:
                    await self._end(earlier, stored)
            await asyncio.to_thread(self._file.add_invitation, invitation)
        token = MailboxToken(mailbox_token.VERSION, self._identity.device, secret, expires_ms, stored.name)
        if stored.kind != "folder":
            # A folder has another name on each device; a box has the same place and secret for all.
            box_secret = await asyncio.to_thread(self._carriers.secrets.secret_of, stored.name)
            token = MailboxToken(
                *(token.version, token.device, token.secret, token.expires_ms, token.name),
                *(stored.kind, stored.place, box_secret or ""),
            )
        return invitation, mailbox_token.write(token)

    async def list_open(self) -> list[MailboxInvitation]:
        """Return the invitations by which a device can still be let in."""
        stored = await asyncio.to_thread(lambda: self._file.invitations)
        return [
            MailboxInvitation(invitation.invitation_id, invitation.mailbox, iso_utc(invitation.expires_ms))
            for invitation in stored
            if not await self._is_over(invitation) and await self._use_of(invitation) is None
        ]

    async def end_through(self, stored: Mailbox) -> None:
        """End the invitations through a mailbox: nobody is let in by them any more.

        A device that was let in still finds its answer.
        """
        async with self._turn:
            for invitation in self._open_through(stored.name):
                await self._end(invitation, None if await self._use_of(invitation) else stored)

    async def stop(self) -> None:
        """Look for requests no more; open invitations stay open."""
        for look in self._looks.values():
            if isinstance(look.carrier, RingingCarrier):
                await look.carrier.close()
        self._looks.clear()

    async def let_in(self, stored: Mailbox) -> list[Member]:
        """Look for requests in a mailbox; return the members that were let in just now.

        Raises CarrierFault.
        """
        newcomers: list[Member] = []
        async with self._turn:
            for invitation in self._open_through(stored.name):
                newcomers += await self._serve(invitation, stored)
        return newcomers

    def _open_through(self, mailbox: str) -> list[OpenInvitation]:
        return [invitation for invitation in self._file.invitations if invitation.mailbox == mailbox]

    async def _use_of(self, invitation: OpenInvitation) -> Use | None:
        tag = invitations.names_of(invitation.secret).tag
        return await self._db.read(lambda snapshot: used_invitations.use_of(snapshot, tag))

    async def _end(self, invitation: OpenInvitation, clear: Mailbox | None) -> None:
        """Forget an invitation first, and then clear up what lies in its mailbox, if it is to be cleared."""
        await asyncio.to_thread(self._file.remove_invitation, invitation.invitation_id)
        look = self._looks.pop(invitation.invitation_id, None)
        try:
            if look is None and clear is not None:
                look = await self._begin_look(invitation, clear)
            if look is not None and clear is not None:
                async with asyncio.timeout(CLEAR_WITHIN_S):
                    for blob in await look.carrier.list_blobs():
                        await look.carrier.delete(blob.name)
        except (CarrierFault, TimeoutError):
            log.info("what is left of an invitation stays in its mailbox", mailbox=invitation.mailbox)
        if look is not None and isinstance(look.carrier, RingingCarrier):
            await look.carrier.close()

    async def _list_requests(
        self, invitation: OpenInvitation, stored: Mailbox
    ) -> tuple[_Look, list[ListedBlob]]:
        """Return what lies in the mailbox for an invitation. Raises CarrierFault."""
        key = invitation.invitation_id
        look = self._looks.get(key)
        if look is not None:
            try:
                return look, await look.carrier.list_blobs()
            except CarrierFault:
                # Only a carrier that is made now has the secret that its box may have been given since.
                await self._forget_look(key)
        look = self._looks[key] = await self._begin_look(invitation, stored)
        try:
            return look, await look.carrier.list_blobs()
        except CarrierFault:
            await self._forget_look(key)
            raise

    async def _forget_look(self, key: str) -> None:
        look = self._looks.pop(key, None)
        if look is not None and isinstance(look.carrier, RingingCarrier):
            await look.carrier.close()

    async def _begin_look(self, invitation: OpenInvitation, stored: Mailbox) -> _Look:
        return _Look(await self._carriers.make(stored, invitations.names_of(invitation.secret).tag))

    async def _is_over(self, invitation: OpenInvitation) -> bool:
        vault = await self._db.read(lambda snapshot: snapshot.vault())
        in_vault = vault is not None and names.vault_tag(vault).hex() == invitation.vault_tag
        lasts_ms = invitation.expires_ms
        if not await self._has_no_more_to_answer(invitation):
            lasts_ms += ANSWERED_MS
        in_time = self._clock.now_ms() < lasts_ms
        return not in_vault or not in_time or self._members.is_own_device_removed

    async def _has_no_more_to_answer(self, invitation: OpenInvitation) -> bool:
        """Return False from when a newcomer was let in until it shows that it found the answer."""
        use = await self._use_of(invitation)
        if use is None:
            return True
        contacts = await self._db.read(lambda snapshot: peer_records.peer_contacts(snapshot, [use.device]))
        return use.device in contacts and contacts[use.device].seen_ms >= use.used_ms

    async def _serve(self, invitation: OpenInvitation, stored: Mailbox) -> list[Member]:
        if await self._is_over(invitation):
            await self._end(invitation, stored)
            return []
        look, listed = await self._list_requests(invitation, stored)
        new = _find_unanswered(listed, look)[:REQUESTS_MAX]
        newcomers = [await self._read_request(invitation, look, blob) for blob in new]
        return [newcomer for newcomer in newcomers if newcomer is not None]

    async def _read_request(self, invitation: OpenInvitation, look: _Look, blob: ListedBlob) -> Member | None:
        """Read one request and answer it; return the newcomer if it was let in by that."""
        blob_names = invitations.names_of(invitation.secret)
        raw = await look.carrier.get(blob.name, BLOB_BYTES_MAX)
        if raw is None:
            # It is on its way, or was taken back: what lies there then is looked at then.
            return None
        request = _open_request(invitation.secret, raw)
        if request is None or request.device == self._identity.device:
            look.answered[blob.name, blob.mark] = None
            return None
        vault, is_new = await self._db.write(
            lambda transaction: self._admit(transaction, invitation, request)
        )
        if vault is None:
            look.answered[blob.name, blob.mark] = None
            return None
        own = self._members.all_members.get(self._identity.device)
        name = self._own_name if own is None else own.name
        sealed = invitations.seal_answer(
            invitation.secret,
            request,
            Answer(self._identity.signer.public_key, self._identity.certificate, name, vault),
            self._identity.signer,
            drawn=self._clock.randomness(SECRET_BYTES),
            nonce=self._clock.randomness(NONCE_BYTES),
        )
        answer_name = None if sealed is None else blob_names.answer_to(request.device)
        if sealed is not None and answer_name is not None:
            await look.carrier.put(answer_name, sealed)
        # Only now: an answer that could not be left is left at the next look.
        look.answered[blob.name, blob.mark] = answer_name
        if not is_new:
            return None
        await self._members.refresh()
        log.info("a device joined", device=request.device.hex()[:16], name=request.name)
        member = self._members.linkable_members().get(request.device)
        return None if member is None else _with_key(member, request)

    def _admit(
        self, transaction: Transaction, invitation: OpenInvitation, request: Request
    ) -> tuple[bytes | None, bool]:
        """Let a newcomer in, once; return the vault to answer with, and whether the device is new.

        The vault is empty for whoever comes too late, and None if this device can let nobody in.
        """
        tag, device = invitations.names_of(invitation.secret).tag, request.device
        if member_records.is_removed(transaction, transaction.device):
            return None, False
        user = used_invitations.user_of(transaction, tag)
        if user is None:
            member_records.introduce(transaction, request.name, request.certificate, transaction.device)
            usable = [str(addresses.parse(text)) for text in request.addresses if addresses.is_address(text)]
            peer_records.add_candidate_addresses(transaction, device, usable)
            used_invitations.note_use(transaction, tag, device)
        elif user != device or member_records.is_removed(transaction, device):
            return b"", False
        vault = transaction.vault()
        assert vault is not None, "an invitation without a vault"
        return vault, user is None


def _find_unanswered(listed: list[ListedBlob], look: _Look) -> list[ListedBlob]:
    """Return the requests that are new, or whose answer is not there any more."""
    listed_names = {blob.name for blob in listed}
    requests = sorted((blob for blob in listed if blob.name.endswith(".have")), key=lambda blob: blob.name)
    return [
        blob
        for blob in requests
        if (blob.name, blob.mark) not in look.answered
        or ((answer := look.answered[blob.name, blob.mark]) is not None and answer not in listed_names)
    ]


def _open_request(secret: bytes, raw: bytes) -> Request | None:
    """Return the request in a blob, None if it is none, or if its certificate is not that of its key."""
    try:
        request = invitations.open_request(secret, raw)
        genuine = public_key_of(request.certificate) == request.public_key
    except (RemoteProtocolError, ValueError):
        return None
    return request if genuine else None


def _with_key(member: Member, request: Request) -> Member:
    """Return a new member with the key to which it wants to be sealed to, before its own entry says so."""
    key = PublicSealingKey(SealingSuite(request.suite), request.sealing_key)
    return replace(member, sealing_key=PublishedKey(1, key))
