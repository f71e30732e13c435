"""Answers of the control API, in the shapes that INTERFACE and `daemon.shapes.answers` describe.

Never random: views are compared with what they must show.
"""

from typing import Any

TASK = "3f2a9c1e5b7d4f60a1b2c3d4e5f60718"
OTHER = "77ab01c2d3e4f5061728394a5b6c7d8e"
ITEM = "a81c5566778899aabbccddeeff001122"
SET = "51e7aa00bb11cc22dd33ee44ff556677"
AGENT = "c0ffee00112233445566778899aabbcc"


def task(**values: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "id": TASK,
        "title": "Renew the passport",
        "status": "OPEN",
        "reason": None,
        "priority": "P1",
        "estimate_minutes": 120,
        "due": "2026-03-06",
        "language": None,
        "labels": ["family"],
        "category": "admin",
        "checklists": [
            {
                "id": "99" * 16,
                "title": "Todos",
                "items": [
                    {
                        "id": "9c1e" + "0" * 28,
                        "title": "Photos",
                        "is_checked": True,
                        "checked_by": "agent",
                        "checked_at": "2026-03-03T11:00:00Z",
                        "checked_on": "phone",
                    },
                    {"id": "9c2f" + "0" * 28, "title": "Form", "is_checked": False, "checked_by": None},
                ],
            }
        ],
        "entries": [
            {
                "id": "e1" * 16,
                "text": "The photos are\nin the drawer",
                "happened_at": "2026-03-04T10:00:00Z",
                "author": "user",
                "device_name": "laptop",
            }
        ],
        "vector_clock": {},
        "conflicts": [],
        "agent_id": AGENT,
        "report": {
            "content": {"tldr": "Photos are there, the form is not.", "remaining": ["Fill in the form"]}
        },
    }
    return base | values


def pending(**values: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "item_id": ITEM,
        "set_id": SET,
        "task_id": TASK,
        "task_title": "",
        "agent_id": AGENT,
        "tool": "update_task_estimate",
        "args": {"minutes": 120},
        "args_hash": "ab" * 32,
        "edited": False,
        "subject": None,
        "summary": "Set estimate to 120 minutes",
        "rationale": "The note says two hours.",
        "base": {},
        "current": 45,
        "proposed": 120,
        "status": "pending",
        "disputed": False,
        "stale": False,
        "created_at": "2026-03-04T11:00:00Z",
        "expires_at": "2026-03-10T13:00:00Z",
    }
    return base | values


DECISION: dict[str, Any] = {
    "seq": 41,
    "decision_id": "d1" * 16,
    "item_id": ITEM,
    "task_id": TASK,
    "task_title": "Renew the passport",
    "agent_id": AGENT,
    "tool": "update_task_estimate",
    "args": {"minutes": 120},
    "subject": None,
    "summary": "Set estimate to 120 minutes",
    "verdict": "confirmed",
    "by": "user",
    "device": "de" * 32,
    "device_name": "laptop",
    "at": "2026-03-04T11:30:00Z",
    "reason": None,
    "via": "cli",
    "edited_args": None,
    "counts": True,
    "status": "confirmed",
    "disputed": False,
    "without_effect": False,
}


def verdict(result: str, **values: Any) -> dict[str, Any]:
    return {"item_id": ITEM, "status": "confirmed", "result": result, "message": ""} | values


STATUS: dict[str, Any] = {
    "device_id": "de" * 32,
    "name": "laptop",
    "replica": "4e" * 16,
    "vector": {"4e" * 16: 12},
    "state_hash": "5a" * 32,
    "entities": 1204,
    "commits": 3411,
    "peers": [
        {
            "device_id": "f0" * 32,
            "name": "phone",
            "connected": True,
            "address": "192.168.1.5:4433",
            "lag": 0,
            "last_seen": "2026-03-04T11:59:00Z",
        },
        {
            "device_id": "7a" * 32,
            "name": "tablet",
            "connected": False,
            "address": None,
            "lag": 12,
            "last_seen": "2026-03-04T10:00:00Z",
        },
    ],
    "agents": {"active": 3, "due": 1, "running": 0, "dormant": 2},
    "pending_items": 4,
}

AGENT_JSON: dict[str, Any] = {
    "id": AGENT,
    "task_id": TASK,
    "task_title": "Renew the passport",
    "display_name": "Agent",
    "lifecycle": "active",
    "lifecycle_reason": None,
    "mode": "autonomous",
    "home_device_id": "de" * 32,
    "home_device_name": "laptop",
    "at_home": True,
    "last_wake_at": "2026-03-04T11:30:00Z",
    "next_wake_at": None,
    "next_wake_why": "nothing new",
    "timers": [],
    "policy": {"set_task_title": "deferred", "update_report": "immediate"},
    "allowed_categories": [],
    "pending_items": 1,
    "runs": [
        {
            "run_key": "9a" * 32,
            "reason": "a note was added",
            "status": "failed",
            "started_at": "2026-03-04T11:30:00Z",
            "ended_at": "2026-03-04T11:31:00Z",
            "error": "the model did not answer",
        }
    ],
    "report": None,
}

EXTERNAL_AGENT_JSON: dict[str, Any] = {
    "id": AGENT,
    "name": "Claude",
    "kind": "external",
    "lifecycle": "active",
    "hindered": None,
    "home_device_id": "de" * 32,
    "home_device_name": "laptop",
    "at_home": True,
    "scope": "all",
    "allowed_categories": [],
    "policy": {"update_task_estimate": "deferred"},
    "presence": {"all": "any"},
    "daily_limits": {"proposals": 100, "asks": 50, "bytes": 1_000_000},
    "spent_today": {"proposals": 3},
    "pending_items": 2,
    "paused_until": None,
}

CHANGE: dict[str, Any] = {
    "seq": 41,
    "at": "2026-03-04T11:58:00Z",
    "by": "user",
    "device": "de" * 32,
    "device_name": "laptop",
    "entity": TASK,
    "kind": "task",
    "title": "Renew the passport",
    "field": "status",
    "before": "OPEN",
    "after": "DONE",
    "why": None,
}

DEVICES: list[dict[str, Any]] = [
    {"device_id": "de" * 32, "name": "laptop", "this": True, "connected": False, "removed": False},
    *({**peer, "this": False, "removed": False} for peer in STATUS["peers"]),
]

WHERE: dict[str, Any] = {
    "seq": 42,
    "entity": TASK,
    "kind": "task",
    "title": "Buy milk",
    "commits": 3,
    "at": "2026-03-04T09:00:00.000Z",
    "device_name": "phone",
    "devices": [
        {
            "device_id": "de" * 32,
            "name": "laptop",
            "this": True,
            "removed": False,
            "connected": True,
            "lacks": 0,
        }
        | {"as_of": "2026-03-04T09:05:00.000Z"},
        {
            "device_id": "f0" * 32,
            "name": "phone",
            "this": False,
            "removed": False,
            "connected": False,
            "lacks": 2,
        }
        | {"as_of": "2026-03-04T08:00:00.000Z"},
        {
            "device_id": "ab" * 32,
            "name": "desk",
            "this": False,
            "removed": False,
            "connected": False,
            "lacks": 3,
        }
        | {"as_of": "2026-03-01T08:00:00.000Z"},
        {
            "device_id": "ac" * 32,
            "name": "old",
            "this": False,
            "removed": True,
            "connected": False,
            "lacks": None,
        }
        | {"as_of": None},
    ],
}

IMPORTED: dict[str, Any] = {
    "tasks": 2,
    "entries": 1,
    "checklist_items": 3,
    "updated": 0,
    "unchanged": 0,
    "skipped": [{"line": 7, "what": "recurring template", "why": "not taken"}],
}

TIME_RECORD: dict[str, Any] = {
    "id": "71e0" + "0" * 28,
    "task_id": TASK,
    "task_title": "Renew the passport",
    "started_at": "2026-03-04T10:00:00Z",
    "ended_at": "2026-03-04T11:10:00Z",
    "minutes": 70,
    "note": "photos",
    "is_running": False,
    "is_here": True,
    "device": "de" * 32,
    "device_name": "laptop",
    "vector_clock": {},
    "removed": False,
}

RUNNING: dict[str, Any] = TIME_RECORD | {
    "id": "71e1" + "0" * 28,
    "started_at": "2026-03-04T11:18:00Z",
    "ended_at": None,
    "minutes": None,
    "note": None,
    "is_running": True,
}

LINK: dict[str, Any] = {
    "id": "4c1b" + "0" * 28,
    "type": "blocks",
    "direction": "from",
    "from_id": OTHER,
    "to_id": TASK,
    "task_id": OTHER,
    "title": "Find the photos",
    "status": "OPEN",
    "circular": False,
    "task_removed": False,
    "removed": False,
}

LABEL: dict[str, Any] = {
    "id": "1abe" + "0" * 28,
    "name": "family",
    "color": "#ff8800",
    "description": "All of us",
    "categories": ["admin"],
    "is_double": False,
    "conflicts": [],
    "vector_clock": {},
    "removed": False,
}

CATEGORY: dict[str, Any] = {
    "id": "ca7e" + "0" * 28,
    "name": "admin",
    "color": "grey",
    "default_language": "de",
    "correction_examples": ["ELSTER"],
    "is_double": False,
    "conflicts": [],
    "vector_clock": {},
    "removed": False,
}

CHECK = {"name": "disk", "well": True, "found": "900 MiB free", "remedy": ""}
