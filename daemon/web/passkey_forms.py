"""What browsers return of passkeys, in a field of a form: read into what the journal keeps.

Never judges an assertion: whoever takes a verdict does. Never parses more than the page's own script sends.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key
from multidict import MultiDictProxy

from daemon.agents.deciding.passkey_proof import PasskeyProof
from daemon.agents.person.passkeys import CREDENTIAL_BYTES_MAX, PasskeyDetails
from daemon.web.forms import refuse_form
from syncproto.assertion import Assertion
from syncproto.ids import id_from_text
from syncproto.keys import SIGNATURE_BYTES

FIELD: Final = "assertions"
"""The field with the assertions: a JSON array of objects, all values base64url without padding."""
CREDENTIAL_FIELD: Final = "credential"
"""The field with a new passkey: a JSON object of base64url."""
_ASSERTIONS_MAX: Final = 64
_CHARS_MAX: Final = 512 * 1024
_COORDINATE_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class PasskeyRequest:
    """What the browser is asked for: what to sign, by which passkeys, and the form to send again with it.

    `fields` are pairs of a name and a value; `action` is the address, empty for that of the page itself.
    """

    words: str
    challenges: list[str]
    credentials: list[str]
    rp_id: str
    fields: list[tuple[str, str]]
    action: str = ""


@dataclass(frozen=True, slots=True)
class NewCredential:
    """A passkey that a browser made: its public key as the journal keeps it, and what it was made for."""

    key: bytes
    credential: bytes
    client_data: bytes


def passkey_request(
    words: str,
    challenges: Iterable[str],
    passkeys: Sequence[PasskeyDetails],
    host: str,
    form: MultiDictProxy[str],
    *,
    action: str = "",
) -> PasskeyRequest:
    """Return what to ask of a browser that shows the page under a host; `challenges` are hexadecimal."""
    rp_id = rp_id_of(host)
    return PasskeyRequest(
        words,
        [_base64url(bytes.fromhex(challenge)) for challenge in challenges],
        [
            _base64url(bytes.fromhex(passkey.credential))
            for passkey in passkeys
            if passkey.rp_id == rp_id and passkey.credential
        ],
        rp_id,
        [(name, value) for name, value in form.items() if name != FIELD],
        action,
    )


def rp_id_of(host: str) -> str:
    """Return the name for which passkeys are made on a page: its host without the port."""
    return host.partition(":")[0].lower()


def proof_of(form: MultiDictProxy[str], passkeys: Sequence[PasskeyDetails], host: str) -> PasskeyProof:
    """Read the assertions of a form; none without any. A field that the page does not send is refused."""
    text = form.get(FIELD, "")
    if not text:
        return PasskeyProof()
    listed = _parse_json(text)
    if not isinstance(listed, list) or len(listed) > _ASSERTIONS_MAX:
        raise refuse_form()
    by_credential = {passkey.credential: passkey for passkey in passkeys if passkey.rp_id == rp_id_of(host)}
    assertions = {}
    for entry in listed:
        parts = _bytes_of(entry, "challenge", "credential", "authenticator", "client", "signature")
        challenge, credential, authenticator_data, client_data, signature = parts
        passkey = by_credential.get(credential.hex())
        if passkey is not None:
            identifier, plain = id_from_text(passkey.id), _plain_signature(signature)
            assertions[challenge] = Assertion(identifier, authenticator_data, client_data, plain)
    return PasskeyProof(assertions)


def new_credential(form: MultiDictProxy[str]) -> NewCredential:
    """Read the passkey that a browser made. A field that the page does not send is refused."""
    parts = _bytes_of(_parse_json(form.get(CREDENTIAL_FIELD, "")), "credential", "key", "client")
    credential, encoded_key, client_data = parts
    try:
        public_key = load_der_public_key(encoded_key)
    except (ValueError, UnsupportedAlgorithm):
        raise refuse_form() from None
    if isinstance(public_key, Ed25519PublicKey):
        key = public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    elif isinstance(public_key, EllipticCurvePublicKey) and isinstance(public_key.curve, SECP256R1):
        key = public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    else:
        raise refuse_form()
    if not 0 < len(credential) <= CREDENTIAL_BYTES_MAX:
        raise refuse_form()
    return NewCredential(key, credential, client_data)


def is_made_for(credential: NewCredential, challenge: str, origins: Iterable[str]) -> bool:
    """Report whether a browser made a passkey for a challenge (base64url) on one of these origins."""
    client = _parse_json(credential.client_data.decode("utf-8", errors="replace"))
    return (
        isinstance(client, dict)
        and client.get("type") == "webauthn.create"
        and client.get("challenge") == challenge
        and client.get("origin") in set(origins)
    )


def _plain_signature(signature: bytes) -> bytes:
    """Return a signature as the journal keeps it: browsers wrap the two numbers of P-256 in DER."""
    if len(signature) == SIGNATURE_BYTES:
        return signature
    try:
        numbers = decode_dss_signature(signature)
        return b"".join(number.to_bytes(_COORDINATE_BYTES, "big") for number in numbers)
    except (ValueError, OverflowError):
        raise refuse_form() from None


def _parse_json(text: str) -> Any:
    if len(text) > _CHARS_MAX:
        raise refuse_form()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise refuse_form() from None


def _bytes_of(entry: Any, *names: str) -> list[bytes]:
    """Return members of an object, each base64url without padding, as bytes."""
    values = [entry.get(name) for name in names] if isinstance(entry, dict) else []
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(names):
        raise refuse_form()
    try:
        return [base64.b64decode(f"{text}{'=' * (-len(text) % 4)}", b"-_", validate=True) for text in texts]
    except (binascii.Error, ValueError):
        raise refuse_form() from None


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
