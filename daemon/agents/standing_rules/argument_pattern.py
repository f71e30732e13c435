"""Whether arguments are those that a rule allows: the whole comparison, without a store or a clock.

Never matches more than was written: an argument that the pattern does not name makes another action.
"""

import unicodedata
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from syncproto import codec

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""The categories of characters that cannot be seen, or that end a line."""


class Pattern(NamedTuple):
    """The arguments that a rule allows: those that are exactly so, and texts by how they begin."""

    exact: Mapping[str, Any]
    begins: Mapping[str, str]

    @property
    def digest_source(self) -> bytes:
        """Return the bytes that the id of a rule follows from."""
        return codec.encode([dict(self.exact), dict(self.begins)])


def matches(pattern: Pattern, args: Mapping[str, Any]) -> bool:
    """Report whether a pattern allows these arguments, which are values as the log has them."""
    if args.keys() != pattern.exact.keys() | pattern.begins.keys():
        return False
    return all(_is_same(args[key], value) for key, value in pattern.exact.items()) and all(
        _goes_on_from(args[key], beginning) for key, beginning in pattern.begins.items()
    )


def _is_same(value: object, allowed: object) -> bool:
    # For Python 1, 1.0 and True are equal; their encodings differ.
    return codec.encode(value) == codec.encode(allowed)


def _goes_on_from(value: object, beginning: str) -> bool:
    """Report whether a text begins so, and goes on with nothing but what can be seen on one line."""
    if not isinstance(value, str) or not value.startswith(beginning):
        return False
    return all(unicodedata.category(sign) not in _UNSEEN for sign in value[len(beginning) :])
