"""The comment by which an exported Markdown file names what it was exported from: `<!-- placet:ID -->`.

Never checks an id: `formats/core/exported_ids.py` compares it with the journal.
"""

import re
from typing import Final

from syncproto.ids import EntityId, id_from_text, id_to_text

NOTE_FENCE: Final = "note"
"""The first word behind the fence of a block that is the text of an entry, word for word."""

_COMMENT: Final = re.compile(r"[ \t]*<!--[ \t]*placet:([0-9a-f]{32})[ \t]*-->")
_FENCE: Final = re.compile(rf"{NOTE_FENCE}(?:[ \t]+placet:([0-9a-f]{{32}}))?")


def with_id(text: str, entity: EntityId) -> str:
    """Write a comment that names an entity behind a text; a rendered page does not show it."""
    return f"{text} <!-- placet:{id_to_text(entity)} -->"


def split_id(text: str) -> tuple[str, EntityId | None]:
    """Take the last comment with an id out of a text; return the text, and None if it has no such comment.

    Only the last one is an export's: a title can end in the same words as a comment.
    """
    comments = list(_COMMENT.finditer(text))
    if not comments:
        return text, None
    start, end = comments[-1].span()
    return (text[:start] + text[end:]).rstrip(), EntityId(id_from_text(comments[-1][1]))


def encode_note_fence(entity: EntityId) -> str:
    """Return the text behind the fence of an entry: within the block, a comment would be shown."""
    return f"{NOTE_FENCE} placet:{id_to_text(entity)}"


def is_note_fence(info: str) -> bool:
    """Report whether a fenced block is the text of an entry, given the text behind its fence."""
    return _FENCE.fullmatch(info.strip()) is not None


def note_fence_id(info: str) -> EntityId | None:
    """Return the id behind the fence of an entry, None if there is none."""
    match = _FENCE.fullmatch(info.strip())
    return EntityId(id_from_text(match[1])) if match and match[1] else None
