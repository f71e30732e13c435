"""Programs of other makes at the door: the TypeScript SDK of the protocol, and its Inspector in both eras.

`make door-clients` and `make inspect-door` install them from lock files and run these tests; without them
each test is skipped. Never looks behind the door: a person's commands do that.
"""

import json
import os
import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs.test_mcp_tasks import ESTIMATE, MAIL, door_of
from tests.support.devices import Device, MakeDevice, pair
from tests.support.patience import LIMIT_S, wait_until
from tests.support.source_tree import ROOT
from tests.support.starts.processes import PLACET

pytestmark = pytest.mark.e2e

DOOR = ROOT / "tests" / "e2e" / "door"
NODE = shutil.which("node")
SDK = DOOR / "typescript" / "node_modules" / "@modelcontextprotocol" / "sdk"
INSPECTOR_PACKAGES = DOOR / "inspector" / "node_modules"
INSPECTOR = INSPECTOR_PACKAGES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "x64")
INSPECTOR_NODE = INSPECTOR_PACKAGES / f"node-linux-{_MACHINE}" / "bin" / "node"

needs_typescript = pytest.mark.skipif(
    NODE is None or not SDK.exists(), reason="needs node, and its TypeScript client: make door-clients"
)
needs_inspector = pytest.mark.skipif(
    not INSPECTOR.exists() or not INSPECTOR_NODE.exists(), reason="needs the Inspector: make inspect-door"
)


def typescript_command(*steps: dict[str, Any]) -> list[str | Path]:
    assert NODE is not None
    client = DOOR / "typescript" / "client.mjs"
    return [NODE, client, PLACET, "Claude", *(json.dumps(step) for step in steps)]


def speak(device: Device, *steps: dict[str, Any]) -> list[Any]:
    """Start a client and the door for some steps, until both end; return what each step answered."""
    spoken = subprocess.run(
        typescript_command(*steps),
        env=device.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert spoken.returncode == 0, spoken.stderr
    hello, *answers = [json.loads(line) for line in spoken.stdout.splitlines()]
    assert (hello["server"], len(hello["tools"])) == ("placet", 7)
    return answers


@needs_typescript
def test_another_make_proposes_and_reads_at_its_next_start_what_was_decided_there(device: MakeDevice):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]
    phone.stop()
    change = {"tool": "propose_changes", "args": {"task": task, "changes": [ESTIMATE], "key": "mail 7"}}
    proposed, inbox = speak(laptop, change, {"read": "placet://inbox"})
    assert proposed["state"] == "pending"
    assert [waiting["set"] for waiting in inbox["sets"]] == [proposed["set"]]
    phone.start()
    wait_until("the proposal arrives", lambda: len(phone.do("pending")) == 1, LIMIT_S)
    phone.do("confirm", phone.do("pending")[0]["item_id"])
    wait_until("the verdict arrives", lambda: laptop.do("show", "ana")["estimate_minutes"] == 90, LIMIT_S)
    (decided,) = speak(laptop, {"tool": "get_decisions", "args": {"since": 0}})[0]["sets"]
    assert (decided["set"], decided["items"][0]["state"]) == (proposed["set"], "confirmed")


@needs_typescript
def test_another_make_uses_a_permission_once(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude", "--scope", "none")
    args = {"action": MAIL, "title": "Mail Ana", "valid_minutes": 60, "key": "mail 1"}
    (ask,) = speak(laptop, {"tool": "ask_permission", "args": args})
    laptop.do("confirm", ask["ask_id"])
    use = {"ask": ask["ask_id"], "args_hash": ask["args_hash"]}
    steps = [{"tool": "use_permission", "args": use | {"execution_id": name}} for name in ("first", "second")]
    assert [answer["result"] for answer in speak(laptop, *steps)] == ["granted", "already_used"]


@needs_typescript
def test_another_make_is_told_of_a_verdict(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]
    change = {"tool": "propose_changes", "args": {"task": task, "changes": [ESTIMATE], "key": "mail 7"}}
    (proposed,) = speak(laptop, change)
    address = f"placet://sets/{proposed['set']}"
    with subprocess.Popen(
        typescript_command({"watch": address}, {"read": address}),
        env=laptop.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as client:
        assert client.stdout is not None
        lines = (json.loads(line) for line in client.stdout)
        assert next(lines)["server"] == "placet"
        assert next(lines) == {"subscribed": address}
        laptop.do("confirm", proposed["items"][0]["item"])
        assert next(lines) == {"announced": address}
        assert next(lines)["state"] == "decided"
        assert client.wait(LIMIT_S) == 0


def inspect(device: Device, era: str, *words: str) -> Any:
    """Ask the Inspector's command line for one thing; return its result."""
    settings = [f"{name}={value}" for name, value in device.environment.items() if name.startswith("PLACET_")]
    values = [word for setting in settings for word in ("-e", setting)]
    options = ["--cli", "--protocol-era", era, "--format", "json"]
    looked = subprocess.run(
        [INSPECTOR_NODE, INSPECTOR, *options, *values, *words, "--", PLACET, "mcp", "--as", "Inspector"],
        # Its own settings would be kept in the home folder of whoever runs this.
        env=os.environ | {"HOME": str(device.home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (looked.returncode, looked.stderr) == (0, ""), looked.stdout
    return json.loads(looked.stdout)["result"]


@needs_inspector
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_no_fault_with_the_door(device: MakeDevice, era: str):
    laptop = device("laptop")
    laptop.do("agent", "add", "Inspector")
    task = laptop.do("add", "Write to Ana")["id"]
    tools = inspect(laptop, era, "--method", "tools/list", "--strict")["tools"]
    assert len(tools) == 8
    resources = inspect(laptop, era, "--method", "resources/list")["resources"]
    assert [resource["uri"] for resource in resources] == ["placet://inbox", "placet://decisions"]
    templates = inspect(laptop, era, "--method", "resources/templates/list")["resourceTemplates"]
    assert len(templates) == 4
    args = json.dumps({"task": task, "changes": [ESTIMATE], "key": "mail 7"})
    call = ("--method", "tools/call", "--tool-name", "propose_changes", "--tool-args-json", args)
    # In the era of 2026 it knows tasks: what waits is one, and it asks for that until the person decides.
    with ThreadPoolExecutor(1) as thread:
        proposing = thread.submit(inspect, laptop, era, *call)
        wait_until("the proposal waits", lambda: len(laptop.do("pending")) == 1, LIMIT_S)
        proposed = proposing.result() if era == "legacy" else None
        laptop.do("confirm", laptop.do("pending")[0]["item_id"])
        proposed = proposed or proposing.result()
    assert proposed["structuredContent"]["state"] == ("pending" if era == "legacy" else "decided")
    address = ("--method", "resources/read", "--uri", "placet://decisions")
    (content,) = inspect(laptop, era, *address)["contents"]
    (decided,) = json.loads(content["text"])["sets"]
    assert decided["set"] == proposed["structuredContent"]["set"]


@needs_inspector
def test_the_inspectors_schemas_of_tasks_accept_what_the_door_answers(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]
    with door_of(laptop) as client:
        made = client.call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        shown = [client.result("tasks/get", taskId=made["taskId"])]
        laptop.do("reject", laptop.do("pending")[0]["item_id"], "--reason", "Not today.")
        shown.append(client.result("tasks/get", taskId=made["taskId"]))
        ask = client.call("ask_permission", action=MAIL, title="Mail Ana", valid_minutes=60, key="mail 1")
        updated = client.result("tasks/update", taskId=ask["taskId"], inputResponses={})
        cancelled = client.result("tasks/cancel", taskId=ask["taskId"])
        shown.append(client.result("tasks/get", taskId=ask["taskId"]))
    assert [answer["status"] for answer in shown] == ["working", "completed", "cancelled"]
    answers = {
        "CreateTaskResultV2Schema": [made, ask],
        "GetTaskResultV2Schema": shown,
        "UpdateTaskResultV2Schema": [updated],
        "CancelTaskResultV2Schema": [cancelled],
    }
    checked = subprocess.run(
        [INSPECTOR_NODE, DOOR / "inspector" / "check_tasks.mjs"],
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
