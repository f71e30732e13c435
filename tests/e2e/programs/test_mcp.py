"""A program that speaks the Model Context Protocol proposes and asks; a person decides on another device.

The programs are the client of the protocol's own SDK, in both eras of the protocol, and one that is written
here from the specification. Never calls the door but as a program does, by its standard input and output.
"""

import json
import re
import subprocess
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.support.devices import MakeDevice, pair
from tests.support.door_clients import ERAS, Call, speak
from tests.support.patience import LIMIT_S, wait_until
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

pytestmark = pytest.mark.e2e

ESTIMATE = {"tool": "update_task_estimate", "args": {"minutes": 90}, "why": "The mail says so."}
MAIL = {"name": "send_mail", "args": {"to": "ana@example.org"}}


@pytest.mark.parametrize("era", ERAS)
def test_a_program_proposes_here_and_reads_at_its_next_start_what_was_decided_there(
    device: MakeDevice, era: str
):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.do("agent", "add", "Claude")
    laptop.do("add", "Write to Ana")
    phone.stop()

    async def propose(call: Call) -> dict[str, Any]:
        (task,) = (await call("find_tasks", query="ana"))["tasks"]
        assert (await call("show_task", task=task["id"]))["task"]["title"] == "Write to Ana"
        return await call("propose_changes", task=task["id"], changes=[ESTIMATE], key="mail 7")

    proposed = speak(laptop, era, propose)
    assert (proposed["state"], "end your turn" in proposed["note"].lower()) == ("pending", True)
    retried = speak(laptop, era, propose)
    assert retried["set"] == proposed["set"]

    phone.start()
    wait_until("the proposal arrives", lambda: len(phone.do("pending")) == 1, LIMIT_S)
    phone.do("confirm", phone.do("pending")[0]["item_id"])
    wait_until("the verdict arrives", lambda: laptop.do("show", "ana")["estimate_minutes"] == 90, LIMIT_S)

    async def look(call: Call) -> dict[str, Any]:
        return await call("get_decisions", since=0)

    (decided,) = speak(laptop, era, look)["sets"]
    assert (decided["set"], decided["items"][0]["state"]) == (proposed["set"], "confirmed")


@pytest.mark.parametrize("era", ERAS)
def test_a_program_proposes_a_new_task_beside_no_task(device: MakeDevice, era: str):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    new_task = {"tool": "add_task", "args": {"title": "Call Ben"}, "why": "The mail says so."}

    async def propose(call: Call) -> dict[str, Any]:
        return await call("propose_changes", task=None, changes=[new_task, ESTIMATE], key="mail 8")

    proposed = speak(laptop, era, propose)
    assert (proposed["task"], [item["state"] for item in proposed["items"]]) == (None, ["pending", "refused"])
    assert "Claude" in laptop.run("pending").out
    laptop.do("confirm", proposed["items"][0]["item"])
    assert laptop.do("show", "ben")["title"] == "Call Ben"
    (decision,) = laptop.do("decisions")
    assert decision["task_title"] == "Claude"


@pytest.mark.parametrize("era", ERAS)
def test_a_permission_is_used_once_and_only_as_it_was_shown(device: MakeDevice, era: str):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude", "--scope", "none")

    async def ask(call: Call) -> dict[str, Any]:
        return await call("ask_permission", action=MAIL, title="Mail Ana", valid_minutes=60, key="mail 1")

    new_ask = speak(laptop, era, ask)

    async def use(call: Call, execution: str, args_hash: str) -> str:
        answer = await call(
            "use_permission", ask=new_ask["ask_id"], args_hash=args_hash, execution_id=execution
        )
        return str(answer["result"])

    async def use_early(call: Call) -> str:
        return await use(call, "first", new_ask["args_hash"])

    assert speak(laptop, era, use_early) == "pending"
    laptop.do("confirm", new_ask["ask_id"])

    right, wrong = new_ask["args_hash"], "0" * 64
    uses = [("first", wrong), ("first", right), ("first", right), ("second", right)]

    async def use_all(call: Call) -> str:
        results = [await use(call, execution, args_hash) for execution, args_hash in uses]
        assert results == ["changed", "granted", "granted", "already_used"]
        granted = await call(
            "use_permission",
            ask=new_ask["ask_id"],
            args_hash=new_ask["args_hash"],
            execution_id="first",
        )
        (resource,) = (await call.client.read_resource(granted["receipt"])).contents  # type: ignore[attr-defined]
        with pytest.raises(MCPError, match="no such ask"):
            await call.client.read_resource(f"placet://receipts/{'0' * 32}")  # type: ignore[attr-defined]
        return str(resource.text)

    receipt = laptop.home / "receipt.json"
    receipt.write_text(speak(laptop, era, use_all))

    async def use_again(call: Call) -> str:
        return await use(call, "first", right)

    assert speak(laptop, era, use_again) == "already_used"
    checked = laptop.do("verify-receipt", str(receipt))
    (spent,) = checked["uses"]
    assert re.fullmatch("first [0-9a-f]{16}", spent["execution_id"])
    # Models repeat their keys: the next call is asked about, and a retry of that finds its ask.
    later = [speak(laptop, era, ask) for _ in range(2)]
    assert [(again["state"], again["ask_id"]) for again in later] == [("pending", later[0]["ask_id"])] * 2
    assert later[0]["ask_id"] != new_ask["ask_id"]


@pytest.mark.parametrize("era", ERAS)
def test_what_is_wrong_is_refused_in_words_and_no_tool_decides(device: MakeDevice, era: str):
    laptop = device("laptop")
    laptop.do("add", "Write to Ana")

    async def story(call: Call) -> None:
        with pytest.raises(MCPError, match="no tool"):
            await call("confirm", items=["ff"])
        unknown = await call("find_tasks")
        assert "let" in unknown["refused"]["message"] + unknown["refused"]["hint"]
        # What words mean tells nothing of the journal.
        (day,) = (await call("read_dates", text="2026-12-24", zone="Europe/Berlin"))["days"]
        assert day["readings"][0]["weekday"] == "Thursday"
        laptop.do("agent", "admit", "Claude")
        (task,) = (await call("find_tasks"))["tasks"]
        listed = await call.client.list_tools()  # type: ignore[attr-defined]
        assert len(listed.tools) == 8
        schemas = {tool.name: tool.input_schema for tool in listed.tools}
        assert all(schema["additionalProperties"] is False for schema in schemas.values())
        assert not any("agent" in schema["properties"] for schema in schemas.values())
        offered = schemas["propose_changes"]["properties"]["changes"]["items"]["properties"]["tool"]["enum"]
        assert "update_task_estimate" in offered
        for tool, args in (
            ("propose_changes", {"task": task["id"], "changes": [], "key": "k"}),
            ("propose_changes", {"task": task["id"], "changes": [ESTIMATE], "key": "k", "agent": "Codex"}),
            ("propose_changes", {"task": task["id"], "changes": [ESTIMATE], "key": "k", "wait_s": 51}),
            ("show_task", {"task": "nothing like it"}),
            ("withdraw", {}),
            ("get_decisions", {"asks": ["ff"]}),
        ):
            assert "refused" in await call(tool, **args), (tool, args)
        mixed = await call(
            "propose_changes", task=task["id"], changes=[ESTIMATE, {"tool": "rm", "args": {}}], key="k"
        )
        assert [item["state"] for item in mixed["items"]] == ["pending", "refused"]
        uri = f"placet://sets/{mixed['set']}"
        (resource,) = (await call.client.read_resource(uri)).contents  # type: ignore[attr-defined]
        assert json.loads(resource.text)["state"] == "pending"
        with pytest.raises(MCPError, match="no resource"):
            await call.client.read_resource("placet://agents")  # type: ignore[attr-defined]
        taken_back = await call("withdraw", set=mixed["set"], reason="A mistake.")
        assert taken_back["items"][0]["state"] == "retracted"

    speak(laptop, era, story)
    assert laptop.do("pending") == []


def test_an_ask_at_the_door_is_bounded_and_nothing_of_a_bad_one_is_kept(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude", "--scope", "none")
    most = 16 * 1024 - 100
    bad: list[dict[str, Any]] = [
        *(
            {"valid_minutes": minutes}
            for minutes in (0, -1, 10_081, 10**30, 60.5, 1e300, "sixty", True, None, [60])
        ),
        *({"title": title} for title in ("", " ", "x" * 201, 7, None)),
        *({"options": options} for options in (list("1234567"), ["x" * 101], [""], ["now", "now"], "now")),
        *(
            {"action": {"name": "send_mail", "args": args}}
            for args in ({"t": "\x07" * (most + 101)}, ["t"], None)
        ),
        *({"action": {"name": name, "args": {}}} for name in ("", " ", "x" * 101)),
        {"action": {"name": "send_mail", "args": {}, "agent": "Codex"}},
        {"action": {"name": "send_mail"}},
        {"why": "x" * 2001},
        {"key": ""},
        {"key": "k" * 201},
        {"wait_s": 51},
        {"wait_s": -1},
        {"agent": "Codex"},
        {"name": "Codex"},
    ]
    good: list[dict[str, Any]] = [
        {"valid_minutes": 1},
        {"valid_minutes": 10_080},
        {"valid_minutes": 60.0},
        {"title": "x" * 200, "why": "x" * 2000, "options": ["x" * 100, *"12345"], "key": "k" * 200},
        {"action": {"name": "x" * 100, "args": {"t": "\x07" * most}}},
    ]
    ask = {"action": MAIL, "title": "Mail Ana", "valid_minutes": 60, "key": "mail 1"}

    async def story(call: Call) -> None:
        for changed in bad:
            assert "refused" in await call("ask_permission", **(ask | changed)), changed
        assert "refused" in await call("ask_permission", action=MAIL, title="Mail Ana", key="no time")
        assert laptop.do("asks", "--all") == []
        for number, changed in enumerate(good):
            answer = await call("ask_permission", **(ask | {"key": f"good {number}"} | changed))
            assert answer.get("state") == "pending", (changed, answer)

    speak(laptop, ERAS[-1], story)
    asks = laptop.do("asks")
    assert len(asks) == len(good)
    assert {listed["agent_name"] for listed in asks} == {"Claude"}


def test_a_client_that_is_written_from_the_specification_waits_for_a_verdict(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Scripts")
    task = laptop.do("add", "Write to Ana")["id"]
    with processes.Popen(
        [PLACET, "mcp", "--as", "Scripts"],
        env=laptop.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as door:
        assert door.stdin is not None
        assert door.stdout is not None

        def send(method: str, params: dict[str, Any], number: int | None = None) -> None:
            assert door.stdin is not None
            message = {"jsonrpc": "2.0", "method": method, "params": params}
            door.stdin.write(json.dumps(message | ({} if number is None else {"id": number})) + "\n")
            door.stdin.flush()

        def answer(number: int) -> Any:
            assert door.stdout is not None
            for line in door.stdout:
                message = json.loads(line)
                if message.get("id") == number:
                    return message["result"]
            raise AssertionError("the door has ended")

        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        send("initialize", hello, 1)
        assert answer(1)["serverInfo"]["name"] == "placet"
        send("notifications/initialized", {})
        args = {"task": task, "changes": [ESTIMATE], "key": "k", "wait_s": 50}
        send("tools/call", {"name": "propose_changes", "arguments": args}, 2)
        wait_until("the proposal waits", lambda: len(laptop.do("pending")) == 1, LIMIT_S)
        laptop.do("reject", laptop.do("pending")[0]["item_id"], "--reason", "Not today.")
        (item,) = answer(2)["structuredContent"]["items"]
        assert (item["state"], item["reason"]) == ("rejected", "Not today.")
        # A client that goes does not leave the door behind for as long as it waits: that would be 50 seconds.
        send("tools/call", {"name": "get_decisions", "arguments": {}}, 3)
        latest = {"since": answer(3)["structuredContent"]["next"], "wait_s": 50}
        send("tools/call", {"name": "get_decisions", "arguments": latest}, 4)
        door.stdin.close()
        assert door.wait(25) == 0


def test_the_door_says_what_is_wrong_while_the_daemon_is_away(device: MakeDevice):
    laptop = device("laptop")
    laptop.stop()

    async def look(call: Call) -> dict[str, Any]:
        return await call("get_decisions")

    assert speak(laptop, "legacy", look)["refused"]["code"] == "no_daemon"
