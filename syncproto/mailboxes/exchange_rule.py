"""What a device writes to a mailbox and clears up there: a function of what it holds and what it sees.

Never asks who wrote a drop: each device writes what anyone lacks, so anybody may delete anything.

Commits are bits of an integer: the commit at position n of this device's feed is the bit 1 << n. Causes
have lower positions than what rests on them.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

SILENT_MS = 90 * 86_400_000
"""After this time without a sign a member keeps nothing waiting. Its have says later what it lacks."""


class DropView(NamedTuple):
    """A drop in sight that this device has read, under all its names: a carrier may have made copies.

    It `brings` commits, which rest on others, its `needs`. `readers` are the tags of the keys that it is
    sealed to.
    """

    names: tuple[str, ...]
    brings: int
    needs: int
    readers: frozenset[bytes]


class MemberView(NamedTuple):
    """Another member that looks into the mailbox: the tag of its key, and what it lacks of this device's.

    `silent_ms` is how long ago it last gave a sign, by this device's clock. It is negative if that clock was
    set back.
    """

    reader: bytes
    lacks: int
    silent_ms: int

    @property
    def is_active(self) -> bool:
        """Return whether drops wait for this member."""
        return self.silent_ms < SILENT_MS


class Plan(NamedTuple):
    """The commits to write, in the order of their bits, for all of `readers`; and the names to delete."""

    write: int
    readers: frozenset[bytes]
    clear: list[str]


def bits_at(positions: Iterable[int]) -> int:
    """Return the integer with the bits at some positions, in time in proportion to the highest."""
    content = bytearray()
    for position in positions:
        place = position >> 3
        if place >= len(content):
            content.extend(bytes(place + 1 - len(content)))
        content[place] |= 1 << (position & 7)
    return int.from_bytes(content, "little")


def positions_of(bits: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, the lowest first."""
    content = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    for place, byte in enumerate(content):
        if byte:
            yield from (place * 8 + bit for bit in range(8) if byte >> bit & 1)


def find_lacking(member: MemberView, drops: Iterable[DropView]) -> int:
    """Return what a member lacks once it has read the drops in sight, as far as it can read and apply them.

    A drop that rests on what is neither with the member nor in sight does not count: its cause has to be
    written.
    """
    lacking = member.lacks
    waiting = [drop for drop in drops if member.reader in drop.readers and drop.brings & lacking]
    while waiting:
        before, later = lacking, []
        for drop in waiting:
            if drop.needs & lacking:
                later.append(drop)
            else:
                lacking &= ~drop.brings
        if lacking == before:
            break
        waiting = later
    return lacking


def plan(members: Collection[MemberView], drops: Collection[DropView]) -> Plan:
    """Decide what to write and what to delete.

    `members` are those that this device sees in the mailbox, itself left out. Without any active one nothing
    is written, and nothing is deleted either: then this device may see little of what is there.
    """
    active = [member for member in members if member.is_active]
    write = 0
    for member in active:
        write |= find_lacking(member, drops)
    lacked = 0
    for member in active:
        lacked |= member.lacks
    idle = [drop for drop in drops if not drop.brings & lacked] if active else []
    clear = [name for drop in idle for name in drop.names]
    return Plan(write, frozenset(member.reader for member in active), clear)
