"""A device's key and certificate.

Never reads a key from outside the test's own folder.
"""

import hashlib
import os
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from daemon.peers.transport.identity import (
    FILE_NAME,
    IdentityError,
    certificate_device,
    certificate_from_seed,
    load_or_create,
    public_key_of,
)
from tests.daemon.peers.certificates import refused_by_openssl

SEED = bytes(range(32))


def seeded(count: int) -> bytes:
    return SEED[:count]


def test_the_first_start_makes_a_key_that_later_starts_find(tmp_path: Path):
    identity = load_or_create(tmp_path / "home", seeded)
    found_identity = load_or_create(tmp_path / "home", lambda _: pytest.fail("a second key was drawn"))
    assert found_identity == identity or found_identity.certificate == identity.certificate
    assert found_identity.device == identity.device == certificate_device(identity.certificate)


def test_key_file_and_folder_are_closed_to_others(tmp_path: Path):
    identity = load_or_create(tmp_path / "home", seeded)
    assert stat.S_IMODE(identity.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(identity.file.parent.stat().st_mode) == 0o700
    identity.file.chmod(0o644)
    load_or_create(tmp_path / "home", seeded)
    assert stat.S_IMODE(identity.file.stat().st_mode) == 0o600


def test_one_key_has_one_certificate():
    assert certificate_from_seed(SEED) == certificate_from_seed(SEED)
    assert certificate_from_seed(SEED) != certificate_from_seed(bytes(32))


def test_the_certificate_is_no_authority_and_never_ends():
    certificate = x509.load_der_x509_certificate(certificate_from_seed(SEED))
    assert certificate.not_valid_before_utc.year == 1970
    assert certificate.not_valid_after_utc.year == 9999
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert constraints.critical
    assert not constraints.value.ca
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert usage.digital_signature
    assert not usage.key_cert_sign
    roles = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(roles) == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}


def test_the_device_id_is_the_hash_of_the_public_key_as_tls_sees_it():
    der = certificate_from_seed(SEED)
    public = x509.load_der_x509_certificate(der).public_key()
    spki = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert certificate_device(der) == hashlib.sha256(spki).digest()


def test_a_certificate_not_signed_by_its_own_key_is_refused():
    der = bytearray(certificate_from_seed(SEED))
    der[-1] ^= 1
    with pytest.raises(ValueError, match="not a self-signed certificate"):
        certificate_device(bytes(der))


def test_a_certificate_of_another_form_than_the_keys_own_is_refused():
    with pytest.raises(ValueError, match="form"):
        certificate_device(refused_by_openssl(SEED))


@pytest.mark.parametrize("der", [b"", b"\x30\x00", bytes(5000)])
def test_what_is_no_certificate_is_refused(der: bytes):
    with pytest.raises(ValueError, match="certificate"):
        certificate_device(der)


def test_a_certificate_that_was_read_is_not_read_again():
    certificate = certificate_from_seed(b"a key that only this test has...")
    before = public_key_of.cache_info()
    assert public_key_of(certificate) == public_key_of(certificate)
    after = public_key_of.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 1)


def test_a_damaged_key_file_is_named_and_never_replaced(tmp_path: Path):
    (tmp_path / FILE_NAME).write_bytes(b"nothing of the kind")
    with pytest.raises(IdentityError, match="does not contain a key"):
        load_or_create(tmp_path, seeded)
    assert (tmp_path / FILE_NAME).read_bytes() == b"nothing of the kind"


def test_a_key_of_another_kind_is_refused(tmp_path: Path):
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    certificate = x509.load_der_x509_certificate(certificate_from_seed(SEED)).public_bytes(Encoding.PEM)
    (tmp_path / FILE_NAME).write_bytes(pem + certificate)
    with pytest.raises(IdentityError, match="another kind"):
        load_or_create(tmp_path, seeded)


def test_a_file_with_another_keys_certificate_is_refused(tmp_path: Path):
    identity = load_or_create(tmp_path, seeded)
    foreign = x509.load_der_x509_certificate(certificate_from_seed(bytes(32))).public_bytes(Encoding.PEM)
    private = identity.file.read_bytes().split(b"-----BEGIN CERTIFICATE")[0]
    identity.file.write_bytes(private + foreign)
    with pytest.raises(IdentityError, match="does not belong"):
        load_or_create(tmp_path, seeded)


def test_a_start_that_died_while_writing_leaves_no_half_a_key(tmp_path: Path, monkeypatch):
    def died(*_: object) -> None:
        raise OSError("the machine went away")

    monkeypatch.setattr(os, "fsync", died)
    with pytest.raises(OSError, match="went away"):
        load_or_create(tmp_path, seeded)
    monkeypatch.undo()
    assert not (tmp_path / FILE_NAME).exists()
    assert load_or_create(tmp_path, seeded).certificate == certificate_from_seed(SEED)
