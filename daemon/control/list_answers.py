"""Lists in answers: as many elements as an answer has bytes for, and how many are left out.

Never divides an element, and never leaves one out without a word: a header of the answer counts the rest.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, get_origin

import msgspec

from daemon.refusal import usage_error
from store.sentence import sentence

LIST_BYTES_MAX: Final = 8 << 20
"""A list of an answer has about so many bytes; it has one element at least."""

LEFT_OUT_HEADER: Final = "Placet-Left-Out"
"""How many elements follow those that the answer has. An answer without it ends with the last one."""

FIRST: Final = "from"
"""The parameter of a request for the rest: how many elements the answers before had."""
FIRST_MAX: Final = 1 << 53


class EncodedList(NamedTuple):
    """The JSON of some elements of a list, and how many follow them."""

    body: bytes
    left_out: int


def is_list(response: object) -> bool:
    """Return whether the answer of a route is a list."""
    return get_origin(response) is list


def take_first(query: Mapping[str, str]) -> tuple[int, dict[str, str]]:
    """Return with which element an answer begins, and the other parameters. Raises Refused (usage)."""
    others = dict(query)
    text = others.pop(FIRST, "0")
    if not (text.isascii() and text.isdigit() and int(text[:20]) <= FIRST_MAX):
        raise usage_error(
            sentence(
                "from-is-no-number", "`from` takes a number of elements, from 0 to {most}", most=FIRST_MAX
            )
        )
    return int(text), others


def encode_list(elements: list[Any], first: int, bytes_max: int = LIST_BYTES_MAX) -> EncodedList:
    """Encode the elements from the one at `first` on, until the answer has `bytes_max` bytes."""
    encoder = msgspec.json.Encoder()
    parts: list[bytes] = []
    size = 0
    for element in elements[first:]:
        part = encoder.encode(element)
        size += len(part) + 1
        if parts and size > bytes_max:
            break
        parts.append(part)
    return EncodedList(b"[" + b",".join(parts) + b"]", max(len(elements) - first, 0) - len(parts))
