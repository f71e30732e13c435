"""What a shape is: a name, what it attacks, and a generator of what a member sends.

Never sends anything itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.hostile.chain_writer import ChainWriter, Clock, WrittenCommit, entity_id
from tests.vectors import wire

FIRST, SECOND = 0, 1
"""The two honest devices; a member is linked to both."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the member knows of the journal that it attacks."""

    member: wire.Device
    devices: tuple[bytes, bytes]
    """The ids of the two honest devices."""
    vault: bytes
    task: bytes
    checklist: bytes
    item: bytes
    """A checklist item of the task."""
    proposal: bytes
    """A change item that waits: the agent of the task proposed it."""
    clock: Clock
    """Heads that cover all that the honest devices wrote."""
    name: str = ""
    """Makes the ids of one sending differ from those of another."""

    @property
    def subject(self) -> bytes:
        """Return the id of the task that a shape is about, if it is about a task of its own."""
        return entity_id(self.name, "subject")

    def chain(self, *words: object) -> ChainWriter:
        """Begin a replica of the member."""
        return ChainWriter(self.member, "/".join(map(str, (self.name, *words))))


@dataclass(frozen=True, slots=True)
class ToDevice:
    """A commit for one of the two devices; a bare commit goes to the first."""

    device: int
    commit: WrittenCommit


@dataclass(frozen=True, slots=True)
class PageEnd:
    """What came so far is a page of its own."""


@dataclass(frozen=True, slots=True)
class RawFrame:
    """Bytes that are sent as they are; `ends_link` if the device must refuse them."""

    content: bytes = field(repr=False)
    ends_link: bool = False
    is_hello: bool = False
    is_ping: bool = False


Parcel = WrittenCommit | ToDevice | PageEnd | RawFrame
Generator = Callable[[Target, int], Iterator[Parcel]]


@dataclass(frozen=True, slots=True)
class Shape:
    """A hostile shape. Its generator may go on for ever: who sends it stops at a number of bytes."""

    name: str
    attack: str
    parcels: Generator


def shape(attack: str) -> Callable[[Generator], Shape]:
    """Make a shape of a generator; its name is the function's."""

    def make(generator: Generator) -> Shape:
        return Shape(generator.__name__.replace("_", "-"), attack, generator)

    return make
