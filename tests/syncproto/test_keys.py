"""Keys: a seed gives one key, a key one device, and only its holder's signature holds.

Never keeps a key anywhere.
"""

import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from syncproto.keys import Signer, device_id_of_key, verify_signature

seeds = st.binary(min_size=32, max_size=32)


@given(seeds)
def test_a_device_is_the_hash_of_its_keys_standard_form(seed):
    signer = Signer(seed)
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    standard = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert signer.public_key == public.public_bytes_raw()
    assert signer.device == device_id_of_key(signer.public_key) == hashlib.sha256(standard).digest()


@given(seeds, seeds, st.binary(max_size=40), st.binary(max_size=40))
def test_a_signature_holds_for_its_key_and_message_alone(seed, other, message, altered):
    signer = Signer(seed)
    signature = signer.sign(message)
    assert len(signature) == 64
    assert verify_signature(signer.public_key, signature, message)
    assert verify_signature(signer.public_key, signature, altered) == (altered == message)
    assert verify_signature(Signer(other).public_key, signature, message) == (other == seed)


@given(st.binary(max_size=70), st.binary(max_size=40))
def test_bytes_that_are_no_key_or_signature_verify_nothing(wrong, message):
    signer = Signer(bytes(32))
    assert not verify_signature(signer.public_key, wrong, message)
    assert not verify_signature(wrong, signer.sign(message), message)
