"""What a change item writes: the entity and the values that its arguments come down to.

Never writes, and never asks whether it may.
"""

from dataclasses import dataclass

from daemon.agents.tools import ADD_CHECKLIST_ITEM, TOOLS, Arguments, effective
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, digest, text


@dataclass(frozen=True, slots=True)
class Effect:
    """The write of one item: `fields` are those that it is judged by when it may be stale."""

    entity: EntityId
    kind: str
    creates: bool
    fields: dict[str, Value]


def effect_of(tool: str, args: Arguments, item: EntityId, task: EntityId) -> Effect:
    """Return what confirming an item writes."""
    if tool == ADD_CHECKLIST_ITEM:
        created = derived_id("entity", text(item), time_of=item)
        fields: dict[str, Value] = {"title": args["title"], "is_checked": args["isChecked"]}
        return Effect(created, "checklist_item", creates=True, fields=fields)
    return Effect(task, "task", creates=False, fields=values_set(tool, args))


def values_set(tool: str, args: Arguments) -> dict[str, Value]:
    """Return the task fields that a tool sets, empty for one that makes something."""
    return {field: args[argument] for field, argument in TOOLS[tool].sets.items()}


def fingerprint_of(task: EntityId, tool: str, target: EntityId | None, args: Arguments) -> bytes:
    """Hash what a proposal comes down to: two worded differently are one (DOMAIN.md §2). 32 bytes."""
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
