"""The pairing conversation without sockets: what it yields, and what each change to it breaks.

Never uses a secret that was not made for the test.
"""

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers import pairing
from daemon.peers.identity import certificate_of
from daemon.peers.pairing import Admitted, Host, Inviter, Joined, Joiner, Newcomer, PairingFailed, WrongSecret
from syncproto import codec
from syncproto.faults import LocalProtocolError, ProtocolError, RemoteProtocolError
from syncproto.keys import Signer

SECRET = b"0123456789abcdef"
INVITER_SEED, JOINER_SEED, MIDDLE_SEED = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32
HOST = Host("desk", bytes(16))
NEWCOMER = Newcomer("phone", ["192.0.2.7:7000"], False)


def stream(seed: bytes) -> Callable[[int], bytes]:
    """Return a source of bytes that one seed determines."""
    count = 0

    def draw(wanted: int) -> bytes:
        nonlocal count
        count += 1
        return hashlib.shake_256(seed + count.to_bytes(4, "big")).digest(wanted)

    return draw


def inviter(secret: bytes = SECRET, seed: bytes = INVITER_SEED) -> Inviter:
    return Inviter(secret=secret, certificate=certificate_of(seed), host=HOST, randomness=stream(b"i" + seed))


def joiner(
    secret: bytes = SECRET,
    seed: bytes = JOINER_SEED,
    shown: bytes = INVITER_SEED,
    newcomer: Newcomer = NEWCOMER,
    signer: Signer | None = None,
) -> Joiner:
    return Joiner(
        secret=secret,
        signer=signer or Signer(seed),
        certificate=certificate_of(seed),
        inviter=certificate_of(shown),
        newcomer=newcomer,
        randomness=stream(b"j" + seed),
    )


def sent(outcome: bytes | Admitted) -> bytes:
    assert isinstance(outcome, bytes)
    return outcome


def run(one: Inviter, other: Joiner, alter: Callable[[int, bytes], bytes] = lambda _, frame: frame):
    """Run a whole pairing; `alter` sees each frame with its number, 0 to 4."""
    start = sent(other.receive(alter(0, one.greeting())))
    one.read_start(alter(1, start))
    proof = sent(other.receive(alter(2, one.answer())))
    joined = one.read_proof(alter(3, proof))
    return joined, other.receive(alter(4, one.welcome()))


def test_the_right_secret_pairs_and_tells_each_side_of_the_other():
    joined, admitted = run(inviter(), joiner())
    assert joined == Joined(certificate_of(JOINER_SEED), Signer(JOINER_SEED).public_key, NEWCOMER)
    assert admitted == Admitted(certificate_of(INVITER_SEED), Signer(INVITER_SEED).public_key, HOST)


def test_a_short_code_pairs_by_the_same_protocol():
    joined, _ = run(inviter(b"493027"), joiner(b"493027"))
    assert joined.newcomer == NEWCOMER


def test_a_wrong_secret_is_the_joiners_failure():
    with pytest.raises(WrongSecret):
        run(inviter(), joiner(b"another secret.."))


def test_the_vault_is_not_disclosed_to_a_wrong_secret():
    one, other = inviter(), joiner(b"another secret..")
    one.read_start(sent(other.receive(one.greeting())))
    proof = sent(other.receive(one.answer()))
    with pytest.raises(WrongSecret):
        one.read_proof(proof)
    with pytest.raises(LocalProtocolError):
        one.welcome()


def test_a_false_inviter_without_the_secret_is_not_believed():
    """It takes any proof, and welcomes with what key it has."""
    other = joiner()
    false = inviter(b"a guess of theirs")
    false.read_start(sent(other.receive(false.greeting())))
    sent(other.receive(false.answer()))
    assert false._keys is not None
    host = codec.encode(HOST)
    with pytest.raises(WrongSecret):
        other.receive(codec.encode(pairing.Welcome(host, pairing._mac(false._keys.inviter, host))))


def test_a_relay_that_shows_its_own_certificate_to_the_joiner_fails():
    """The relay passes every frame on unchanged; the joiner's TLS saw the relay's certificate."""
    with pytest.raises(WrongSecret):
        run(inviter(), joiner(shown=MIDDLE_SEED))


def test_a_relay_that_puts_its_own_certificate_in_the_joiners_place_fails():
    """The relay swaps the certificate in Start for its own, to be let in instead of the joiner."""

    def swap(number: int, frame: bytes) -> bytes:
        if number != 1:
            return frame
        start = codec.decode(frame, pairing._frames, pairing.ITEMS_MAX)
        assert isinstance(start, pairing.Start)
        return codec.encode(
            pairing.Start(start.version, start.nonce, certificate_of(MIDDLE_SEED), start.element)
        )

    with pytest.raises(WrongSecret):
        run(inviter(), joiner(), swap)


def test_a_certificate_of_a_key_that_the_joiner_does_not_hold_is_refused():
    stolen = joiner(signer=Signer(MIDDLE_SEED))
    with pytest.raises(RemoteProtocolError, match="does not hold its certificate's key"):
        run(inviter(), stolen)


@pytest.mark.parametrize("number", range(5))
def test_an_altered_byte_in_a_frame_breaks_the_pairing(number: int):
    """At every offset of short frames, at every fifth of those that hold a certificate or signature."""
    length = len(frames()[number])
    for at in range(0, length, 1 if length < 100 else 5):

        def alter(seen: int, frame: bytes, at: int = at) -> bytes:
            if seen != number:
                return frame
            return frame[:at] + bytes([frame[at] ^ 0x01]) + frame[at + 1 :]

        with pytest.raises((PairingFailed, ProtocolError)):
            run(inviter(), joiner(), alter)


def frames() -> list[bytes]:
    seen: list[bytes] = []

    def note(_: int, frame: bytes) -> bytes:
        seen.append(frame)
        return frame

    run(inviter(), joiner(), note)
    return seen


@given(st.integers(0, 4), st.integers(0, 4))
def test_a_frame_out_of_turn_is_refused(number, replaced):
    spare = frames()
    if number == replaced:
        return
    with pytest.raises((PairingFailed, ProtocolError)):
        run(inviter(), joiner(), lambda seen, frame: spare[replaced] if seen == number else frame)


def test_frames_of_an_earlier_pairing_are_worth_nothing():
    old = frames()
    fresh = Inviter(
        secret=SECRET, certificate=certificate_of(INVITER_SEED), host=HOST, randomness=stream(b"anew")
    )
    fresh.greeting()
    fresh.read_start(old[1])
    fresh.answer()
    with pytest.raises(WrongSecret):
        fresh.read_proof(old[3])


def test_a_reflected_element_is_refused():
    one, other = inviter(), joiner()
    start = sent(other.receive(one.greeting()))
    read = codec.decode(start, pairing._frames, pairing.ITEMS_MAX)
    assert isinstance(read, pairing.Start)
    with pytest.raises(RemoteProtocolError, match="SPAKE2 element"):
        other.receive(codec.encode(pairing.Answer(b"B" + read.element[1:])))


@given(st.binary(max_size=600))
def test_garbage_is_the_peers_fault_on_both_sides(garbage):
    for take in (first_of_inviter(), joiner().receive):
        with pytest.raises((RemoteProtocolError, PairingFailed)):
            take(garbage)


def first_of_inviter():
    one = inviter()
    one.greeting()
    return one.read_start


@given(st.binary(min_size=33, max_size=33))
def test_any_element_is_taken_or_is_the_peers_fault(element):
    one = inviter()
    one.greeting()
    one.read_start(codec.encode(pairing.Start(1, bytes(32), certificate_of(JOINER_SEED), element)))
    try:
        one.answer()
    except RemoteProtocolError:
        return


def test_an_oversized_frame_is_refused_unread():
    with pytest.raises(RemoteProtocolError, match="exceeds"):
        joiner().receive(bytes(pairing.FRAME_BYTES_MAX + 1))


def test_a_refusal_reaches_the_joiner_in_words():
    with pytest.raises(PairingFailed, match="no invitation is open"):
        joiner().receive(pairing.denied("no invitation is open"))


@pytest.mark.parametrize(
    "newcomer",
    [Newcomer("", [], False), Newcomer("n" * 65, [], False), Newcomer("n", ["a:1"] * 17, False)],
)
def test_what_the_newcomer_says_of_itself_is_held_to_limits(newcomer):
    with pytest.raises(RemoteProtocolError):
        run(inviter(), joiner(newcomer=newcomer))


def test_another_version_is_named():
    one = inviter()
    one.greeting()
    with pytest.raises(RemoteProtocolError, match="version 2"):
        one.read_start(codec.encode(pairing.Start(2, bytes(32), certificate_of(JOINER_SEED), bytes(33))))
