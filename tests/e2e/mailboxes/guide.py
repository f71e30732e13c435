"""What the tests of the guide's recipes share: a proposal that is decided on the other device, and undone.

Never lets two devices link: what one knows of the other came through the mailbox.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.docs.recipe import Recipe
from tests.support.devices import Device, free_port
from tests.support.patience import LIMIT_S, wait_until

GUIDE: Final = "docs/guide/mailboxes.md"
OFTEN: Final = {"PLACET_MAILBOX_LOOK_S": "0.2", "PLACET_MAILBOX_GATHER_S": "0.2"}


def recipe(heading: str) -> Recipe:
    """Return a recipe of the guide to mailboxes."""
    return Recipe(GUIDE, heading)


def proposals(device: Device, task: str) -> list[dict[str, Any]]:
    """Return what is proposed for the length of a task, and waits."""
    if task not in titles(device):
        return []
    return [item for item in device.do("pending", task) if item["tool"] == "update_task_estimate"]


def titles(device: Device) -> list[str]:
    """Return the titles of the tasks on a device."""
    return [task["title"] for task in device.do("list")]


def estimate(device: Device, task: str) -> int | None:
    """Return the length of a task in minutes."""
    minutes: int | None = device.do("show", task)["estimate_minutes"]
    return minutes


def propose(device: Device, task: str) -> None:
    """Let an agent propose that a task takes an hour."""
    device.do("add", task)
    device.do("note", task, "takes 1 hour")
    device.do("agent", "create", task)
    wait_until("an hour is proposed", lambda: len(proposals(device, task)) == 1, LIMIT_S)


def decide_on_the_other(
    device: Device, other: Device, task: str, carry: Callable[[Device, Device], None] = lambda _, __: None
) -> None:
    """Propose on one device, confirm on the other one, and undo on the first.

    `carry` is called when something is to go from a device to another one.
    """
    propose(device, task)
    carry(device, other)
    wait_until("the proposal arrives", lambda: len(proposals(other, task)) == 1, LIMIT_S)
    (item,) = proposals(other, task)
    other.do("confirm", item["item_id"])
    carry(other, device)
    wait_until("the verdict arrives", lambda: estimate(device, task) == 60, LIMIT_S)
    device.do("undo", item["item_id"])
    carry(device, other)
    wait_until("the undo arrives", lambda: estimate(other, task) is None, LIMIT_S)


def join_apart(
    inviter: Device,
    newcomer: Device,
    join: Callable[[], object],
    carry: Callable[[Device, Device], None] = lambda _, __: None,
) -> None:
    """Let a newcomer join while the inviter is off; from then on both run, and neither finds the other one.

    The token and the request name the ports at which they are then, so both go to others. The newcomer starts
    only once it is let in, since it would ask again from its new port. `carry` is called when something is to
    go back from the inviter.
    """
    inviter.stop()
    join()
    newcomer.stop()
    inviter.port, newcomer.port = free_port(), free_port()
    inviter.start()
    wait_until("the newcomer is let in", lambda: len(inviter.do("devices")) == 2, LIMIT_S)
    newcomer.start()
    carry(inviter, newcomer)
    wait_until("the newcomer is in", lambda: len(newcomer.do("devices")) == 2, LIMIT_S)


def assert_never_linked(*devices: Device) -> None:
    """Fail if there was ever a link between devices."""
    for device in devices:
        assert not any(listed["connected"] for listed in device.do("devices") if not listed["this"])
        # The end of each link is logged.
        assert "link" not in (device.home.parent / f"{device.name}.log").read_text("utf-8", "replace")
