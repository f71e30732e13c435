"""Certificates and pairing, held to the vectors that a second implementation wrote.

Never draws randomness: the vectors say what each side draws.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from daemon.peers.pairing.handshake import (
    InviterHandshake,
    InviterIntroduction,
    JoinerHandshake,
    JoinerIntroduction,
    PairingOutcome,
)
from daemon.peers.transport.identity import certificate_device, certificate_from_seed, public_key_of
from syncproto.keys import Signer
from tests.vectors import generate


def cases(name: str, outcome: str) -> list[Any]:
    """Return the cases of a vector file that have one outcome."""
    document = json.loads(generate.path(name).read_text("utf-8"))
    return [case for case in document if case["outcome"] == outcome]


@pytest.mark.parametrize("case", cases("certificates", "ok"))
def test_a_key_has_the_certificate_that_the_protocol_specifies(case: Any) -> None:
    signer = Signer(bytes.fromhex(case["seed"]))
    certificate = certificate_from_seed(bytes.fromhex(case["seed"]))
    assert certificate.hex() == case["certificate"]
    assert public_key_of(certificate) == signer.public_key
    assert certificate_device(certificate) == signer.device


@pytest.mark.parametrize("case", cases("certificates", "malformed"), ids=lambda case: str(case["name"]))
def test_any_other_certificate_is_refused(case: Any) -> None:
    with pytest.raises(ValueError, match="certificate"):
        public_key_of(bytes.fromhex(case["certificate"]))


def drawing(*values: str) -> Callable[[int], bytes]:
    """Return randomness that draws these values in turn."""
    left = [bytes.fromhex(value) for value in values]

    def randomness(count: int) -> bytes:
        value = left.pop(0)
        assert len(value) == count
        return value

    return randomness


@pytest.mark.parametrize("case", cases("pairings", "ok"), ids=lambda case: str(case["name"]))
def test_both_sides_of_a_pairing_send_what_the_protocol_specifies(case: Any) -> None:
    joiner_seed, inviter_seed = bytes.fromhex(case["joiner_seed"]), bytes.fromhex(case["inviter_seed"])
    name, vault = case["host"]
    inviter = InviterHandshake(
        secret=bytes.fromhex(case["secret"]),
        certificate=certificate_from_seed(inviter_seed),
        host=InviterIntroduction(name, bytes.fromhex(vault)),
        randomness=drawing(case["inviter_nonce"], case["inviter_randomness"]),
    )
    joiner = JoinerHandshake(
        secret=bytes.fromhex(case["secret"]),
        signer=Signer(joiner_seed),
        certificate=certificate_from_seed(joiner_seed),
        inviter=certificate_from_seed(inviter_seed),
        newcomer=JoinerIntroduction(*case["newcomer"]),
        randomness=drawing(case["joiner_nonce"], case["joiner_randomness"]),
    )
    greeting, start, answer, proof, welcome = map(bytes.fromhex, case["frames"])
    assert inviter.greeting() == greeting
    assert joiner.next_frame(greeting) == start
    inviter.read_start(start)
    assert inviter.answer() == answer
    assert joiner.next_frame(answer) == proof
    assert inviter.read_proof(proof).newcomer == JoinerIntroduction(*case["newcomer"])
    assert inviter.welcome() == welcome
    outcome = joiner.next_frame(welcome)
    assert isinstance(outcome, PairingOutcome)
    assert outcome.host == InviterIntroduction(name, bytes.fromhex(vault))
