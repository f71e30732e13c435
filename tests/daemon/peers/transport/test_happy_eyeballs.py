"""Calling at several addresses: one connection is kept and every other one closed, whatever happens.

Never opens a socket: the connections are those of a fake network.
"""

import asyncio
from typing import cast

import pytest

from daemon.peers.transport import happy_eyeballs
from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import Unreachable, UnreachableReason
from daemon.peers.transport.happy_eyeballs import ConnectResult
from daemon.peers.transport.wire import Socket, Wire
from store.sentence import sentence
from tests.support.patience import LIMIT_S

PLACES = [Address(host, 9) for host in ("a", "b", "c")]


def refused(place: Address) -> Unreachable:
    words = sentence("refused", "{place} refused", place=str(place))
    return Unreachable(words, UnreachableReason.NOT_LISTENING)


class Line:
    """A connection of the fake network."""

    def __init__(self) -> None:
        self.open = True

    async def close(self) -> None:
        self.open = False


class Network:
    """Each address answers, fails, or is silent until the test changes that."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.asked: list[str] = []
        self.refusing: set[str] = set()
        self.answering = {host: asyncio.Event() for host, _ in PLACES}
        self.broken: set[str] = set()
        self.all_asked = asyncio.Event()

    async def connect(self, place: Address) -> Wire:
        self.asked.append(place.host)
        if len(self.asked) == len(PLACES):
            self.all_asked.set()
        if place.host in self.refusing:
            raise refused(place)
        await self.answering[place.host].wait()
        if place.host in self.broken:
            raise AssertionError("a bug")
        line = Line()
        self.lines.append(line)
        return Wire(cast(Socket, line), str(place))

    async def call(self, stagger_s: float = 0.0) -> ConnectResult:
        async with asyncio.timeout(LIMIT_S):
            return await happy_eyeballs.connect_to_first(PLACES, self.connect, stagger_s)

    def answer(self, *hosts: str) -> None:
        for host in hosts:
            self.answering[host].set()

    @property
    def open(self) -> int:
        return sum(line.open for line in self.lines)


async def test_a_silent_address_does_not_keep_the_next_from_being_called():
    network = Network()
    network.answer("c")
    connect_result = await network.call()
    assert connect_result.wire is not None
    assert connect_result.wire.remote == "c:9"
    assert network.open == 1


async def test_where_the_first_answers_nobody_else_is_called():
    network = Network()
    network.answer("a", "b", "c")
    assert (await network.call(LIMIT_S)).wire is not None
    assert network.asked == ["a"]


async def test_what_was_seen_at_each_address_is_told():
    network = Network()
    network.refusing = {"a", "b", "c"}
    connect_result = await network.call(LIMIT_S)
    assert connect_result.wire is None
    assert [(failed_call.kind, failed_call.message) for failed_call in connect_result.failed_calls] == [
        (UnreachableReason.NOT_LISTENING, f"{host}:9 refused") for host in "abc"
    ]


async def test_what_this_machines_loopback_says_is_told_only_where_nothing_else_is():
    async def refuse(place: Address) -> Wire:
        raise refused(place)

    async def failure_messages(*hosts: str) -> list[str]:
        connect_result = await happy_eyeballs.connect_to_first(
            [Address(host, 9) for host in hosts], refuse, 0.0
        )
        return [failed_call.message for failed_call in connect_result.failed_calls]

    assert await failure_messages("::1", "a", "127.0.0.1") == ["a:9 refused"]
    assert await failure_messages("localhost", "::1") == ["localhost:9 refused", "[::1]:9 refused"]


async def test_of_several_that_answer_at_once_one_line_is_kept():
    network = Network()
    task = asyncio.create_task(network.call())
    await network.all_asked.wait()
    network.answer("a", "b", "c")
    assert (await task).wire is not None
    assert (len(network.lines), network.open) == (3, 1)


@pytest.mark.parametrize("answered", [(), ("a",), ("a", "b", "c")])
async def test_whoever_is_called_off_leaves_no_line_open(answered: tuple[str, ...]):
    network = Network()
    task = asyncio.create_task(network.call())
    await network.all_asked.wait()
    network.answer(*answered)
    for _ in range(2):
        # They have connected, and whoever called has not heard of it.
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert network.open == 0


async def test_a_bug_in_one_call_leaves_no_line_open():
    network = Network()
    network.broken = {"a"}
    task = asyncio.create_task(network.call())
    await network.all_asked.wait()
    network.answer("a", "b", "c")
    with pytest.raises(AssertionError):
        await task
    assert network.open == 0
    assert len(asyncio.all_tasks()) == 1
