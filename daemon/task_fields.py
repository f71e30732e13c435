"""The fields of a task, a row each: what every place that lists them reads.

Never says how a value is checked, read or shown: each place does so by the type of the row. The command line
imports this module, so it imports only what is cheap.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

FieldType = Literal[
    "title", "status", "reason", "priority", "day", "due_time", "minutes", "language", "name", "names"
]
"""What a field holds. A `name` is that of a category, `names` are those of labels.

A `due_time` is the hour of the day in `due`, and is read, shown and taken away with it.
"""

STATUSES: Final = ("OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED")
IN_PROGRESS: Final = "IN PROGRESS"
CLOSED_STATUSES: Final = ("DONE", "REJECTED")
"""The statuses of a task that is over; the store knows them by itself, since it is below."""


class Option(NamedTuple):
    """The option of `placet add` and `placet task edit` that sets a field."""

    flag: str
    metavar: str
    help: str


class FormField(NamedTuple):
    """A field in the forms of the page: the words beside it, and its place among the others.

    `label` names it where what was typed is given back; "" for what is chosen, not typed.
    """

    place: int
    asked: str
    label: str = ""
    is_on_new: bool = False


class TaskField(NamedTuple):
    """A field of a task: what it is called in the API, what it holds, and where else it stands.

    `word` is what it is called in the log. `kept_as` is what the journal calls it, if that is not its name.
    `fact` says a value in a line of facts, `late` says a day that has passed if that matters; without a fact,
    what is said of the value depends on more than the value. `form` is None for what no form of
    the page edits. `prompt` is what an agent's prompt calls it, beside the fields that it always has.
    `exported_as` is what exports call it in formats without a word for it, "" if all have a word or no place.
    """

    name: str
    type: FieldType
    word: str
    kept_as: str = ""
    option: Option | None = None
    fact: str = ""
    late: str = ""
    form: FormField | None = None
    prompt: str = ""
    exported_as: str = ""


TASK_FIELDS: Final = (
    TaskField(
        "title", "title", word="title", form=FormField(1, asked="Title", label="Title", is_on_new=True)
    ),
    TaskField(
        "status",
        "status",
        word="status",
        option=Option("--status", "STATUS", help=", ".join(STATUSES) + "."),
    ),
    TaskField(
        "reason",
        "reason",
        word="reason",
        option=Option("--reason", "TEXT", help="Why; BLOCKED and ON HOLD need one."),
    ),
    TaskField(
        "priority",
        "priority",
        word="priority",
        option=Option("--priority", "P", help="P0 (now) to P3 (some day)."),
        form=FormField(5, asked="Priority"),
    ),
    TaskField(
        "due",
        "day",
        word="due",
        option=Option("--due", "DATE", help="friday, friday 14:00, in 2 weeks, YYYY-MM-DD."),
        fact="due {day}",
        late="overdue: {day}",
        form=FormField(2, asked="Due, such as friday, friday 14:00, 2026-12-24", label="Due", is_on_new=True),
    ),
    TaskField(
        "due_time",
        "due_time",
        word="due time",
        option=Option("--due-time", "TIME", help="The hour of the day on which it is due: 14:00; none."),
        exported_as="due_time",
    ),
    TaskField(
        "start",
        "day",
        word="start",
        option=Option(
            "--start", "DATE", help="The day before which lists do not show it: monday, YYYY-MM-DD."
        ),
        fact="from {day}",
        exported_as="start",
        form=FormField(3, asked="Not shown before, such as monday or 2026-12-24", label="Start"),
        prompt="startDate",
    ),
    TaskField(
        "estimate_minutes",
        "minutes",
        word="estimate",
        option=Option("--estimate", "TIME", help="How long it takes: 90, 2h, 1h30."),
        exported_as="estimate",
        form=FormField(4, asked="How long it takes, such as 45 min or 2 h", label="Length", is_on_new=True),
    ),
    TaskField(
        "labels",
        "names",
        word="label",
        kept_as="label_ids",
        option=Option("--label", "NAME", help="A label; may be given again."),
        form=FormField(7, asked="Labels, one on each line", label="Labels"),
    ),
    TaskField(
        "category",
        "name",
        word="category",
        kept_as="category_id",
        option=Option("--category", "NAME", help="A category."),
        form=FormField(6, asked="Category", label="Category"),
    ),
    TaskField(
        "language",
        "language",
        word="language",
        option=Option("--language", "CODE", help="The language it is written in, such as de."),
        exported_as="language",
    ),
)

DAY_FIELDS: Final = tuple(field for field in TASK_FIELDS if field.type == "day")


def form_fields(*, is_new: bool) -> dict[TaskField, FormField]:
    """Return the fields in a form of the page, in its order: that of a new task, or that of any."""
    in_forms = {field: field.form for field in TASK_FIELDS if field.form is not None}
    return {
        field: form
        for field, form in sorted(in_forms.items(), key=lambda pair: pair[1].place)
        if form.is_on_new or not is_new
    }
