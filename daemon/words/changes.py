"""What is said of a change of a field, on a terminal and on the page.

Never shows what only machines read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from daemon.shapes.answers import ChangeJson

NAMING_FIELDS: Final = ("title", "text", "name", "display_name")
"""The fields that name a thing: its heading says them."""
_FOR_MACHINES: Final = frozenset(
    {
        "task_id",
        "checklist_id",
        "agent_id",
        "home_device_id",
        "position",
        "beacon",
        "certificate",
        "public_key",
        "sealing_key",
        "happened_at",
        "all_notes",
        "ask_id",
        "args_hash",
        "decision_id",
        "execution_id",
        "home",
        "key",
        "maker",
        "nonce",
        "not_after",
        "rp_id",
    }
)


def is_telling(change: ChangeJson) -> bool:
    """Say whether a change is worth a line.

    What only machines read is not, nor what a new thing has by default or in its heading.
    """
    field = str(change.get("field") or "")
    if not field or field in _FOR_MACHINES or (change.get("kind") == "decision" and field != "reason"):
        return False
    new = change.get("before") is None and not change.get("left_out")
    return not new or (field not in NAMING_FIELDS and change.get("after") not in (None, False, "", []))
