"""What the templates of the first steps are filled with, here and in the empty inbox.

Never writes.
"""

from typing import Any

from daemon.agents.person.first_steps import STEPS, first_steps, offered_tasks
from daemon.file_formats import endings
from daemon.formats.importing import FILE_BYTES_MAX
from store.snapshot import Snapshot


def step_values(snapshot: Snapshot) -> dict[str, Any]:
    """Return which steps are done, and what their forms offer."""
    steps = first_steps(snapshot)
    return {
        "steps": steps,
        "steps_count": STEPS,
        "offered": [] if steps.has_agents else offered_tasks(snapshot),
        "endings": endings(lists_only=True),
        "bytes_max": FILE_BYTES_MAX,
    }
