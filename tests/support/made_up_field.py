"""A field of a task that no version has: a row of the table, and its types where these are written by hand.

A plugin of pytest, which loads it before anything reads the table. Never helps a face: what the row does not
bring there has been forgotten.
"""

from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from daemon import task_fields
from daemon.task_fields import FormField, Option, TaskField

ROW: Final = TaskField(
    "made_up",
    "day",
    word="made up",
    option=Option("--made-up", "DATE", help="Made up."),
    fact="made up {day}",
    form=FormField(9, asked="A day that is made up", label="Made up", is_on_new=True),
    prompt="madeUp",
    exported_as="made_up",
)


def _put(module: Any, name: str, value: object) -> None:
    setattr(module, name, value)


def _with_row(struct: type[msgspec.Struct], *field: Any) -> type[msgspec.Struct]:
    config = struct.__struct_config__
    return msgspec.defstruct(
        struct.__name__,
        [("made_up", *field)],
        bases=(struct,),
        frozen=config.frozen,
        forbid_unknown_fields=config.forbid_unknown_fields,
        kw_only=True,
    )


_put(task_fields, "TASK_FIELDS", (*task_fields.TASK_FIELDS, ROW))
_put(task_fields, "DAY_FIELDS", (*task_fields.DAY_FIELDS, ROW))

from daemon.journal.views import structures  # noqa: E402 - it reads no row, and what reads rows reads it

_put(structures, "BriefTask", _with_row(structures.BriefTask, str | None))
_put(structures, "Task", _with_row(structures.Task, str | None))

from daemon.formats.core import task_values  # noqa: E402 - so does this


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskValues(task_values.TaskValues):
    made_up: str | None = None


_put(task_values, "TaskValues", _TaskValues)

from daemon.journal import tasks  # noqa: E402 - so does this

_put(tasks, "NewTask", _with_row(tasks.NewTask, str | None, None))
_put(tasks, "TaskEdit", _with_row(tasks.TaskEdit, str | UnsetType | None, UNSET))
