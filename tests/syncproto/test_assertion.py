"""Passkey assertions: one fits one decision, and nothing that was altered fits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto.assertion import (
    ASSERTION_FIELD,
    Assertion,
    Passkey,
    assertion_in,
    assertion_value,
    decision_challenge,
    is_asserted,
    passkey_in,
)
from syncproto.codec import Value
from tests.support.authenticator import PRESENT, VERIFIED, Authenticator

FIELDS: dict[str, Value] = {
    "item_id": bytes(16),
    "verdict": "confirmed",
    "seen": [b"1" * 16],
    "args_hash": bytes(32),
}
CHALLENGE = decision_challenge(FIELDS)
MAKERS = (Authenticator.with_ed25519, Authenticator.with_p256)


@pytest.fixture(params=MAKERS, ids=("ed25519", "p256"))
def authenticator(request: pytest.FixtureRequest) -> Authenticator:
    made = request.param(1)
    assert isinstance(made, Authenticator)
    return made


def test_an_assertion_over_a_decision_counts(authenticator: Authenticator) -> None:
    assertion = authenticator.answer(CHALLENGE)
    decision = {**FIELDS, ASSERTION_FIELD: assertion_value(assertion)}
    assert assertion_in(decision) == assertion
    assert is_asserted(assertion, authenticator.passkey, decision_challenge(decision))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("item_id", b"x" * 16),
        ("verdict", "rejected"),
        ("seen", []),
        ("args_hash", b"x" * 32),
        ("edited_args", {"minutes": 3}),
        ("reason", "I did not say that"),
    ],
)
def test_an_assertion_counts_for_no_other_decision(
    authenticator: Authenticator, field: str, value: Value
) -> None:
    assertion = authenticator.answer(CHALLENGE)
    assert not is_asserted(assertion, authenticator.passkey, decision_challenge({**FIELDS, field: value}))


@pytest.mark.parametrize("flags", [0, PRESENT, VERIFIED])
def test_an_assertion_without_a_verified_person_does_not_count(
    authenticator: Authenticator, flags: int
) -> None:
    assertion = authenticator.answer(CHALLENGE, flags=flags)
    assert not is_asserted(assertion, authenticator.passkey, CHALLENGE)


def test_the_making_of_a_passkey_is_no_assertion(authenticator: Authenticator) -> None:
    assertion = authenticator.answer(CHALLENGE, kind="webauthn.create")
    assert not is_asserted(assertion, authenticator.passkey, CHALLENGE)


def test_an_assertion_for_another_domain_does_not_count(authenticator: Authenticator) -> None:
    assertion = authenticator.answer(CHALLENGE, rp_id="elsewhere.example")
    assert not is_asserted(assertion, authenticator.passkey, CHALLENGE)


@pytest.mark.parametrize("make", MAKERS)
def test_an_assertion_of_another_key_does_not_count(authenticator: Authenticator, make: Any) -> None:
    other = make(2)
    answered = other.answer(CHALLENGE)
    assert not is_asserted(answered, authenticator.passkey, CHALLENGE)
    claimed = answered._replace(passkey=authenticator.passkey.id)
    assert not is_asserted(claimed, authenticator.passkey, CHALLENGE)


def test_an_assertion_that_names_another_passkey_does_not_count(authenticator: Authenticator) -> None:
    other = Authenticator.with_ed25519(2).passkey
    assert not is_asserted(
        authenticator.answer(CHALLENGE)._replace(passkey=other.id), authenticator.passkey, CHALLENGE
    )


@given(
    st.sampled_from(MAKERS), st.sampled_from(("authenticator_data", "client_data", "signature")), st.data()
)
def test_no_altered_byte_is_accepted(make: Any, part: str, data: st.DataObject) -> None:
    authenticator = make(1)
    assertion: Assertion = authenticator.answer(CHALLENGE)
    content = bytearray(getattr(assertion, part))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    altered: dict[str, Any] = {part: bytes(content)}
    assert not is_asserted(assertion._replace(**altered), authenticator.passkey, CHALLENGE)


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"passkey": bytes(16)},
        {"passkey": bytes(15), "authenticator_data": bytes(37), "client_data": b"", "signature": bytes(64)},
        {"passkey": bytes(16), "authenticator_data": bytes(36), "client_data": b"", "signature": bytes(64)},
        {"passkey": bytes(16), "authenticator_data": bytes(1025), "client_data": b"", "signature": bytes(64)},
        {
            "passkey": bytes(16),
            "authenticator_data": bytes(37),
            "client_data": bytes(4097),
            "signature": bytes(64),
        },
        {"passkey": bytes(16), "authenticator_data": bytes(37), "client_data": "", "signature": bytes(64)},
        {"passkey": bytes(16), "authenticator_data": bytes(37), "client_data": b"", "signature": bytes(63)},
    ],
)
def test_malformed_assertions_are_none(content: Any) -> None:
    assert assertion_in({ASSERTION_FIELD: content}) is None


def test_a_passkey_is_read_from_its_entity(authenticator: Authenticator) -> None:
    passkey = authenticator.passkey
    assert passkey_in({"key": passkey.key, "rp_id": passkey.rp_id}) == passkey


@pytest.mark.parametrize(
    ("key", "rp_id"),
    [
        (bytes(31), "localhost"),
        (b"\x02" + bytes(32), "localhost"),
        (b"\x06" + bytes(64), "localhost"),
        ("text", "localhost"),
        (bytes(32), ""),
        (bytes(32), "x" * 254),
        (bytes(32), 7),
    ],
)
def test_malformed_passkeys_are_none(key: Any, rp_id: Any) -> None:
    assert passkey_in({"key": key, "rp_id": rp_id}) is None


def test_a_point_that_is_on_no_curve_asserts_nothing() -> None:
    passkey = Passkey(b"\x04" + bytes([1]) * 64, "localhost")
    answered = Authenticator.with_p256(1).answer(CHALLENGE)._replace(passkey=passkey.id)
    assert not is_asserted(answered, passkey, CHALLENGE)
