"""What a call names by its id, and whether that is of the agent's own task.

Never lets an agent reach another task: what is known to belong elsewhere is refused, whoever asks for it.
"""

from daemon.agents.effects import target_of
from daemon.agents.tools import TOOLS, Arguments, Writes
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def target(snapshot: Snapshot, tool: str, args: Arguments) -> Entity | None:
    """Return the checklist item or label that a call names; None where it names none, or none known here."""
    named = target_of(tool, args)
    held = None if named is None else snapshot.entity(named)
    return held if held is not None and held.exists else None


def name(snapshot: Snapshot, tool: str, args: Arguments) -> str | None:
    """Return what people call the target of a call, None where it has no name here."""
    held = target(snapshot, tool, args)
    return None if held is None else held.text("title") or held.text("name") or None


def outside(snapshot: Snapshot, task: EntityId, tool: str, args: Arguments) -> str | None:
    """Say that a call names something that is not of this task; None where it is, or cannot be told.

    An unknown checklist item may be on its way from another device. An unknown label was never offered.
    """
    kind = _KINDS.get(TOOLS[tool].writes)
    held = target(snapshot, tool, args)
    if kind is None or (held is None and kind == "checklist_item"):
        return None
    if held is None or held.kind != kind:
        return f"{args['id']} is no {kind.replace('_', ' ')}: use an id that you were given"
    if kind == "checklist_item" and belongs(snapshot, task, held) is False:
        return f"{args['id']} is a checklist item of another task: only your own task's can be changed"
    return None


_KINDS = {Writes.ITEM: "checklist_item", Writes.MEMBER: "label"}


def belongs(snapshot: Snapshot, task: EntityId, item: Entity) -> bool | None:
    """Say whether a checklist item is of this task; None where its checklist is not known here."""
    checklist = item.value("checklist_id")
    held = snapshot.entity(EntityId(checklist)) if isinstance(checklist, bytes) else None
    return None if held is None or not held.exists else held.value("task_id") == task
