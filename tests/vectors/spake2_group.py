"""SPAKE2 over the Ed25519 group, written from PROTOCOL.md §13 with plain integers.

Never used outside the vectors: it takes no care of timing, and knows nothing of Placet's code.
"""

import hashlib
import hmac
from itertools import count
from typing import NamedTuple

Q = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, Q - 2, Q) % Q
SQRT_M1 = pow(2, (Q - 1) // 4, Q)


class Point(NamedTuple):
    """A point of the curve -x² + y² = 1 + d·x²·y², in affine coordinates."""

    x: int
    y: int


ZERO = Point(0, 1)


def add(p: Point, q: Point) -> Point:
    """Add two points."""
    product = D * p.x * q.x * p.y * q.y
    x = (p.x * q.y + q.x * p.y) * pow(1 + product, Q - 2, Q)
    y = (p.y * q.y + p.x * q.x) * pow(1 - product, Q - 2, Q)
    return Point(x % Q, y % Q)


def multiply(p: Point, scalar: int) -> Point:
    """Add a point to itself so many times."""
    result = ZERO
    while scalar:
        if scalar & 1:
            result = add(result, p)
        p, scalar = add(p, p), scalar >> 1
    return result


def even_x(y: int) -> int:
    """Return the even x that belongs to a y, whether or not the point is on the curve."""
    square = (y * y - 1) * pow(D * y * y + 1, Q - 2, Q)
    x = pow(square, (Q + 3) // 8, Q)
    if (x * x - square) % Q:
        x = x * SQRT_M1 % Q
    return Q - x if x & 1 else x


def is_on_curve(p: Point) -> bool:
    """Say whether a point is on the curve."""
    return (-p.x * p.x + p.y * p.y - 1 - D * p.x * p.x * p.y * p.y) % Q == 0


def encode(p: Point) -> bytes:
    """Write a point: y in little-endian order, and the lowest bit of x as the highest one."""
    return (p.y | (p.x & 1) << 255).to_bytes(32, "little")


BASE = Point(even_x(4 * pow(5, Q - 2, Q) % Q), 4 * pow(5, Q - 2, Q) % Q)


def hkdf(key: bytes, info: bytes, length: int, salt: bytes = b"") -> bytes:
    """Derive bytes by HKDF-SHA-256 (RFC 5869)."""
    pseudorandom = hmac.digest(salt or bytes(32), key, "sha256")
    blocks, block = b"", b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(pseudorandom, block + info + bytes([number]), "sha256")
        blocks += block
    return blocks[:length]


def blinding_point(seed: bytes) -> Point:
    """Return a point of the group of order L whose discrete logarithm nobody knows."""
    first = int.from_bytes(hkdf(seed, b"SPAKE2 arbitrary element", 48), "big") % Q
    for more in count():
        y = (first + more) % Q
        candidate = Point(even_x(y), y)
        if is_on_curve(candidate) and (point := multiply(candidate, 8)) != ZERO:
            return point
    raise AssertionError("count() does not end")


M, N = blinding_point(b"M"), blinding_point(b"N")


def password_scalar(secret: bytes) -> int:
    """Turn the secret into a scalar."""
    return int.from_bytes(hkdf(secret, b"SPAKE2 pw", 48), "big") % L


class Exchange(NamedTuple):
    """All that one exchange computes; the elements as they are sent, with their side in front."""

    joiner_element: bytes
    inviter_element: bytes
    shared_point: bytes
    key: bytes


def exchange(
    secret: bytes, identities: tuple[bytes, bytes], joiner_scalar: int, inviter_scalar: int
) -> Exchange:
    """Run both sides of SPAKE2."""
    password = password_scalar(secret)
    joiner = encode(add(multiply(BASE, joiner_scalar), multiply(M, password)))
    inviter = encode(add(multiply(BASE, inviter_scalar), multiply(N, password)))
    shared = encode(multiply(multiply(BASE, joiner_scalar), inviter_scalar))
    hashes = [hashlib.sha256(part).digest() for part in (secret, *identities)]
    key = hashlib.sha256(b"".join(hashes) + joiner + inviter + shared).digest()
    return Exchange(b"A" + joiner, b"B" + inviter, shared, key)
