"""The reasons that Placet gives when it ends a link, as they are in a Bye; a peer may give any other.

Never ends a link: it names reasons, and says which of them are no fault.
"""

from typing import Final

from store.sentence import Sentence

GOING_AWAY: Final = "this device is going away"
PAUSED: Final = "paused"
OWN_DEVICE_REMOVED: Final = "this device is no member any more"
NOT_A_MEMBER: Final = "no longer a member"
"""The goodbye on a link to a device that was removed, or that left."""
NO_SIGN_OF_LIFE: Final = "no sign of life"
REPLACED: Final = "another link of this pair took its place"
REDUNDANT: Final = "another link of this pair is better"
KEY_CLONE: Final = "two daemons run with this device's key"
"""The goodbye that informs such a daemon of the other one."""
STATES_DIFFER: Final = "same changes, another state"
STATES_AGREE: Final = "same changes, the same state again"
NO_ROOM: Final = "this device has no room left"
FAULT_HERE: Final = "a fault on this side"

WITHOUT_FAULT: Final = frozenset(
    {
        GOING_AWAY,
        PAUSED,
        OWN_DEVICE_REMOVED,
        NOT_A_MEMBER,
        NO_SIGN_OF_LIFE,
        REPLACED,
        REDUNDANT,
        # These three are told in their own way.
        KEY_CLONE,
        STATES_DIFFER,
        STATES_AGREE,
    }
)
"""The reasons that tell of no fault. Any other one, such as what a peer saw of this device's bytes, does."""


class CloseAsked(Exception):
    """This side ends the link; the message is the reason that the peer receives."""


class NoRoom(CloseAsked):
    """This side ends the link because it cannot store what the peer sends; `shortfall` says why."""

    def __init__(self, shortfall: Sentence) -> None:
        super().__init__(NO_ROOM)
        self.shortfall = shortfall


class PeerLeft(Exception):
    """The peer ended the link; the message contains its reason."""
