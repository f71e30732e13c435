"""Calling a device at several addresses: the next is tried before the one before has failed.

Never keeps two lines that answered, and never waits longer for a silent address than for all together.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from daemon.peers.addresses import Address
from daemon.peers.dial import Silence, Unreachable
from daemon.peers.wire import Wire

PLACES_MAX = 24


class Failed(NamedTuple):
    """A call that came to nothing: of which kind, and in words what was seen where."""

    kind: Silence
    words: str


class Found(NamedTuple):
    """The line that answered first, None where none did; and what was seen at those that did not.

    What was seen on this machine's own loopback is left out, unless that is all: members tell of theirs too,
    and it says nothing of a device that is elsewhere.
    """

    wire: Wire | None
    failed: list[Failed]


async def first_to_answer(
    places: Sequence[Address], connect: Callable[[Address], Awaitable[Wire]], stagger_s: float
) -> Found:
    """Connect to the first of several addresses that answers, in the manner of RFC 8305.

    Each gets a head start of `stagger_s` over the next, less where it fails before.
    """
    failed: list[tuple[Address, Failed]] = []

    async def call(place: Address) -> Wire | None:
        try:
            return await connect(place)
        except Unreachable as fault:
            failed.append((place, Failed(fault.kind, str(fault))))
            return None

    calls: list[asyncio.Task[Wire | None]] = []
    waiting = list(reversed(places[:PLACES_MAX]))
    try:
        while _answered(calls) is None and (waiting or _under_way(calls)):
            if waiting:
                calls.append(asyncio.create_task(call(waiting.pop())))
            await asyncio.wait(
                _under_way(calls),
                timeout=stagger_s if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
        found = Found(_answered(calls), _telling(failed))
    except BaseException:
        await _end(calls, None)
        raise
    try:
        await _end(calls, found.wire)
    except BaseException:
        if found.wire is not None:
            await found.wire.close()
        raise
    return found


def _telling(failed: list[tuple[Address, Failed]]) -> list[Failed]:
    away = [seen for place, seen in failed if not place.is_loopback]
    return away or [seen for _, seen in failed]


def _under_way(calls: list[asyncio.Task[Wire | None]]) -> list[asyncio.Task[Wire | None]]:
    return [call for call in calls if not call.done()]


def _answered(calls: list[asyncio.Task[Wire | None]]) -> Wire | None:
    """Return the line of the first call that has one; raise what a call died of, if it is a bug."""
    done = (call.result() for call in calls if call.done() and not call.cancelled())
    return next((wire for wire in done if wire is not None), None)


async def _end(calls: list[asyncio.Task[Wire | None]], kept: Wire | None) -> None:
    """End the calls that are still under way, and close every line that answered but one."""
    for call in calls:
        call.cancel()
    for ended in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(ended, Wire) and ended is not kept:
            await ended.close()
