"""Calling a device at several addresses at once, each a little later than the one before.

Never keeps two connections, and never waits longer for a silent address than for all of them together.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import Unreachable, UnreachableReason
from daemon.peers.transport.wire import Wire
from store.sentence import Sentence

PLACES_MAX = 24


class FailedCall(NamedTuple):
    """A call that failed: the reason, and in words what was seen at which address."""

    kind: UnreachableReason
    sentence: Sentence

    @property
    def message(self) -> str:
        """Return what was seen, in English."""
        return self.sentence.text


class ConnectResult(NamedTuple):
    """The first connection, None if there is none, and the calls that failed.

    Calls to this machine's own loopback are left out unless there are no others. Members announce their
    loopback addresses too, and a call to ours shows nothing about a device that is elsewhere.
    """

    wire: Wire | None
    failed_calls: list[FailedCall]


async def connect_to_first(
    places: Sequence[Address], connect: Callable[[Address], Awaitable[Wire]], stagger_s: float
) -> ConnectResult:
    """Connect to the first of several addresses that answers, in the manner of RFC 8305.

    Each call gets a head start of `stagger_s` over the next one, less if it fails before.
    """
    failed: list[tuple[Address, FailedCall]] = []

    async def call(place: Address) -> Wire | None:
        try:
            return await connect(place)
        except Unreachable as fault:
            failed.append((place, FailedCall(fault.kind, fault.sentence)))
            return None

    calls: list[asyncio.Task[Wire | None]] = []
    waiting = list(reversed(places[:PLACES_MAX]))
    try:
        while _first_wire(calls) is None and (waiting or _under_way(calls)):
            if waiting:
                calls.append(asyncio.create_task(call(waiting.pop())))
            await asyncio.wait(
                _under_way(calls),
                timeout=stagger_s if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
        result = ConnectResult(_first_wire(calls), _calls_to_report(failed))
    except BaseException:
        await _end(calls, None)
        raise
    try:
        await _end(calls, result.wire)
    except BaseException:
        if result.wire is not None:
            await result.wire.close()
        raise
    return result


def _calls_to_report(failed: list[tuple[Address, FailedCall]]) -> list[FailedCall]:
    elsewhere = [call for place, call in failed if not place.is_loopback]
    return elsewhere or [call for _, call in failed]


def _under_way(calls: list[asyncio.Task[Wire | None]]) -> list[asyncio.Task[Wire | None]]:
    return [call for call in calls if not call.done()]


def _first_wire(calls: list[asyncio.Task[Wire | None]]) -> Wire | None:
    """Return the wire of the first call that has one. Raise what ended a call if that is a bug."""
    finished = (call.result() for call in calls if call.done() and not call.cancelled())
    return next((wire for wire in finished if wire is not None), None)


async def _end(calls: list[asyncio.Task[Wire | None]], wire: Wire | None) -> None:
    """End the calls that are still under way, and close every connection but one."""
    for call in calls:
        call.cancel()
    # A call may have connected between the answer of another one and its own end.
    for ended in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(ended, Wire) and ended is not wire:
            await ended.close()
