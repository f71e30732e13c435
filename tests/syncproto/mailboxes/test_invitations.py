"""What a newcomer and a member leave for each other in a mailbox: it opens for nobody else, and as one piece.

Never fakes a key.
"""

import hashlib

import pytest
from msgspec import structs

from syncproto import codec
from syncproto.errors import RemoteProtocolError
from syncproto.keys import Signer, device_id_of_key
from syncproto.mailboxes import invitations, names
from syncproto.mailboxes.invitations import Answer, Request
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, SealingSuite, private_bytes_of

SECRET, OTHER_SECRET = bytes(range(32)), bytes(range(1, 33))
ANNA, BEA, MALLORY = (Signer(hashlib.sha256(name).digest()) for name in (b"anna", b"bea", b"mallory"))
NONCE, DRAWN = b"n" * 12, b"d" * 32


def sealing_key(suite: SealingSuite = SealingSuite.X25519, seed: bytes = b"k") -> PrivateSealingKey:
    return PrivateSealingKey(suite, 1, hashlib.shake_256(seed).digest(private_bytes_of(suite)))


def request_of(signer: Signer = BEA, key: PrivateSealingKey | None = None) -> Request:
    public = (key or sealing_key()).public_key
    return Request(signer.public_key, b"certificate", "bea", ["[::1]:1"], int(public.suite), public.public)


def answer_of(signer: Signer = ANNA, vault: bytes = b"v" * 16) -> Answer:
    return Answer(signer.public_key, b"certificate", "anna", vault)


def make_request_blob(request: Request | None = None, signer: Signer = BEA) -> bytes:
    return invitations.seal_request(SECRET, request or request_of(signer), signer, NONCE)


def make_answer_blob(
    answer: Answer | None = None, signer: Signer = ANNA, request: Request | None = None
) -> bytes:
    blob = invitations.seal_answer(
        SECRET, request or request_of(), answer or answer_of(signer), signer, drawn=DRAWN, nonce=NONCE
    )
    assert blob is not None
    return blob


def open_request(blob: bytes) -> Request:
    return invitations.open_request(SECRET, blob)


def open_answer(blob: bytes, *, secret: bytes = SECRET, key: PrivateSealingKey | None = None) -> Answer:
    return invitations.open_answer(
        secret, blob, inviter=ANNA.device, own=BEA.device, key=key or sealing_key()
    )


@pytest.mark.parametrize("suite", SealingSuite)
def test_each_side_reads_what_the_other_one_wrote(suite: SealingSuite):
    key = sealing_key(suite)
    request = request_of(key=key)
    assert invitations.open_request(SECRET, make_request_blob(request)) == request
    assert request.device == device_id_of_key(BEA.public_key)
    assert open_answer(make_answer_blob(request=request), key=key) == answer_of()


def test_without_the_secret_nothing_opens():
    with pytest.raises(RemoteProtocolError):
        invitations.open_request(OTHER_SECRET, make_request_blob())
    with pytest.raises(RemoteProtocolError):
        open_answer(make_answer_blob(), secret=OTHER_SECRET)


def test_who_learns_the_secret_later_does_not_read_the_answer():
    with pytest.raises(RemoteProtocolError):
        open_answer(make_answer_blob(), key=sealing_key(seed=b"another"))


@pytest.mark.parametrize("kind", ["request", "answer"])
def test_each_altered_byte_is_refused(kind: str):
    blob, read = (
        (make_request_blob(), open_request) if kind == "request" else (make_answer_blob(), open_answer)
    )
    for place in range(len(blob)):
        with pytest.raises(RemoteProtocolError):
            read(bytes([*blob[:place], blob[place] ^ 1, *blob[place + 1 :]]))
    for length in range(0, len(blob), 7):
        with pytest.raises(RemoteProtocolError):
            read(blob[:length])


def test_an_answer_is_for_one_device_of_one_invitation_and_by_its_inviter():
    with pytest.raises(RemoteProtocolError):
        open_answer(make_answer_blob(signer=MALLORY))
    with pytest.raises(RemoteProtocolError, match="not signed"):
        # Whoever has the token claims to be the inviter.
        open_answer(make_answer_blob(answer_of(ANNA), MALLORY))
    with pytest.raises(RemoteProtocolError):
        open_answer(make_answer_blob(request=request_of(MALLORY)))
    with pytest.raises(RemoteProtocolError):
        open_answer(make_request_blob())


def test_a_request_in_the_name_of_another_device_is_refused():
    with pytest.raises(RemoteProtocolError, match="not signed"):
        invitations.open_request(SECRET, make_request_blob(request_of(BEA), MALLORY))
    with pytest.raises(RemoteProtocolError):
        invitations.open_request(SECRET, make_answer_blob())


@pytest.mark.parametrize(
    "change",
    [
        {"public_key": b"short"},
        {"certificate": bytes(2049)},
        {"name": "n" * 65},
        {"addresses": ["a"] * 17},
        {"addresses": ["a" * 301]},
        {"suite": 3},
    ],
)
def test_a_request_beyond_its_bounds_is_refused(change: dict[str, object]):
    request = structs.replace(request_of(), **change)
    with pytest.raises(RemoteProtocolError, match="out of range"):
        invitations.open_request(SECRET, make_request_blob(request))


def test_an_answer_beyond_its_bounds_is_refused():
    with pytest.raises(RemoteProtocolError, match="out of range"):
        open_answer(make_answer_blob(answer_of(vault=b"v" * 15)))
    assert open_answer(make_answer_blob(answer_of(vault=b""))).vault == b""
    with pytest.raises(RemoteProtocolError, match="exceeds"):
        open_answer(bytes(invitations.BLOB_BYTES_MAX + 1))
    with pytest.raises(RemoteProtocolError):
        open_answer(codec.encode([2, 2, b"", NONCE, b""]))


def test_nothing_is_sealed_to_a_key_that_is_none():
    request = structs.replace(request_of(), sealing_key=b"short")
    assert invitations.seal_answer(SECRET, request, answer_of(), ANNA, drawn=DRAWN, nonce=NONCE) is None


def test_names_are_those_of_blobs_and_tell_nothing():
    blob_names = invitations.names_of(SECRET)
    for name in (blob_names.request_of(BEA.device), blob_names.answer_to(BEA.device)):
        assert names.is_blob_name(name)
        assert BEA.device.hex()[:16] not in name
    assert blob_names.tag != invitations.names_of(OTHER_SECRET).tag
    assert blob_names.request_of(BEA.device) != blob_names.request_of(ANNA.device)
