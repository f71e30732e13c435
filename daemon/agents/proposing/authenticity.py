"""Which proposals of a change item are authentic: made by the task's agent, and unaltered.

An item's id is a hash of what it proposes, so another set that names the item cannot change its meaning.
Never relies on a check by the device that wrote a proposal.
"""

from dataclasses import replace
from typing import NamedTuple

from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.effects import fingerprint_of, item_id
from daemon.agents.tools.table import TOOLS, validate_arguments
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
    fingerprint = fingerprint_of(proposed.task, tool.name, args)
    return args if _leads_to_item(snapshot, fingerprint, item, proposed.task) else None


def _leads_to_item(snapshot: Snapshot, fingerprint: bytes, item: EntityId, task: EntityId) -> bool:
    """Report whether a fingerprint leads to this item, as the first of its chain or after a known item."""
    if item == item_id(fingerprint, None, task):
        return True
    return any(
        item == item_id(fingerprint, previous, task)
        for previous in snapshot.items_with_fingerprint(fingerprint)
    )
