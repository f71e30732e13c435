"""How many devices of the roster this device links with, and which: so that a flood takes its own places.

Never follows what one device wrote for the places of another's, nor any clock: a member that has gone wrong
lets in thousands, which let in more, dated as they like.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import Final

from syncproto.ids import DeviceId

MEMBERS_MAX: Final = 256
"""The members that this device links with, itself included."""
STEP: Final = 4
"""How much later the turns are of those whom a device of a branch lets in, than those of that device."""
_TURNS_EXAMINED_MAX: Final = 4096
"""The turns that are looked at for the places: each costs time, also if a removed device has it."""
_NEVER: Final = 1 << 63

Admission = tuple[int, DeviceId]
"""At which feed position a device was entered, and which device that is."""


class MemberPlaces:
    """Who entered whom in the roster, as this device's own feed says, and who has a place by that.

    A device *enters* another one if it writes its genuine certificate into the roster. The first such write
    of each writer counts, at the position that it has in this device's feed. The order of the calls does not
    matter.
    """

    def __init__(self, own: DeviceId) -> None:
        self._own = own
        self._members: set[DeviceId] = set()
        # By device: who entered it, and where. By writer: whom it entered, in the order of the feed.
        self._entered_by: dict[DeviceId, dict[DeviceId, int]] = {}
        self._entered: dict[DeviceId, list[Admission]] = {}
        self._first: dict[DeviceId, int] = {}
        self._members_by_age: list[Admission] = []

    def add_admission(self, device: DeviceId, writer: DeviceId, position: int) -> None:
        """Add that a device was entered by another one, or by itself, at a feed position."""
        writers = self._entered_by.setdefault(device, {})
        earlier = writers.get(writer)
        if earlier is not None and earlier <= position:
            return
        writers[writer] = position
        if writer != device:
            entered = self._entered.setdefault(writer, [])
            if earlier is not None:
                _discard(entered, (earlier, device))
            insort(entered, (position, device))
        age = self._age(device)
        self._first[device] = min(position, age[0])
        if device in self._members and self._age(device) != age:
            _discard(self._members_by_age, age)
            insort(self._members_by_age, self._age(device))

    def set_member(self, device: DeviceId, is_member: bool) -> None:
        """Say whether a device is a member now: it has an entry, and is not removed."""
        if is_member and device not in self._members:
            self._members.add(device)
            insort(self._members_by_age, self._age(device))
        elif not is_member and device in self._members:
            self._members.discard(device)
            _discard(self._members_by_age, self._age(device))

    def forget(self, device: DeviceId) -> None:
        """Forget a device that has no entry any more, and who entered it."""
        self.set_member(device, False)
        self._first.pop(device, None)
        for writer, position in self._entered_by.pop(device, {}).items():
            if writer != device:
                _discard(self._entered[writer], (position, device))

    def members(self) -> frozenset[DeviceId]:
        """Return all members, those without a place too."""
        return frozenset(self._members)

    def find_linked(self) -> frozenset[DeviceId]:
        """Return the members that have a place, this device included if it is a member.

        First come this device and those that it entered itself, then for half of the places that are left
        those that were entered first. The others take turns: see `_in_turn`.
        """
        if len(self._members) <= MEMBERS_MAX:
            return self.members()
        places: dict[DeviceId, None] = {}
        entered_here = (device for _, device in self._entered.get(self._own, ()))
        self._fill(places, (self._own,), MEMBERS_MAX)
        self._fill(places, entered_here, MEMBERS_MAX)
        self._fill(places, self._oldest(), len(places) + (MEMBERS_MAX - len(places)) // 2)
        self._fill(places, self._in_turn(), MEMBERS_MAX)
        self._fill(places, self._oldest(), MEMBERS_MAX)
        return frozenset(places)

    def _fill(self, places: dict[DeviceId, None], devices: Iterable[DeviceId], places_max: int) -> None:
        """Give places to the members among these devices, until so many places are taken."""
        if len(places) >= places_max:
            return
        for device in devices:
            if device in self._members:
                places.setdefault(device)
                if len(places) >= places_max:
                    return

    def _oldest(self) -> Iterator[DeviceId]:
        return (device for _, device in self._members_by_age)

    def _in_turn(self) -> Iterator[DeviceId]:
        """Yield the devices in the order of their turns, those again that several entered.

        Of those whom a device has entered, the n-th has turn n if this device knows that one at first hand.
        Otherwise its turn is n times four times the turn of the one who entered it. So however many devices
        one lets in, and these in turn, the turns of all others stay as they are. A write can give a device an
        earlier turn, and none a later one. Removed devices keep their numbers, and take no place.
        """
        heap: list[tuple[int, Admission, DeviceId, int, int]] = []
        begun = {self._own}

        def begin(writer: DeviceId, step: int) -> None:
            if writer not in begun and (entered := self._entered.get(writer)):
                begun.add(writer)
                heappush(heap, (step, entered[0], writer, 1, step))

        for _, device in self._entered.get(self._own, ()):
            begin(device, 1)
        for _ in range(_TURNS_EXAMINED_MAX):
            if not heap:
                return
            turn, (_, device), writer, number, step = heappop(heap)
            yield device
            # The first time that a device comes is its earliest turn.
            begin(device, STEP * turn)
            for admission in islice(self._entered[writer], number, number + 1):
                heappush(heap, ((number + 1) * step, admission, writer, number + 1, step))

    def _age(self, device: DeviceId) -> Admission:
        """Return when a device was entered first; last of all if nobody's write says so."""
        return self._first.get(device, _NEVER), device


def _discard(ordered: list[Admission], admission: Admission) -> None:
    place = bisect_left(ordered, admission)
    assert ordered[place] == admission, "what was added is found at its place"
    del ordered[place]
