"""How a new device and a member come to trust each other by a shared secret: both sides, without I/O.

Never accepts a frame out of turn, and never discloses the vault before the secret has been proved.

The frames, of the joiner (J) and the inviter (I): I Greeting, J Start, I Answer, J Proof, I Welcome. SPAKE2
(RFC 9382, in the form of the package of that name) turns the secret into a key. Its identities contain a hash
of both certificates and both nonces. So a device that relays the frames, but shows a certificate of its own,
gets another key. As the inviter's certificate, the joiner hashes the one that TLS showed it. See
syncproto/PROTOCOL.md.
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

from daemon.peers.roster.member_records import DEVICE_NAME_CHARS_MAX
from daemon.peers.transport.identity import CERTIFICATE_BYTES_MAX, public_key_of
from store.sentence import Sentence, foreign_text, sentence
from syncproto import codec
from syncproto.errors import LocalProtocolError, RemoteProtocolError
from syncproto.keys import Signer, verify_signature

VERSION = 1
NONCE_BYTES = 32
ELEMENT_BYTES = 33
MAC_BYTES = 32
VAULT_BYTES = 16
FRAME_BYTES_MAX = 16 * 1024
ITEMS_MAX = 256
ADDRESSES_MAX = 16
ADDRESS_CHARS_MAX = 300
REASON_CHARS_MAX = 200

_SIGNED_AS = b"placet pairing 1\0"


class PairingFailed(Exception):
    """Pairing ended without trust; `words` says why. They have no id if they came from the peer."""

    def __init__(self, words: Sentence) -> None:
        super().__init__(words.text)
        self.words = words


class WrongSecret(PairingFailed):
    """The two sides do not have the same secret, or someone relays between them."""


class Greeting(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The inviter's first frame."""

    version: int
    nonce: bytes


class Start(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The joiner's certificate (DER), nonce, and SPAKE2 element. It uses up one of the three tries."""

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
    """The inviter's last frame if there is no pairing."""

    reason: str


Frame = Greeting | Start | Answer | Proof | Welcome | Denied


class JoinerIntroduction(msgspec.Struct, frozen=True, array_like=True):
    """What the joiner says of itself: its name, where it listens, and whether it has entries of its own."""

    name: str
    addresses: list[str]
    brings: bool


class InviterIntroduction(msgspec.Struct, frozen=True, array_like=True):
    """What the inviter says of itself: its name and its vault."""

    name: str
    vault: bytes


class ProvedNewcomer(NamedTuple):
    """The outcome at the inviter: a device that proved the secret and its key, pending until it is back."""

    certificate: bytes
    public_key: bytes
    newcomer: JoinerIntroduction


class PairingOutcome(NamedTuple):
    """The outcome at the joiner: who let it in, and into which vault."""

    certificate: bytes
    public_key: bytes
    host: InviterIntroduction


class PairingTurn(Enum):
    """Which frame is next."""

    GREETING = "greeting"
    START = "start"
    ANSWER = "answer"
    PROOF = "proof"
    WELCOME = "welcome"
    OVER = "over"


_frames: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)
_newcomers = msgspec.msgpack.Decoder(JoinerIntroduction)
_hosts = msgspec.msgpack.Decoder(InviterIntroduction)

T = TypeVar("T")


class _Keys(NamedTuple):
    transcript: bytes
    joiner: bytes
    inviter: bytes


def denied_frame(reason: str) -> bytes:
    """Return the frame that ends a pairing."""
    return codec.encode(Denied(reason[:REASON_CHARS_MAX]))


class InviterHandshake:
    """The member's side.

    The calls in order: `greeting`, `read_start`, then, after a try was charged, `answer`, `read_proof`, and,
    after the newcomer was stored, `welcome`.
    """

    def __init__(
        self,
        *,
        secret: bytes,
        certificate: bytes,
        host: InviterIntroduction,
        randomness: Callable[[int], bytes],
    ) -> None:
        self._secret = secret
        self._certificate = certificate
        self._host = host
        self._randomness = randomness
        self._turn = PairingTurn.GREETING
        self._transcript_frames: list[bytes] = []
        self._nonce = b""
        self._start: Start | None = None
        self._keys: _Keys | None = None

    def greeting(self) -> bytes:
        """Return the first frame."""
        self._advance(PairingTurn.GREETING, PairingTurn.START)
        self._nonce = self._randomness(NONCE_BYTES)
        return self._encode_and_record(Greeting(VERSION, self._nonce))

    def read_start(self, frame: bytes) -> None:
        """Read the joiner's first frame; charge a try before `answer`. Raises RemoteProtocolError."""
        start = _expect(frame, Start)
        self._advance(PairingTurn.START, PairingTurn.ANSWER)
        _check_version(start.version)
        _require(len(start.nonce) == NONCE_BYTES, "nonce")
        _require(len(start.element) == ELEMENT_BYTES, "SPAKE2 element")
        _key_in(start.certificate)
        self._transcript_frames.append(frame)
        self._start = start

    def answer(self) -> bytes:
        """Return the frame that lets the joiner test one secret. Raises RemoteProtocolError."""
        self._advance(PairingTurn.ANSWER, PairingTurn.PROOF)
        start = self._start
        assert start is not None
        names = _names(start.certificate, self._certificate, start.nonce, self._nonce)
        spake = SPAKE2_B(self._secret, *names, entropy_f=self._randomness)
        answer = self._encode_and_record(Answer(spake.start()))
        self._keys = _derive(spake.finish, start.element, self._transcript_frames)
        return answer

    def read_proof(self, frame: bytes) -> ProvedNewcomer:
        """Read the joiner's proof. Raises WrongSecret, RemoteProtocolError.

        What must happen next: the newcomer is stored as pending, and only then `welcome` is sent.
        """
        proof = _expect(frame, Proof)
        self._advance(PairingTurn.PROOF, PairingTurn.OVER)
        keys, start = self._keys, self._start
        assert keys is not None
        assert start is not None
        # First of all: only a caller that has the secret may make this side parse the rest.
        if not _confirms(proof.mac, keys.joiner, proof.newcomer + proof.signature):
            raise WrongSecret(sentence("secret-does-not-match", "the code or token does not match"))
        public_key = _key_in(start.certificate)
        if not verify_signature(public_key, proof.signature, _SIGNED_AS + keys.transcript):
            raise RemoteProtocolError("the newcomer does not hold its certificate's key")
        newcomer = codec.decode(proof.newcomer, _newcomers, ITEMS_MAX)
        _check_name(newcomer.name)
        _require(len(newcomer.addresses) <= ADDRESSES_MAX, "addresses")
        _require(all(len(address) <= ADDRESS_CHARS_MAX for address in newcomer.addresses), "address")
        self._turn = PairingTurn.WELCOME
        return ProvedNewcomer(start.certificate, public_key, newcomer)

    def welcome(self) -> bytes:
        """Return the last frame: the vault, and the proof that this side has the secret too."""
        self._advance(PairingTurn.WELCOME, PairingTurn.OVER)
        assert self._keys is not None
        host = codec.encode(self._host)
        return codec.encode(Welcome(host, _mac(self._keys.inviter, host)))

    def _encode_and_record(self, frame: Frame) -> bytes:
        raw = codec.encode(frame)
        self._transcript_frames.append(raw)
        return raw

    def _advance(self, now: PairingTurn, then: PairingTurn) -> None:
        if self._turn is not now:
            raise LocalProtocolError(f"pairing is at {self._turn.name}, not at {now.name}")
        self._turn = then


class JoinerHandshake:
    """The new device's side: pass each frame of the inviter to `next_frame`, until it returns an outcome.

    `inviter` is the certificate (DER) that TLS showed.
    """

    def __init__(
        self,
        *,
        secret: bytes,
        signer: Signer,
        certificate: bytes,
        inviter: bytes,
        newcomer: JoinerIntroduction,
        randomness: Callable[[int], bytes],
    ) -> None:
        self._secret = secret
        self._signer = signer
        self._certificate = certificate
        self._inviter = inviter
        self._newcomer = newcomer
        self._randomness = randomness
        self._turn = PairingTurn.GREETING
        self._transcript_frames: list[bytes] = []
        self._finish: Callable[[bytes], bytes] | None = None
        self._keys: _Keys | None = None

    @property
    def sends_proof(self) -> bool:
        """Return whether the frame that `next_frame` returned last lets the other side test the secret."""
        return self._turn is PairingTurn.WELCOME

    def next_frame(self, frame: bytes) -> bytes | PairingOutcome:
        """Read a frame; return the next one to send, or the outcome.

        Raises WrongSecret, PairingFailed if the inviter declines, RemoteProtocolError.
        """
        # Over until the frame is read without a fault, so that nothing goes on after one.
        turn, self._turn = self._turn, PairingTurn.OVER
        if turn is PairingTurn.GREETING:
            return self._start(frame, _expect_from_inviter(frame, Greeting))
        if turn is PairingTurn.ANSWER:
            return self._prove(frame, _expect_from_inviter(frame, Answer))
        if turn is PairingTurn.WELCOME:
            return self._pairing_outcome(_expect_from_inviter(frame, Welcome))
        raise LocalProtocolError("this pairing is over")

    def _start(self, frame: bytes, greeting: Greeting) -> bytes:
        _check_version(greeting.version)
        _require(len(greeting.nonce) == NONCE_BYTES, "nonce")
        nonce = self._randomness(NONCE_BYTES)
        names = _names(self._certificate, self._inviter, nonce, greeting.nonce)
        spake = SPAKE2_A(self._secret, *names, entropy_f=self._randomness)
        start = codec.encode(Start(VERSION, nonce, self._certificate, spake.start()))
        self._transcript_frames += [frame, start]
        self._finish = spake.finish
        self._turn = PairingTurn.ANSWER
        return start

    def _prove(self, frame: bytes, answer: Answer) -> bytes:
        _require(len(answer.element) == ELEMENT_BYTES, "SPAKE2 element")
        self._transcript_frames.append(frame)
        assert self._finish is not None
        keys = _derive(self._finish, answer.element, self._transcript_frames)
        newcomer = codec.encode(self._newcomer)
        signature = self._signer.sign(_SIGNED_AS + keys.transcript)
        self._keys = keys
        self._turn = PairingTurn.WELCOME
        return codec.encode(Proof(newcomer, signature, _mac(keys.joiner, newcomer + signature)))

    def _pairing_outcome(self, welcome: Welcome) -> PairingOutcome:
        assert self._keys is not None
        if not _confirms(welcome.mac, self._keys.inviter, welcome.host):
            raise WrongSecret(
                sentence("secret-differs", "the other device does not have the same code or token")
            )
        host = codec.decode(welcome.host, _hosts, ITEMS_MAX)
        _check_name(host.name)
        _require(len(host.vault) == VAULT_BYTES, "vault id")
        return PairingOutcome(self._inviter, _key_in(self._inviter), host)


# -- the leaves of both sides ------------------------------------------------------------------------------


def _names(joiner: bytes, inviter: bytes, joiner_nonce: bytes, inviter_nonce: bytes) -> tuple[bytes, bytes]:
    """Return both SPAKE2 identities; each is bound to both certificates and both nonces."""
    bound = hashlib.sha256(joiner).digest() + hashlib.sha256(inviter).digest() + joiner_nonce + inviter_nonce
    return (
        hashlib.sha256(b"placet pairing 1 joiner\0" + bound).digest(),
        hashlib.sha256(b"placet pairing 1 inviter\0" + bound).digest(),
    )


def _derive(finish: Callable[[bytes], bytes], element: bytes, frames: list[bytes]) -> _Keys:
    """Return the keys. Both sides get the same ones if they have one secret and saw the same frames."""
    try:
        shared = finish(element)
    except Exception as fault:
        # The peer chooses the element, and the package raises whatever its arithmetic fails with.
        raise RemoteProtocolError(f"out of range: SPAKE2 element ({type(fault).__name__})") from fault
    digest = hashlib.sha256()
    for frame in frames:
        # With the lengths, no other division of the same bytes gives the same transcript.
        digest.update(len(frame).to_bytes(4, "big") + frame)
    transcript = digest.digest()
    keys = HKDF(SHA256(), 2 * MAC_BYTES, transcript, b"placet pairing 1").derive(shared)
    # One key per side: a proof that is sent back to its sender proves nothing.
    return _Keys(transcript, keys[:MAC_BYTES], keys[MAC_BYTES:])


def _mac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")


def _confirms(mac: bytes, key: bytes, content: bytes) -> bool:
    return hmac.compare_digest(mac, _mac(key, content))


def _expect(frame: bytes, kind: type[T]) -> T:
    """Read a frame of one kind. Raises RemoteProtocolError."""
    if len(frame) > FRAME_BYTES_MAX:
        raise RemoteProtocolError(f"a pairing frame of {len(frame)} bytes exceeds {FRAME_BYTES_MAX} bytes")
    return _of_kind(codec.decode(frame, _frames, ITEMS_MAX), kind)


def _expect_from_inviter(frame: bytes, kind: type[T]) -> T:
    """Read a frame of one kind. Raises PairingFailed if the inviter declines, else RemoteProtocolError."""
    read = _expect(frame, object)
    if isinstance(read, Denied):
        raise PairingFailed(foreign_text(read.reason[:REASON_CHARS_MAX]))
    return _of_kind(read, kind)


def _of_kind(read: object, kind: type[T]) -> T:
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
    _require(0 < len(name) <= DEVICE_NAME_CHARS_MAX, "device name")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise RemoteProtocolError(f"out of range: {what}")
