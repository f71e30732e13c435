"""Certificates that a faulty or hostile device could show.

Never contains a certificate that a sound device makes.
"""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from daemon.peers.transport.identity import certificate_from_seed
from syncproto.keys import Signer


def refused_by_openssl(seed: bytes) -> bytes:
    """Return a certificate, signed by its own key, whose name is no UTF-8."""
    certificate = certificate_from_seed(seed).replace(Signer(seed).device.hex().encode(), b"\xff" * 64)
    signed = x509.load_der_x509_certificate(certificate).tbs_certificate_bytes
    return certificate[:-64] + Ed25519PrivateKey.from_private_bytes(seed).sign(signed)
