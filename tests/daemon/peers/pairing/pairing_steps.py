"""Pairings that are refused, and the names that a device lists.

Never checks anything.
"""

import pytest

from daemon.refusal import Refused
from tests.daemon.peers.fleet import Device


async def refusal(joiner: Device, text: str, **how: object) -> Refused:
    with pytest.raises(Refused) as seen_refusal:
        await joiner.peers.join(text, **how)  # type: ignore[arg-type]
    return seen_refusal.value


async def names(device: Device) -> list[str]:
    return [state.name for state in await device.peers.devices.states() if not state.removed]


def pending(snapshot, device: Device) -> list[str]:
    from store.local.peer_records import pending_newcomers

    return [pending_newcomer.name for pending_newcomer in pending_newcomers(snapshot, device.clock.now_ms())]
