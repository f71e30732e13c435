"""Resources of the door, read and watched by the client of the protocol's own SDK in both of its eras.

Never tests the bounds of subscriptions: tests/daemon/cli/mcp/test_resource_notices.py does.
"""

import asyncio
import json
import subprocess
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.support.devices import MakeDevice
from tests.support.door_clients import ERAS, Call, Heard, speak, subscribed
from tests.support.patience import LIMIT_S
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")]

ESTIMATE = {"tool": "update_task_estimate", "args": {"minutes": 90}, "why": "The mail says so."}
INBOX, DECISIONS = "placet://inbox", "placet://decisions"


def client_of(call: Call) -> Client:
    client: Client = call.client  # type: ignore[attr-defined]
    return client


async def read(call: Call, address: str) -> Any:
    (content,) = (await client_of(call).read_resource(address)).contents
    return json.loads(content.text)  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
def test_a_program_is_told_what_was_decided_and_what_changed(device: MakeDevice, era: str):
    laptop, heard = device("laptop"), Heard(era)
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]

    async def story(call: Call) -> None:
        client = client_of(call)
        listed = await client.list_resources()
        assert [resource.uri for resource in listed.resources] == [INBOX, DECISIONS]
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            f"placet://{kind}/{{id}}" for kind in ("sets", "asks", "tasks", "receipts")
        ]
        assert await read(call, INBOX) == {"sets": [], "asks": [], "more": False}
        about_task = f"placet://tasks/{task}"
        async with subscribed(client, heard, [INBOX, about_task]):
            proposed = await call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
            await heard.wait_for(INBOX, about_task)
        about_set = f"placet://sets/{proposed['set']}"
        (waiting,) = (await read(call, INBOX))["sets"]
        assert waiting["set"] == proposed["set"]
        assert (await read(call, about_task))["task"]["open_proposals"] == 1
        async with subscribed(client, heard, [INBOX, DECISIONS, about_set, about_task]):
            await asyncio.to_thread(laptop.do, "confirm", proposed["items"][0]["item"])
            await heard.wait_for(INBOX, DECISIONS, about_set, about_task)
            # No verdict, and still it reads differently.
            await asyncio.to_thread(laptop.do, "note", "ana", "She is on holiday.")
            await heard.wait_for(about_task)
        assert (await read(call, INBOX))["sets"] == []
        (decided,) = (await read(call, DECISIONS))["sets"]
        assert (decided["set"], decided["state"]) == (proposed["set"], "decided")
        assert (await read(call, about_set))["items"][0]["state"] == "confirmed"

    speak(laptop, era, story, heard=heard)


@pytest.mark.parametrize("era", ERAS)
def test_a_program_reads_and_watches_nothing_of_another_or_beyond_its_scope(device: MakeDevice, era: str):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    laptop.do("agent", "add", "Codex", "--scope", "none")
    task = laptop.do("add", "Write to Ana")["id"]

    async def propose(call: Call) -> dict[str, Any]:
        mail = {"name": "send_mail", "args": {"to": "ana@example.org"}}
        ask = await call("ask_permission", action=mail, title="Mail Ana", valid_minutes=60, key="mail 1")
        proposed = await call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        return {"ask": ask["ask_id"], "set": proposed["set"], "item": proposed["items"][0]["item"]}

    of_claude = speak(laptop, era, propose)
    foreign = [f"placet://sets/{of_claude['set']}", f"placet://asks/{of_claude['ask']}"]
    beyond = [*foreign, f"placet://tasks/{task}"]

    async def look(call: Call) -> None:
        for address in beyond:
            with pytest.raises(MCPError) as refusal:
                await read(call, address)
            assert "Ana" not in str(refusal.value)
        # Whether another program has something under an id, or how much, is nobody's business either.
        for kind in ("set", "ask"):
            refusals = set()
            for name in (of_claude[kind], of_claude[kind][:8], of_claude[kind][:3], "0" * 32, "fff", "a"):
                (answer,) = [await call("get_decisions", **{f"{kind}s": [name]})]
                refusals.add((answer["refused"]["code"], answer["note"]))
                with pytest.raises(MCPError) as refusal:
                    await read(call, f"placet://{kind}s/{name}")
                refusals.add(("not_found", str(refusal.value)))
                taken_back = await call("withdraw", **{kind: name})
                refusals.add((taken_back["refused"]["code"], taken_back["note"]))
            assert len(refusals) == 1, refusals
        assert await read(call, INBOX) == {"sets": [], "asks": [], "more": False}
        if era == "legacy":
            for address in beyond:
                with pytest.raises(MCPError):
                    await client_of(call).subscribe_resource(address)
        else:
            async with subscribed(client_of(call), Heard(era), [*beyond, INBOX]) as watched:
                assert watched == [INBOX]

    speak(laptop, era, look, name="Codex")
    laptop.do("confirm", of_claude["item"])

    async def look_back(call: Call) -> None:
        assert await read(call, DECISIONS) == {"sets": [], "asks": [], "more": False}

    speak(laptop, era, look_back, name="Codex")


def test_a_subscription_ends_with_its_client(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized", "params": {}},
        {"id": 2, "method": "resources/subscribe", "params": {"uri": INBOX}},
    ]
    with processes.Popen(
        [PLACET, "mcp", "--as", "Claude"],
        env=laptop.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as door:
        assert door.stdin is not None
        assert door.stdout is not None
        for message in messages:
            door.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        door.stdin.flush()
        answers = (json.loads(line) for line in door.stdout)
        assert "result" in next(answer for answer in answers if answer.get("id") == 2)
        door.stdin.close()
        assert door.wait(LIMIT_S) == 0
