"""Lists of words and phrases, as they stand in a language's file.

Never decides what a word is about.
"""

from collections.abc import Iterable

from daemon.agents.models.rules.lexicon.plain_text import plain_spellings

Phrases = tuple[str, ...]
"""Phrases match whole words, whatever blanks lie between; "…" in one stands for up to two words."""


class WordSet(frozenset[str]):
    """Words as they look in a plain text, in every way in which each may be spelled."""

    __slots__ = ()

    @classmethod
    def from_words(cls, words: Iterable[str]) -> "WordSet":
        """Spell the words of a file."""
        return cls(spelled for word in words for spelled in plain_spellings(word))
