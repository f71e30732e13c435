"""The values of a task that are shown as they are kept: texts, numbers, and what a task has that names none.

Never shows a value of another type than its field has: a member can sign one of any type.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from daemon.due_time import due_time_on
from daemon.journal.fields.validation import PLAIN_STATUS, PRIORITY_DEFAULT
from daemon.task_fields import TASK_FIELDS, FieldType, TaskField

PLAIN_FIELDS: Final = tuple(field for field in TASK_FIELDS if not field.kept_as)
"""The fields of a task that name nothing else in the journal."""

_WITHOUT_VALUE: Final[dict[FieldType, str]] = {
    "title": "",
    "status": PLAIN_STATUS,
    "priority": PRIORITY_DEFAULT,
}
"""What a task has that names none; of the other fields it has no value."""


def plain_values(
    value_of: Callable[[str], object], fields: Sequence[TaskField] = PLAIN_FIELDS
) -> dict[str, Any]:
    """Return the values of a task by name; `value_of` returns what is kept of a field, None for nothing."""
    values = {field.name: _shown_value(field.type, value_of(field.name)) for field in fields}
    if values.get("due_time") is not None and due_time_on(value_of("due"), values["due_time"]) is None:
        values["due_time"] = None
    return values


def _shown_value(type_: FieldType, value: object) -> str | int | None:
    if type_ == "minutes":
        return value if type(value) is int else None
    return value if isinstance(value, str) and value else _WITHOUT_VALUE.get(type_)
