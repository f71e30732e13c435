"""Which proposals of a change item are what their id says: an agent's of the task, unaltered.

An item's id is the hash of what it proposes, so another set that names it cannot make it mean something else.
Never trusts that what another device wrote was checked there.
"""

from dataclasses import replace
from typing import NamedTuple

from daemon.agents.effects import fingerprint_of, item_id
from daemon.agents.records import agent_id
from daemon.agents.tools import TOOLS, ArgumentFault, Arguments, validated
from store.item import Item, Occurrence
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class Genuine(NamedTuple):
    """An item with those of its proposals that count, and the arguments of the newest of them."""

    item: Item
    args: Arguments


def genuine(snapshot: Snapshot, item: Item) -> Genuine | None:
    """Leave out of an item what is not its own; None where nothing is left.

    Of proposals that differ in how they argue for the same, the newest one's arguments count: its words are
    those that are shown.
    """
    checked = [(one, _arguments(snapshot, item.id, one)) for one in item.occurrences]
    held = [(one, args) for one, args in checked if args is not None]
    if not held:
        return None
    _, args = max(held, key=lambda one: (one[0].created_ms, one[0].change_set))
    return Genuine(replace(item, occurrences=tuple(one for one, _ in held)), args)


def _arguments(snapshot: Snapshot, item: EntityId, proposed: Occurrence) -> Arguments | None:
    """Return the checked arguments of a proposal; None for one that is not this item's."""
    tool = TOOLS.get(proposed.tool)
    if tool is None or not tool.deferrable or proposed.agent != agent_id(proposed.task):
        return None
    try:
        args = validated(tool.name, proposed.args)
    except ArgumentFault:
        return None
    fingerprint = fingerprint_of(proposed.task, tool.name, args)
    return args if _names(snapshot, fingerprint, item, proposed.task) else None


def _names(snapshot: Snapshot, fingerprint: bytes, item: EntityId, task: EntityId) -> bool:
    """Say whether a fingerprint leads to this item, as the first of its chain or after one that is held."""
    if item == item_id(fingerprint, None, task):
        return True
    return any(item == item_id(fingerprint, one, task) for one in snapshot.items_like(fingerprint))
