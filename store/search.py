"""The index of words: what of each entity can be searched for, kept in step with the fold.

Never reads an operation: it follows the folded rows, and so does a rebuild.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import apsw

from store.alone import Alone
from store.fold import Row, load
from syncproto.codec import Value
from syncproto.ids import ID_BYTES, EntityId, text

NAME_DIGITS = 8
"""So many digits of an id are a word of the index; the rest of a longer prefix is compared."""

TAG_DIGITS = 16

LABELS = "label_ids/"
CATEGORY = "category_id"

_TEXTS: dict[str, tuple[str, ...]] = {
    "task": ("reason",),
    "checklist": ("title",),
    "checklist_item": ("title",),
    "entry": ("text",),
    "time_record": ("note",),
}
"""Which fields hold words besides titles of tasks and names of labels and categories."""

_NAMED = ("label", "category")

_TOKENS = "unicode61 remove_diacritics 2"
_INSERT = "INSERT INTO search (rowid, name, title, text, tags, label) VALUES (?, ?, ?, ?, ?, ?)"
_ROWS_AT_ONCE = 1000


class Document(NamedTuple):
    """The words of one entity, by the columns of the index."""

    name: str
    title: str = ""
    text: str = ""
    tags: str = ""
    label: str = ""


def name_of(entity: EntityId) -> str:
    """Return the word by which the beginning of an id is found."""
    return text(entity)[:NAME_DIGITS]


def tag_of(entity: EntityId) -> str:
    """Return the word that stands for a label or category on the tasks that have it."""
    return text(entity)[:TAG_DIGITS]


def spelled(words: str) -> str:
    """Spell words as the index has them where its own folding leaves them apart: ß is ss."""
    return words.replace("ß", "ss").replace("ẞ", "SS")


def text_fields(kind: str) -> tuple[str, ...]:
    """Return the fields of a kind whose words are searched, titles of tasks aside."""
    return _TEXTS.get(kind, ())


def document(entity: EntityId, row: Row | Alone) -> Document | None:
    """Return the words of an entity, None for one of which no creation is live."""
    if not row.kind:
        return None
    name = name_of(entity)
    if row.kind == "task":
        return Document(name, _text(row, "title"), _text(row, "reason"), _tags(row))
    if row.kind in _NAMED:
        return Document(name, label=_text(row, "name"))
    return Document(name, text=" ".join(_text(row, field) for field in text_fields(row.kind)))


def _text(row: Row | Alone, field: str) -> str:
    value = row.value(field)
    return spelled(value) if isinstance(value, str) else ""


def _tags(row: Row | Alone) -> str:
    found = [
        name[len(LABELS) :][:TAG_DIGITS]
        for name in row.fields
        if name.startswith(LABELS) and row.value(name) is True
    ]
    category: Value = row.value(CATEGORY)
    if isinstance(category, bytes) and len(category) == ID_BYTES:
        found.append(tag_of(EntityId(category)))
    return " ".join(sorted(found)) if found else ""


class Changes:
    """What the index is to lose and to gain for it to follow the fold."""

    def __init__(self) -> None:
        self._dropped: list[tuple[int]] = []
        self._added: list[tuple[int, str, str, str, str, str]] = []

    def note(self, no: int, old: Document | None, new: Document | None) -> None:
        """Note an entity: its number, the words that are indexed, and those that it has now."""
        if old == new:
            return
        if old is not None:
            self._dropped.append((no,))
        if new is not None:
            self._added.append((no, *new))

    def write(self, db: apsw.Connection) -> None:
        """Bring the index to what the fold has become."""
        # In order of the rows: the index writes out what it has gathered wherever a number goes back.
        db.executemany("DELETE FROM search WHERE rowid = ?", sorted(self._dropped))
        db.executemany(_INSERT, sorted(self._added))


def rebuild(db: apsw.Connection) -> None:
    """Make the index anew from the fold."""
    db.execute("INSERT INTO search (search) VALUES ('delete-all')")
    _fill(db, _INSERT)


def faults(db: apsw.Connection) -> list[str]:
    """Say where the index is not what the fold says: none in a sound store. Costs a pass over everything."""
    rows: Any = db.execute("PRAGMA main.integrity_check('search')").fetchall()
    broken = [str(words) for (words,) in rows if words != "ok"]
    return broken or _differences(db)


def _differences(db: apsw.Connection) -> list[str]:
    """Compare the index with one made anew, word for word."""
    columns = "name, title, text, tags, label, content = ''"
    db.execute(f"CREATE VIRTUAL TABLE temp.again USING fts5 ({columns}, tokenize = '{_TOKENS}')")
    try:
        _fill(db, _INSERT.replace("search", "temp.again"))
        db.execute("CREATE VIRTUAL TABLE temp.kept USING fts5vocab ('main', 'search', 'instance')")
        db.execute("CREATE VIRTUAL TABLE temp.made USING fts5vocab ('temp', 'again', 'instance')")
        kept, made = (db.execute(f"SELECT * FROM temp.{name}") for name in ("kept", "made"))
        same = all(one == other for one, other in zip_longest(kept, made))
        kept.close()
        made.close()
        return [] if same else ["the index of words is not that of the entities"]
    finally:
        for name in ("kept", "made", "again"):
            db.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _fill(db: apsw.Connection, insert: str) -> None:
    """Index every entity, some at a time."""
    after = 0
    while found := list(_documents(db, after)):
        db.executemany(insert, ((no, *words) for no, words in found if words is not None))
        after = found[-1][0]


def _documents(db: apsw.Connection, after: int) -> Iterator[tuple[int, Document | None]]:
    rows: Any = db.execute(
        "SELECT no, id, state FROM entity WHERE no > ? ORDER BY no LIMIT ?", (after, _ROWS_AT_ONCE)
    )
    for no, entity, state in rows:
        yield no, document(entity, load(state))
