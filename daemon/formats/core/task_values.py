"""The values of a task that stand alone: what a file says of them, and what is written of them.

Never has a value that names something else, such as a label.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskValues:
    """The values as they are kept; None for none."""

    priority: str | None = None
    due: str | None = None
    due_time: str | None = None
    start: str | None = None
    estimate_minutes: int | None = None
    language: str | None = None
