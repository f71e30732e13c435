"""What a change did, in a line that names the thing: "Done: Call Ana".

Never longer than a line, however much a change contains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.task_fields import TASK_FIELDS
from daemon.words.changes import NAMING_FIELDS
from daemon.words.terminal_text import truncate
from daemon.words.translation import _, ngettext
from daemon.words.values import field_words, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.shapes.answers import ChangeJson

_TITLE_WIDTH = 60
_SIDE_KINDS = ("label", "category", "checklist")
_SHORT_VALUES: Final = frozenset(
    field.name for field in TASK_FIELDS if field.type in ("day", "minutes", "priority", "status")
)
_VALUES_MAX: Final = 2


def deed_words(changes: Sequence[ChangeJson], *, is_undo: bool = False) -> str:
    """Say what a change did, by the rows that the log shows of it; an undo is called one."""
    things = {change.get("entity"): change for change in changes}
    others = {entity: change for entity, change in things.items() if change.get("kind") not in _SIDE_KINDS}
    if not things:
        return _("Undone") if is_undo else _("Changed")
    if len(others or things) > 1:
        count = len(others or things)
        if is_undo:
            return ngettext("Undone: {count} thing", "Undone: {count} things", count).format(count=count)
        return ngettext("Changed: {count} thing", "Changed: {count} things", count).format(count=count)
    (entity, first), *_more = (others or things).items()
    title = truncate(str(first.get("title") or ""), _TITLE_WIDTH)
    if is_undo:
        return _("Undone: {title}").format(title=title)
    rows = {change.get("field"): change for change in changes if change.get("entity") == entity}
    words = _deed_template(rows)
    values = _new_values(rows) if words == _("Changed: {title}") else []
    return " · ".join([words.format(title=title), *values])


def _new_values(rows: dict[str | None, ChangeJson]) -> list[str]:
    """Say to what a few short values of a task changed, so that what was typed is read back."""
    values = [(field, row.get("after")) for field, row in rows.items() if field in _SHORT_VALUES]
    if len(values) > _VALUES_MAX:
        return []
    return [with_colon(field_words(field)) + value_words(after, str(field)) for field, after in values]


def _deed_template(rows: dict[str | None, ChangeJson]) -> str:
    """Return the words for what was done to one thing, which name it as {title}."""
    after = {field: row.get("after") for field, row in rows.items()}
    is_new = any(field in NAMING_FIELDS and row.get("before") is None for field, row in rows.items())
    if after.get("deleted") is True:
        return _("Removed: {title}")
    if after.get("deleted") is False:
        return _("Brought back: {title}")
    if is_new:
        return _("Added: {title}")
    if after.get("status") == "DONE":
        return _("Done: {title}")
    if after.get("is_checked") is True:
        return _("Ticked: {title}")
    if after.get("is_checked") is False:
        return _("Tick taken back: {title}")
    if after.get("position") and not after.keys() - {"position", "checklist_id"}:
        return _("Moved: {title}")
    return _("Changed: {title}")
