"""The fields of a task, a row each: what every place that lists them reads.

Never says how a value is checked, read or shown: each place does so by the type of the row. The command line
imports this module, so it imports only what is cheap.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

FieldType = Literal["title", "status", "reason", "priority", "day", "minutes", "language", "name", "names"]
"""What a field holds. A `name` is that of a category, `names` are those of labels."""

STATUSES: Final = ("OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED")


class Option(NamedTuple):
    """The option of `placet add` and `placet task edit` that sets a field."""

    flag: str
    metavar: str
    help: str


class TaskField(NamedTuple):
    """A field of a task: what it is called in the API, what it holds, and where else it stands.

    `word` is what it is called in the log. `kept_as` is what the journal calls it, if that is not its name.
    `fact` says a value in a line of facts, `late` says a day that has passed if that matters; without a fact,
    what is said of the value depends on more than the value.
    """

    name: str
    type: FieldType
    word: str
    kept_as: str = ""
    option: Option | None = None
    fact: str = ""
    late: str = ""


TASK_FIELDS: Final = (
    TaskField("title", "title", word="title"),
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
    ),
    TaskField(
        "due",
        "day",
        word="due",
        option=Option("--due", "DATE", help="friday, in 2 weeks, 15 March, YYYY-MM-DD."),
        fact="due {day}",
        late="overdue: {day}",
    ),
    TaskField(
        "estimate_minutes",
        "minutes",
        word="estimate",
        option=Option("--estimate", "TIME", help="How long it takes: 90, 2h, 1h30."),
    ),
    TaskField(
        "labels",
        "names",
        word="label",
        kept_as="label_ids",
        option=Option("--label", "NAME", help="A label; may be given again."),
    ),
    TaskField(
        "category",
        "name",
        word="category",
        kept_as="category_id",
        option=Option("--category", "NAME", help="A category."),
    ),
    TaskField(
        "language",
        "language",
        word="language",
        option=Option("--language", "CODE", help="The language it is written in, such as de."),
    ),
)

DAY_FIELDS: Final = tuple(field for field in TASK_FIELDS if field.type == "day")
