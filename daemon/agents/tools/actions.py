"""Actions outside the journal: the names by which a person says what becomes of asks.

Never takes the name of a tool for an action: what is set for a tool is about changes to the journal.
"""

import re
import unicodedata
from typing import Final

from daemon.agents.tools.table import TOOLS
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity

ACTION_CHARS_MAX: Final = 100
"""How long the name of an action may be."""
ALL_TOOLS: Final = "all"
"""What stands for all tools and actions that have no setting of their own, and so for no action."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
"""The categories of characters that show nothing."""
_BLANKS: Final = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Marks and letters that show nothing, either."""
_APART: Final = re.compile(r"[\s_.-]+")


def action_key(name: str) -> str | None:
    """Return the name under which settings of an action are kept; None if it has none of its own.

    Neither case, nor space, nor a character that shows nothing or the same as another one tells two actions
    apart, so that no other spelling slips past a setting. What an agent asks under the name of a tool, or
    under no name that can be kept, goes by the settings for all.
    """
    key = _plain(name)
    if key == ALL_TOOLS:
        return None
    return None if not 0 < len(key) <= ACTION_CHARS_MAX or tool_named(key) is not None else key


def tool_named(name: str) -> str | None:
    """Return the tool that a name spells; None for another one's tool, as "mcp__tracker__add_task" is."""
    spelled = _APART.sub("_", _plain(name)).strip("_")
    return spelled if spelled in TOOLS else None


def _plain(name: str) -> str:
    """Return a name as it looks on one line, without case."""
    before = ""
    while name != before:
        before = name
        spaced = " ".join(unicodedata.normalize("NFKC", name).split())
        visible = "".join(sign for sign in spaced if unicodedata.category(sign) not in _UNSEEN)
        name = comparison_key(_BLANKS.sub("", visible))
    return name


def actions_among(agent: Entity, prefix: str) -> list[str]:
    """Return the actions for which a field of an agent after `prefix` has a value, in order."""
    fields = (field for field in agent.fields() if field.startswith(prefix))
    return sorted(
        name
        for field in fields
        if (name := field.removeprefix(prefix)) == action_key(name)
        and any(version.value is not None for version in agent.versions(field))
    )
