"""An agent with a shell on its home device tries everything to permit itself what needs another device.

Never uses a key of the other device: an agent there would be another matter.
"""

import json
import subprocess

import pytest

from tests.e2e.programs.test_hooks import answer_of, call, open_ask, start_hook
from tests.support.devices import Device, MakeDevice, have_equal_state, pair
from tests.support.patience import LIMIT_S, wait_until

pytestmark = pytest.mark.e2e

IN_DAYS = ("--until", "in 3 days", "--a-day", "9")


def attempts(ask: str) -> list[tuple[str, ...]]:
    """Return what a process of the same user can say to the daemon."""
    return [
        ("confirm", ask),
        ("confirm", ask, "--force"),
        ("confirm", ask, "--edit", '{"command": "ls"}'),
        ("reject", ask),
        ("undo", ask),
        ("reopen", ask),
        ("defer", ask),
        ("rule", "add", "Claude", "Bash", "--begins", "command=rm -r", *IN_DAYS),
        ("agent", "presence", "Claude", "all", "any"),
        ("agent", "presence", "Claude", "all", "default"),
        ("agent", "add", "Claude", "--scope", "all"),
        ("agent", "admit", "Claude"),
        ("agent", "limits", "Claude", "--asks", "9999"),
    ]


def post(device: Device, path: str, body: object) -> None:
    """Send a request to the socket, as any program of this user can."""
    subprocess.run(
        [
            *("curl", "-s", "--unix-socket", device.do("paths")["socket"], "-X", "POST"),
            *("-H", "Content-Type: application/json", "-d", json.dumps(body), f"http://placet{path}"),
        ],
        check=True,
        capture_output=True,
        timeout=LIMIT_S,
    )


def test_a_shell_on_the_home_device_gets_no_permission_past_another_device(device: MakeDevice):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    laptop.do("agent", "presence", "Claude", "all", "other_device")
    hook = start_hook(laptop, call())
    ask = open_ask(laptop)
    name, digest = ask["ask_id"], ask["args_hash"]

    for words in attempts(name):
        laptop.run(*words)
    for verdict in ("confirmed", "deferred", "reopened"):
        post(laptop, "/v1/decisions", {"verdict": verdict, "items": [name], "via": "web", "force": True})
    post(laptop, f"/v1/asks/{name}/use", {"agent": "Claude", "args_hash": digest, "execution_id": "mine"})
    waiting = laptop.do("asks")
    assert [(listed["state"], listed["used_at"]) for listed in waiting] == [("pending", None)]
    assert waiting[0]["presence"] == "other_device"
    assert {idle["lacks"] for idle in waiting[0]["idle_verdicts"]} == {"other_device"}
    assert hook.poll() is None
    assert "not from another device: it does not count" in " ".join(laptop.run("pending").out.split())

    wait_until("the phone knows all of it", lambda: have_equal_state(laptop, phone), LIMIT_S)
    phone.do("confirm", name)
    assert answer_of(hook)["decision"] == {"behavior": "allow"}
    assert laptop.do("asks", "--all")[0]["verdict"]["device_name"] == "phone"
