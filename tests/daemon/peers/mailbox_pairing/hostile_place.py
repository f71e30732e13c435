"""A mailbox that loses, delays, repeats and forges, and processes that die while they use it; all by a seed.

Never touches what a device itself keeps: its files and its store are real.
"""

from collections.abc import Awaitable, Callable, Collection
from random import Random
from typing import NamedTuple, TypeVar

from daemon.peers.mailboxes.carrier import CarrierFault, ListedBlob
from store.sentence import foreign_text
from syncproto.keys import Signer
from syncproto.mailboxes import invitations
from syncproto.mailboxes.invitations import NONCE_BYTES, SECRET_BYTES, Request

T = TypeVar("T")

FAULT_SHARE = 0.12


class Died(CarrierFault):
    """The process ends here."""

    def __init__(self) -> None:
        super().__init__(foreign_text("the process ends here"))


class Blob(NamedTuple):
    """What lies under a name, and how often something was put by then."""

    content: bytes
    turn: int


class HostilePlace:
    """The blobs of all, by tag and name. While `is_hostile`, each use of it may go wrong."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.blobs: dict[tuple[bytes, str], Blob] = {}
        self.delayed: list[tuple[bytes, str, bytes]] = []
        self.older: list[tuple[bytes, str, bytes]] = []
        self.is_hostile = False
        self.deaths = 0
        self._turn = 0

    def draws(self, share: float = FAULT_SHARE) -> bool:
        """Return whether something goes wrong now."""
        return self.is_hostile and self.random.random() < share

    def keep(self, tag: bytes, name: str, content: bytes) -> None:
        """Put a blob in its place."""
        self._turn += 1
        self.blobs[tag, name] = Blob(content, self._turn)

    async def survive(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something before or after which the process may die."""
        if self.draws(FAULT_SHARE / 2):
            self.deaths += 1
            raise Died
        outcome = await work()
        if self.draws(FAULT_SHARE / 2):
            self.deaths += 1
            raise Died
        return outcome

    def meddle(self) -> None:
        """Delete, bring late, repeat, cut or forge one blob, as whoever keeps the place may."""
        what = self.random.choice(["delete", "deliver", "repeat", "cut", "forge", "mix"])
        places = sorted(self.blobs)
        if what == "deliver" and self.delayed:
            self.keep(*self.delayed.pop(self.random.randrange(len(self.delayed))))
        elif what == "repeat" and self.older:
            self.keep(*self.random.choice(self.older))
        elif not places:
            return
        elif what == "delete":
            del self.blobs[self.random.choice(places)]
        elif what == "cut":
            place = self.random.choice(places)
            self.keep(*place, self.blobs[place].content[: self.random.randrange(200)])
        elif what == "forge":
            tag, _ = self.random.choice(places)
            self.keep(tag, f"{self.random.randbytes(16).hex()}.have", _foreign_request(self.random))
        elif what == "mix" and self.older:
            # One blob under the name of another one.
            self.keep(*self.random.choice(places), self.random.choice(self.older)[2])


class HostileCarrier:
    """The blobs of one tag in such a place."""

    def __init__(self, place: HostilePlace, tag: bytes) -> None:
        self._place = place
        self._tag = tag
        self._listed: list[ListedBlob] = []

    async def put(self, name: str, content: bytes) -> None:
        """Put a blob, unless it is lost, or comes later."""
        await self._place.survive(lambda: self._put(name, content))

    async def _put(self, name: str, content: bytes) -> None:
        place = self._place
        place.older.append((self._tag, name, content))
        if place.draws():
            return
        if place.draws():
            place.delayed.append((self._tag, name, content))
        else:
            place.keep(self._tag, name, content)

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return what lies there now, or what lay there before."""
        del first
        return await self._place.survive(self._list)

    async def _list(self) -> list[ListedBlob]:
        if not self._place.draws():
            self._listed = [
                ListedBlob(name, len(blob.content), str(blob.turn))
                for (tag, name), blob in self._place.blobs.items()
                if tag == self._tag
            ]
        return list(self._listed)

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return a blob, or say that there is none."""
        return await self._place.survive(lambda: self._get(name, bytes_max))

    async def _get(self, name: str, bytes_max: int) -> bytes | None:
        blob = self._place.blobs.get((self._tag, name))
        return None if blob is None or self._place.draws() else blob.content[: bytes_max + 1]

    async def delete(self, name: str) -> None:
        """Delete a blob, unless that is lost."""
        await self._place.survive(lambda: self._delete(name))

    async def _delete(self, name: str) -> None:
        if not self._place.draws():
            self._place.blobs.pop((self._tag, name), None)


def _foreign_request(random: Random) -> bytes:
    """Return a request that is well made, by a stranger who knows another secret."""
    signer = Signer(random.randbytes(32))
    request = Request(signer.public_key, b"no certificate", "stranger", [], 1, bytes(32))
    return invitations.seal_request(
        random.randbytes(SECRET_BYTES), request, signer, random.randbytes(NONCE_BYTES)
    )
