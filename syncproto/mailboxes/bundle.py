"""Blobs one behind the other, as in a file on a stick: read in pieces, each blob within its bounds.

Never has more than one blob and one piece in memory.
"""

from collections.abc import Iterable, Iterator

import msgpack  # type: ignore[import-untyped]

from syncproto import codec
from syncproto.errors import RemoteProtocolError
from syncproto.mailboxes.envelope import BODY_BYTES_MAX, ENVELOPE_BYTES_MAX

_PARTS = 3


def read_bundle(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blobs in a stream that comes in pieces of any size.

    Raises RemoteProtocolError at the first thing that is no blob, at a blob beyond its bounds, and at an end
    inside a blob.
    """
    unpacker = msgpack.Unpacker(
        max_buffer_size=2 * ENVELOPE_BYTES_MAX,
        max_bin_len=BODY_BYTES_MAX,
        max_array_len=_PARTS,
        max_str_len=0,
        max_map_len=0,
        max_ext_len=0,
    )
    read, whole = 0, 0
    for piece in pieces:
        for start in range(0, len(piece), ENVELOPE_BYTES_MAX):
            part = piece[start : start + ENVELOPE_BYTES_MAX]
            read += len(part)
            unpacker.feed(part)
            for blob in _blobs_of(unpacker):
                whole = unpacker.tell()
                yield blob
            if read - whole > ENVELOPE_BYTES_MAX:
                raise RemoteProtocolError(f"a blob of more than {ENVELOPE_BYTES_MAX} bytes")
    if whole != read:
        raise RemoteProtocolError("a bundle that ends inside a blob")


def _blobs_of(unpacker: msgpack.Unpacker) -> Iterator[bytes]:
    while True:
        try:
            parts = unpacker.unpack()
        except msgpack.OutOfData:
            return
        # What the library raises for bytes from outside has no common base class.
        except Exception as fault:
            raise RemoteProtocolError(f"not a bundle: {type(fault).__name__}") from fault
        if not isinstance(parts, list) or not all(isinstance(part, bytes) for part in parts):
            raise RemoteProtocolError("not a bundle: another value than a blob")
        yield codec.encode(parts)
