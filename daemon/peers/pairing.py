"""How a new device and a member come to trust each other over a shared secret: both sides, without I/O.

Never accepts a frame out of turn, and never discloses the vault before the secret has been proved.

The frames, joiner (J) and inviter (I): I Greeting, J Start, I Answer, J Proof, I Welcome. SPAKE2 (RFC 9382 in
the form of the package of that name) turns the secret into a key; its identities carry a hash of both
certificates and both nonces, so whoever relays the messages but shows its own certificate gets another key.
The certificate that the joiner hashes for the inviter is the one that TLS showed it.
"""

import hashlib
import hmac
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeVar

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from spake2 import SPAKE2_A, SPAKE2_B

from daemon.peers.identity import CERTIFICATE_BYTES_MAX, public_key_of
from syncproto import codec
from syncproto.faults import LocalProtocolError, RemoteProtocolError
from syncproto.keys import Signer, verify

VERSION = 1
NONCE_BYTES = 32
ELEMENT_BYTES = 33
MAC_BYTES = 32
VAULT_BYTES = 16
FRAME_BYTES_MAX = 16 * 1024
ITEMS_MAX = 256
NAME_CHARS_MAX = 64
ADDRESSES_MAX = 16
ADDRESS_CHARS_MAX = 300
REASON_CHARS_MAX = 200

_SIGNED_AS = b"placet pairing 1\0"


class PairingFailed(Exception):
    """Pairing ended without trust; the message says why, in words for a person."""


class WrongSecret(PairingFailed):
    """The two sides do not hold the same secret, or someone stands between them."""


class Greeting(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The inviter's first frame."""

    version: int
    nonce: bytes


class Start(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The joiner's certificate (DER), nonce, and SPAKE2 element. It costs the inviter a try."""

    version: int
    nonce: bytes
    certificate: bytes
    element: bytes


class Answer(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """The inviter's SPAKE2 element."""

    element: bytes


class Proof(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The joiner's `Newcomer`, encoded, its key's signature over the transcript, and the key confirmation."""

    newcomer: bytes
    signature: bytes
    mac: bytes


class Welcome(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The inviter's `Host`, encoded, and the key confirmation."""

    host: bytes
    mac: bytes


class Denied(msgspec.Struct, frozen=True, array_like=True, tag=6):
    """The inviter's last frame where there is no pairing."""

    reason: str


Frame = Greeting | Start | Answer | Proof | Welcome | Denied


class Newcomer(msgspec.Struct, frozen=True, array_like=True):
    """What the joiner says of itself: name, where it listens, and whether it brings entries of its own."""

    name: str
    addresses: list[str]
    brings: bool


class Host(msgspec.Struct, frozen=True, array_like=True):
    """What the inviter says: its name, and the vault."""

    name: str
    vault: bytes


class Joined(NamedTuple):
    """The outcome at the inviter: a device that proved the secret and its key, pending until it is back."""

    certificate: bytes
    public_key: bytes
    newcomer: Newcomer


class Admitted(NamedTuple):
    """The outcome at the joiner: who let it in, and into which vault."""

    certificate: bytes
    public_key: bytes
    host: Host


class Turn(Enum):
    """Which frame is next."""

    GREETING = "greeting"
    START = "start"
    ANSWER = "answer"
    PROOF = "proof"
    WELCOME = "welcome"
    OVER = "over"


_frames: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)
_newcomers = msgspec.msgpack.Decoder(Newcomer)
_hosts = msgspec.msgpack.Decoder(Host)

T = TypeVar("T")


class _Keys(NamedTuple):
    transcript: bytes
    joiner: bytes
    inviter: bytes


def denied(reason: str) -> bytes:
    """Return the frame that ends a pairing."""
    return codec.encode(Denied(reason[:REASON_CHARS_MAX]))


class Inviter:
    """The member's side. `greeting`, then `start` (after a try was charged), then `proof`, then `welcome`."""

    def __init__(
        self, *, secret: bytes, certificate: bytes, host: Host, randomness: Callable[[int], bytes]
    ) -> None:
        self._secret = secret
        self._certificate = certificate
        self._host = host
        self._randomness = randomness
        self._turn = Turn.GREETING
        self._said: list[bytes] = []
        self._nonce = b""
        self._start: Start | None = None
        self._keys: _Keys | None = None

    def greeting(self) -> bytes:
        """Return the first frame."""
        self._advance(Turn.GREETING, Turn.START)
        self._nonce = self._randomness(NONCE_BYTES)
        return self._say(Greeting(VERSION, self._nonce))

    def read_start(self, frame: bytes) -> None:
        """Take the joiner's first frame; charge a try before `answer`. Raises RemoteProtocolError."""
        start = _expect(frame, Start)
        self._advance(Turn.START, Turn.ANSWER)
        _check_version(start.version)
        _require(len(start.nonce) == NONCE_BYTES, "nonce")
        _require(len(start.element) == ELEMENT_BYTES, "SPAKE2 element")
        _key_in(start.certificate)
        self._said.append(frame)
        self._start = start

    def answer(self) -> bytes:
        """Return the frame that lets the joiner test one secret. Raises RemoteProtocolError."""
        self._advance(Turn.ANSWER, Turn.PROOF)
        start = self._start
        assert start is not None
        names = _names(start.certificate, self._certificate, start.nonce, self._nonce)
        spake = SPAKE2_B(self._secret, *names, entropy_f=self._randomness)
        answer = self._say(Answer(spake.start()))
        self._keys = _derive(spake.finish, start.element, self._said)
        return answer

    def read_proof(self, frame: bytes) -> Joined:
        """Take the joiner's proof. Raises WrongSecret, RemoteProtocolError.

        What must happen next: the newcomer is made durable as pending, and only then `welcome` is sent.
        """
        proof = _expect(frame, Proof)
        self._advance(Turn.PROOF, Turn.OVER)
        keys, start = self._keys, self._start
        assert keys is not None
        assert start is not None
        if not _confirms(proof.mac, keys.joiner, proof.newcomer + proof.signature):
            raise WrongSecret("the code or token does not match")
        public_key = _key_in(start.certificate)
        if not verify(public_key, proof.signature, _SIGNED_AS + keys.transcript):
            raise RemoteProtocolError("the newcomer does not hold its certificate's key")
        newcomer = codec.decode(proof.newcomer, _newcomers, ITEMS_MAX)
        _check_name(newcomer.name)
        _require(len(newcomer.addresses) <= ADDRESSES_MAX, "addresses")
        _require(all(len(one) <= ADDRESS_CHARS_MAX for one in newcomer.addresses), "address")
        self._turn = Turn.WELCOME
        return Joined(start.certificate, public_key, newcomer)

    def welcome(self) -> bytes:
        """Return the last frame: the vault, and the proof that this side holds the secret too."""
        self._advance(Turn.WELCOME, Turn.OVER)
        assert self._keys is not None
        host = codec.encode(self._host)
        return codec.encode(Welcome(host, _mac(self._keys.inviter, host)))

    def _say(self, frame: Frame) -> bytes:
        raw = codec.encode(frame)
        self._said.append(raw)
        return raw

    def _advance(self, now: Turn, then: Turn) -> None:
        if self._turn is not now:
            raise LocalProtocolError(f"pairing is at {self._turn.name}, not at {now.name}")
        self._turn = then


class Joiner:
    """The new device's side: each frame of the inviter's goes to `receive`, until it returns `Admitted`.

    `inviter` is the certificate (DER) that TLS showed.
    """

    def __init__(
        self,
        *,
        secret: bytes,
        signer: Signer,
        certificate: bytes,
        inviter: bytes,
        newcomer: Newcomer,
        randomness: Callable[[int], bytes],
    ) -> None:
        self._secret = secret
        self._signer = signer
        self._certificate = certificate
        self._inviter = inviter
        self._newcomer = newcomer
        self._randomness = randomness
        self._turn = Turn.GREETING
        self._said: list[bytes] = []
        self._finish: Callable[[bytes], bytes] | None = None
        self._keys: _Keys | None = None

    @property
    def proves(self) -> bool:
        """Say whether the frame that `receive` returned last lets the other side test the secret."""
        return self._turn is Turn.WELCOME

    def receive(self, frame: bytes) -> bytes | Admitted:
        """Take a frame; return the next one to send, or the outcome.

        Raises WrongSecret, PairingFailed where the inviter declines, RemoteProtocolError.
        """
        turn, self._turn = self._turn, Turn.OVER
        if turn is Turn.GREETING:
            return self._start(frame, _expect(frame, Greeting))
        if turn is Turn.ANSWER:
            return self._prove(frame, _expect(frame, Answer))
        if turn is Turn.WELCOME:
            return self._admitted(_expect(frame, Welcome))
        raise LocalProtocolError("this pairing is over")

    def _start(self, frame: bytes, greeting: Greeting) -> bytes:
        _check_version(greeting.version)
        _require(len(greeting.nonce) == NONCE_BYTES, "nonce")
        nonce = self._randomness(NONCE_BYTES)
        names = _names(self._certificate, self._inviter, nonce, greeting.nonce)
        spake = SPAKE2_A(self._secret, *names, entropy_f=self._randomness)
        start = codec.encode(Start(VERSION, nonce, self._certificate, spake.start()))
        self._said += [frame, start]
        self._finish = spake.finish
        self._turn = Turn.ANSWER
        return start

    def _prove(self, frame: bytes, answer: Answer) -> bytes:
        _require(len(answer.element) == ELEMENT_BYTES, "SPAKE2 element")
        self._said.append(frame)
        assert self._finish is not None
        keys = _derive(self._finish, answer.element, self._said)
        newcomer = codec.encode(self._newcomer)
        signature = self._signer.sign(_SIGNED_AS + keys.transcript)
        self._keys = keys
        self._turn = Turn.WELCOME
        return codec.encode(Proof(newcomer, signature, _mac(keys.joiner, newcomer + signature)))

    def _admitted(self, welcome: Welcome) -> Admitted:
        assert self._keys is not None
        if not _confirms(welcome.mac, self._keys.inviter, welcome.host):
            raise WrongSecret("the other device does not hold the same code or token")
        host = codec.decode(welcome.host, _hosts, ITEMS_MAX)
        _check_name(host.name)
        _require(len(host.vault) == VAULT_BYTES, "vault id")
        return Admitted(self._inviter, _key_in(self._inviter), host)


# -- the leaves of both sides ------------------------------------------------------------------------------


def _names(joiner: bytes, inviter: bytes, joiner_nonce: bytes, inviter_nonce: bytes) -> tuple[bytes, bytes]:
    """Return both SPAKE2 identities; each binds both certificates and both nonces."""
    bound = hashlib.sha256(joiner).digest() + hashlib.sha256(inviter).digest() + joiner_nonce + inviter_nonce
    return (
        hashlib.sha256(b"placet pairing 1 joiner\0" + bound).digest(),
        hashlib.sha256(b"placet pairing 1 inviter\0" + bound).digest(),
    )


def _derive(finish: Callable[[bytes], bytes], element: bytes, said: list[bytes]) -> _Keys:
    """Return the keys that both sides have where they hold the same secret and saw the same frames."""
    try:
        shared = finish(element)
    except Exception as fault:
        # The package raises whatever its arithmetic stumbles over: the element is the peer's choice.
        raise RemoteProtocolError(f"out of range: SPAKE2 element ({type(fault).__name__})") from fault
    digest = hashlib.sha256()
    for frame in said:
        digest.update(len(frame).to_bytes(4, "big") + frame)
    transcript = digest.digest()
    keys = HKDF(SHA256(), 2 * MAC_BYTES, transcript, b"placet pairing 1").derive(shared)
    return _Keys(transcript, keys[:MAC_BYTES], keys[MAC_BYTES:])


def _mac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")


def _confirms(mac: bytes, key: bytes, content: bytes) -> bool:
    return hmac.compare_digest(mac, _mac(key, content))


def _expect(frame: bytes, kind: type[T]) -> T:
    """Read a frame of one kind. Raises PairingFailed where the inviter declines, else RemoteProtocolError."""
    if len(frame) > FRAME_BYTES_MAX:
        raise RemoteProtocolError(f"a pairing frame of {len(frame)} bytes exceeds {FRAME_BYTES_MAX} bytes")
    read = codec.decode(frame, _frames, ITEMS_MAX)
    if isinstance(read, Denied):
        raise PairingFailed(read.reason[:REASON_CHARS_MAX])
    if not isinstance(read, kind):
        raise RemoteProtocolError(f"{type(read).__name__} where {kind.__name__} was due")
    return read


def _key_in(certificate: bytes) -> bytes:
    _require(len(certificate) <= CERTIFICATE_BYTES_MAX, "certificate")
    try:
        return public_key_of(certificate)
    except ValueError as fault:
        raise RemoteProtocolError(f"out of range: certificate ({fault})") from fault


def _check_version(version: int) -> None:
    _require(version == VERSION, f"pairing version {version}, this side speaks {VERSION}")


def _check_name(name: str) -> None:
    _require(0 < len(name) <= NAME_CHARS_MAX, "device name")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise RemoteProtocolError(f"out of range: {what}")
