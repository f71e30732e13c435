"""How two long texts differ, in words, as far as a person needs to see it.

Never shows all of both: what is the same is cut to a few words around each change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from daemon.words.terminal_text import truncate

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTEXT_WORDS: Final = 4
# Comparing costs the square of it.
_COMPARED_WORDS_MAX: Final = 400
_PIECE_WIDTH_MAX: Final = 240
_GAP: Final = "…"


def word_changes(before: str, after: str) -> str:
    """Write `the [-old-] {+new+} words` with a few words around each change."""
    old, new = re.findall(r"\S+\s*", before), re.findall(r"\S+\s*", after)
    start = _shared_words(old, new)
    end = _shared_words(old[start:][::-1], new[start:][::-1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    pieces = [
        _head(old[:start]),
        *_middle(old_middle, new_middle),
        _tail(old[len(old) - end :] if end else []),
    ]
    return " ".join(filter(None, pieces))


def _shared_words(texts: list[str], other: list[str]) -> int:
    pairs = zip(texts, other, strict=False)
    least = min(len(texts), len(other))
    return next((index for index, (left, right) in enumerate(pairs) if left.split() != right.split()), least)


def _middle(old: list[str], new: list[str]) -> Iterator[str]:
    if max(len(old), len(new)) > _COMPARED_WORDS_MAX:
        yield _removed_words(old)
        yield _added_words(new)
        return
    from difflib import SequenceMatcher

    mine, theirs = [word.strip() for word in old], [word.strip() for word in new]
    for tag, i, j, k, m in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            yield _between(old[i:j])
        else:
            yield _removed_words(old[i:j])
            yield _added_words(new[k:m])


def _removed_words(words: list[str]) -> str:
    return f"[-{_text(words)}-]" if words else ""


def _added_words(words: list[str]) -> str:
    return f"{{+{_text(words)}+}}" if words else ""


def _text(words: list[str]) -> str:
    return truncate(" ".join("".join(words).split()), _PIECE_WIDTH_MAX)


def _head(words: list[str]) -> str:
    cutting = len(words) > _CONTEXT_WORDS
    return _GAP * cutting + _text(words[-_CONTEXT_WORDS:])


def _tail(words: list[str]) -> str:
    return _text(words[:_CONTEXT_WORDS]) + _GAP * (len(words) > _CONTEXT_WORDS)


def _between(words: list[str]) -> str:
    if len(words) <= 2 * _CONTEXT_WORDS:
        return _text(words)
    return f"{_text(words[:_CONTEXT_WORDS])}{_GAP} {_GAP}{_text(words[-_CONTEXT_WORDS:])}"
