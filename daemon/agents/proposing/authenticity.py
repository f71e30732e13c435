"""Which proposals of a change item are authentic: made by the task's agent, and unaltered.

An item's id is a hash of what it proposes, so another set that names the item cannot change its meaning.
Never relies on a check by the device that wrote a proposal.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.effects import fingerprint_of, item_id, written_entity
from daemon.agents.tools.table import TOOLS, validate_arguments
from store.fold.effects import ItemName
from store.fold.item import Item, Occurrence
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class AuthenticItem(NamedTuple):
    """An item with its authentic proposals alone, and the arguments of the newest of them."""

    item: Item
    args: Arguments


def authentic_item(snapshot: Snapshot, item: Item) -> AuthenticItem | None:
    """Leave out the proposals of an item that are not authentic; None if no proposal is left.

    Proposals of one item may differ in how they argue. The arguments of the newest one count, because its
    words are those that people see.
    """
    checked = [(occurrence, _arguments(snapshot, item.id, occurrence)) for occurrence in item.occurrences]
    authentic = [(occurrence, args) for occurrence, args in checked if args is not None]
    if not authentic:
        return None
    _, args = max(authentic, key=lambda pair: (pair[0].created_ms, pair[0].change_set))
    return AuthenticItem(replace(item, occurrences=tuple(occurrence for occurrence, _ in authentic)), args)


def _arguments(snapshot: Snapshot, item: EntityId, proposed: Occurrence) -> Arguments | None:
    """Return the checked arguments of a proposal; None if it is not authentic for this item."""
    tool = TOOLS.get(proposed.tool)
    if tool is None or not tool.deferrable or proposed.agent != agent_id(proposed.task):
        return None
    try:
        args = validate_arguments(tool.name, proposed.args)
    except ArgumentFault:
        return None
    fingerprint, task = fingerprint_of(proposed.task, tool.name, args), proposed.task
    entity = written_entity(tool.name, args, task)
    # Until an item's id followed from what it writes, all ids were made as are those of items that make it.
    is_genuine = any(
        item in (item_id(fingerprint, previous, task, entity), item_id(fingerprint, previous, task, None))
        for previous in _items_before(snapshot, fingerprint)
    )
    return args if is_genuine else None


def name_of_item(snapshot: Snapshot, item: Item, args: Arguments) -> ItemName | None:
    """Return what shows which entity an authentic item writes; None if it makes that, or is of an old form.

    `args` are those that the agent proposed.
    """
    fingerprint = fingerprint_of(item.task, item.tool, args)
    entity = written_entity(item.tool, args, item.task)
    if entity is None:
        return None
    names = (ItemName(fingerprint, before, entity) for before in _items_before(snapshot, fingerprint))
    return next((name for name in names if name.item_id(time_of=item.task) == item.id), None)


def _items_before(snapshot: Snapshot, fingerprint: bytes) -> Iterator[EntityId | None]:
    """Yield what an item with this fingerprint may follow: nothing, or a known item."""
    yield None
    yield from snapshot.items_with_fingerprint(fingerprint)
