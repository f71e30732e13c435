"""Search by words: from the query of a person to ranked entities, and snippets around the matches.

Never treats a query as anything but words: no query is a syntax error.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from store.fold.entity import Entity
from store.fold.entity_state import load_state
from store.fold.word_index import index_spelling, label_word
from store.snapshot import Snapshot
from syncproto.ids import EntityId

WORDS_MAX = 32
"""The words of a query that count: a whole page pasted as a query must not cost a second."""

SNIPPET_WORDS = 16
_LEAD_WORDS = 4

_COLUMNS = "{title text}"


class SearchTerm(NamedTuple):
    """One word or quoted phrase, as words of the index; `is_prefix` if its last word may be longer."""

    words: tuple[str, ...]
    is_prefix: bool
    excluded: bool


class SnippetPart(NamedTuple):
    """A piece of a snippet; `is_match` if the query matches it."""

    text: str
    is_match: bool


class Snippet(NamedTuple):
    """A piece of a text around a match; the flags tell whether text before or after it was left out."""

    parts: list[SnippetPart]
    cut_before: bool
    cut_after: bool


class WordSearch:
    """The word index on one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._db = snapshot.db
        self._tokenizer = snapshot.db.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])

    def parse_query(self, query: str) -> list[SearchTerm]:
        """Return the terms of a query: words, "quoted phrases", -excluded. The last word may be a prefix."""
        search_terms: list[SearchTerm] = []
        count = 0
        for piece, excluded, starts in _pieces(query):
            words = tuple(word for _, _, word in self._tokens(piece))[: WORDS_MAX - count]
            count += len(words)
            if words:
                search_terms.append(SearchTerm(words, starts, excluded))
        return list(dict.fromkeys(search_terms))

    def matching_ids(self, terms: Sequence[SearchTerm], after: int = 0) -> Iterator[EntityId]:
        """Yield entities with all terms and none of the excluded, visible or not, the best first.

        `after` is the number of entities to skip.
        """
        wanted = [self._match(term) for term in terms if not term.excluded]
        if not wanted:
            return
        unwanted = [f" NOT {self._match(term)}" for term in terms if term.excluded]
        match = f"({' AND '.join(wanted)}){''.join(unwanted)}"
        rows: Any = self._db.execute(
            "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT -1 OFFSET ?", (match, after)
        )
        for (no,) in rows:
            row: Any = self._db.execute("SELECT id FROM entity WHERE no = ?", (no,)).fetchone()
            yield row[0]

    def tasks_titled(self, part: str, limit: int, *, removed: bool = False) -> list[Entity]:
        """Return tasks whose title contains these words in a row, the last perhaps longer, the best first."""
        words = tuple(word for _, _, word in self._tokens(part))[:WORDS_MAX]
        if not words:
            return []
        rows: Any = self._db.execute(
            "SELECT id, visible, state FROM search JOIN entity ON no = search.rowid"
            " WHERE search MATCH ? AND (visible OR ?) ORDER BY rank LIMIT ?",
            (f"title : {_phrase(words, starts=True)}", removed, limit),
        )
        return [Entity(name, load_state(state), bool(visible)) for name, visible, state in rows]

    def labels_matching(self, term: SearchTerm) -> list[EntityId]:
        """Return the visible labels and categories whose name contains a term."""
        rows: Any = self._db.execute(
            "SELECT id FROM search JOIN entity ON no = search.rowid WHERE search MATCH ? AND visible",
            (f"label : {_phrase(term.words, term.is_prefix)}",),
        )
        return [name for (name,) in rows]

    def snippet(self, text: str, terms: Sequence[SearchTerm]) -> Snippet | None:
        """Return the piece of a text around the terms, None if it contains none of them."""
        tokens = list(self._tokens(text))
        hits = sorted({position for term in terms if not term.excluded for position in _places(term, tokens)})
        if not hits:
            return None
        first = max(_densest_window(hits) - _LEAD_WORDS, 0)
        if len(tokens) <= SNIPPET_WORDS:
            first = 0
        return _cut(text.encode(), tokens, set(hits), first)

    def _match(self, term: SearchTerm) -> str:
        phrase = _phrase(term.words, term.is_prefix)
        tags = " OR ".join(f'"{label_word(identifier)}"' for identifier in self.labels_matching(term))
        words = f"{_COLUMNS} : {phrase}"
        return f"({words} OR tags : ({tags}))" if tags else f"({words})"

    def _tokens(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the words of a text as the index has them, each with its first and last byte."""
        tokens: Any = self._tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        for start, end, *words in tokens:
            yield start, end, index_spelling(words[0])


def _pieces(query: str) -> Iterator[tuple[str, bool, bool]]:
    """Split a query at spaces and quotes: each piece, whether excluded, whether its end may be longer."""
    rest = query.lstrip()
    while rest:
        excluded = rest[0] == "-"
        rest = rest.lstrip("-")
        if rest.startswith('"'):
            piece, _, rest = rest[1:].partition('"')
            starts = False
        else:
            piece = "" if not rest or rest[0].isspace() else rest.split(maxsplit=1)[0].partition('"')[0]
            rest = rest[len(piece) :]
            starts = (not rest and not excluded) or piece.endswith("*")
        yield piece, excluded, starts
        rest = rest.lstrip()


def _phrase(words: Sequence[str], starts: bool) -> str:
    """Return a phrase in the query language of the index: quoted, so that no word is an operator."""
    inside = " ".join(words).replace('"', '""')
    return f'"{inside}"' + ("*" if starts else "")


def _places(term: SearchTerm, tokens: Sequence[tuple[int, int, str]]) -> Iterator[int]:
    """Yield the places of the words of a text that a term matches."""
    *before, last = term.words
    for index in range(len(tokens) - len(before)):
        if any(tokens[index + place][2] != word for place, word in enumerate(before)):
            continue
        end = tokens[index + len(before)][2]
        if end == last or (term.is_prefix and end.startswith(last)):
            yield from range(index, index + len(term.words))


def _densest_window(hits: Sequence[int]) -> int:
    """Return the first of the matches that lie most densely within the length of a snippet."""
    best, most, until = hits[0], 0, 0
    for place, hit in enumerate(hits):
        while until < len(hits) and hits[until] < hit + SNIPPET_WORDS - _LEAD_WORDS:
            until += 1
        if until - place > most:
            best, most = hit, until - place
    return best


def _cut(raw: bytes, tokens: Sequence[tuple[int, int, str]], hits: set[int], first: int) -> Snippet:
    """Cut a text from a word on, marking the words at these places."""
    last = min(first + SNIPPET_WORDS, len(tokens))
    start = 0 if first == 0 else tokens[first][0]
    end = len(raw) if last == len(tokens) else tokens[last - 1][1]
    parts: list[SnippetPart] = []
    for place in range(first, last):
        if place in hits:
            begin, until, _ = tokens[place]
            parts += [
                SnippetPart(raw[start:begin].decode(), is_match=False),
                SnippetPart(raw[begin:until].decode(), is_match=True),
            ]
            start = until
    parts.append(SnippetPart(raw[start:end].decode(), is_match=False))
    return Snippet([part for part in parts if part.text], first > 0, last < len(tokens))
