"""Who this device is: one Ed25519 key, and the self-signed certificate that follows from it.

Never sends the key anywhere, and never makes a new key if there is a key file that cannot be read.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from daemon.files import replace_file
from store.sentence import Sentence, sentence
from syncproto.ids import DeviceId
from syncproto.keys import Signer, device_id_of_key

FILE_NAME = "identity.pem"
SEED_BYTES = 32
SIGNATURE_BYTES = 64
CERTIFICATE_BYTES_MAX = 2048
CERTIFICATES_KEPT = 8192
"""How many keys of certificates are remembered: a whole roster is read at once, and to check one is slow."""

# RFC 5280 §4.1.2.5: this instant stands for "no well-defined end".
_NOT_BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_AFTER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


class IdentityError(Exception):
    """The key file cannot be used; `sentence` says what was seen, `hint_sentence` what a person can do."""

    hint_sentence = sentence(
        "restore-key-file", "restore the file from a backup, or remove it to become a new device"
    )
    hint = hint_sentence.text

    def __init__(self, message: Sentence) -> None:
        super().__init__(message.text)
        self.sentence = message


@dataclass(frozen=True, slots=True)
class Identity:
    """This device: its signing key, its certificate (DER), and the file (PEM) that contains both."""

    signer: Signer
    certificate: bytes
    file: Path

    @property
    def device(self) -> DeviceId:
        """Return the device id: SHA-256 of the public key's SPKI."""
        return self.signer.device


def load_or_create(folder: Path, randomness: Callable[[int], bytes]) -> Identity:
    """Read the device's identity from `folder`; make it at the first start.

    Raises IdentityError if the file is there but has no such key, OSError if it cannot be reached.
    """
    file = folder / FILE_NAME
    if not file.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(file, _pem(randomness(SEED_BYTES)))
    return load(folder)


def load(folder: Path) -> Identity:
    """Read the device's identity, which must be there. Raises IdentityError, OSError."""
    file = folder / FILE_NAME
    seed = _seed(file)
    return Identity(Signer(seed), certificate_from_seed(seed), file)


def read_private_key(folder: Path) -> bytes:
    """Return the device's private key, for a sealed backup. Raises IdentityError, OSError."""
    return _seed(folder / FILE_NAME)


def create(folder: Path, seed: bytes) -> Identity:
    """Write the identity that follows from a key; there must be none yet."""
    assert not (folder / FILE_NAME).exists()
    replace_file(folder / FILE_NAME, _pem(seed))
    return Identity(Signer(seed), certificate_from_seed(seed), folder / FILE_NAME)


def certificate_from_seed(seed: bytes) -> bytes:
    """Return the one certificate (DER) that a key has: every field is fixed by the key."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    return _sign_certificate(key.public_key(), key)


def _sign_certificate(public: Ed25519PublicKey, by: Ed25519PrivateKey) -> bytes:
    device = device_id_of_key(public.public_bytes_raw())
    # Each key has a name of its own. Otherwise a verifier could regard one device's certificate as the issuer
    # of another's.
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, device.hex())])
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    roles = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .serial_number(1)
        .not_valid_before(_NOT_BEFORE)
        .not_valid_after(_NOT_AFTER)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(roles, critical=False)
    )
    return builder.sign(by, None).public_bytes(Encoding.DER)


def _unsigned_part(public: bytes) -> bytes:
    """Return a key's certificate without the signature, which is the only part that its owner can vary."""
    unsigned, model = _model_certificate()
    name, public_name = (device_id_of_key(key).hex().encode() for key in (model, public))
    return unsigned.replace(name, public_name).replace(model, public)


@cache
def _model_certificate() -> tuple[bytes, bytes]:
    """Return the unsigned part of a certificate, and its key: others differ in name and key alone.

    To build and sign another certificate to compare with would cost more than all other checks.
    """
    key = Ed25519PrivateKey.from_private_bytes(bytes(SEED_BYTES))
    return _sign_certificate(key.public_key(), key)[:-SIGNATURE_BYTES], key.public_key().public_bytes_raw()


@lru_cache(CERTIFICATES_KEPT)
def public_key_of(certificate: bytes) -> bytes:
    """Return the raw Ed25519 key (32 bytes) of a certificate from outside. Raises ValueError.

    Only the exact certificate that belongs to the key is accepted. Otherwise the parser here might accept one
    that OpenSSL refuses to load.
    """
    if len(certificate) > CERTIFICATE_BYTES_MAX:
        raise ValueError(f"a certificate of {len(certificate)} bytes exceeds {CERTIFICATE_BYTES_MAX} bytes")
    try:
        parsed = x509.load_der_x509_certificate(certificate)
        key = parsed.public_key()
        parsed.verify_directly_issued_by(parsed)
    except Exception as fault:
        # For bytes from outside the parser raises many kinds of errors, without a common base class.
        raise ValueError(f"not a self-signed certificate: {type(fault).__name__} {fault}") from fault
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("the certificate's key is not an Ed25519 key")  # noqa: TRY004 - the bytes are wrong
    public_key = key.public_bytes_raw()
    if certificate[:-SIGNATURE_BYTES] != _unsigned_part(public_key):
        raise ValueError("the certificate is not of the form that this key's has")
    return public_key


def certificate_device(certificate: bytes) -> DeviceId:
    """Return the device that a certificate (DER, from outside) belongs to. Raises ValueError."""
    return device_id_of_key(public_key_of(certificate))


def certificate_fingerprint(certificate: bytes) -> bytes:
    """Return SHA-256 of a certificate's DER."""
    return hashlib.sha256(certificate).digest()


def _pem(seed: bytes) -> bytes:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    certificate = x509.load_der_x509_certificate(certificate_from_seed(seed))
    return private + certificate.public_bytes(Encoding.PEM)


def _seed(file: Path) -> bytes:
    """Return the key in a file; check its mode and its certificate. Raises IdentityError."""
    file.chmod(0o600)
    content = file.read_bytes()
    try:
        key = load_pem_private_key(content, None)
        certificate = x509.load_pem_x509_certificate(content).public_bytes(Encoding.DER)
    except (ValueError, TypeError) as fault:
        raise IdentityError(
            sentence(
                "key-file-unreadable",
                "{file} does not contain a key and certificate: {fault}",
                file=str(file),
                fault=str(fault),
            )
        ) from fault
    if not isinstance(key, Ed25519PrivateKey):
        raise IdentityError(
            sentence("key-kind", "{file} contains a key of another kind than Ed25519", file=str(file))
        )
    seed = key.private_bytes_raw()
    if certificate != certificate_from_seed(seed):
        # TLS reads the certificate from this file. With another one in it, peers would reject this device.
        raise IdentityError(
            sentence(
                "key-file-changed",
                "{file} was changed: its certificate does not belong to its key",
                file=str(file),
            )
        )
    return seed
