"""How long the code for peers waits, and how much it accepts: every bound in one place.

Never read from a file: the bounds are the same on every device, and only tests change them.
"""

import asyncio
from dataclasses import dataclass

from syncproto.messages import FRAME_BYTES_MAX


@dataclass(frozen=True, slots=True)
class PeerLimits:
    """Times in seconds or milliseconds, and caps in bytes or as counts."""

    # Listening
    handshake_s: float = 5.0
    keep_alive_s: float = 15.0
    connections_max: int = 64
    connections_each_max: int = 8
    """Per network of callers until a caller is identified, per member from then on."""
    frame_bytes_max: int = FRAME_BYTES_MAX
    goodbye_s: float = 2.0

    # Links
    coalesce_s: float = 0.001
    greeting_s: float = 10.0
    # So much of the first frame must arrive within `greeting_s` for it to get that time once more: the Hello
    # of a device that knows 1024 replicas has 60 KB, which take 15 s at 4 KiB/s.
    greeting_progress_bytes: int = 8 * 1024
    ping_s: float = 15.0
    send_s: float = 45.0
    silence_s: float = 45.0
    # So much must be sent within `send_s`, or received within `silence_s`, for a frame to get that time once
    # more. A connection that is slower counts as dead.
    progress_bytes: int = 32 * 1024
    liveness_s: float = 4.0
    contact_record_s: float = 60.0
    # How often what was exchanged today is stored; a process that is killed loses so much of it.
    days_record_s: float = 300.0
    # How long each of two daemons with one key has its turn, and how long they are reported.
    clone_turn_s: float = 60.0
    clone_memory_s: float = 600.0
    # The pause between two reports on whether the state of one peer differs.
    divergence_pause_s: float = 5.0
    roster_coalesce_s: float = 0.02

    # What one peer may store here at once, and per second beyond that. A million tasks with their history are
    # a tenth of the first figure.
    stored_bytes: int = 4 << 30
    stored_bytes_per_s: int = 256 * 1024

    # Dialling
    dial_s: float = 10.0
    stagger_s: float = 0.3
    retry_s: float = 0.5
    retry_s_max: float = 60.0

    # Pairing
    pairing_s: float = 10.0
    first_link_s: float = 10.0
    inviter_wait_s: float = 3.0
    departure_s: float = 5.0
    pending_newcomer_ms: int = 60 * 60 * 1000


def loop_time_s() -> float:
    """Return the event loop's time in seconds; it never goes back."""
    return asyncio.get_running_loop().time()
