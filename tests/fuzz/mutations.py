"""Mutations of bytes: a corpus entry, changed as chance says.

Never reads anything: the corpus comes in, and chance is a parameter.
"""

import random

# Leading bytes of every form of MessagePack, and lengths at the edges.
TOKENS = [
    b"\x00",
    b"\x7f",
    b"\x80",
    b"\x8f",
    b"\x90",
    b"\x9f",
    b"\xa0",
    b"\xbf",
    b"\xc0",
    b"\xc1",
    b"\xc2",
    b"\xc3",
    b"\xc4\x00",
    b"\xc4\xff",
    b"\xc5\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xc7\x00\x00",
    b"\xc7\x20\x01" + bytes(32),
    b"\xc7\x20\x02" + bytes(32),
    b"\xc8\x00\x20\x01" + bytes(32),
    b"\xca\x7f\xc0\x00\x00",
    b"\xcb\x7f\xf8" + bytes(6),
    b"\xcb\x7f\xf0" + bytes(6),
    b"\xcc\x00",
    b"\xcd\x00\x00",
    b"\xce" + bytes(4),
    b"\xcf" + b"\xff" * 8,
    b"\xcf\x80" + bytes(7),
    b"\xd0\x80",
    b"\xd3\x80" + bytes(7),
    b"\xd4\x00\x00",
    b"\xd6\xff" + bytes(4),
    b"\xd9\xff",
    b"\xdb\xff\xff\xff\xff",
    b"\xdc\xff\xff",
    b"\xdd\xff\xff\xff\xff",
    b"\xde\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xff",
    b"\xa1\xff",
    b"\xa3\xed\xa0\x80",
]


def mutated(chance: random.Random, corpus: list[bytes]) -> bytes:
    """Return an entry of the corpus after one to four mutations."""
    raw = chance.choice(corpus)
    for _ in range(chance.randint(1, 4)):
        raw = _once(chance, raw, corpus)
    return raw


def _once(chance: random.Random, raw: bytes, corpus: list[bytes]) -> bytes:
    index = chance.randrange(len(raw) + 1)
    to = min(len(raw), index + chance.choice((1, 1, 1, 2, 8, 64)))
    match chance.randrange(7):
        case 0:
            return raw[:index] + chance.randbytes(to - index) + raw[to:]
        case 1:
            return raw[:index] + raw[to:]
        case 2:
            return raw[:index] + chance.choice(TOKENS) + raw[index:]
        case 3:
            return raw[:index] + chance.choice(TOKENS) + raw[to:]
        case 4:
            return raw[:to] + raw[index:]
        case 5:
            other = chance.choice(corpus)
            return raw[:index] + other[chance.randrange(len(other) + 1) :]
    return raw[:index]
