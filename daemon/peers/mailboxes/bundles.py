"""Bundles: one file with what other devices lack, written once and read once.

Never counts a bundle as read by anybody: what its readers have, they say by another way.
"""

import asyncio
from pathlib import Path

from msgspec import Struct

from daemon import files
from daemon.clock import Clock
from daemon.peers.mailboxes.blob_reader import BlobStatus
from daemon.peers.mailboxes.blob_writer import MailboxKnowledge
from daemon.peers.mailboxes.bundle_file import BundleReader, BundleWriter
from daemon.peers.mailboxes.carrier import BadPlace, Carrier, CarrierFault, given_path
from daemon.peers.mailboxes.mailboxes import Mailboxes
from daemon.peers.mailboxes.visit import MailboxVisit
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.member_records import Member, member_names
from daemon.refusal import RefusalCode, Refused, not_found_refusal, usage_error
from store.sentence import sentence

MAILBOX_NAME = "bundle file"
"""Under which haves of bundles are remembered: an old one, read again, is no sign of life."""


class WrittenBundle(Struct, frozen=True):
    """A bundle that was written: its size, and the names of the devices that it is sealed to."""

    file: str
    bytes: int
    blobs: int
    devices: list[str]


class ReadBundle(Struct, frozen=True):
    """What a bundle came to: the blobs in it, those that brought something new, and those of no use.

    `gaps` rest on commits that are not here; `sealed` are for other devices; `refused` are of no member, or
    no good.
    """

    file: str
    blobs: int
    taken: int
    gaps: int
    sealed: int
    refused: int


class Bundles:
    """Reads and writes bundles, one at a time."""

    def __init__(self, mailboxes: Mailboxes, members: RosterCache, clock: Clock) -> None:
        self._mailboxes = mailboxes
        self._members = members
        self._clock = clock
        self._turn = asyncio.Lock()

    async def write(self, file: str, device: str | None) -> WrittenBundle:
        """Write what all members, or one (by its name or the beginning of its id), lack. Raises Refused."""
        path, recipients = _path(file), self._recipients(device)
        async with self._turn:
            try:
                if await asyncio.to_thread(path.exists):
                    raise Refused(
                        RefusalCode.CONFLICT,
                        sentence("bundle-exists", "{file} exists already", file=file),
                    )
                # A disk may turn out to be full as late as at the end of this block.
                with files.replacement(path) as opened:
                    carrier = BundleWriter(opened)
                    visit = await self._visit(carrier, MailboxKnowledge())
                    await visit.write_for(recipients)
            except (OSError, CarrierFault) as fault:
                raise _refusal(file, fault) from fault
        names = member_names(self._members.all_members)
        shown = sorted(names[member.device] for member in recipients)
        return WrittenBundle(file, carrier.size, carrier.blobs, shown)

    async def read(self, file: str) -> ReadBundle:
        """Take what a bundle brings. Raises Refused if the file is no bundle."""
        path, mailbox_knowledge = _path(file), MailboxKnowledge()
        async with self._turn:
            try:
                visit = await self._visit(BundleReader(path), mailbox_knowledge)
                report = await visit.read()
            except CarrierFault as fault:
                raise _refusal(file, fault) from fault
        statuses = [view.status for view in mailbox_knowledge.views.values()]
        bad = (BlobStatus.UNREADABLE, BlobStatus.FOREIGN, BlobStatus.SPOILED)
        return ReadBundle(
            file,
            len(statuses) + report.deleted,
            report.taken,
            statuses.count(BlobStatus.GAP),
            statuses.count(BlobStatus.SEALED),
            sum(status in bad for status in statuses) + report.deleted,
        )

    async def _visit(self, carrier: Carrier, mailbox_knowledge: MailboxKnowledge) -> MailboxVisit:
        visit = await self._mailboxes.make_visit(MAILBOX_NAME, carrier, mailbox_knowledge)
        if visit is None:
            raise usage_error(sentence("no-longer-member", "this device is no longer a member of its vault"))
        return visit

    def _recipients(self, device: str | None) -> list[Member]:
        members = self._members.linkable_members().values()
        with_keys = [member for member in members if member.sealing_key is not None]
        if device is not None:
            names = member_names(self._members.all_members)
            with_keys = [
                member
                for member in with_keys
                if device in (member.name, names[member.device])
                or (device and member.device.hex().startswith(device))
            ]
            if len(with_keys) != 1:
                raise not_found_refusal("device", device)
        if not with_keys:
            raise usage_error(
                sentence("bundle-for-nobody", "no other device has published a key to seal to yet")
            )
        return with_keys


def _path(file: str) -> Path:
    try:
        return given_path(file)
    except BadPlace as fault:
        raise usage_error(fault.sentence) from fault


def _refusal(file: str, fault: OSError | CarrierFault) -> Refused:
    if isinstance(fault, CarrierFault):
        return usage_error(fault.sentence)
    reason = fault.strerror or str(fault)
    return usage_error(sentence("bundle-fault", "{file} cannot be used: {reason}", file=file, reason=reason))
