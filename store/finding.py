"""Finding entities by words: a person's query made into the index's own, hits in order, snippets.

Never takes a query for anything but words: there is no query that is a syntax error.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from store.entity import Entity
from store.fold import load
from store.search import spelled, tag_of
from store.snapshot import Snapshot
from syncproto.ids import EntityId

WORDS_MAX = 32
"""So many words of a query count; a whole page pasted as a query must not cost a second."""

SNIPPET_WORDS = 16
_LEAD_WORDS = 4

_COLUMNS = "{title text}"


class Term(NamedTuple):
    """One word or quoted phrase, as words of the index; `starts` where its last word may go on."""

    words: tuple[str, ...]
    starts: bool
    excluded: bool


class Part(NamedTuple):
    """A piece of a snippet; `hit` where it is what was looked for."""

    text: str
    hit: bool


class Snippet(NamedTuple):
    """A piece of a text around what was found; the flags say where something was left out."""

    parts: list[Part]
    cut_before: bool
    cut_after: bool


class Finder:
    """The word index on one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._db = snapshot.db
        self._tokenizer = snapshot.db.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])

    def terms(self, query: str) -> list[Term]:
        """Read a person's query: words, "quoted phrases", -excluded. The word at its very end may go on."""
        found: list[Term] = []
        count = 0
        for piece, excluded, starts in _pieces(query):
            words = tuple(word for _, _, word in self._tokens(piece))[: WORDS_MAX - count]
            count += len(words)
            if words:
                found.append(Term(words, starts, excluded))
        return list(dict.fromkeys(found))

    def ids(self, terms: Sequence[Term], after: int = 0) -> Iterator[EntityId]:
        """Yield entities that hold all terms and none of the excluded, in sight or not, the best first.

        `after` is how many of them to leave out.
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

    def titled(self, part: str, limit: int, *, removed: bool = False) -> list[Entity]:
        """Return tasks whose title holds these words in a row, the last one's beginning, the best first."""
        words = tuple(word for _, _, word in self._tokens(part))[:WORDS_MAX]
        if not words:
            return []
        rows: Any = self._db.execute(
            "SELECT id, visible, state FROM search JOIN entity ON no = search.rowid"
            " WHERE search MATCH ? AND (visible OR ?) ORDER BY rank LIMIT ?",
            (f"title : {_phrase(words, starts=True)}", removed, limit),
        )
        return [Entity(name, load(state), bool(visible)) for name, visible, state in rows]

    def named(self, term: Term) -> list[EntityId]:
        """Return the labels and categories in sight whose name holds a term."""
        rows: Any = self._db.execute(
            "SELECT id FROM search JOIN entity ON no = search.rowid WHERE search MATCH ? AND visible",
            (f"label : {_phrase(term.words, term.starts)}",),
        )
        return [name for (name,) in rows]

    def snippet(self, text: str, terms: Sequence[Term]) -> Snippet | None:
        """Return the piece of a text where the terms are, None where none of them is."""
        tokens = list(self._tokens(text))
        hits = sorted({at for term in terms if not term.excluded for at in _places(term, tokens)})
        if not hits:
            return None
        first = max(_densest(hits) - _LEAD_WORDS, 0)
        if len(tokens) <= SNIPPET_WORDS:
            first = 0
        return _cut(text.encode(), tokens, set(hits), first)

    def _match(self, term: Term) -> str:
        phrase = _phrase(term.words, term.starts)
        tags = " OR ".join(f'"{tag_of(one)}"' for one in self.named(term))
        words = f"{_COLUMNS} : {phrase}"
        return f"({words} OR tags : ({tags}))" if tags else f"({words})"

    def _tokens(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the words of a text as the index has them, each with its first and last byte."""
        found: Any = self._tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        for start, end, *words in found:
            yield start, end, spelled(words[0])


def _pieces(query: str) -> Iterator[tuple[str, bool, bool]]:
    """Cut a query at spaces and quotes: each piece, whether it is excluded, whether its end may go on."""
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
    """Write words in a row in the index's language: quoted, so that none is an operator."""
    inside = " ".join(words).replace('"', '""')
    return f'"{inside}"' + ("*" if starts else "")


def _places(term: Term, tokens: Sequence[tuple[int, int, str]]) -> Iterator[int]:
    """Yield the places of the words of a text that a term matches."""
    *before, last = term.words
    for at in range(len(tokens) - len(before)):
        if any(tokens[at + place][2] != word for place, word in enumerate(before)):
            continue
        end = tokens[at + len(before)][2]
        if end == last or (term.starts and end.startswith(last)):
            yield from range(at, at + len(term.words))


def _densest(hits: Sequence[int]) -> int:
    """Return the first place of the stretch of a snippet's length that holds the most of them."""
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
    at = 0 if first == 0 else tokens[first][0]
    end = len(raw) if last == len(tokens) else tokens[last - 1][1]
    parts: list[Part] = []
    for place in range(first, last):
        if place in hits:
            begin, until, _ = tokens[place]
            parts += [Part(raw[at:begin].decode(), hit=False), Part(raw[begin:until].decode(), hit=True)]
            at = until
    parts.append(Part(raw[at:end].decode(), hit=False))
    return Snippet([part for part in parts if part.text], first > 0, last < len(tokens))
