"""The index of words: what can be searched for in each entity, kept in step with the fold.

Never reads an operation: the index and its rebuild follow the folded rows.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import apsw
import msgspec

from store.fold.entity_state import EntityState, load_state
from store.fold.lone_creation import LoneCreation
from store.sentence import Sentence, sentence
from syncproto.codec import Value
from syncproto.ids import ID_BYTES, EntityId, id_to_text

ID_WORD_DIGITS = 8
"""The digits of an id that are a word of the index; the rest of a longer prefix is compared."""

LABEL_WORD_DIGITS = 16

LABEL_FIELD_PREFIX = "label_ids/"
CATEGORY_FIELD = "category_id"

_TEXTS: dict[str, tuple[str, ...]] = {
    "task": ("reason",),
    "checklist": ("title",),
    "checklist_item": ("title",),
    "entry": ("text",),
    "time_record": ("note",),
    "series": ("title",),
}
"""The fields with words, besides the titles of tasks and the names of labels and categories."""

_NAMED = ("label", "category")

_TOKENS = "unicode61 remove_diacritics 2"
_INSERT = "INSERT INTO search (rowid, name, title, text, tags, label) VALUES (?, ?, ?, ?, ?, ?)"
_ROWS_AT_ONCE = 1000
_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, LookupError)
"""What `load_state` raises for bytes that `dump_state` did not return."""


class IndexedWords(NamedTuple):
    """The words of one entity, by the columns of the index."""

    name: str
    title: str = ""
    text: str = ""
    tags: str = ""
    label: str = ""


def id_word(entity: EntityId) -> str:
    """Return the word of the index by which an entity is found by the beginning of its id."""
    return id_to_text(entity)[:ID_WORD_DIGITS]


def label_word(entity: EntityId) -> str:
    """Return the word for a label or category in the index of the tasks that have it."""
    return id_to_text(entity)[:LABEL_WORD_DIGITS]


def index_spelling(words: str) -> str:
    """Return words as the index spells them if its own folding does not unify them: ß is ss."""
    return words.replace("ß", "ss").replace("ẞ", "SS")


def searchable_fields(kind: str) -> tuple[str, ...]:
    """Return the fields of a kind that are searched, besides the titles of tasks."""
    return _TEXTS.get(kind, ())


def words_of_entity(entity: EntityId, row: EntityState | LoneCreation) -> IndexedWords | None:
    """Return the words of an entity, None if no creation of it is live."""
    if not row.kind:
        return None
    name = id_word(entity)
    if row.kind == "task":
        return IndexedWords(name, _text(row, "title"), _text(row, "reason"), _tags(row))
    if row.kind in _NAMED:
        return IndexedWords(name, label=_text(row, "name"))
    return IndexedWords(name, text=" ".join(_text(row, field) for field in searchable_fields(row.kind)))


def _text(row: EntityState | LoneCreation, field: str) -> str:
    value = row.value(field)
    return index_spelling(value) if isinstance(value, str) else ""


def _tags(row: EntityState | LoneCreation) -> str:
    words = [
        name[len(LABEL_FIELD_PREFIX) :][:LABEL_WORD_DIGITS]
        for name in row.fields
        if name.startswith(LABEL_FIELD_PREFIX) and row.value(name) is True
    ]
    category: Value = row.value(CATEGORY_FIELD)
    if isinstance(category, bytes) and len(category) == ID_BYTES:
        words.append(label_word(EntityId(category)))
    return " ".join(sorted(words)) if words else ""


class IndexChanges:
    """The documents that the index has to drop and to add to follow the fold."""

    def __init__(self) -> None:
        self._dropped: list[tuple[int]] = []
        self._added: list[tuple[int, str, str, str, str, str]] = []

    def note_entity(self, no: int, old: IndexedWords | None, new: IndexedWords | None) -> None:
        """Record an entity: its number, the words that are indexed, and the words that it has now."""
        if old == new:
            return
        if old is not None:
            self._dropped.append((no,))
        if new is not None:
            self._added.append((no, *new))

    def write_index(self, db: apsw.Connection) -> None:
        """Write the changes to the index."""
        # In the order of the rows: FTS5 flushes its pending words whenever a row number goes back.
        db.executemany("DELETE FROM search WHERE rowid = ?", sorted(self._dropped))
        db.executemany(_INSERT, sorted(self._added))


def rebuild_index(db: apsw.Connection) -> None:
    """Build the index again from the fold."""
    db.execute("INSERT INTO search (search) VALUES ('delete-all')")
    _fill(db, _INSERT)


def index_faults(db: apsw.Connection) -> list[Sentence]:
    """Return how the index differs from the fold: nothing in a sound store. Costs a pass over everything."""
    rows: Any = db.execute("PRAGMA main.integrity_check('search')").fetchall()
    broken = [
        sentence("verify-index-broken", "{words}", words=str(words)) for (words,) in rows if words != "ok"
    ]
    return broken or _differences(db)


def _differences(db: apsw.Connection) -> list[Sentence]:
    """Compare the index word for word with one that is built anew."""
    differs = sentence("verify-index-differs", "the index of words does not match the entities")
    columns = "name, title, text, tags, label, content = ''"
    db.execute(f"CREATE VIRTUAL TABLE temp.again USING fts5 ({columns}, tokenize = '{_TOKENS}')")
    try:
        try:
            _fill(db, _INSERT.replace("search", "temp.again"))
        except _UNREADABLE:
            return [differs]
        db.execute("CREATE VIRTUAL TABLE temp.kept USING fts5vocab ('main', 'search', 'instance')")
        db.execute("CREATE VIRTUAL TABLE temp.made USING fts5vocab ('temp', 'again', 'instance')")
        cursor, new_cursor = (db.execute(f"SELECT * FROM temp.{name}") for name in ("kept", "made"))
        same = all(kept_word == made_word for kept_word, made_word in zip_longest(cursor, new_cursor))
        cursor.close()
        new_cursor.close()
        return [] if same else [differs]
    finally:
        for name in ("kept", "made", "again"):
            db.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _fill(db: apsw.Connection, insert: str) -> None:
    """Index every entity, some at a time."""
    after = 0
    while documents := list(_documents(db, after)):
        db.executemany(insert, ((no, *words) for no, words in documents if words is not None))
        after = documents[-1][0]


def _documents(db: apsw.Connection, after: int) -> Iterator[tuple[int, IndexedWords | None]]:
    rows: Any = db.execute(
        "SELECT no, id, state FROM entity WHERE no > ? ORDER BY no LIMIT ?", (after, _ROWS_AT_ONCE)
    )
    # All at once: a statement that an unreadable row leaves open would lock the tables that are dropped then.
    for no, entity, state in rows.fetchall():
        yield no, words_of_entity(entity, load_state(state))
