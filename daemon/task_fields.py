"""The fields of a task, a row each: what every place that lists them reads.

Never says how a value is checked, read or shown: each place does so by the type of the row. The command line
imports this module, so it imports only what is cheap.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

FieldType = Literal["title", "status", "reason", "priority", "day", "minutes", "language", "name", "names"]
"""What a field holds. A `name` is that of a category, `names` are those of labels."""


class TaskField(NamedTuple):
    """A field of a task: what it is called in the API, what it holds, and where else it stands.

    `kept_as` is what the journal calls it, if that is not its name.
    """

    name: str
    type: FieldType
    kept_as: str = ""


TASK_FIELDS: Final = (
    TaskField("title", "title"),
    TaskField("status", "status"),
    TaskField("reason", "reason"),
    TaskField("priority", "priority"),
    TaskField("due", "day"),
    TaskField("estimate_minutes", "minutes"),
    TaskField("labels", "names", kept_as="label_ids"),
    TaskField("category", "name", kept_as="category_id"),
    TaskField("language", "language"),
)
