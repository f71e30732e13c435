"""What agents of other makers send that they should not, over HTTP: floods, other names, times that are none.

Never asks the use cases what is right: each test counts what was stored.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.control.routes import asks
from daemon.control.routes.decisions import DecisionRoutes
from daemon.control.routes.outside import OutsideRoutes
from daemon.journal.human_input import HumanInput
from tests.daemon.control.conftest import Answer, Api
from tests.support.fleet import DAY_MS, START_MS

YEAR_9999_MS = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp() * 1000)
WEEK_MS = 7 * DAY_MS


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    """An API with two agents of other makers: Claude and Codex."""
    api = Api(tmp_path, [])
    typed = HumanInput(lambda: api.now_ms, UTC, "en")
    outside = OutsideRoutes(api.store, api.notifier, lambda: api.now_ms, typed, ProposalLimits())
    api.routes += outside.routes()
    api.routes += asks.routes(lambda: api.now_ms)
    api.routes += DecisionRoutes(api.store, lambda: api.now_ms, reason_min=20, open_per_day=50).routes()
    await api.start()
    for name in ("Claude", "Codex"):
        await api.ask("POST", "/v1/external-agents", {"name": name, "scope": "none"})
    yield api
    await api.stop()


async def ask(api: Api, key: str = "mail 1", agent: str = "Claude", **changed: Any) -> Answer:
    fields = {
        "agent": agent,
        "name": "send_mail",
        "args": {"to": "ana@example.org"},
        "title": "Mail Ana",
        "key": key,
        "not_after": api.now_ms + DAY_MS,
    }
    return await api.ask("POST", "/v1/asks", fields | changed)


async def confirmed(api: Api, ask: dict[str, Any]) -> None:
    body = {"verdict": "confirmed", "items": [ask["ask_id"]]}
    (decision,) = (await api.ask("POST", "/v1/decisions", body)).json
    assert decision["result"] == "applied"


async def use(api: Api, ask: dict[str, Any], agent: str) -> Answer:
    body = {"agent": agent, "args_hash": ask["args_hash"], "execution_id": "run"}
    return await api.ask("POST", f"/v1/asks/{ask['ask_id']}/use", body)


async def test_the_day_of_an_agent_has_so_many_asks_and_a_retry_costs_nothing(api: Api) -> None:
    await api.ask("PATCH", "/v1/external-agents/Claude", {"daily_limits": {"asks": 2}})
    first = await ask(api)
    for _ in range(3):
        assert (await ask(api)).json["ask_id"] == first.json["ask_id"]
    assert (await ask(api, "mail 2")).status == 201
    before = await api.commits()
    refused = await ask(api, "mail 3")
    assert (refused.status, "2 of 2 asks" in refused.json["error"]["message"]) == (409, True)
    assert await api.commits() == before
    assert (await ask(api)).json["ask_id"] == first.json["ask_id"]
    assert (await ask(api, "mail 3", agent="Codex")).status == 201
    agent = (await api.ask("GET", "/v1/external-agents/Claude")).json
    assert (agent["daily_limits"]["asks"], agent["spent_today"]["asks"]) == (2, 2)
    api.now_ms += DAY_MS
    assert (await ask(api, "mail 3")).status == 201


async def test_the_day_of_an_agent_has_so_many_bytes_of_asks(api: Api) -> None:
    await api.ask("PATCH", "/v1/external-agents/Claude", {"daily_limits": {"bytes": 1000}})
    refused = await ask(api, args={"text": "x" * 1000})
    assert (refused.status, "of 1000 bytes" in refused.json["error"]["message"]) == (409, True)
    assert (await ask(api)).status == 201


@pytest.mark.parametrize("sign", ["\x07", "\x1b", "\x00", "\u202e", "\ud7ff"])
async def test_signs_that_nobody_sees_are_kept_as_they_are_up_to_the_limit(api: Api, sign: str) -> None:
    text = sign * ((16 * 1024 - 100) // len(sign.encode()))
    new_ask = await ask(api, args={"text": text})
    assert (new_ask.status, new_ask.json["args"]) == (201, {"text": text})
    shown = await api.ask("GET", f"/v1/asks/{new_ask.json['ask_id']}")
    assert shown.json["asked_args"] == {"text": text}
    assert (await ask(api, "mail 2", args={"text": text + sign * 101})).status == 400


@pytest.mark.parametrize(
    ("longest", "longer"),
    [
        ({"title": "x" * 200}, {"title": "x" * 201}),
        ({"title": "\U0001f98a" * 200}, {"title": "\U0001f98a" * 201}),
        ({"why": "x" * 2000}, {"why": "x" * 2001}),
        ({"why": ""}, {"why": None}),
        ({"name": "x" * 100}, {"name": "x" * 101}),
        ({"key": "k" * 200}, {"key": "k" * 201}),
        (
            {"options": [str(number) for number in range(6)]},
            {"options": [str(number) for number in range(7)]},
        ),
        ({"options": ["x" * 100]}, {"options": ["x" * 101]}),
        ({"options": []}, {"options": ["now", "now"]}),
        ({"options": ["now"]}, {"options": ["now", " "]}),
        ({"options": ["1"]}, {"options": [1]}),
        ({"args": {}}, {"args": ["to"]}),
        ({"args": {"": {"": [None]}}}, {"args": None}),
        ({"name": "x"}, {"name": " "}),
        ({"title": "x"}, {"title": "\n"}),
    ],
)
async def test_each_part_of_an_ask_has_its_bound_and_what_is_beyond_is_no_ask(
    api: Api, longest: dict[str, Any], longer: dict[str, Any]
) -> None:
    assert (await ask(api, **longer)).status == 400
    assert (await api.ask("GET", "/v1/asks?all=true")).json == []
    assert (await ask(api, **longest)).status == 201


@pytest.mark.parametrize("not_after", [None, "soon", 1.5e12 + 0.5, 1e30, True, [], {"ms": START_MS}])
async def test_a_time_that_is_no_whole_number_is_none(api: Api, not_after: object) -> None:
    assert (await ask(api, not_after=not_after)).status == 400
    assert (await api.ask("GET", "/v1/asks?all=true")).json == []


@pytest.mark.parametrize(
    "claimed", [{"agent_id": "0" * 32}, {"as": "Codex"}, {"home": "0" * 64}, {"presence": "any"}]
)
async def test_nobody_says_in_an_ask_who_asks_where_or_what_its_verdicts_need(
    api: Api, claimed: dict[str, Any]
) -> None:
    assert (await ask(api, **claimed)).status == 400
    # In the arguments it is a word like others.
    asked_for = (await ask(api, args=claimed)).json
    assert (asked_for["agent_name"], asked_for["presence"], asked_for["args"]) == ("Claude", "any", claimed)


@pytest.mark.parametrize(
    "not_after",
    [-1, 0, START_MS - 1, START_MS, START_MS + WEEK_MS + 1, YEAR_9999_MS, 1 << 53],
    ids=["before 1970", "1970", "just past", "now", "past a week", "year 9999", "no date"],
)
async def test_a_use_ends_ahead_and_within_a_week(api: Api, not_after: int) -> None:
    assert (await ask(api, not_after=not_after)).status == 400
    assert (await api.ask("GET", "/v1/asks?all=true")).json == []
    assert (await ask(api, not_after=START_MS + WEEK_MS)).status == 201


@pytest.mark.parametrize("name", ["Gemini", "", "x" * 300, "\u202eedualC", "ff"])
async def test_nobody_asks_under_a_name_that_no_person_made(api: Api, name: str) -> None:
    assert (await ask(api, agent=name)).status in (400, 404)
    assert (await api.ask("GET", "/v1/asks?all=true")).json == []


async def test_an_agent_that_waits_to_be_let_in_asks_nothing(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents/register", {"name": "Gemini"})
    assert (await ask(api, agent="Gemini")).status == 409
    await api.ask("POST", "/v1/external-agents/Gemini/admit", {})
    assert (await ask(api, agent="Gemini")).status == 201


async def test_no_agent_uses_or_takes_back_what_another_one_asked(api: Api) -> None:
    new_ask = (await ask(api)).json
    await confirmed(api, new_ask)
    before = await api.commits()
    for name, status in (("Codex", 404), ("Gemini", 404)):
        assert (await use(api, new_ask, name)).status == status
        body = {"agent": name, "reason": "no"}
        withdrawn = await api.ask("POST", f"/v1/asks/{new_ask['ask_id']}/withdraw", body)
        assert withdrawn.status == status
    nameless = {"args_hash": new_ask["args_hash"], "execution_id": "run"}
    assert (await api.ask("POST", f"/v1/asks/{new_ask['ask_id']}/use", nameless)).status == 400
    assert await api.commits() == before
    assert (await use(api, new_ask, "Claude")).json["result"] == "granted"


async def test_a_verdict_that_is_given_twice_is_one(api: Api) -> None:
    new_ask = (await ask(api)).json
    await confirmed(api, new_ask)
    before = await api.commits()
    body = {"verdict": "confirmed", "items": [new_ask["ask_id"]]}
    (again,) = (await api.ask("POST", "/v1/decisions", body)).json
    assert (again["result"], await api.commits()) == ("already", before)


async def test_no_route_and_no_verdict_that_does_not_exist_changes_an_ask(api: Api) -> None:
    new_ask = (await ask(api)).json
    path, before = f"/v1/asks/{new_ask['ask_id']}", await api.commits()
    wrong = [("POST", "/confirm", 404), ("POST", "/permit", 404), ("PATCH", "", 405), ("DELETE", "", 405)]
    for method, of_ask, status in wrong:
        assert (await api.ask(method, f"{path}{of_ask}", {})).status == status
    for verdict in ("granted", "permitted", "retracted", ""):
        body = {"verdict": verdict, "items": [new_ask["ask_id"]]}
        assert (await api.ask("POST", "/v1/decisions", body)).status == 400
    assert await api.commits() == before
