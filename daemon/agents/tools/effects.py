"""What a change item writes: the entity, and the values that its arguments come down to.

Never writes, and never checks whether the write is allowed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.questions import change_of_answer
from daemon.agents.tools.table import (
    CLEARING_TOOLS,
    TOOLS,
    Tool,
    WriteTarget,
    effective_arguments,
    is_effective_argument,
)
from store.fold.effects import entity_of_item
from store.fold.item_name import ItemName, Requirement
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text, tagged_digest


@dataclass(frozen=True, slots=True)
class Effect:
    """The write of one item. A change of one of its `fields` since the proposal makes the item stale.

    `accompanying` are the fields that only go with others, as a reason goes with its status.
    """

    entity: EntityId
    kind: str
    creates: bool
    fields: dict[str, Value]
    accompanying: frozenset[str] = frozenset()

    def is_already_applied(self, current: Callable[[str], Value]) -> bool:
        """Report whether the fields already have their values; what writes none changes nothing.

        Accompanying fields do not count by themselves.
        """
        if not self.fields:
            return False
        decisive = (field for field in self.fields if field not in self.accompanying)
        return all(is_same_value(current(field), self.fields[field]) for field in decisive)


def is_same_value(current: Value, wanted: Value) -> bool:
    """Report whether a value equals the wanted one; a value that was never set equals False."""
    return current == wanted or (current is None and wanted is False)


def effect_of(name: str, args: Arguments, item: EntityId, task: EntityId) -> Effect:
    """Return what confirming an item writes; an answer that changes nothing writes no field of its task."""
    tool = TOOLS[name]
    if tool.writes is WriteTarget.ANSWER:
        change = change_of_answer(args)
        if change is None:
            return Effect(task, "task", creates=False, fields={})
        return effect_of(change.tool, change.args, item, task)
    if tool.writes is WriteTarget.NEW_ITEM:
        created = entity_of_item(item)
        return Effect(created, "checklist_item", creates=True, fields=_fields_given(tool, args))
    if tool.writes is WriteTarget.NEW_TASK:
        new_task = _fields_given(tool, args) | {"status": "OPEN"}
        return Effect(entity_of_item(item), "task", creates=True, fields=new_task)
    if tool.writes is WriteTarget.ITEM:
        return Effect(
            id_from_text(args["id"]), "checklist_item", creates=False, fields=_fields_given(tool, args)
        )
    if tool.writes is WriteTarget.MEMBER:
        members: dict[str, Value] = {
            f"{group}/{args[argument]}": name not in CLEARING_TOOLS
            for group, argument in tool.argument_by_field.items()
        }
        return Effect(task, "task", creates=False, fields=members)
    assert tool.writes is WriteTarget.TASK, f"{name} writes nothing"
    fields = {field: args.get(argument) for field, argument in tool.argument_by_field.items()}
    with_others = frozenset(
        field for field, argument in tool.argument_by_field.items() if not is_effective_argument(argument)
    )
    return Effect(task, "task", creates=False, fields=fields, accompanying=with_others)


def _fields_given(tool: Tool, args: Arguments) -> dict[str, Value]:
    """Return the fields whose arguments are given: an update leaves the others alone."""
    return {field: args[argument] for field, argument in tool.argument_by_field.items() if argument in args}


def named_entity_id(name: str, args: Arguments) -> EntityId | None:
    """Return the entity that a call names by its id; None for a tool that works on the task itself."""
    names_item = TOOLS[name].writes in (WriteTarget.ITEM, WriteTarget.MEMBER)
    return id_from_text(args["id"]) if names_item else None


def fingerprint_of(task: EntityId, tool: str, args: Arguments) -> bytes:
    """Return a hash of 32 bytes over what a proposal comes down to.

    Two proposals that differ in reason, evidence, confidence or rationale alone have the same fingerprint.
    """
    target = named_entity_id(tool, args)
    return tagged_digest(
        "fp",
        id_to_text(task),
        tool,
        None if target is None else id_to_text(target),
        effective_arguments(args),
    )


def written_entity(name: str, args: Arguments, task: EntityId) -> EntityId | None:
    """Return the entity that a call writes; None if it makes one, whose id follows from the item's."""
    writes = TOOLS[name].writes
    if writes is WriteTarget.ANSWER:
        change = change_of_answer(args)
        return task if change is None else written_entity(change.tool, change.args, task)
    if writes in (WriteTarget.NEW_ITEM, WriteTarget.NEW_TASK):
        return None
    return id_from_text(args["id"]) if writes is WriteTarget.ITEM else task


def item_id(
    fingerprint: bytes,
    previous: EntityId | None,
    task: EntityId,
    entity: EntityId | None,
    requirement: Requirement | None = None,
) -> EntityId:
    """Return the id of the item that proposes this.

    `previous` is the decided item that it follows, if any. `entity` is what it writes, None if it makes that:
    either the item's id follows from the entity's, or the entity's from the item's. `requirement` is what its
    verdicts need.
    """
    return ItemName(fingerprint, previous, entity, requirement).item_id(time_of=task)


def change_set_id(run_key: str, number: int, task: EntityId) -> EntityId:
    """Return the id of a run's change set with this number."""
    return derived_id("set", run_key, number, time_of=task)


def args_hash(tool: str, args: Arguments) -> bytes:
    """Return a hash of 32 bytes over the arguments that a person was shown."""
    return tagged_digest("args", tool, args)


def operation_id(run_key: str, tool: str, args: Arguments, targets: list[EntityId]) -> str:
    """Return the id of an operation. It is the same on every device and for every repetition."""
    return tagged_digest(
        "operation", run_key, tool, args, ",".join(sorted(id_to_text(target) for target in targets))
    ).hex()
