"""Which fields point at other entities, and under which name the relation is followed back.

Never reads or writes the database itself.
"""

from typing import TypeGuard

from store.alone import Alone
from store.fold import Row
from syncproto.codec import Value
from syncproto.ids import ID_BYTES, EntityId

RELATIONS: dict[str, dict[str, str]] = {
    "task": {"category_id": "task_category"},
    "checklist": {"task_id": "task_checklist"},
    "checklist_item": {"checklist_id": "checklist_item"},
    "entry": {"task_id": "task_entry"},
    "time_record": {"task_id": "task_time"},
    "link": {"from_id": "link_from", "to_id": "link_to"},
    "agent": {"task_id": "agent_task"},
    "agent_state": {
        "agent_id": "agent_state",
        "head_message_id": "agent_head_message",
        "report_id": "agent_report_head",
    },
    "message": {
        "agent_id": "agent_message",
        "observer_id": "agent_observation",
        "prev_message_id": "message_prev",
        "payload_id": "message_payload",
        "targets": "tool_effect",
    },
    "report": {"agent_id": "agent_report", "source_span": "report_source_span"},
    "change_set": {"agent_id": "agent_change_set", "task_id": "task_change_set"},
    "usage": {"agent_id": "agent_usage"},
}


SEVERAL = frozenset({"tool_effect", "report_source_span"})
"""Relations whose field holds a list of ids; every other one holds a single id."""

TARGETS_MAX = 64
"""How many ids of a list are followed: one operation must not index as many rows as its bytes allow."""


def relations_of(row: Row | Alone) -> set[tuple[EntityId, str]]:
    """Return what a row points at: (target, name of the relation)."""
    named = RELATIONS.get(row.kind)
    if named is None:
        return set()
    found = set()
    for field, name in named.items():
        value = row.value(field)
        if name in SEVERAL:
            found |= {(one, name) for one in _ids(value)}
        elif _is_id(value):
            found.add((EntityId(value), name))
    return found


def _ids(value: Value) -> list[EntityId]:
    held = value[:TARGETS_MAX] if isinstance(value, list) else []
    return [EntityId(one) for one in held if _is_id(one)]


def _is_id(value: object) -> TypeGuard[bytes]:
    return isinstance(value, bytes) and len(value) == ID_BYTES
