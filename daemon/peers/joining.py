"""The joiner's side of pairing over the network: find the inviter at one of its addresses, and pair.

Never tries a secret on a device whose key is not the one that the token names.
"""

from collections.abc import Callable, Sequence

from daemon.journal.errors import Code, Refused, usage
from daemon.peers import addresses, token
from daemon.peers.addresses import Address
from daemon.peers.dial import Dialling, TurnedAway, Unreachable
from daemon.peers.identity import Identity, device_of
from daemon.peers.pace import Pace
from daemon.peers.pairing import Admitted, Joiner, Newcomer, PairingFailed, WrongSecret
from daemon.peers.token import BadToken, Token
from daemon.peers.wire import LineLost, Wire
from syncproto.faults import RemoteProtocolError

_NEW_INVITATION = "make a new invitation there: placet pair --invite"


def read_token(text: str) -> Token:
    """Read what a person pasted. Raises Refused."""
    try:
        return token.read(text)
    except BadToken as fault:
        raise usage(str(fault), "paste the whole line that 'placet pair --invite' printed") from fault


def candidates(first: str | None, told: Sequence[str]) -> list[Address]:
    """Return the addresses to try: the one that a person gave, else those of the token. Raises Refused."""
    if first is not None:
        try:
            return [addresses.parse(first)]
        except ValueError as fault:
            raise usage(str(fault), "give the address as host:port") from fault
    found = [addresses.parse(one) for one in told if addresses.is_address(one)]
    if not found:
        raise usage("the token names no usable address", "give one with --addr host:port")
    return found


async def knock(dialling: Dialling, invited: Token, places: Sequence[Address]) -> tuple[Wire, bytes]:
    """Connect to the inviter; return the wire and its certificate (DER). Raises Refused."""
    seen: list[str] = []
    closed: list[str] = []
    for place in places:
        try:
            wire, certificate = await dialling.inviter(place)
        except TurnedAway as fault:
            seen.append(str(fault))
            closed.append(str(place))
        except Unreachable as fault:
            seen.append(str(fault))
        else:
            if _belongs(certificate, invited):
                return wire, certificate
            await wire.close()
            seen.append(f"{place} is another device than the one that made the token")
    if closed:
        ended = "the invitation was used already, ran out or was called off"
        raise Refused(Code.FORBIDDEN, f"{ended}: none is open at {', '.join(closed)}", _NEW_INVITATION)
    hint = "check that both devices are on and reach each other, then try again"
    raise Refused(Code.FAILED, f"the inviting device was not reached: {'; '.join(seen)}", hint)


def _belongs(certificate: bytes, invited: Token) -> bool:
    try:
        return device_of(certificate) == invited.device
    except ValueError:
        return False


async def pair(
    wire: Wire,
    certificate: bytes,
    invited: Token,
    *,
    identity: Identity,
    newcomer: Newcomer,
    randomness: Callable[[int], bytes],
    pace: Pace,
) -> Admitted:
    """Hold the joiner's side over a wire to the inviter. Raises Refused.

    What must happen next: the outcome is made durable, and this device comes back over mutual TLS.
    """
    joiner = Joiner(
        secret=invited.secret,
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
            await wire.send(outcome, pace.pairing_s)
    except WrongSecret as fault:
        raise Refused(Code.FORBIDDEN, str(fault), _NEW_INVITATION) from fault
    except PairingFailed as fault:
        raise Refused(Code.FORBIDDEN, f"the other device said: {fault}", _NEW_INVITATION) from fault
    except (RemoteProtocolError, LineLost) as fault:
        raise Refused(Code.FAILED, f"pairing broke off: {fault}", _NEW_INVITATION) from fault
    finally:
        await wire.close()
