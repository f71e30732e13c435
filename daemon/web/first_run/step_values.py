"""What the templates of the first steps are filled with, here and in the empty inbox.

Never writes.
"""

from typing import Any

from daemon.agents.person.first_steps import STEPS, first_steps, offered_tasks
from daemon.formats.importing import FILE_BYTES_MAX
from daemon.text_files import ENDINGS_OF_LISTS
from store.snapshot import Snapshot


def step_values(snapshot: Snapshot) -> dict[str, Any]:
    """Return which steps are done, and what their forms offer."""
    steps = first_steps(snapshot)
    return {
        "steps": steps,
        "steps_count": STEPS,
        "offered": [] if steps.has_agents else offered_tasks(snapshot),
        "endings": ENDINGS_OF_LISTS,
        "bytes_max": FILE_BYTES_MAX,
    }
