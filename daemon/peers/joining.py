"""The joiner's side of pairing over the network: find the inviter at one of its addresses, and pair.

Never tries a secret on a device whose key is not the one that the token names, nor a code on more than one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.journal.errors import Code, Refused, usage
from daemon.peers import addresses, calling, code, token
from daemon.peers.addresses import Address
from daemon.peers.dial import Dialling, Silence, TurnedAway, Unreachable
from daemon.peers.identity import Identity, device_of
from daemon.peers.pace import Pace
from daemon.peers.pairing import Admitted, Joiner, Newcomer, PairingFailed, WrongSecret
from daemon.peers.token import BadToken
from daemon.peers.wire import LineLost, Wire
from syncproto.faults import RemoteProtocolError
from syncproto.ids import DeviceId

NAMED_MAX = 5
_NEW_INVITATION = "make a new invitation there: placet pair"
_TRY_AGAIN = "check it and try again, or make a new invitation there: placet pair"


@dataclass(frozen=True, slots=True)
class Offer:
    """An invitation as it was brought over: a token says whose it is and where, a code neither."""

    secret: bytes
    device: DeviceId | None = None
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inviting:
    """A device that says on this network that it invites; nothing of it is proved."""

    name: str
    addresses: tuple[str, ...]


def read_offer(text: str) -> Offer:
    """Read the code or token that a person typed or pasted. Raises Refused."""
    digits = code.read(text)
    if digits is not None:
        return Offer(code.secret(digits))
    try:
        read = token.read(text)
    except BadToken as fault:
        seen = "this is neither a code such as 493-027 nor a token of placet pair --invite"
        hint = "type the six digits that 'placet pair' shows, or paste the whole line of the token"
        raise usage(seen if len(text) < token.TEXT_CHARS_MIN else str(fault), hint) from fault
    return Offer(read.secret, read.device, tuple(read.addresses))


def candidates(first: str | None, offer: Offer, inviting: Sequence[Inviting]) -> list[Address]:
    """Return the addresses to try: the one that a person gave, else those of the token, else of the inviter.

    A code goes to one device alone: whoever it is tried on may guess once. Raises Refused.
    """
    if first is not None:
        try:
            return [addresses.parse(first)]
        except ValueError as fault:
            raise usage(str(fault), "give the address as host:port") from fault
    told = offer.addresses if offer.device is not None else _only(inviting).addresses
    found = [addresses.parse(one) for one in told if addresses.is_address(one)]
    if not found:
        raise usage("the invitation names no usable address", "give one with --addr host:port")
    return found


def _only(inviting: Sequence[Inviting]) -> Inviting:
    if not inviting:
        hint = "'placet pair' shows its address there: join again with --addr host:port"
        raise Refused(Code.NOT_FOUND, "no device on this network says that it invites", hint)
    if len(inviting) > 1:
        some = inviting[:NAMED_MAX]
        found = ", ".join(f"{one.name!r} at {next(iter(one.addresses), '?')}" for one in some)
        found += ", …" if len(inviting) > len(some) else ""
        hint = "say which with --addr host:port"
        raise Refused(Code.AMBIGUOUS, f"several devices on this network invite: {found}", hint)
    return inviting[0]


async def knock(
    dialling: Dialling, offer: Offer, places: Sequence[Address], pace: Pace
) -> tuple[Wire, bytes]:
    """Connect to the inviter; return the wire and its certificate (DER). Raises Refused."""
    shown: dict[Wire, bytes] = {}
    closed: list[str] = []
    full: list[str] = []

    async def call(place: Address) -> Wire:
        try:
            wire, certificate = await dialling.inviter(place)
        except TurnedAway as fault:
            (full if fault.kind is Silence.BUSY else closed).append(str(place))
            raise
        if not _belongs(certificate, offer):
            await wire.close()
            raise Unreachable(f"{place} is another device than the one that made the token")
        shown[wire] = certificate
        return wire

    found = await calling.first_to_answer(places, call, pace.stagger_s)
    if found.wire is not None:
        return found.wire, shown[found.wire]
    if full:
        seen = f"the inviting device has too many callers now: {', '.join(full)}"
        raise Refused(Code.FAILED, seen, "try again in a moment")
    if closed:
        ended = "the invitation was used already, ran out or was called off"
        raise Refused(Code.FORBIDDEN, f"{ended}: none is open at {', '.join(closed)}", _NEW_INVITATION)
    hint = "check that both devices are on and reach each other, then try again"
    raise Refused(
        Code.FAILED,
        f"the inviting device was not reached: {'; '.join(one.words for one in found.failed)}",
        hint,
    )


def _belongs(certificate: bytes, offer: Offer) -> bool:
    try:
        shown = device_of(certificate)
    except ValueError:
        return False
    return offer.device in (None, shown)


async def pair(
    wire: Wire,
    certificate: bytes,
    offer: Offer,
    *,
    identity: Identity,
    newcomer: Newcomer,
    randomness: Callable[[int], bytes],
    pace: Pace,
    charge: Callable[[], None],
) -> Admitted:
    """Hold the joiner's side over a wire to the inviter; `charge` before that one can test the secret.

    Raises Refused. What must happen next: the outcome is made durable, and this device comes back over mutual
    TLS.
    """
    joiner = Joiner(
        secret=offer.secret,
        signer=identity.signer,
        certificate=identity.certificate,
        inviter=certificate,
        newcomer=newcomer,
        randomness=randomness,
    )
    try:
        while True:
            outcome = joiner.receive(await wire.receive(pace.pairing_s))
            if isinstance(outcome, Admitted):
                return outcome
            if joiner.proves:
                charge()
            await wire.send(outcome, pace.pairing_s)
    except WrongSecret as fault:
        raise Refused(Code.FORBIDDEN, str(fault), _hint(offer, wire, _TRY_AGAIN)) from fault
    except PairingFailed as fault:
        seen = f"the other device said: {fault}"
        raise Refused(Code.FORBIDDEN, seen, _hint(offer, wire, _TRY_AGAIN)) from fault
    except (RemoteProtocolError, LineLost) as fault:
        seen = f"pairing broke off: {fault}"
        raise Refused(Code.FAILED, seen, _hint(offer, wire, _NEW_INVITATION)) from fault
    finally:
        await wire.close()


def _hint(offer: Offer, wire: Wire, else_: str) -> str:
    """Say what to do; a code names nobody, so that anyone may have answered to it."""
    if offer.device is not None:
        return else_
    other = f"if it is right, another device may have answered at {wire.remote}"
    return f"check the code; {other}: give the address that 'placet pair' shows with --addr"
