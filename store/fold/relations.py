"""Which fields point at other entities, and under which name the relation is followed back.

Never reads or writes the database itself.
"""

from typing import TypeGuard

from store.fold.entity_state import EntityState
from store.fold.lone_creation import LoneCreation
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
        "asked_agent_id": "agent_wish",
        "prev_message_id": "message_prev",
        "payload_id": "message_payload",
        "targets": "tool_effect",
    },
    "report": {"agent_id": "agent_report", "source_span": "report_source_span"},
    "change_set": {"agent_id": "agent_change_set", "task_id": "task_change_set"},
    "usage": {"agent_id": "agent_usage"},
    "ask": {"agent_id": "agent_ask"},
    "standing_rule": {"agent_id": "agent_rule"},
    "decision": {"rule": "rule_use", "rule_day": "rule_use_of_day"},
}


SEVERAL = frozenset({"tool_effect", "report_source_span"})
"""Relations whose field contains a list of ids; that of every other one contains a single id."""

TARGETS_MAX = 64
"""The ids of a list that are indexed: an operation must not index as many rows as its bytes allow."""


def relations_of(row: EntityState | LoneCreation) -> set[tuple[EntityId, str]]:
    """Return the relations of a row: (target, name of the relation)."""
    field_names = RELATIONS.get(row.kind)
    if field_names is None:
        return set()
    relations = set()
    for field, name in field_names.items():
        value = row.value(field)
        if name in SEVERAL:
            relations |= {(target, name) for target in _ids(value)}
        elif _is_id(value):
            relations.add((EntityId(value), name))
    return relations


def _ids(value: Value) -> list[EntityId]:
    members = value[:TARGETS_MAX] if isinstance(value, list) else []
    return [EntityId(member) for member in members if _is_id(member)]


def _is_id(value: object) -> TypeGuard[bytes]:
    return isinstance(value, bytes) and len(value) == ID_BYTES
