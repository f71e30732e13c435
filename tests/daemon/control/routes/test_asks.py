"""The routes of asks, on a real store: several clients at once, and a journal that is opened again.

Never repeats what the use cases are tested for: only what a route adds.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.person import lifecycle
from daemon.control.routes import asks
from daemon.control.routes.decisions import DecisionRoutes
from store.transaction import EntityWrite, Transaction
from syncproto.ids import id_to_text
from tests.daemon.control.conftest import Api
from tests.support.fleet import DAY_MS, START_MS


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    api = Api(tmp_path, [])
    api.routes += asks.routes(lambda: START_MS)
    api.routes += DecisionRoutes(api.store, lambda: START_MS, reason_min=20, open_per_day=50).routes()
    await api.start()
    yield api
    await api.stop()


def make_agent(tx: Transaction) -> str:
    task = tx.new_id()
    tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"})])
    return id_to_text(lifecycle.create_agent(tx, id_to_text(task), "rules"))


async def asked(api: Api, **more: Any) -> dict[str, Any]:
    """Make an agent that asks; return the ask."""
    agent = await api.store.write(make_agent)
    now_ms = await api.store.write(lambda tx: tx.now_ms())
    body = {
        "agent": agent,
        "name": "send_mail",
        "args": {"to": "ana@example.org"},
        "title": "Mail Ana",
        "key": "mail 1",
        "not_after": now_ms + DAY_MS,
    }
    answer = await api.ask("POST", "/v1/asks", body | more)
    assert answer.status == 201, answer.json
    return dict(answer.json)


async def use(api: Api, ask: dict[str, Any], execution: str) -> str:
    body = {"agent": ask["agent_id"], "args_hash": ask["args_hash"], "execution_id": execution}
    answer = await api.ask("POST", f"/v1/asks/{ask['ask_id']}/use", body)
    assert answer.status == 200, answer.json
    return str(answer.json["result"])


async def test_of_clients_that_use_a_permission_at_once_one_may(api: Api):
    ask = await asked(api)
    listed = (await api.ask("GET", "/v1/asks")).json
    assert [element["ask_id"] for element in listed] == [ask["ask_id"]]
    assert await use(api, ask, "early") == "pending"
    verdict = {
        "verdict": "confirmed",
        "items": [ask["ask_id"][:14]],
        "args_hashes": {ask["ask_id"]: ask["args_hash"]},
    }
    (decision,) = (await api.ask("POST", "/v1/decisions", verdict)).json
    assert decision["result"] == "applied"
    results = await asyncio.gather(*(use(api, ask, f"run {number}") for number in range(5)))
    assert sorted(results) == ["already_used"] * 4 + ["granted"]
    winner = f"run {results.index('granted')}"
    assert await use(api, ask, winner) == "granted"
    shown = (await api.ask("GET", f"/v1/asks/{ask['ask_id']}")).json
    assert (shown["state"], shown["execution_id"]) == ("used", winner)
    assert (await api.ask("GET", "/v1/asks")).json == []
    assert len((await api.ask("GET", "/v1/asks?all=true")).json) == 1


async def test_what_was_taken_back_is_not_used(api: Api):
    ask = await asked(api)
    body = {"agent": ask["agent_id"], "reason": "done by hand"}
    withdrawn = await api.ask("POST", f"/v1/asks/{ask['ask_id']}/withdraw", body)
    assert withdrawn.json["state"] == "withdrawn"
    assert await use(api, ask, "run") == "withdrawn"


async def test_what_no_agent_asks_is_refused(api: Api):
    ask = await asked(api)
    path = f"/v1/asks/{ask['ask_id']}/use"
    agent = ask["agent_id"]
    malformed = {"agent": agent, "args_hash": "xyz", "execution_id": "run"}
    assert (await api.ask("POST", path, malformed)).status in (400, 422)
    body = {"agent": agent, "args_hash": ask["args_hash"], "execution_id": "run"}
    assert (await api.ask("POST", "/v1/asks/0123456789abcdef/use", body)).status == 404


async def test_of_several_nothing_is_permitted_if_one_lacks_a_choice(api: Api):
    plain, choice = await asked(api), await asked(api, options=["now", "later"])
    both = [ask["ask_id"] for ask in (plain, choice)]
    for body in (
        {"items": both},
        {"items": both, "option": "now"},
        {"items": both[1:]},
        {"items": both[1:], "option": "never"},
        {"items": both[1:], "verdict": "rejected", "option": "now"},
    ):
        answer = await api.ask("POST", "/v1/decisions", {"verdict": "confirmed", **body})
        assert (answer.status, answer.json["error"]["code"]) == (400, "usage"), answer.json
    assert [ask["state"] for ask in (await api.ask("GET", "/v1/asks")).json] == ["pending", "pending"]
    verdict = {"verdict": "confirmed", "items": both[1:], "option": "later"}
    assert (await api.ask("POST", "/v1/decisions", verdict)).json[0]["result"] == "applied"
    # What has its choice is decided so already.
    verdict = {"verdict": "confirmed", "items": both}
    results = (await api.ask("POST", "/v1/decisions", verdict)).json
    assert [decision["result"] for decision in results] == ["applied", "already"]
