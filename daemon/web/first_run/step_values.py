"""What the templates of the first steps are filled with, here and in the empty inbox.

Never writes.
"""

from typing import Any

from daemon.agents.person.first_steps import STEPS, first_steps, offered_tasks
from daemon.file_formats import endings
from daemon.formats.importing import FILE_BYTES_MAX
from store.snapshot import Snapshot


def step_values(snapshot: Snapshot, *, has_offer: bool = True) -> dict[str, Any]:
    """Return which steps are done, and what their forms offer; without `has_offer` they offer no task."""
    steps = first_steps(snapshot)
    return {
        "steps": steps,
        "steps_count": STEPS,
        "offered": offered_tasks(snapshot) if has_offer and not steps.has_agents else [],
        "endings": endings(lists_only=True),
        "bytes_max": FILE_BYTES_MAX,
    }
