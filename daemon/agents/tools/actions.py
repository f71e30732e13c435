"""Actions outside the journal: the names by which a person says what becomes of asks.

Never takes the name of a tool for an action: what is set for a tool is about changes to the journal.
"""

from typing import Final

from daemon.agents.tools.table import TOOLS, normalised_name
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity

ACTION_CHARS_MAX: Final = 100
"""How long the name of an action may be."""


def action_key(name: str) -> str | None:
    """Return the name under which settings of an action are kept; None if it has none of its own.

    Neither case nor space tells two actions apart, so that no other spelling slips past a setting. What an
    agent asks under the name of a tool, or under no name that can be kept, goes by the settings for all.
    """
    key = " ".join(comparison_key(name).split())
    return None if not 0 < len(key) <= ACTION_CHARS_MAX or normalised_name(key) in TOOLS else key


def actions_among(agent: Entity, prefix: str) -> list[str]:
    """Return the actions for which a field of an agent after `prefix` has a value, in order."""
    fields = (field for field in agent.fields() if field.startswith(prefix))
    return sorted(
        name
        for field in fields
        if (name := field.removeprefix(prefix)) == action_key(name)
        and any(version.value is not None for version in agent.versions(field))
    )
