"""What a call names by its id, and whether that belongs to the agent's own task.

Never lets an agent reach another task: a call is refused if it names what is known to belong elsewhere. An
agent of another maker is never told that it is there.
"""

from daemon.agents.proposing.sight import Sight
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.checklists import checklist_of
from daemon.agents.tools.effects import named_entity_id
from daemon.agents.tools.table import TOOLS, WriteTarget
from daemon.journal.references.names import shown_name
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def named_entity(snapshot: Snapshot, tool: str, args: Arguments) -> Entity | None:
    """Return the checklist item or label that a call names; None if it names none that is known here."""
    identifier = named_entity_id(tool, args)
    entity = None if identifier is None else snapshot.entity(identifier)
    return entity if entity is not None and entity.exists else None


def target_name(snapshot: Snapshot, tool: str, args: Arguments) -> str | None:
    """Return the name of a call's target; None if it has no name here."""
    entity = named_entity(snapshot, tool, args)
    return None if entity is None else shown_name(entity) or None


def name_in_sight(snapshot: Snapshot, sight: Sight, task: EntityId, tool: str, args: Arguments) -> str | None:
    """Return the name of a call's target; None if it has none, or if the agent may not know of it by now."""
    entity = named_entity(snapshot, tool, args)
    return target_name(snapshot, tool, args) if sight.shows_target(task, entity) else None


def out_of_reach_reason(
    snapshot: Snapshot, sight: Sight, task: EntityId, tool: str, args: Arguments
) -> str | None:
    """Return that a call names something of another task; None if it does not, or nobody can know yet.

    An unknown checklist item may be on its way from another device. An unknown label was never offered. To
    agents of other makers all is unknown that they may not know of, and they are refused both.
    """
    kind = _KINDS.get(TOOLS[tool].writes)
    entity = named_entity(snapshot, tool, args)
    if kind is None or (entity is None and kind == "checklist_item" and not sight.is_limited):
        return None
    if entity is None or entity.kind != kind or not sight.shows_target(task, entity):
        return f"{args['id']} is no {kind.replace('_', ' ')}: use an id that you were given"
    if kind == "checklist_item" and belongs_to_task(snapshot, task, entity) is False:
        return f"{args['id']} is a checklist item of another task: only your own task's can be changed"
    return None


_KINDS = {WriteTarget.ITEM: "checklist_item", WriteTarget.MEMBER: "label"}


def belongs_to_task(snapshot: Snapshot, task: EntityId, item: Entity) -> bool | None:
    """Report whether a checklist item is of this task; None if its checklist is not known here."""
    checklist = checklist_of(snapshot, item)
    return None if checklist is None or not checklist.exists else checklist.value("task_id") == task
