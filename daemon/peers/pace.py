"""How long the peers' side waits, and how much of anything it allows: every bound in one place.

Never read from a file: these hold for every device, and tests shorten them.
"""

import asyncio
from dataclasses import dataclass

from syncproto.messages import FRAME_BYTES_MAX


@dataclass(frozen=True, slots=True)
class Pace:
    """Times in seconds, and caps."""

    # Listening
    handshake_s: float = 5.0
    keep_alive_s: float = 15.0
    connections_max: int = 64
    connections_each_max: int = 8
    """Of one network of callers until it is known who they are, of one member from then on."""
    frame_bytes_max: int = FRAME_BYTES_MAX
    goodbye_s: float = 2.0

    # Links
    coalesce_s: float = 0.001
    greeting_s: float = 10.0
    ping_s: float = 15.0
    send_s: float = 45.0
    silence_s: float = 45.0
    # What has to come, or to go, within each of the two for a frame to take longer: below it a line is dead.
    trickle_bytes: int = 32 * 1024
    life_s: float = 4.0
    heard_s: float = 60.0
    # Of two daemons with one key, each has its turn; for how long it counts that they were seen.
    turn_s: float = 60.0
    twins_s: float = 600.0
    # How long nobody is told again that one peer's state differs, or does not.
    states_s: float = 5.0
    roster_s: float = 0.02

    # What a peer may fill the disk with: a million tasks with their history are a tenth of the first figure.
    stored_bytes: int = 4 << 30
    stored_bytes_per_s: int = 256 * 1024

    # Dialling
    dial_s: float = 10.0
    stagger_s: float = 0.3
    again_s: float = 0.5
    again_s_max: float = 60.0

    # Pairing
    pairing_s: float = 10.0
    return_s: float = 10.0
    near_s: float = 3.0
    leave_s: float = 5.0
    newcomer_ms: int = 60 * 60 * 1000


def time_s() -> float:
    """Return the event loop's time, in seconds of a clock that does not go back."""
    return asyncio.get_running_loop().time()
