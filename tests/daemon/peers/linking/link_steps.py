"""Two linked devices for the tests of links, and frames of a peer that misbehaves.

Never checks anything.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daemon.peers.transport.addresses import parse
from daemon.peers.transport.connector import Connector
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import ConnectionLost, Wire
from syncproto import messages
from syncproto.commit import AuthorKind, Commit, SignedCommit
from syncproto.messages import Ack, Bye, Commits, Hello, Message
from syncproto.vector_clock import EMPTY_CLOCK
from tests.daemon.peers.fleet import QUICK, Device, Fleet
from tests.support.patience import LIMIT_S


async def pair_of(fleet: Fleet, limits: PeerLimits = QUICK) -> tuple[Device, Device]:
    desk, phone = await fleet.start("desk", limits=limits), await fleet.start("phone", limits=limits)
    await fleet.pair(desk, phone)
    return desk, phone


@asynccontextmanager
async def posing_as(phone: Device, desk: Device) -> AsyncIterator[Wire]:
    """Connect to the desk with the phone's key, while the phone's daemon is off."""
    dialling = Connector(phone.identity, phone.limits)
    wire = await dialling.connect_to_member(parse(desk.place), desk.identity.certificate)
    try:
        yield wire
    finally:
        await wire.close()
        await dialling.close()


async def greet(wire: Wire, desk: Device, *, level: bool = False) -> Hello:
    """Exchange Hellos as a device that has no commits yet, or, if `level`, the same commits."""
    vault = await desk.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    hello = messages.decode_message(await wire.receive(LIMIT_S))
    assert isinstance(hello, Hello)
    stored = (hello.vector, hello.state_hash) if level else (EMPTY_CLOCK, bytes(32))
    await wire.send(messages.encode_message(Hello([2], vault, None, *stored, {})), LIMIT_S)
    return hello


async def messages_until(wire: Wire, kind: type) -> list[Message]:
    """Return what comes, the last of it the first message of a kind."""
    came: list[Message] = []
    while not came or not isinstance(came[-1], kind):
        came.append(messages.decode_message(await wire.receive(LIMIT_S)))
    return came


async def last_words(wire: Wire) -> str:
    """Read until the other side says goodbye or closes; return its reason, empty if it gave none."""
    try:
        while True:
            message = messages.decode_message(await wire.receive(LIMIT_S))
            if isinstance(message, Bye):
                return message.reason
    except ConnectionLost:
        return ""


def future() -> SignedCommit:
    """Return a well-formed commit that follows a commit that nobody has."""
    from syncproto import commit as commits
    from syncproto.hlc import Stamp
    from syncproto.ids import EntityId, ReplicaId
    from syncproto.keys import Signer

    commit = Commit(
        format=2,
        replica=ReplicaId(bytes([7]) * 16),
        counter=5,
        previous=bytes(32),
        stamp=Stamp(1, 0),
        author=commits.Author(AuthorKind.USER),
        key=None,
        operations=[
            commits.Operation(
                EntityId(bytes([9]) * 16), "task", EMPTY_CLOCK, {"title": "x"}, None, AuthorKind.USER, None
            )
        ],
    )
    signer = Signer(bytes([5]) * 32)
    received = commits.encode_commit(commit)
    return SignedCommit(received.signed.body, commits.sign_commit(received, signer))


FAULTS = {
    "garbage": b"\xc1\xff garbage",
    "nothing": b"",
    "an Ack for no page": messages.encode_message(Ack(EMPTY_CLOCK, EMPTY_CLOCK, bytes(32))),
    "a second Hello": messages.encode_message(Hello([2], bytes(16), None, EMPTY_CLOCK, bytes(32), {})),
    "an empty page": messages.encode_message(Commits([])),
    "a commit from nowhere": messages.encode_message(Commits([future()])),
    "a million items": b"\xdd\x00\x0f\x42\x40" + b"\x90" * 1_000_000,
}
