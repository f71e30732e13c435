"""The joiner's side of pairing over the network: find the inviter at one of its addresses, and pair.

Never tries a secret on a device whose key is not the one in the token, nor a code on more than one device.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.peers.discovery.announcements import NearbyInviter
from daemon.peers.pairing import digit_code, token
from daemon.peers.pairing.handshake import (
    JoinerHandshake,
    JoinerIntroduction,
    PairingFailed,
    PairingOutcome,
    WrongSecret,
)
from daemon.peers.pairing.token import BadToken
from daemon.peers.transport import addresses, happy_eyeballs
from daemon.peers.transport.addresses import Address, BadAddress
from daemon.peers.transport.connector import ConnectionRejected, Connector, Unreachable, UnreachableReason
from daemon.peers.transport.happy_eyeballs import FailedCall
from daemon.peers.transport.identity import Identity, certificate_device
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import ConnectionLost, Wire
from daemon.refusal import RefusalCode, Refused, usage_error
from store.sentence import Sentence, foreign_text, sentence
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId

NAMED_MAX = 5


def _new_invitation() -> Sentence:
    return sentence("new-invitation-there", "make a new invitation there: placet pair")


def _check_and_retry() -> Sentence:
    return sentence(
        "check-or-new-invitation",
        "check it and try again, or make a new invitation there: placet pair",
    )


@dataclass(frozen=True, slots=True)
class InvitationOffer:
    """An invitation as a person brought it. A token names the inviter and its addresses, a code neither."""

    secret: bytes
    device: DeviceId | None = None
    addresses: tuple[str, ...] = ()


def read_offer(text: str) -> InvitationOffer:
    """Read the code or token that a person typed or pasted. Raises Refused."""
    code = digit_code.read(text)
    if code is not None:
        return InvitationOffer(digit_code.secret(code))
    try:
        read = token.read(text)
    except BadToken as fault:
        message = fault.sentence
        if len(text) < token.TEXT_CHARS_MIN:
            message = sentence(
                "neither-code-nor-token",
                "this is neither a code such as 493-027 nor a token of placet pair --invite",
            )
        hint = sentence(
            "type-code-or-paste-token",
            "type the six digits that 'placet pair' shows, or paste the whole line of the token",
        )
        raise usage_error(message, hint) from fault
    return InvitationOffer(read.secret, read.device, tuple(read.addresses))


def inviter_addresses(
    given_address: str | None, offer: InvitationOffer, inviters: Sequence[NearbyInviter]
) -> list[Address]:
    """Return the addresses to try: the given one, else those of the token, else of the only inviter nearby.

    A code is tried on one device alone: every device that it is tried on may guess once. Raises Refused.
    """
    if given_address is not None:
        try:
            return [addresses.parse(given_address)]
        except ValueError as fault:
            message = fault.sentence if isinstance(fault, BadAddress) else foreign_text(str(fault))
            hint = sentence("give-host-port", "give the address as host:port")
            raise usage_error(message, hint) from fault
    texts = offer.addresses if offer.device is not None else _only_inviter(inviters).addresses
    places = [addresses.parse(text) for text in texts if addresses.is_address(text)]
    if not places:
        raise usage_error(
            sentence("no-usable-address", "the invitation names no usable address"),
            sentence("give-address-option", "give one with --addr host:port"),
        )
    return places


def _only_inviter(inviters: Sequence[NearbyInviter]) -> NearbyInviter:
    if not inviters:
        raise Refused(
            RefusalCode.NOT_FOUND,
            sentence("no-inviter-nearby", "no device on this network announces an invitation"),
            sentence(
                "join-at-shown-address",
                "join again with --addr host:port: 'placet pair' shows the address there",
            ),
        )
    if len(inviters) > 1:
        nearby_inviters = inviters[:NAMED_MAX]
        text = ", ".join(
            f"{inviter.name!r} at {next(iter(inviter.addresses), '?')}" for inviter in nearby_inviters
        )
        text += ", …" if len(inviters) > len(nearby_inviters) else ""
        raise Refused(
            RefusalCode.AMBIGUOUS,
            sentence("several-inviters", "several devices on this network invite: {found}", found=text),
            sentence("say-which-address", "say which with --addr host:port"),
        )
    return inviters[0]


async def reach_inviter(
    connector: Connector, offer: InvitationOffer, places: Sequence[Address], limits: PeerLimits
) -> tuple[Wire, bytes]:
    """Connect to the inviter; return the wire and its certificate (DER). Raises Refused."""
    certificates: dict[Wire, bytes] = {}
    closed: list[str] = []
    full: list[str] = []

    async def call(address: Address) -> Wire:
        try:
            wire, certificate = await connector.connect_to_inviter(address)
        except ConnectionRejected as fault:
            (full if fault.kind is UnreachableReason.BUSY else closed).append(str(address))
            raise
        # Another device may have this address by now, or pretend to be the inviter. The secret is not tried
        # on it.
        if not _is_offered_by(certificate, offer):
            await wire.close()
            raise Unreachable(
                sentence(
                    "not-the-tokens-device",
                    "{address} is another device than the one that made the token",
                    address=str(address),
                )
            )
        certificates[wire] = certificate
        return wire

    result = await happy_eyeballs.connect_to_first(places, call, limits.stagger_s)
    if result.wire is not None:
        return result.wire, certificates[result.wire]
    raise _unreached_refusal(full, closed, result.failed_calls)


def _unreached_refusal(
    full: Sequence[str], closed: Sequence[str], failed_calls: Sequence[FailedCall]
) -> Refused:
    """Return the refusal if no address could be used; the most telling reason wins."""
    if full:
        return Refused(
            RefusalCode.FAILED,
            sentence(
                "inviter-busy",
                "the inviting device has too many callers now: {addresses}",
                addresses=", ".join(full),
            ),
            sentence("try-again-soon", "try again in a moment"),
        )
    if closed:
        return Refused(
            RefusalCode.FORBIDDEN,
            sentence(
                "no-invitation-open-at",
                ("the invitation was used already, expired or was cancelled: none is open at {addresses}"),
                addresses=", ".join(closed),
            ),
            _new_invitation(),
        )
    return Refused(
        RefusalCode.FAILED,
        sentence(
            "inviter-not-reached",
            "the inviting device was not reached: {reasons}",
            reasons=tuple(call.sentence for call in failed_calls),
        ),
        sentence("check-both-devices", "check that both devices are on and reach each other, then try again"),
    )


def _is_offered_by(certificate: bytes, offer: InvitationOffer) -> bool:
    """Return whether the device with this certificate may have made the invitation. A code names none."""
    try:
        device = certificate_device(certificate)
    except ValueError:
        return False
    return offer.device in (None, device)


async def pair_with_inviter(
    wire: Wire,
    certificate: bytes,
    offer: InvitationOffer,
    *,
    identity: Identity,
    newcomer: JoinerIntroduction,
    randomness: Callable[[int], bytes],
    limits: PeerLimits,
    charge: Callable[[], None],
) -> PairingOutcome:
    """Run the joiner's side over a wire to the inviter; call `charge` before it can test the secret.

    Raises Refused. What must happen next: the caller stores the outcome, and this device comes back over
    mutual TLS.
    """
    joiner = JoinerHandshake(
        secret=offer.secret,
        signer=identity.signer,
        certificate=identity.certificate,
        inviter=certificate,
        newcomer=newcomer,
        randomness=randomness,
    )
    try:
        while True:
            outcome = joiner.next_frame(await wire.receive(limits.pairing_s))
            if isinstance(outcome, PairingOutcome):
                return outcome
            # Whoever receives this frame can test one guess, even if it then hangs up.
            if joiner.sends_proof:
                charge()
            await wire.send(outcome, limits.pairing_s)
    except WrongSecret as fault:
        raise Refused(RefusalCode.FORBIDDEN, fault.words, _hint(offer, wire, _check_and_retry())) from fault
    except PairingFailed as fault:
        message = sentence("inviter-declined", "the other device said: {fault}", fault=str(fault))
        raise Refused(RefusalCode.FORBIDDEN, message, _hint(offer, wire, _check_and_retry())) from fault
    except (RemoteProtocolError, ConnectionLost) as fault:
        message = sentence("pairing-broke-off", "pairing broke off: {fault}", fault=str(fault))
        raise Refused(RefusalCode.FAILED, message, _hint(offer, wire, _new_invitation())) from fault
    finally:
        await wire.close()


def _hint(offer: InvitationOffer, wire: Wire, with_token: Sentence) -> Sentence:
    """Return what the person can do. A code names no device, so any device may have answered to it."""
    if offer.device is not None:
        return with_token
    return sentence(
        "check-code-or-address",
        "check the code; if it is right, another device may have answered at {address}: "
        "give the address that 'placet pair' shows with --addr",
        address=wire.remote,
    )
