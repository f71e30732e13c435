"""The hook of another program, from its JSON to a person's verdict and back, with a real daemon.

Never repeats what tests/daemon/cli/hooks asks of the words of each client.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.devices import Device, MakeDevice, have_equal_state, pair
from tests.support.patience import LIMIT_S, wait_until
from tests.support.source_tree import ROOT
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

pytestmark = pytest.mark.e2e

GUIDE = ROOT / "docs/guide/agents"

COMMAND = {"command": "rm -r build", "description": "Remove the build"}


def call(event: str = "PermissionRequest", **more: Any) -> str:
    """Return what Claude Code writes to its hook before it runs a command."""
    return json.dumps(
        {
            "session_id": "abc123",
            "transcript_path": "/home/ana/.claude/projects/x/abc123.jsonl",
            "cwd": "/home/ana/project",
            "permission_mode": "default",
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": COMMAND,
            **more,
        }
    )


def open_hook(device: Device, *words: str) -> "subprocess.Popen[str]":
    """Start the hook; its input stays open."""
    return processes.Popen(
        [PLACET, "ask", "--hook", "Claude", "--wait", str(int(LIMIT_S)), *words],
        env=device.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start_hook(device: Device, sent: str, *words: str) -> "subprocess.Popen[str]":
    """Start the hook as a client does; it waits for the verdict."""
    hook = open_hook(device, *words)
    assert hook.stdin is not None
    hook.stdin.write(sent)
    hook.stdin.close()
    hook.stdin = None
    return hook


def open_ask(device: Device) -> dict[str, Any]:
    """Return the ask that waits, as soon as there is one."""
    wait_until("the ask arrives", lambda: len(device.do("asks")) == 1, LIMIT_S)
    ask: dict[str, Any] = device.do("asks")[0]
    return ask


def answer_of(hook: "subprocess.Popen[str]") -> Any:
    out, err = hook.communicate(timeout=LIMIT_S)
    assert hook.returncode == 0, err
    return json.loads(out)["hookSpecificOutput"] if out else None


@pytest.fixture
def laptop(device: MakeDevice) -> Device:
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude", "--scope", "none")
    return laptop


def test_a_yes_of_another_device_lets_the_call_through_once(device: MakeDevice, laptop: Device):
    phone = device("phone")
    pair(laptop, phone)
    hook = start_hook(laptop, call())
    ask = open_ask(phone)
    assert (ask["name"], ask["args"]) == ("Bash", COMMAND | {"cwd": "/home/ana/project"})
    assert phone.do("status")["pending_asks"] == 1
    phone.do("confirm", ask["ask_id"])
    assert answer_of(hook) == {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    wait_until("the use is known", lambda: have_equal_state(laptop, phone), LIMIT_S)
    assert phone.do("asks", "--all")[0]["state"] == "used"
    # The same command once more is another call: the client asks again, and so does the hook.
    again = start_hook(laptop, call())
    laptop.do("reject", open_ask(laptop)["ask_id"], "--reason", "Once is enough.")
    assert answer_of(again)["decision"] == {"behavior": "deny", "message": "Once is enough."}


def test_a_second_call_with_the_ids_and_arguments_of_the_first_asks_anew(laptop: Device):
    """Old: the used yes of the first let the second through, unasked."""
    same = call("PreToolUse", tool_use_id="call_0", turn_id="1")
    for _ in range(2):
        hook = start_hook(laptop, same)
        laptop.do("confirm", open_ask(laptop)["ask_id"])
        assert answer_of(hook)["permissionDecision"] == "allow"
    assert [listed["state"] for listed in laptop.do("asks", "--all")] == ["used"] * 2


def test_before_a_tool_an_edit_of_the_person_is_what_is_called(laptop: Device):
    hook = start_hook(laptop, call("PreToolUse", tool_use_id="toolu_01"))
    laptop.do("confirm", open_ask(laptop)["ask_id"], "--edit", '{"command": "rm -r build/tmp"}')
    answer = answer_of(hook)
    assert answer["permissionDecision"] == "allow"
    assert answer["updatedInput"] == {**COMMAND, "command": "rm -r build/tmp"}


def test_a_hook_that_is_ended_takes_its_ask_back(laptop: Device):
    hook = start_hook(laptop, call())
    ask = open_ask(laptop)["ask_id"]
    hook.send_signal(signal.SIGTERM)
    out, _ = hook.communicate(timeout=LIMIT_S)
    assert out == ""
    assert [(listed["ask_id"], listed["state"]) for listed in laptop.do("asks", "--all")] == [
        (ask, "withdrawn")
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_ending_a_hook_before_a_tool_lets_no_call_slip_through(laptop: Device, number: int):
    """A process that the model started can signal the hook: that is no verdict."""
    hook = start_hook(laptop, call("PreToolUse", tool_use_id="toolu_09"))
    open_ask(laptop)
    hook.send_signal(number)
    assert answer_of(hook)["permissionDecision"] == "ask"
    hook = start_hook(laptop, call("PreToolUse", tool_use_id="toolu_10"), "--client", "codex")
    open_ask(laptop)
    hook.send_signal(number)
    hook.communicate(timeout=LIMIT_S)
    assert hook.returncode == 2
    assert laptop.do("asks") == []


def test_a_client_that_is_killed_leaves_no_ask_behind(laptop: Device, tmp_path: Path):
    sent = tmp_path / "said.json"
    sent.write_text(call(), encoding="utf-8")
    start = (
        "import subprocess, sys\n"
        f"subprocess.Popen([{str(PLACET)!r}, 'ask', '--hook', 'Claude', '--wait', '600'],"
        f" stdin=open({str(sent)!r}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()"
    )
    client = subprocess.Popen([sys.executable, "-c", start], env=laptop.environment)
    open_ask(laptop)
    os.kill(client.pid, signal.SIGKILL)
    client.wait(LIMIT_S)
    wait_until("the ask is taken back", lambda: laptop.do("asks") == [], LIMIT_S)
    assert laptop.do("asks", "--all")[0]["state"] == "withdrawn"


def test_without_a_daemon_or_a_verdict_the_program_asks_by_itself(laptop: Device):
    assert answer_of(start_hook(laptop, call(), "--wait", "0")) is None
    before_tool = start_hook(laptop, call("PreToolUse", tool_use_id="toolu_02"), "--wait", "0")
    assert answer_of(before_tool)["permissionDecision"] == "ask"
    assert {listed["state"] for listed in laptop.do("asks", "--all")} == {"withdrawn"}
    laptop.stop()
    assert answer_of(start_hook(laptop, call())) is None
    hook = start_hook(laptop, call("PreToolUse", tool_use_id="toolu_03"), "--client", "codex")
    assert answer_of(hook)["permissionDecision"] == "deny"


def test_an_answer_that_cannot_be_written_blocks_the_call_and_lost_words_do_not_keep_it_back(laptop: Device):
    """Old: on a full disk the hook failed, and the client went on by its own rules."""
    outcomes = {}
    for words in (">/dev/full", ">&-", "2>/dev/full", "2>&-", ">/dev/full 2>/dev/full"):
        hook = subprocess.run(
            f"exec {PLACET} ask --hook Claude --wait 0 {words}",
            shell=True,
            check=False,
            env=laptop.environment,
            input=call("PreToolUse", permission_mode="auto").encode(),
            capture_output=True,
            timeout=LIMIT_S,
        )
        outcomes[words] = (hook.returncode, b'"deny"' in hook.stdout)
    lost = (2, False)
    heard = (0, True)
    assert list(outcomes.values()) == [lost, lost, heard, heard, lost]


@pytest.mark.parametrize(
    ("sent", "client", "status"),
    [
        *[(sent, client, 2) for sent in ("", "[]", "{") for client in ("claude-code", "codex")],
        *[
            (sent, client, status)
            for sent in ('{"hook_event_name": "Stop"}', call(tool_input=7))
            for client, status in (("claude-code", 1), ("codex", 2))
            if client == "codex" or "Stop" in sent
        ],
    ],
)
def test_what_is_no_call_has_no_verdict_and_says_why(laptop: Device, sent: str, client: str, status: int):
    hook = start_hook(laptop, sent, "--client", client)
    out, err = hook.communicate(timeout=LIMIT_S)
    assert (hook.returncode, out) == (status, "")
    assert err.startswith("Placet: ")
    assert "Traceback" not in err
    assert laptop.do("asks", "--all") == []


def test_the_wait_bounds_an_input_that_stays_open_and_a_daemon_that_does_not_answer(laptop: Device):
    """Old: the hook hung beyond its time, for good if nobody closed its input."""
    with open_hook(laptop, "--wait", "1") as hook:
        assert hook.wait(LIMIT_S) == 2
    assert laptop.do("asks", "--all") == []
    with open_hook(laptop, "--wait", "1") as hook:
        assert hook.stdin is not None
        assert hook.stdout is not None
        hook.stdin.write(call("PreToolUse", permission_mode="auto", tool_use_id="toolu_04"))
        hook.stdin.flush()
        assert hook.wait(LIMIT_S) == 0
        assert json.loads(hook.stdout.read())["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert {listed["state"] for listed in laptop.do("asks", "--all")} == {"withdrawn"}
    assert laptop.daemon is not None
    laptop.daemon.send_signal(signal.SIGSTOP)
    try:
        hook = start_hook(laptop, call("PreToolUse", permission_mode="auto"), "--wait", "0")
        assert answer_of(hook)["permissionDecision"] == "deny"
    finally:
        laptop.daemon.send_signal(signal.SIGCONT)


def settings_in(document: str) -> dict[str, Any]:
    """Return the settings of a client that a document shows."""
    text = (GUIDE / document).read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    settings: dict[str, Any] = json.loads(block)
    return settings


@pytest.mark.parametrize("document", ["claude-code.md", "codex.md"])
def test_the_settings_in_the_guide_ask_as_the_client_runs_them(device: MakeDevice, document: str):
    laptop = device("laptop")
    ((group,),) = settings_in(document)["hooks"].values()
    (handler,) = group["hooks"]
    name = handler["command"].split()[3]
    laptop.do("agent", "add", name, "--scope", "none")
    assert int(handler["command"].split()[-1]) < handler["timeout"]
    hook = subprocess.Popen(
        ["bash", "-c", handler["command"]],
        env=laptop.environment | {"PATH": f"{PLACET.parent}:{laptop.environment['PATH']}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert hook.stdin is not None
    hook.stdin.write(call(turn_id="turn 1"))
    hook.stdin.close()
    hook.stdin = None
    laptop.do("confirm", open_ask(laptop)["ask_id"])
    assert answer_of(hook)["decision"] == {"behavior": "allow"}


def test_the_tool_for_permission_prompts_answers_as_claude_code_reads_it(laptop: Device):
    async def ask_thrice() -> list[Any]:
        server = StdioServerParameters(
            command=sys.executable,
            args=[str(GUIDE / "prompt_tool.py")],
            env=laptop.environment | {"PATH": f"{PLACET.parent}:{laptop.environment['PATH']}"},
        )
        answers = []
        async with Client(stdio_client(server), mode="legacy") as client:
            for number, (verdict, *more) in enumerate(
                (
                    ("confirm",),
                    ("confirm", "--edit", '{"command": "ls"}'),
                    ("reject", "--reason", "No."),
                )
            ):
                wanted = {"tool_name": "Bash", "input": COMMAND, "tool_use_id": f"toolu_{number}"}
                asking = asyncio.create_task(client.call_tool("permission", wanted))
                ask = await asyncio.to_thread(open_ask, laptop)
                await asyncio.to_thread(laptop.do, verdict, ask["ask_id"], *more)
                result: Any = await asking
                answers.append(json.loads(result.content[0].text))
        return answers

    assert asyncio.run(asyncio.wait_for(ask_thrice(), LIMIT_S)) == [
        {"behavior": "allow", "updatedInput": COMMAND},
        {"behavior": "allow", "updatedInput": {**COMMAND, "command": "ls"}},
        {"behavior": "deny", "message": "No."},
    ]


def test_a_rule_for_a_folder_lets_a_call_through_there_and_nowhere_else(laptop: Device):
    words = ["Claude", "Bash", *(word for name in COMMAND for word in ("--arg", f"{name}={COMMAND[name]}"))]
    laptop.do("rule", "add", *words, "--arg", "cwd=/home/ana/project", "--until", "in 7 days", "--a-day", "5")
    assert answer_of(start_hook(laptop, call()))["decision"] == {"behavior": "allow"}
    elsewhere = start_hook(laptop, call(cwd="/home/ana/project/../other"))
    laptop.do("reject", open_ask(laptop)["ask_id"], "--reason", "Not there.")
    assert answer_of(elsewhere)["decision"] == {"behavior": "deny", "message": "Not there."}
    # Folders below are named by a beginning.
    laptop.do("rule", "add", *words, "--begins", "cwd=/srv/", "--until", "in 7 days", "--a-day", "5")
    assert answer_of(start_hook(laptop, call(cwd="/srv/shop")))["decision"] == {"behavior": "allow"}
