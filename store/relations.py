"""Which fields point at other entities, and under which name the relation is followed back.

Never reads or writes the database itself.
"""

from store.fold import Row
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
        "prev_message_id": "message_prev",
        "payload_id": "message_payload",
    },
    "report": {"agent_id": "agent_report"},
    "change_set": {"agent_id": "agent_change_set", "task_id": "task_change_set"},
    "usage": {"agent_id": "agent_usage"},
}


def relations_of(row: Row) -> set[tuple[EntityId, str]]:
    """Return what a row points at: (target, name of the relation)."""
    named = RELATIONS.get(row.kind)
    if named is None:
        return set()
    found = set()
    for field, name in named.items():
        target = row.value(field)
        if isinstance(target, bytes) and len(target) == ID_BYTES:
            found.add((EntityId(target), name))
    return found
