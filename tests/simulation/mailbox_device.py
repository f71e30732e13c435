"""A device of the histories of mailboxes, as far as they need one.

Never decides anything: it holds what a device holds, and shows a mailbox as its synchroniser does.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

DAY_MS = 86_400_000


class HolderId(NamedTuple):
    """A device, and which copy of its data folder; 0 for one that is not said."""

    no: int
    holder: int


class Blob(NamedTuple):
    """A drop (commits, their causes, keys that it is sealed to) or a have (commits, its sender's key)."""

    sender: int
    number: int
    at_ms: int
    commits: int
    needs: int = 0
    readers: frozenset[bytes] = frozenset()
    key: bytes = b""
    """Of a have: what to seal to, in the clear."""
    holder: int = 0
    replica: int | None = None
    spoiled_for: frozenset[bytes] = frozenset()

    @property
    def is_have(self) -> bool:
        return bool(self.key)


class Noticed(NamedTuple):
    """The highest number of a holder's haves that was noticed, and when, by this device's clock."""

    number: int
    at_ms: int


class Contact(NamedTuple):
    """What a device was last heard to have, and as which replica it then wrote."""

    commits: int
    replica: int


@dataclass
class Device:
    """One device: its store, its key, its clock, and the mailbox as its synchroniser shows it."""

    no: int
    holder: int
    clock_ms: int
    held: int = 0
    entries: int = 0
    """What pairing gave it: it cannot be without that."""
    unwritten: int = 0
    passed_on: int = 0
    """What broken rules remember: own commits that they have not written, and what they put or saw."""
    key: bytes = b""
    replica: int = 0
    have_at_ms: int = 0
    told: object = None
    left: Blob | None = None
    """The have that it left last."""
    number: int = 0
    last_commit: int = 0
    refuses: str = ""
    """What the place does not let it do: `puts` if it is full, `all` if it is read-only."""
    view: dict[str, Blob | None] = field(default_factory=dict)
    """None stands for a file of which half has arrived."""
    outgoing: list[tuple[str, Blob | None]] = field(default_factory=list)
    """What it wrote, and what it deleted (None), and the synchroniser has not yet taken along."""
    noticed: dict[HolderId, Noticed] = field(default_factory=dict)
    contacts: dict[int, Contact] = field(default_factory=dict)

    def own_haves(self) -> list[Blob]:
        """Return the haves of this device that it can read, whichever copy left them."""
        return [
            blob
            for blob in self.view.values()
            if blob is not None and blob.is_have and blob.sender == self.no and self.key in blob.readers
        ]

    def change(self, name: str, blob: Blob | None) -> bool:
        """Put a blob, or delete one (None); return False if the place does not let it."""
        if self.refuses == "all" or (self.refuses == "puts" and blob is not None):
            return False
        if blob is None:
            self.view.pop(name, None)
        else:
            self.view[name] = blob
        self.outgoing.append((name, blob))
        return True

    def copy(self, random: Random) -> "Device":
        """Return another device with a copy of all that this one has; its store may have noticed or not."""
        replica = self.replica if random.random() < 0.5 else random.getrandbits(48)
        return replace(
            self,
            replica=replica,
            last_commit=0,
            told=None,
            view=dict(self.view),
            outgoing=[],
            noticed=dict(self.noticed),
            contacts=dict(self.contacts),
        )
