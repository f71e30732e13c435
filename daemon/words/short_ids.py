"""Short ids: the fewest characters that still name one of the things on the screen.

Never shorter than four. Among things that are not on the screen one of them may be shared: then the daemon
names those that it could mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHORT_ID_CHARS_MIN: Final = 4


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Map each id to its shortest prefix, of at least four characters, unique among `ids`."""
    ordered = sorted(set(ids))
    around = zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False)
    return {
        own: own[: max(_shared_chars(own, before), _shared_chars(own, after), SHORT_ID_CHARS_MIN - 1) + 1]
        for before, own, after in around
    }


def _shared_chars(text: str, other: str) -> int:
    """Count the characters with which both begin."""
    for index, (left, right) in enumerate(zip(text, other, strict=False)):
        if left != right:
            return index
    return min(len(text), len(other))


def short_ids_of(documents: Iterable[Mapping[str, object]], key: str = "id") -> dict[str, str]:
    """Map the ids of `documents` to what to show for each."""
    return short_ids(str(document[key]) for document in documents if document.get(key))
