"""The states of the page on a device with a past: tasks, agents, devices, and what is hostile or long.

Never lives through the past on the page: commands and programs do, so that only the states cost a browser.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.page.states.deeds import clicked, filled, hovered, in_turn, pressed, unfolded
from tests.e2e.page.states.state import State, World
from tests.support.browser import WEB, propose
from tests.support.control_requests import control, propose_as
from tests.support.devices import Device, free_port, pair
from tests.support.patience import wait_until

HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script> \u202egnp.exe {{ 7*7 }}"
RIGHT_TO_LEFT = "לחדש את הדרכון לפני הקיץ — الجواز قبل الصيف"
LONG = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle " * 5
MANY = 200
_BATCH = 20
_TASKS = (
    ("Send the grant report", "in progress", "P1"),
    ("Answer the landlord", "in progress", "P2"),
    ("Book the dentist", "groomed", "P3"),
    ("Order new filters", "done", "P3"),
)
_MAIL = {
    "to": "ana@example.org",
    "subject": "Login bug",
    "text": "Addresses with a plus sign work again. " * 4,
}
_PROGRAM = "Claude"


@contextmanager
def used_world(folder: Path, **settings: str) -> Iterator[World]:
    """Start a device and let it live through a past with two others, which are away at the end."""
    more = {
        "PLACET_PROPOSALS_PER_SET": str(MANY),
        "PLACET_PROPOSALS_OPEN_PER_DAY": "8",
        "PLACET_WEB_PORT": str(free_port()),
    }
    laptop = Device("laptop", folder / "laptop", WEB | more | settings)
    phone = Device("phone", folder / "phone")
    tablet = Device("tablet", folder / "tablet")
    try:
        for device in (laptop, phone, tablet):
            device.start()
        places = _past(laptop, phone, tablet)
        yield World(laptop, places)
    finally:
        for device in (laptop, phone, tablet):
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()


def _past(laptop: Device, phone: Device, tablet: Device) -> dict[str, str]:
    pair(laptop, phone)
    pair(laptop, tablet)
    tablet_id = next(row["device_id"] for row in laptop.do("devices") if row["name"] == "tablet")
    laptop.do("devices", "remove", tablet_id)
    tablet.kill()
    for title, status, priority in _TASKS:
        task = laptop.do("add", title, "--priority", priority, "--due", "2020-01-31")["id"]
        laptop.do("set", "status", task, *status.split())
    laptop.do("mailbox", "add", str(laptop.home.parent))
    laptop.do("category", "add", "Health")
    laptop.do("preferences", "add", "I call in the mornings.", "--category", "Health")
    laptop.do("preferences", "add", HOSTILE)
    laptop.do("agent", "add", _PROGRAM)
    control(laptop, "PATCH", f"/v1/external-agents/{_PROGRAM}", {"daily_limits": {"proposals": 10 * MANY}})
    places = _tasks_with_agents(laptop) | _programs(laptop) | _rules_and_asks(laptop)
    places["passport"] = _apart(laptop, phone)
    places["phone"] = next(row["device_id"] for row in laptop.do("devices") if row["name"] == "phone")
    return places


def _tasks_with_agents(laptop: Device) -> dict[str, str]:
    hostile = propose(laptop, HOSTILE)[0]
    laptop.do("label", "add", HOSTILE[:40])
    laptop.do("task", "edit", hostile["task_id"], "--label", HOSTILE[:40])
    paused = propose(laptop, RIGHT_TO_LEFT)[0]
    laptop.do("agent", "pause", paused["agent_id"])
    stale = laptop.do("add", "Paint the door", "--estimate", "30")["id"]
    propose_as(laptop, _PROGRAM, stale, ("update_task_estimate", {"minutes": 90}, "Two coats."))
    laptop.do("task", "edit", stale, "--estimate", "45")
    ended = propose(laptop, "Sign the lease")[0]
    laptop.do("agent", "destroy", ended["agent_id"])
    house = laptop.do("add", "Move house")["id"]
    removed = laptop.do("add", "Water the plants")["id"]
    long = laptop.do("add", LONG)["id"]
    laptop.do("note", long, LONG * 3)
    laptop.do("check", "add", long, LONG)
    for task in (long, removed):
        propose_as(laptop, _PROGRAM, task, ("update_task_estimate", {"minutes": 90}, LONG[:280]))
    laptop.do("task", "remove", removed)
    batches = [
        {"items": [{"title": f"Pack box {number}: books"} for number in range(first, first + _BATCH)]}
        for first in range(0, MANY, _BATCH)
    ]
    propose_as(
        laptop, _PROGRAM, house, *[("add_multiple_checklist_items", batch, "One a box.") for batch in batches]
    )
    return {
        "hostile": hostile["task_id"],
        "hostile_agent": hostile["agent_id"],
        "paused": paused["task_id"],
        "paused_agent": paused["agent_id"],
        "stale": stale,
        "ended_agent": ended["agent_id"],
        "removed": removed,
        "long": long,
    }


def _programs(laptop: Device) -> dict[str, str]:
    register = "/v1/external-agents/register"
    waiting = control(laptop, "POST", register, {"name": "Helper <b>" + "x" * 40})
    program = control(laptop, "GET", f"/v1/external-agents/{_PROGRAM}")
    return {"waiting_program": waiting["id"], "program": program["id"]}


def _rules_and_asks(laptop: Device) -> dict[str, str]:
    terms = ("--until", "in 30 days", "--a-day", "3")
    laptop.do("rule", "add", _PROGRAM, "send_mail", "--args", '{"to": "ben@example.org"}', *terms)
    revoked = laptop.do("rule", "add", _PROGRAM, "run_command", "--begins", "command=git status", *terms)
    laptop.do("rule", "revoke", revoked["rule_id"])
    asks = [
        _ask(laptop),
        _ask(laptop, title=f"Ask {HOSTILE}", why=LONG, args={"text": LONG}, options=[], key="hostile"),
        _ask(laptop, title="Delete the old backups", options=[], key="backups"),
        _ask(laptop, title="Book the night train", options=[], key="train"),
    ]
    for verdict, ask in (("confirm", asks[2]), ("reject", asks[3])):
        laptop.do(verdict, ask)
    return {}


def _ask(laptop: Device, **changed: Any) -> str:
    now_ms = int(time.time() * 1000)  # noqa: TID251 - that of the daemon, which is real
    question = {
        "agent": _PROGRAM,
        "name": "send_mail",
        "args": _MAIL,
        "title": "Tell Ana that the login works",
        "why": "She reported the bug, and waits for an answer.",
        "options": ["now", "tomorrow morning"],
        "not_after": now_ms + 24 * 3_600_000,
        "key": "mail to Ana",
    }
    return str(control(laptop, "POST", "/v1/asks", question | changed)["ask_id"])


def _apart(laptop: Device, phone: Device) -> str:
    """Let two devices decide on one proposal and rename one task while apart, and end the phone."""
    first, second, *_ = propose(laptop, "Renew the passport")
    task = str(first["task_id"])
    phone.do("sync", "--wait")
    phone.stop()
    laptop.do("confirm", second["item_id"])
    laptop.do("undo", second["item_id"])
    laptop.do("confirm", first["item_id"])
    laptop.do("task", "edit", task, "--title", "Renew the passport in June", "--estimate", "45")
    laptop.stop()
    phone.start()
    phone.do("reject", first["item_id"], "--reason", "Not before the summer.")
    phone.do("task", "edit", task, "--title", "Renew both passports")
    laptop.start()
    phone.do("sync", "--wait")
    wait_until("the conflict is known", lambda: laptop.do("conflicts"))
    phone.stop()
    return task


USED_STATES = [
    State("today"),
    State("today-unfolded", deed=unfolded),
    State(
        "today-row-menu", deed=in_turn(hovered(".task"), clicked(".dots >> nth=0", "#row-menu:popover-open"))
    ),
    State(
        "finder-found",
        deed=in_turn(
            pressed("/", "#finder [aria-selected]"),
            filled({"#finder input": "p"}, "#finder input", "#rows-found:has-text('passport')"),
        ),
    ),
    State("inbox", "/inbox"),
    State("inbox-everything", "/inbox?all=1"),
    State("inbox-narrowed", "/inbox?kind=estimate"),
    State("inbox-nothing-narrowed", "/inbox?agent=nobody"),
    State("inbox-why", "/inbox", deed=pressed("Shift+N", "#why[open]")),
    State("inbox-confirmed", "/inbox", deed=clicked(".acts .yes >> nth=0", "#outcome .undo")),
    State(
        "inbox-taken-back",
        "/inbox",
        deed=in_turn(
            clicked(".acts .no >> nth=0", "#outcome .undo button"),
            clicked("#outcome .undo button", "#outcome:not(:has(.undo button))"),
        ),
    ),
    State("review", "/reviews/{passport}"),
    State("review-unfolded", "/reviews/{passport}", unfolded),
    State("review-hostile", "/reviews/{hostile}", unfolded),
    State("review-right-to-left", "/reviews/{paused}"),
    State("review-stale", "/reviews/{stale}"),
    State(
        "review-stale-refused",
        "/reviews/{stale}",
        clicked(".acts .yes", "#outcome .refusal, #outcome .undo"),
    ),
    State("review-long", "/reviews/{long}"),
    State("review-of-asks", "/reviews/{program}"),
    State("review-of-asks-unfolded", "/reviews/{program}", unfolded),
    State("review-of-removed-task", "/reviews/{removed}", status=404),
    State("removed", "/removed"),
    State("task", "/tasks/{passport}"),
    State("task-history", "/tasks/{passport}", clicked("#history summary", "#history[open]")),
    State("task-title", "/tasks/{passport}", clicked(".one h1", ".rename input:focus")),
    State("task-labels", "/tasks/{hostile}", clicked(".chip[data-menu=labels]", "#row-menu:popover-open")),
    State("task-menu", "/tasks/{hostile}", clicked(".name [data-menu]", "#row-menu:popover-open")),
    State("today-beside", "/?task={passport}"),
    State("tasks-beside", "/tasks?task={hostile}"),
    State("task-hostile", "/tasks/{hostile}"),
    State("task-long", "/tasks/{long}"),
    State("task-removed", "/tasks/{removed}", status=404),
    State("timeline", "/tasks/{passport}/timeline"),
    State("timeline-hostile", "/tasks/{hostile}/timeline"),
    State("tasks", "/tasks"),
    State("tasks-all", "/tasks?status=all", unfolded),
    State("tasks-found", "/tasks?q=passport"),
    State("board", "/board"),
    State("board-move", "/board?all=yes", clicked(".board summary >> nth=0", ".board details[open]")),
    State("agents", "/agents"),
    State("agent", "/agents/{hostile_agent}", unfolded),
    State("agent-paused", "/agents/{paused_agent}"),
    State("agent-ended", "/agents/{ended_agent}"),
    State("program", "/external-agents/{program}", unfolded),
    State("program-waits", "/external-agents/{waiting_program}"),
    State(
        "program-refused",
        "/external-agents/{program}",
        filled({"[name=until]": "some day"}, "[value=pause]", ".refusal"),
    ),
    State("permissions", "/permissions"),
    State("permissions-all", "/permissions?all=yes"),
    State("rules", "/rules"),
    State("rules-all", "/rules?all=yes"),
    State(
        "rules-refused",
        "/rules",
        in_turn(
            unfolded,
            filled(
                {
                    "[name=name]": "send_mail",
                    "[name=exact]": "{",
                    "[name=until]": "friday",
                    "[name=uses]": "3",
                },
                "[value=add]",
                ".refusal",
            ),
        ),
    ),
    State("decisions", "/decisions"),
    State("decisions-of-task", "/decisions?task={passport}"),
    State("devices", "/devices", unfolded),
    State("device-remove", "/devices/{phone}/remove"),
    State("leave", "/devices/leave"),
    State("health-with-faults", "/health"),
    State("passkeys", "/passkeys"),
    State("settings", "/settings"),
    State("settings-unfolded", "/settings", unfolded),
    State("preferences", "/preferences"),
    State(
        "preferences-refused",
        "/preferences",
        filled({"#f-new [name=text]": "   "}, "#f-new .main", ".refusal"),
    ),
    State(
        "settings-refused",
        "/settings",
        filled(
            {"[name='set.history.retention_days']": "never"},
            "#history [value=save]",
            "[id='fault-history.retention_days']",
        ),
    ),
]
"""The table."""
