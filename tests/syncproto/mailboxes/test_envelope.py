"""Sealed blobs: every changed bit is refused, a removed device opens nothing, a verdict is short.

Never draws from the system except by the library's own HPKE.
"""

import hashlib
import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto import codec, messages
from syncproto.commit import SignedCommit
from syncproto.errors import RemoteProtocolError
from syncproto.keys import Signer
from syncproto.mailboxes import bundle, envelope, names, sealing_keys
from syncproto.mailboxes.envelope import BlobKind
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, SealingSuite

VAULT = bytes(range(16))
SENDER = Signer(bytes([1]) * 32)
SUITES = list(SealingSuite)


def drawn_key(suite: SealingSuite, seed: int) -> PrivateSealingKey:
    return PrivateSealingKey(suite, 1, Random(seed).randbytes(sealing_keys.private_bytes_of(suite)))


def tagged(*keys: PrivateSealingKey) -> dict[bytes, PrivateSealingKey]:
    return {names.key_tag(VAULT, key.public_key.public): key for key in keys}


def commits_frame(body_bytes: int = 330) -> bytes:
    return messages.encode_message(messages.Commits([SignedCommit(bytes(body_bytes), bytes(64))]))


def sealed(*recipients: PrivateSealingKey, frame: bytes | None = None, secret: bytes = bytes(32)) -> bytes:
    return envelope.seal(
        [commits_frame() if frame is None else frame],
        kind=BlobKind.DROP,
        vault=(VAULT, names.vault_tag(VAULT)),
        sender=names.device_tag(VAULT, SENDER.device),
        number=3,
        recipients=[key.public_key for key in recipients],
        signer=SENDER,
        secret=secret,
    )


def open_blob(raw: bytes, *keys: PrivateSealingKey) -> list[bytes]:
    """Read a blob as a receiver does: its form, its signature, what is inside."""
    blob = envelope.read_envelope(raw)
    if not envelope.is_signed_by(blob, SENDER.public_key):
        raise RemoteProtocolError("signature")
    return envelope.open_frames(blob, tagged(*keys))


@pytest.mark.parametrize("suite", SUITES)
def test_each_recipient_reads_what_was_sealed(suite):
    keys = [drawn_key(suite, seed) for seed in range(3)]
    raw = sealed(*keys)
    for key in keys:
        assert envelope.read_drop(open_blob(raw, key)) == messages.decode_message(commits_frame())


@pytest.mark.parametrize("suite", SUITES)
def test_every_bit_that_is_changed_is_refused(suite):
    key = drawn_key(suite, 1)
    raw = sealed(key)
    # Of a long hybrid secret every bit of each third byte: a flip costs a millisecond.
    step = 1 if suite is SealingSuite.X25519 else 3
    for place, bit in itertools.product(range(0, len(raw), step), range(8)):
        flipped = bytearray(raw)
        flipped[place] ^= 1 << bit
        with pytest.raises(RemoteProtocolError):
            open_blob(bytes(flipped), key)


@pytest.mark.parametrize("suite", SUITES)
def test_every_bit_that_is_changed_is_refused_behind_a_good_signature(suite):
    key = drawn_key(suite, 1)
    blob = envelope.read_envelope(sealed(key))
    rows = {"header_bytes": blob.header_bytes, "body": blob.body}
    for part, content in rows.items():
        for place in range(0, len(content), 7):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (place % 8)
            header, body = (
                (bytes(flipped), blob.body) if part == "header_bytes" else (blob.header_bytes, bytes(flipped))
            )
            signature = SENDER.sign(
                b"placet mailbox envelope 1\0"
                + hashlib.sha256(header).digest()
                + hashlib.sha256(body).digest()
            )
            with pytest.raises(RemoteProtocolError):
                open_blob(codec.encode([header, body, signature]), key)


@pytest.mark.parametrize("suite", SUITES)
def test_a_removed_device_opens_nothing_that_came_after(suite):
    staying, removed = drawn_key(suite, 1), drawn_key(suite, 2)
    assert open_blob(sealed(staying, removed), removed)
    after = sealed(staying)
    with pytest.raises(envelope.NoRecipient):
        open_blob(after, removed)
    # Nor by claiming the place of a recipient: the tag is in the clear, and the key is not.
    blob = envelope.read_envelope(after)
    with pytest.raises(RemoteProtocolError):
        envelope.open_frames(blob, {next(iter(blob.readers)): removed})


def test_a_recipient_cannot_put_other_content_under_the_senders_signature():
    raw, other = (
        sealed(drawn_key(SealingSuite.X25519, 1)),
        sealed(drawn_key(SealingSuite.X25519, 1), frame=commits_frame(331)),
    )
    first, second = envelope.read_envelope(raw), envelope.read_envelope(other)
    mixed = codec.encode([first.header_bytes, second.body, first.signature])
    assert not envelope.is_signed_by(envelope.read_envelope(mixed), SENDER.public_key)


def test_a_verdict_for_three_is_shorter_than_a_kibibyte():
    # A commit of one decision has about 330 bytes, as measured.
    raw = sealed(*(drawn_key(SealingSuite.X25519, seed) for seed in range(3)))
    assert len(raw) < 1024
    long = sealed(*(drawn_key(SealingSuite.HYBRID, seed) for seed in range(3)))
    assert len(long) < 4.25 * 1024


def test_a_key_of_low_order_keeps_nobody_else_from_reading():
    good = drawn_key(SealingSuite.X25519, 1)
    bad = sealing_keys.PublicSealingKey(SealingSuite.X25519, bytes(32))
    assert sealing_keys.seal_secret(bad, bytes(32), b"") is None
    raw = envelope.seal(
        [commits_frame()],
        kind=BlobKind.DROP,
        vault=(VAULT, names.vault_tag(VAULT)),
        sender=names.device_tag(VAULT, SENDER.device),
        number=3,
        recipients=[bad, good.public_key],
        signer=SENDER,
        secret=bytes(32),
    )
    assert open_blob(raw, good)


@given(st.integers(0, envelope.CONTENT_BYTES_MAX))
def test_padding_adds_little_and_keeps_few_sizes(size):
    padded = envelope.padded_size(size)
    assert padded >= size
    assert envelope.padded_size(padded) == padded
    assert padded == envelope.CONTENT_BYTES_MIN or padded <= size * 9 / 8
    assert padded + 16 <= envelope.BODY_BYTES_MAX


@given(st.binary(max_size=400))
def test_any_bytes_are_no_blob(raw):
    with pytest.raises(RemoteProtocolError):
        envelope.read_envelope(raw)


def test_a_frame_as_long_as_can_be_for_as_many_as_can_be_fits():
    frame = bytes(messages.FRAME_BYTES_MAX)
    keys = [drawn_key(SealingSuite.HYBRID, 1), *(drawn_key(SealingSuite.X25519, seed) for seed in range(255))]
    raw = sealed(*keys, frame=frame)
    assert len(raw) <= envelope.ENVELOPE_BYTES_MAX
    assert open_blob(raw, keys[0]) == [frame]
    most = envelope.WRAPS_MAX * (1168 + 16) + 256
    assert most <= envelope.HEADER_BYTES_MAX


@given(st.lists(st.integers(1, 2000), min_size=1, max_size=30), st.integers(1, 3))
def test_a_bundle_is_read_in_pieces_of_any_size(cuts, count):
    raw = sealed(drawn_key(SealingSuite.X25519, 1))
    rest, pieces = raw * count, []
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    assert list(bundle.read_bundle([*pieces, rest])) == [raw] * count


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(lambda raw: [raw, raw[:-1]], id="an end inside a blob"),
        pytest.param(lambda raw: [raw, b"\xc0"], id="nil"),
        pytest.param(lambda raw: [b"\x93\xc4\x00\xc4\x00\xa0"], id="text"),
        pytest.param(lambda raw: [b"\x94\xc0"], id="four parts"),
        pytest.param(lambda raw: [b"\xc6\x7f\xff\xff\xff"], id="a string without end"),
        pytest.param(lambda raw: [b"\x93\xc6\x7f\xff\xff\xff"], id="a body without end"),
        pytest.param(lambda raw: [b"\x93" * 100_000], id="deep"),
        pytest.param(lambda raw: [b"\xc1"], id="no MessagePack"),
        pytest.param(lambda raw: [b"\xdd\x7f\xff\xff\xff"], id="an array without end"),
    ],
)
def test_what_is_no_bundle_is_refused(stream):
    raw = sealed(drawn_key(SealingSuite.X25519, 1))
    with pytest.raises(RemoteProtocolError):
        list(bundle.read_bundle(stream(raw)))


def test_names_are_read_however_a_carrier_changes_them():
    name = names.drop_name(bytes(16), 5, bytes(8))
    assert name.endswith("/00000000000005-0000000000000000.drop")
    for changed in (
        name,
        name.upper(),
        "00000000000005-0000000000000000.sync-conflict-20260101-120000-ABCDEFG.drop",
        "00000000000005-0000000000000000 (Anna's conflicted copy 2026-01-01).drop",
        names.have_name(bytes(16), bytes(8)),
    ):
        assert names.is_blob_name(changed)
    for foreign in (".00-00.drop.tmp", "~syncthing~a.drop.tmp", "notes.txt", "a.drop.part", ".drop", ""):
        assert not names.is_blob_name(foreign)


def test_a_have_names_its_holder_by_8_bytes_or_not_at_all():
    def named(more: dict[str, codec.Value]) -> bytes:
        hello = messages.Hello([2], VAULT, None, (), bytes(32), more)
        read, _parts = envelope.read_have([messages.encode_message(hello)])
        return envelope.holder_of(read)

    assert named(envelope.holder_entry(b"12345678")) == b"12345678"
    assert [named({}), named({"holder": b"1234567"}), named({"holder": 5})] == [b"", b"", b""]
