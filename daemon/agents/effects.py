"""What a change item writes: the entity and the values that its arguments come down to.

Never writes, and never asks whether it may.
"""

from collections.abc import Callable
from dataclasses import dataclass

from daemon.agents.tools import TOOLS, Arguments, Tool, Writes, effective, is_effective
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, digest, from_text, text


@dataclass(frozen=True, slots=True)
class Effect:
    """The write of one item: `fields` are those that it is judged by when it may be stale.

    `accompanying` are those among them that only go with the others, as a reason goes with its status.
    """

    entity: EntityId
    kind: str
    creates: bool
    fields: dict[str, Value]
    accompanying: frozenset[str] = frozenset()

    def is_so(self, current: Callable[[str], Value]) -> bool:
        """Say whether the fields already have their values; a reason alone is nothing to propose."""
        decisive = (field for field in self.fields if field not in self.accompanying)
        return all(same(current(field), self.fields[field]) for field in decisive)


def same(current: Value, wanted: Value) -> bool:
    """Compare a value with a wanted one: what was never set is as good as false."""
    return current == wanted or (current is None and wanted is False)


def effect_of(name: str, args: Arguments, item: EntityId, task: EntityId) -> Effect:
    """Return what confirming an item writes."""
    tool = TOOLS[name]
    if tool.writes is Writes.NEW_ITEM:
        created = derived_id("entity", text(item), time_of=item)
        return Effect(created, "checklist_item", creates=True, fields=_given(tool, args))
    if tool.writes is Writes.ITEM:
        return Effect(from_text(args["id"]), "checklist_item", creates=False, fields=_given(tool, args))
    if tool.writes is Writes.MEMBER:
        members: dict[str, Value] = {f"{group}/{args[named]}": True for group, named in tool.sets.items()}
        return Effect(task, "task", creates=False, fields=members)
    assert tool.writes is Writes.TASK, f"{name} writes nothing"
    fields = {field: args.get(argument) for field, argument in tool.sets.items()}
    with_others = frozenset(field for field, argument in tool.sets.items() if not is_effective(argument))
    return Effect(task, "task", creates=False, fields=fields, accompanying=with_others)


def _given(tool: Tool, args: Arguments) -> dict[str, Value]:
    """Return the fields whose arguments are there: an update leaves the others alone."""
    return {field: args[argument] for field, argument in tool.sets.items() if argument in args}


def target_of(name: str, args: Arguments) -> EntityId | None:
    """Return the entity that a call names by its id, None for a tool that works on the task itself."""
    named = TOOLS[name].writes in (Writes.ITEM, Writes.MEMBER)
    return from_text(args["id"]) if named else None


def fingerprint_of(task: EntityId, tool: str, args: Arguments) -> bytes:
    """Hash what a proposal comes down to: two worded differently are one (DOMAIN.md §2). 32 bytes."""
    target = target_of(tool, args)
    return digest("fp", text(task), tool, None if target is None else text(target), effective(args))


def item_id(fingerprint: bytes, previous: EntityId | None, task: EntityId) -> EntityId:
    """Return the id of the item that proposes this, after the decided one that it follows, if any."""
    return derived_id("item", fingerprint.hex(), None if previous is None else text(previous), time_of=task)


def change_set_id(run_key: str, number: int, task: EntityId) -> EntityId:
    """Return the id of a run's n-th change set."""
    return derived_id("set", run_key, number, time_of=task)


def args_hash(tool: str, args: Arguments) -> bytes:
    """Hash the arguments that a person was shown. 32 bytes."""
    return digest("args", tool, args)


def operation_id(run_key: str, tool: str, args: Arguments, targets: list[EntityId]) -> str:
    """Return the id of an operation, the same wherever and however often it is done."""
    return digest("operation", run_key, tool, args, ",".join(sorted(text(one) for one in targets))).hex()
