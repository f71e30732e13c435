"""Certificates that a faulty or hostile device could show.

Never one that a sound device makes.
"""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from daemon.peers.identity import certificate_of
from syncproto.keys import Signer


def refused_by_openssl(seed: bytes) -> bytes:
    """Return a certificate, signed by its own key, whose name is no UTF-8."""
    named = certificate_of(seed).replace(Signer(seed).device.hex().encode(), b"\xff" * 64)
    signed = x509.load_der_x509_certificate(named).tbs_certificate_bytes
    return named[:-64] + Ed25519PrivateKey.from_private_bytes(seed).sign(signed)
