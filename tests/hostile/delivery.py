"""Sending a shape: parcels into pages, pages over the links, until a number of bytes was sent.

Never judges what was sent, and never measures.
"""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.chain_writer import WrittenCommit
from tests.hostile.member_link import LinkEnded, MemberLink
from tests.hostile.shape import FIRST, SECOND, PageEnd, Parcel, RawFrame, Shape, Target, ToDevice

PAGE_BYTES = 256 * 1024
PAGE_COMMITS = 16_000
_OVERHEAD_BYTES, _FRAME_HEADER_BYTES = 8, 6


@dataclass(slots=True)
class _Door:
    """One honest device, as the member sees it: a link, and the page that is being filled."""

    identity: Path
    port: int
    link: MemberLink | None = None
    page: list[WrittenCommit] = field(default_factory=list)
    page_bytes: int = 0
    sent_bytes: int = 0
    faults: list[str] = field(default_factory=list)

    async def opened(self, hello: bytes | None = None) -> MemberLink:
        if self.link is None:
            link = MemberLink(self.identity, self.port)
            await link.open(hello)
            self.link = link
        return self.link

    async def close(self) -> None:
        if self.link is not None:
            await self.link.close()
            self.link = None

    async def put(self, written: WrittenCommit) -> None:
        size = len(written.body) + _OVERHEAD_BYTES
        if self.page and (self.page_bytes + size > PAGE_BYTES or len(self.page) >= PAGE_COMMITS):
            await self.flush()
        self.page.append(written)
        self.page_bytes += size

    async def flush(self) -> None:
        if not self.page:
            return
        page = [
            (written.body, b"" if written.is_continued_by(later) else written.signature)
            for written, later in zip(self.page, [*self.page[1:], None], strict=True)
        ]
        self.page, self.page_bytes = [], 0
        self.sent_bytes += await (await self.opened()).send_page(page)

    async def send_raw(self, frame: RawFrame) -> None:
        await self.flush()
        self.sent_bytes += len(frame.content) + _FRAME_HEADER_BYTES
        try:
            link = await self.opened(frame.content if frame.is_hello else None)
            if frame.is_ping:
                await link.send_ping()
            elif not frame.is_hello:
                await link.send(frame.content)
            if frame.ends_link:
                await link.until_ended()
        except LinkEnded as end:
            self.faults.append(str(end))
        if frame.ends_link:
            await self.close()


async def deliver(shape: Shape, target: Target, size: int, identity: Path, ports: tuple[int, int]) -> int:
    """Send so many bytes of a shape, and wait until all is answered; return the bytes that were sent.

    Raises LinkEnded if a device refuses what it should take.
    """
    doors = (_Door(identity, ports[FIRST]), _Door(identity, ports[SECOND]))
    try:
        for parcel in shape.parcels(target, size):
            await _send(doors, parcel)
            if sum(door.sent_bytes + door.page_bytes for door in doors) >= size:
                break
        for door in doors:
            await door.flush()
        for door in doors:
            if door.link is not None:
                await door.link.all_answered()
        return sum(door.sent_bytes for door in doors)
    finally:
        for door in doors:
            await door.close()


async def _send(doors: tuple[_Door, _Door], parcel: Parcel) -> None:
    match parcel:
        case WrittenCommit():
            await doors[FIRST].put(parcel)
        case ToDevice(device, written):
            await doors[device].put(written)
        case PageEnd():
            for door in doors:
                await door.flush()
        case RawFrame():
            await doors[FIRST].send_raw(parcel)
    # What writes a shape must not keep its own links from answering.
    await asyncio.sleep(0)
