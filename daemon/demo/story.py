"""The story that the demonstration tells, scene by scene.

Never shows a result that it did not read from the running daemons.
"""

import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

from daemon.demo.devices import (
    GREEN,
    DemoDevice,
    DemoFailed,
    narrate,
    print_scene,
    started_devices,
    style_text,
)

REPORT, BUG = "grant report", "login bug"
SHORT = 6
AMBIGUOUS, NOT_FOUND = 2, 4
"""Exit statuses of `placet join`: several devices nearby invite, or none does."""

Pending = list[dict[str, Any]]


def main() -> int:
    """Tell the story; return the exit status."""
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="placet-demo-") as folder:
            _play(Path(folder))
    except DemoFailed as failure:
        print(f"\nthe demonstration failed: {failure}", file=sys.stderr)
        return 1
    narrate(f"\nThat was everything, in {time.monotonic() - started:.0f} s; nothing is left running.")
    return 0


def _play(folder: Path) -> None:
    todo = folder / "todo.md"
    todo.write_bytes((resources.files("daemon") / "demo" / "todo.md").read_bytes())
    print_scene("1 · Two devices, each with a journal of its own")
    with started_devices(folder, "laptop", "phone") as (laptop, phone):
        _import(laptop, todo)
        _pair(laptop, phone)
        _propose(laptop, phone)
        _decide(laptop, phone)
        _learn(laptop)
        _apart(laptop, phone)
        _agree(laptop, phone)


def _import(laptop: DemoDevice, todo: Path) -> None:
    print_scene("2 · A to-do list comes in")
    laptop.run("import", "markdown", str(todo))
    laptop.run("list")


def _pair(laptop: DemoDevice, phone: DemoDevice) -> None:
    print_scene("3 · The devices pair: a code, mutual TLS, no server")
    with laptop.run_in_background("pair") as code:
        joined = phone.run_unchecked("join", typed=code)
        if joined.returncode in (NOT_FOUND, AMBIGUOUS):
            narrate("The phone did not find exactly one inviting device by mDNS. So it is told where to go:")
            [laptop_here] = [device for device in laptop.read_json("devices") if device["this"]]
            joined = phone.run_unchecked("join", "--addr", laptop_here["address"], typed=code)
        if joined.returncode != 0:
            raise DemoFailed(f"placet join ended with {joined.returncode}")
    phone.run("sync", "--wait")
    phone.run("list")


def _pending_items(device: DemoDevice, what: str, count: int, task: str) -> Pending:
    pending: Pending = device.read_until(what, lambda items: len(items) >= count, "pending", task)
    return pending


def _propose(laptop: DemoDevice, phone: DemoDevice) -> None:
    print_scene("4 · An agent reads the notes and proposes; it changes nothing")
    laptop.run("agent", "create", REPORT)
    laptop.run("agent", "create", BUG)
    laptop.run("note", REPORT, "The report is due 2027-03-15. It takes about 3 hours. This is urgent.")
    laptop.run("note", REPORT, "The summary draft is finished.")
    laptop.run("note", BUG, "Todo: reproduce it in the browser, check the sign-up form, tell support")
    _pending_items(laptop, "the agent has proposed", 4, REPORT)
    _pending_items(laptop, "the agent has proposed", 3, BUG)
    narrate("What a person left unticked, an agent ticks only with evidence: a later note of that person's.")
    narrate("The proposals travel like everything else. On the other device:")
    phone.run("sync", "--wait")
    phone.run("pending")


def _short(item: dict[str, Any]) -> str:
    """Return what a person would type of an item's id."""
    return str(item["item_id"])[:SHORT]


def _by_tool(items: Pending, tool: str) -> str:
    return next(_short(item) for item in items if item["tool"] == tool)


def _decide(laptop: DemoDevice, phone: DemoDevice) -> None:
    print_scene("5 · A person decides, on whichever device is at hand")
    items = phone.read_json("pending", REPORT)
    due, estimate = _by_tool(items, "update_task_due_date"), _by_tool(items, "update_task_estimate")
    phone.run("confirm", due, estimate, _by_tool(items, "update_checklist_item"))
    phone.run("reject", _by_tool(items, "update_task_priority"), "--reason", "everything is urgent")
    narrate("The estimate was wrong after all. Undo takes it back; what it covered shows again.")
    phone.run("undo", estimate)
    phone.run("sync", "--wait")
    laptop.run("show", REPORT)
    laptop.run("log", REPORT)


def _learn(laptop: DemoDevice) -> None:
    print_scene("6 · What a person turned down is not proposed again, and the report says why")
    laptop.run("note", REPORT, "The director called: this is really urgent!")
    laptop.read_until("the agent has read it", _has_learnt, "agent", "show", REPORT)
    laptop.run("agent", "log", REPORT, "--tools", "--limit", "6")
    laptop.run("agent", "show", REPORT)
    waiting = [item["tool"] for item in laptop.read_json("pending", REPORT)]
    if waiting:
        raise DemoFailed(f"expected nothing new, found {waiting}")


def _has_learnt(agent: dict[str, Any]) -> bool:
    return any(
        "everything is urgent" in learning for learning in (agent["report"] or {}).get("learnings", ())
    )


def _apart(laptop: DemoDevice, phone: DemoDevice) -> None:
    print_scene("7 · The link is cut, and both devices decide")
    phone.run("sync", "--pause")
    same, other, _third = (_short(item) for item in laptop.read_json("pending", BUG))
    narrate("Both confirm the same item. And one confirms what the other rejects.")
    laptop.run("confirm", same)
    phone.run("confirm", same)
    laptop.run("confirm", other)
    phone.run("reject", other, "--reason", "the form is being rewritten")
    narrate("The link is back.")
    phone.run("sync", "--resume")
    phone.run("sync", "--wait")
    task = laptop.read_json("show", BUG)
    titles = [item["title"] for checklist in task["checklists"] for item in checklist["items"]]
    if len(titles) != len(set(titles)):
        raise DemoFailed(f"one confirmation on each of two devices made two items: {titles}")
    narrate("Confirmed twice, done once. The dispute is shown on both, and is not in effect:")
    for device in (laptop, phone):
        device.run("pending", BUG)
        disputed = [_short(item) for item in device.read_json("pending", BUG) if item["disputed"]]
        if disputed != [other]:
            raise DemoFailed(f"expected one dispute on {device.name}, found {len(disputed)}")
    narrate("One word settles it.")
    laptop.run("confirm", other)
    laptop.run("sync", "--wait")
    phone.run("show", BUG)


def _agree(laptop: DemoDevice, phone: DemoDevice) -> None:
    print_scene("8 · Proof that both hold the same")
    json, two = laptop.read_json("status"), phone.read_json("status")
    for key, name in (("vector", "version vector"), ("state_hash", "state hash")):
        if json[key] != two[key]:
            raise DemoFailed(f"the devices differ in their {name}")
    print(f"  commits     {sum(json['vector'].values())} from {len(json['vector'])} devices, on both")
    print(f"  state hash  laptop {json['state_hash'][:32]}…")
    print(f"              phone  {two['state_hash'][:32]}…  {style_text('equal', GREEN)}")
