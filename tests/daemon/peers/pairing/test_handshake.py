"""The pairing conversation without sockets: what it yields, and what each change to it breaks.

Never uses a secret that was not made for the test.
"""

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.pairing import handshake
from daemon.peers.pairing.handshake import (
    InviterHandshake,
    InviterIntroduction,
    JoinerHandshake,
    JoinerIntroduction,
    PairingFailed,
    PairingOutcome,
    ProvedNewcomer,
    WrongSecret,
)
from daemon.peers.transport.identity import certificate_from_seed
from syncproto import codec
from syncproto.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from syncproto.keys import Signer

SECRET = b"0123456789abcdef"
INVITER_SEED, JOINER_SEED, MIDDLE_SEED = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32
HOST = InviterIntroduction("desk", bytes(16))
NEWCOMER = JoinerIntroduction("phone", ["192.0.2.7:7000"], False)


def stream(seed: bytes) -> Callable[[int], bytes]:
    """Return a source of bytes that one seed determines."""
    count = 0

    def draw(wanted: int) -> bytes:
        nonlocal count
        count += 1
        return hashlib.shake_256(seed + count.to_bytes(4, "big")).digest(wanted)

    return draw


def inviter(secret: bytes = SECRET, seed: bytes = INVITER_SEED) -> InviterHandshake:
    return InviterHandshake(
        secret=secret, certificate=certificate_from_seed(seed), host=HOST, randomness=stream(b"i" + seed)
    )


def joiner(
    secret: bytes = SECRET,
    seed: bytes = JOINER_SEED,
    raw: bytes = INVITER_SEED,
    newcomer: JoinerIntroduction = NEWCOMER,
    signer: Signer | None = None,
) -> JoinerHandshake:
    return JoinerHandshake(
        secret=secret,
        signer=signer or Signer(seed),
        certificate=certificate_from_seed(seed),
        inviter=certificate_from_seed(raw),
        newcomer=newcomer,
        randomness=stream(b"j" + seed),
    )


def sent(outcome: bytes | PairingOutcome) -> bytes:
    assert isinstance(outcome, bytes)
    return outcome


def run(
    other_handshake: InviterHandshake,
    other: JoinerHandshake,
    alter: Callable[[int, bytes], bytes] = lambda _, frame: frame,
):
    """Run a whole pairing; `alter` sees each frame with its number, 0 to 4."""
    start = sent(other.next_frame(alter(0, other_handshake.greeting())))
    other_handshake.read_start(alter(1, start))
    proof = sent(other.next_frame(alter(2, other_handshake.answer())))
    joined = other_handshake.read_proof(alter(3, proof))
    return joined, other.next_frame(alter(4, other_handshake.welcome()))


def test_the_right_secret_pairs_and_tells_each_side_of_the_other():
    joined, admitted = run(inviter(), joiner())
    assert joined == ProvedNewcomer(
        certificate_from_seed(JOINER_SEED), Signer(JOINER_SEED).public_key, NEWCOMER
    )
    assert admitted == PairingOutcome(
        certificate_from_seed(INVITER_SEED), Signer(INVITER_SEED).public_key, HOST
    )


def test_a_short_code_pairs_by_the_same_protocol():
    joined, _ = run(inviter(b"493027"), joiner(b"493027"))
    assert joined.newcomer == NEWCOMER


def test_a_wrong_secret_is_the_joiners_failure():
    with pytest.raises(WrongSecret):
        run(inviter(), joiner(b"another secret.."))


def test_the_vault_is_not_disclosed_to_a_wrong_secret():
    only_handshake, other = inviter(), joiner(b"another secret..")
    only_handshake.read_start(sent(other.next_frame(only_handshake.greeting())))
    proof = sent(other.next_frame(only_handshake.answer()))
    with pytest.raises(WrongSecret):
        only_handshake.read_proof(proof)
    with pytest.raises(LocalProtocolError):
        only_handshake.welcome()


def test_a_false_inviter_without_the_secret_is_not_believed():
    """It accepts any proof, and sends a Welcome with the key that it has."""
    other = joiner()
    false = inviter(b"a guess of theirs")
    false.read_start(sent(other.next_frame(false.greeting())))
    sent(other.next_frame(false.answer()))
    assert false._keys is not None
    host = codec.encode(HOST)
    with pytest.raises(WrongSecret):
        other.next_frame(codec.encode(handshake.Welcome(host, handshake._mac(false._keys.inviter, host))))


def test_a_relay_that_shows_its_own_certificate_to_the_joiner_fails():
    """The relay passes every frame on unchanged; the joiner's TLS saw the relay's certificate."""
    with pytest.raises(WrongSecret):
        run(inviter(), joiner(raw=MIDDLE_SEED))


def test_a_relay_that_puts_its_own_certificate_in_the_joiners_place_fails():
    """The relay swaps the certificate in Start for its own, to be let in instead of the joiner."""

    def swap(number: int, frame: bytes) -> bytes:
        if number != 1:
            return frame
        start = codec.decode(frame, handshake._frames, handshake.ITEMS_MAX)
        assert isinstance(start, handshake.Start)
        return codec.encode(
            handshake.Start(start.version, start.nonce, certificate_from_seed(MIDDLE_SEED), start.element)
        )

    with pytest.raises(WrongSecret):
        run(inviter(), joiner(), swap)


def test_a_certificate_of_a_key_that_the_joiner_does_not_hold_is_refused():
    stolen = joiner(signer=Signer(MIDDLE_SEED))
    with pytest.raises(RemoteProtocolError, match="does not hold its certificate's key"):
        run(inviter(), stolen)


@pytest.mark.parametrize("number", range(5))
def test_an_altered_byte_in_a_frame_breaks_the_pairing(number: int):
    """At every offset of short frames, at every fifth of frames with a certificate or signature."""
    length = len(frames()[number])
    for index in range(0, length, 1 if length < 100 else 5):

        def alter(count: int, frame: bytes, position: int = index) -> bytes:
            if count != number:
                return frame
            return frame[:position] + bytes([frame[position] ^ 0x01]) + frame[position + 1 :]

        with pytest.raises((PairingFailed, ProtocolError)):
            run(inviter(), joiner(), alter)


def frames() -> list[bytes]:
    observed: list[bytes] = []

    def note(_: int, frame: bytes) -> bytes:
        observed.append(frame)
        return frame

    run(inviter(), joiner(), note)
    return observed


@given(st.integers(0, 4), st.integers(0, 4))
def test_a_frame_out_of_turn_is_refused(number, replaced):
    spare = frames()
    if number == replaced:
        return
    with pytest.raises((PairingFailed, ProtocolError)):
        run(inviter(), joiner(), lambda count, frame: spare[replaced] if count == number else frame)


def test_frames_of_an_earlier_pairing_are_worth_nothing():
    old = frames()
    fresh = InviterHandshake(
        secret=SECRET, certificate=certificate_from_seed(INVITER_SEED), host=HOST, randomness=stream(b"anew")
    )
    fresh.greeting()
    fresh.read_start(old[1])
    fresh.answer()
    with pytest.raises(WrongSecret):
        fresh.read_proof(old[3])


def test_a_reflected_element_is_refused():
    only_handshake, other = inviter(), joiner()
    start = sent(other.next_frame(only_handshake.greeting()))
    read = codec.decode(start, handshake._frames, handshake.ITEMS_MAX)
    assert isinstance(read, handshake.Start)
    with pytest.raises(RemoteProtocolError, match="SPAKE2 element"):
        other.next_frame(codec.encode(handshake.Answer(b"B" + read.element[1:])))


@given(st.binary(max_size=600))
def test_garbage_is_the_peers_fault_on_both_sides(garbage):
    for take in (first_of_inviter(), joiner().next_frame):
        with pytest.raises((RemoteProtocolError, PairingFailed)):
            take(garbage)


def first_of_inviter():
    other_handshake = inviter()
    other_handshake.greeting()
    return other_handshake.read_start


@given(st.binary(min_size=33, max_size=33))
def test_any_element_is_taken_or_is_the_peers_fault(element):
    other_handshake = inviter()
    other_handshake.greeting()
    other_handshake.read_start(
        codec.encode(handshake.Start(1, bytes(32), certificate_from_seed(JOINER_SEED), element))
    )
    try:
        other_handshake.answer()
    except RemoteProtocolError:
        return


def test_an_oversized_frame_is_refused_unread():
    with pytest.raises(RemoteProtocolError, match="exceeds"):
        joiner().next_frame(bytes(handshake.FRAME_BYTES_MAX + 1))


def test_a_refusal_reaches_the_joiner_in_words():
    with pytest.raises(PairingFailed, match="no invitation is open"):
        joiner().next_frame(handshake.denied_frame("no invitation is open"))


def test_a_joiner_cannot_decline_in_the_inviters_words():
    with pytest.raises(RemoteProtocolError, match=r"^Denied where Start was due$"):
        inviter().read_start(handshake.denied_frame("words for the inviter's log"))


@pytest.mark.parametrize(
    "newcomer",
    [
        JoinerIntroduction("", [], False),
        JoinerIntroduction("n" * 65, [], False),
        JoinerIntroduction("n", ["a:1"] * 17, False),
    ],
)
def test_what_the_newcomer_says_of_itself_is_held_to_limits(newcomer):
    with pytest.raises(RemoteProtocolError):
        run(inviter(), joiner(newcomer=newcomer))


def test_another_version_is_named():
    other_handshake = inviter()
    other_handshake.greeting()
    with pytest.raises(RemoteProtocolError, match="version 2"):
        other_handshake.read_start(
            codec.encode(handshake.Start(2, bytes(32), certificate_from_seed(JOINER_SEED), bytes(33)))
        )
