"""The commands that the README and the help show run as they are written there.

Never runs what installs something or stays in the foreground; an id of the README's stands for a real one.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.devices import PLACET, ROOT, START_S, Device, Done, wait_until

pytestmark = pytest.mark.e2e

# Tested elsewhere: what needs a second device, a terminal with an editor, or runs until somebody ends it.
NOT_HERE = ("placet pair", "placet join", "placet entry edit", "placet review", "make ")
HELP = {
    "add": "placet add Call the landlord --due friday",
    "note": "placet note passport The photos are in the drawer",
    "search": "placet search -- garden -shed",
    "link add": "placet link add photos blocks form",
    "link remove": "placet link remove photos blocks form",
}
TODO_MD = """\
# Prepare the release
* write the notes

# Renew the old passport
It is in the drawer.
"""


def shown_in(text: str) -> Iterator[str]:
    """Yield the commands of the fenced blocks, each without its comment, lines that go on joined."""
    for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            yield re.sub(r"\s{2,}#.*", "", line)


def shell(device: Device, line: str, folder: Path) -> Done:
    """Run a line as somebody types it, in a folder."""
    path = f"{PLACET.parent}:{device.environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        env=device.environment | {"PATH": path, "EDITOR": "true"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def real_ids(device: Device, line: str) -> str:
    """Put ids of this journal in place of those that the line shows."""
    if "3f9a" in line or "b01d" in line:
        first, *others = [item["item_id"] for item in device.do("pending")]
        line = line.replace("3f9a", first).replace("71c2", others[0] if others else "").replace("b01d", first)
    if "9c1e" in line:
        (checklist, *_) = device.do("check", "list", "login")
        line = line.replace("9c1e", checklist["items"][-1]["id"])
    return line


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Device]:
    one = Device("laptop", tmp_path / "laptop")
    one.start()
    yield one
    one.kill()


def test_every_command_of_the_readme_does_what_it_says(laptop: Device, tmp_path: Path):
    (tmp_path / "todo.md").write_text(TODO_MD)
    lines = [line for line in shown_in((ROOT / "README.md").read_text("utf-8")) if line.strip()]
    assert len(lines) > 25
    confirmed: list[str] = []
    for written in lines:
        if written.startswith(NOT_HERE):
            continue
        line = real_ids(laptop, written.replace("undo 3f9a", f"undo {''.join(confirmed[:1])}"))
        if line.startswith("placet restore"):
            laptop.stop()
        done = shell(laptop, line.replace("/media/stick", str(tmp_path)), tmp_path)
        assert done.status == 0, f"{line}: {done}"
        assert "Traceback" not in done.err
        if line.startswith("placet restore"):
            laptop.start()
        if line.startswith("placet confirm"):
            confirmed = line.split()[2:]
        if line.startswith("placet agent create"):
            wait_until("the agent proposes", lambda: len(laptop.do("pending")) > 2, START_S)


def test_every_example_of_the_help_runs(laptop: Device, tmp_path: Path):
    for title in ("Send the form", "Take photos", "Renew the passport", "Water the garden"):
        laptop.do("add", title)
    for command, example in HELP.items():
        assert example in " ".join(laptop.run(*command.split(), "--help").out.split())
        done = shell(laptop, example, tmp_path)
        assert done.status == 0, f"{example}: {done}"
