"""A device's key sealed under a passphrase, so that it may leave the device in a backup.

Never weakens the passphrase's protection to save time: each guess costs 128 MiB and a good part of a second.
"""

from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from store.sentence import Sentence, sentence

PASSPHRASE_CHARS_MIN = 8

_MAGIC = b"placet key 1\n"
_SALT_BYTES, _NONCE_BYTES, _KEY_BYTES = 16, 12, 32
# Parameters of scrypt (RFC 7914). They are fixed: a file from outside could ask for any amount of memory.
_COST, _BLOCK, _PARALLEL = 1 << 17, 8, 1


class UnsealError(Exception):
    """The passphrase is wrong, or the sealed key was changed; the two look the same. `sentence` says so."""

    def __init__(self, words: Sentence) -> None:
        super().__init__(words.text)
        self.sentence = words


def seal(seed: bytes, passphrase: str, device: bytes, randomness: Callable[[int], bytes]) -> bytes:
    """Encrypt a device's key, bound to the id of the device."""
    salt, nonce = randomness(_SALT_BYTES), randomness(_NONCE_BYTES)
    sealed = ChaCha20Poly1305(_key(passphrase, salt)).encrypt(nonce, seed, _MAGIC + device)
    return _MAGIC + salt + nonce + sealed


def unseal(sealed: bytes, passphrase: str, device: bytes) -> bytes:
    """Return the key of a device. Raises UnsealError."""
    body = sealed.removeprefix(_MAGIC)
    salt, nonce, rest = (
        body[:_SALT_BYTES],
        body[_SALT_BYTES:][:_NONCE_BYTES],
        body[_SALT_BYTES + _NONCE_BYTES :],
    )
    if body == sealed or not rest:
        raise UnsealError(
            sentence("sealed-key-form", "the sealed key has a form that this version does not know")
        )
    try:
        return ChaCha20Poly1305(_key(passphrase, salt)).decrypt(nonce, rest, _MAGIC + device)
    except InvalidTag as fault:
        raise UnsealError(
            sentence("passphrase-wrong", "the passphrase is wrong, or the sealed key was changed")
        ) from fault


def _key(passphrase: str, salt: bytes) -> bytes:
    derive = Scrypt(salt=salt, length=_KEY_BYTES, n=_COST, r=_BLOCK, p=_PARALLEL)
    return derive.derive(passphrase.encode())
