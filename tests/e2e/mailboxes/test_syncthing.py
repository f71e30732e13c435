"""The guide's recipe for Syncthing: two real ones carry a folder, and two daemons need nothing else.

Never lets the daemons link.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.mailboxes.guide import (
    OFTEN,
    assert_never_linked,
    decide_on_the_other,
    join_apart,
    recipe,
    titles,
)
from tests.support.devices import MakeDevice, have_equal_state
from tests.support.patience import LIMIT_S, wait_until
from tests.support.syncthing import SyncthingNode

pytestmark = [pytest.mark.e2e, pytest.mark.external("syncthing")]

Nodes = tuple[SyncthingNode, SyncthingNode]


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    program = shutil.which("syncthing")
    assert program is not None
    first_node, second_node = (SyncthingNode.made(program, tmp_path / name) for name in ("here", "there"))
    first_node.configure(second_node, watches=True)
    second_node.configure(first_node, watches=True)
    try:
        for node in (first_node, second_node):
            node.start()
        for node in (first_node, second_node):
            wait_until("syncthing has read its folder", node.answers, LIMIT_S)
        yield first_node, second_node
    finally:
        for node in (first_node, second_node):
            node.end()


def drops_in(node: SyncthingNode) -> set[Path]:
    return {path.relative_to(node.folder) for path in node.folder.rglob("*.drop")}


def part_with_a_conflict(nodes: Nodes, names: set[Path]) -> None:
    """Put other bytes under each name on the second side, written later, while the sides are apart."""
    first_node, second_node = nodes
    for name in names:
        (second_node.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (second_node.folder / name).write_bytes(b"not what the first one wrote")
        late_s = (first_node.folder / name).stat().st_mtime + 60
        os.utime(second_node.folder / name, (late_s, late_s))


def test_two_devices_live_with_a_folder_that_syncthing_carries(
    device: MakeDevice, nodes: Nodes, tmp_path: Path
) -> None:
    first_node, second_node = nodes
    guide = recipe("A folder of Syncthing")
    laptop, desktop = device("laptop", **OFTEN), device("desktop", **OFTEN)
    of_laptop, of_desktop = {"~/Sync": str(first_node.folder)}, {"~/Sync": str(second_node.folder)}
    guide.run(laptop, "mkdir", of_laptop)
    guide.run(laptop, "placet mailbox add", of_laptop)
    token = guide.run(laptop, "placet pair --invite", of_laptop).out
    wait_until("the folder arrives", (second_node.folder / "placet").is_dir, LIMIT_S)
    join_apart(laptop, desktop, lambda: guide.run(desktop, "placet join", of_desktop, typed=token))

    decide_on_the_other(laptop, desktop, "Paint")
    guide.run(laptop, "placet mailbox list", of_laptop)
    guide.run(laptop, "placet mailbox check", of_laptop)
    assert guide.untried == []

    # Both sides write a file of one name while apart: what the laptop left lies in a copy afterwards.
    second_node.let_in(first_node, paused=True)
    before = drops_in(first_node)
    laptop.do("add", "Sand")
    laptop.do("mailbox", "check", "shared")
    fresh = drops_in(first_node) - before
    assert fresh
    part_with_a_conflict(nodes, fresh)
    for one_device in (laptop, desktop):
        one_device.stop()
    for node in nodes:
        node.look()
    second_node.let_in(first_node)
    wait_until(
        "a conflict copy is made", lambda: any("sync-conflict" in str(name) for name in drops_in(second_node))
    )
    desktop.start()
    wait_until("the copy is read", lambda: "Sand" in titles(desktop), LIMIT_S)
    laptop.start()
    wait_until("both hold the same", lambda: have_equal_state(laptop, desktop), LIMIT_S)
    for one_device in (laptop, desktop):
        (box,) = one_device.do("mailbox", "list")
        assert box["trouble"] is None
    assert_never_linked(laptop, desktop)
    assert not any(b"Paint" in file.read_bytes() for file in second_node.folder.rglob("*") if file.is_file())
