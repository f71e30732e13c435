"""Frames: one form each, checked before anyone acts on them.

Never judges what may be said when; the session does.
"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.log.pages import COMMIT_OVERHEAD_BYTES
from syncproto import codec, messages
from syncproto.commit import SignedCommit, encode_commit
from syncproto.errors import RemoteProtocolError, UnsupportedVersion
from syncproto.keys import SIGNATURE_BYTES
from syncproto.messages import Ack, Bye, Commits, Heads, Hello, Ping, Pong
from tests.support import strategies as draw
from tests.vectors import wire

ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
signatures = st.sampled_from([b"", bytes(64)])
hellos = st.builds(
    Hello,
    versions=st.lists(draw.integers, max_size=3),
    vault=ids,
    replica=st.none() | draw.replica_ids,
    vector=draw.clocks,
    state_hash=hashes,
    more=st.dictionaries(draw.text, draw.values, max_size=2),
)
pages = st.builds(Commits, st.lists(st.builds(SignedCommit, st.binary(max_size=20), signatures), max_size=3))
acks = st.builds(Ack, draw.clocks, draw.clocks, hashes)
frames = st.one_of(
    hellos,
    pages,
    acks,
    st.builds(Heads, draw.clocks, draw.clocks),
    st.builds(Ping, draw.integers),
    st.builds(Pong, draw.integers),
    st.builds(Bye, draw.text),
)


@given(frames)
def test_a_frame_is_read_as_it_was_written(message):
    frame = messages.encode_message(message)
    assert messages.decode_message(frame) == message
    assert wire.pack(wire.read_frame(frame)) == frame


@given(frames, st.data())
def test_an_altered_frame_is_refused_or_says_something_else(message, data):
    frame = messages.encode_message(message)
    offset = data.draw(st.integers(0, len(frame) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != frame[offset]))
    altered = frame[:offset] + bytes([other]) + frame[offset + 1 :]
    try:
        read = messages.decode_message(altered)
    except RemoteProtocolError:
        return
    assert messages.encode_message(read) == altered != frame


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (Hello([2], bytes(16), None, (), bytes(32), {}), {"vault": bytes(15)}),
        (Hello([2], bytes(16), None, (), bytes(32), {}), {"replica": bytes(17)}),
        (Hello([2], bytes(16), None, (), bytes(32), {}), {"state_hash": b""}),
        (Hello([1 << 63], bytes(16), None, (), bytes(32), {}), {}),
        (Hello([2], bytes(16), None, (), bytes(32), {"n": 1 << 63}), {}),
        (Ack((), (), bytes(32)), {"state_hash": bytes(31)}),
        (Heads((), ()), {"gone": ((bytes(16), 0, bytes(32)),)}),
        (Ack((), (), bytes(32)), {"heads": ((bytes(16), 0, bytes(32)),)}),
        (Ping(1 << 63), {}),
        (Pong(1 << 63), {}),
    ],
    ids=repr,
)
def test_a_frame_out_of_range_is_the_peers_fault(message, wrong):
    with pytest.raises(RemoteProtocolError):
        messages.decode_message(messages.encode_message(msgspec.structs.replace(message, **wrong)))


def test_a_frame_may_have_a_mebibyte_and_not_a_byte_more():
    largest = messages.encode_message(Bye("x" * (messages.FRAME_BYTES_MAX - 7)))
    assert len(largest) == messages.FRAME_BYTES_MAX
    assert isinstance(messages.decode_message(largest), Bye)
    with pytest.raises(RemoteProtocolError, match="1048577 bytes"):
        messages.decode_message(messages.encode_message(Bye("x" * (messages.FRAME_BYTES_MAX - 6))))


def test_a_full_page_of_the_smallest_commits_fits_a_frame():
    smallest = encode_commit(draw.first_commit(draw.operation())).signed.body
    counted = len(smallest) + SIGNATURE_BYTES + COMMIT_OVERHEAD_BYTES
    commits = [SignedCommit(smallest, bytes(SIGNATURE_BYTES))] * (messages.PAGE_BYTES_MAX // counted)
    frame = messages.encode_message(Commits(commits))
    assert len(frame) <= messages.PAGE_BYTES_MAX
    assert messages.decode_message(frame) == Commits(commits)


@given(hellos)
def test_the_versions_of_a_hello_are_read_without_the_rest_of_it(hello):
    versions = [version for version in hello.versions if -(1 << 63) <= version < 1 << 63]
    frame = messages.encode_message(msgspec.structs.replace(hello, versions=versions))
    assert messages.versions_in_hello(frame) == versions


@pytest.mark.parametrize(
    ("answer", "versions"),
    [
        ([1, [2, 3]], [2, 3]),
        ([1, [], None, {"a": [1]}, 5], []),
        ([2, [1]], None),
        ([1], None),
        ([1, "2"], None),
        ([1, [True]], None),
        ([1, [*range(messages.VERSIONS_MAX)]], [*range(messages.VERSIONS_MAX)]),
        ([1, [*range(messages.VERSIONS_MAX + 1)]], None),
        ({"kind": 1}, None),
    ],
)
def test_versions_are_read_from_a_hello_of_any_form_and_from_nothing_else(answer, versions):
    assert messages.versions_in_hello(codec.encode(answer)) == versions


@pytest.mark.parametrize("answer", [[1, [2, 99]], [1, [99], None, 5], [1, [99], bytes(16), [], [], {}]])
def test_a_greeting_without_a_common_version_says_so_whatever_its_form(answer):
    versions = answer[1]
    fault = RemoteProtocolError if set(versions) & set(messages.VERSIONS) else UnsupportedVersion
    with pytest.raises(fault) as raised:
        messages.decode_greeting(codec.encode(answer))
    assert type(raised.value) is fault


@pytest.mark.parametrize(
    "frame", [b"", b"\xc1", b"\x92\x01", b"\x93\x01\x91\x02" + b"\x91" * 5000, bytes(1 << 21)]
)
def test_a_frame_that_is_no_hello_has_no_versions(frame):
    assert messages.versions_in_hello(frame) is None
