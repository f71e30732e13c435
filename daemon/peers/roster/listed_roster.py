"""The roster as lists of devices show it: in one order, a page at a time.

Never reads the store: the cache of the roster makes it anew when an entry has changed.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from daemon.peers.roster.member_records import Member
from syncproto.ids import DeviceId


class RosterPage(NamedTuple):
    """Some devices, and how many follow them: current members, and removed ones."""

    shown: Sequence[Member]
    members_left_out: int
    removed_left_out: int


class ListedRoster:
    """All devices by name: this one, those that it links with, those left out, those removed.

    It costs the roster to make one, and a page costs what it has.
    """

    def __init__(
        self, members: Mapping[DeviceId, Member], own: DeviceId, left_out: Container[DeviceId] = ()
    ) -> None:
        self.members = members
        self._ordered = sorted(
            members.values(),
            key=lambda member: (
                member.device != own,
                member.removed,
                member.device in left_out,
                member.name,
                member.device,
            ),
        )
        self._places = {member.device.hex(): place for place, member in enumerate(self._ordered, 1)}
        self._removed_before = _running_total(member.removed for member in self._ordered)

    def page(self, after: str | None, count_max: int) -> RosterPage | None:
        """Return the first devices, or those after the one with the id `after`; None if no device has it."""
        first = 0 if after is None else self._places.get(after)
        if first is None:
            return None
        shown = self._ordered[first : first + count_max]
        end = first + len(shown)
        removed = self._removed_before[-1] - self._removed_before[end]
        return RosterPage(shown, len(self._ordered) - end - removed, removed)


def _running_total(flags: Iterable[bool]) -> list[int]:
    """Return how many of the flags before each place are set, and how many are in all."""
    return list(accumulate(flags, initial=0))
