"""The routes of agents of other makers, on a real store: who is let in, what waits, and what each may read.

Never repeats what the use cases are tested for: only what a route adds.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.outside import own_requests, verdicts
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.control.routes import asks
from daemon.control.routes.decisions import DecisionRoutes
from daemon.control.routes.outside import OutsideRoutes
from daemon.journal.human_input import HumanInput
from store.transaction import EntityWrite, Transaction
from syncproto.ids import id_to_text
from tests.daemon.control.conftest import Answer, Api
from tests.support.fleet import DAY_MS, START_MS
from tests.support.patience import LIMIT_S


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    api = Api(tmp_path, [])
    typed = HumanInput(lambda: START_MS, UTC, "en")
    outside = OutsideRoutes(api.store, api.notifier, lambda: START_MS, typed, ProposalLimits())
    api.routes += outside.routes()
    api.routes += asks.routes(lambda: START_MS)
    api.routes += DecisionRoutes(api.store, lambda: START_MS, reason_min=20, open_per_day=50).routes()
    await api.start()
    yield api
    await api.stop()


def make_task(tx: Transaction) -> str:
    task = tx.new_id()
    tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"})])
    return id_to_text(task)


async def propose(api: Api, agent: str, **more: Any) -> Answer:
    task = await api.store.write(make_task) if "task" not in more else more.pop("task")
    changes = [{"tool": "update_task_estimate", "args": {"minutes": 90}, "why": "The mail says so."}]
    body = {"agent": agent, "task": task, "changes": changes, "key": "k"} | more
    return await api.ask("POST", "/v1/proposals", body)


async def test_what_a_program_proposes_waits_and_it_reads_the_verdict(api: Api) -> None:
    added = await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    assert (added.status, added.json["lifecycle"], added.json["scope"]) == (201, "active", "all")
    proposed = await propose(api, "Claude")
    assert (proposed.status, proposed.json["state"]) == (201, "pending")
    [item] = proposed.json["items"]
    verdict = {
        "verdict": "confirmed",
        "items": [item["item"]],
        "args_hashes": {item["item"]: item["args_hash"]},
    }
    decided = await api.ask("POST", "/v1/decisions", verdict)
    assert decided.status == 200, decided.json
    after = await api.ask("GET", f"/v1/proposals/{proposed.json['set']}?agent=Claude")
    assert (after.json["state"], after.json["items"][0]["state"]) == ("decided", "confirmed")


async def test_a_program_that_names_itself_waits_for_a_person(api: Api) -> None:
    registered = await api.ask("POST", "/v1/external-agents/register", {"name": "Codex"})
    assert registered.json["lifecycle"] == "created"
    refused = await propose(api, "Codex")
    assert (refused.status, refused.json["error"]["id"]) == (409, "agent-waits-for-person")
    assert "placet" not in str(refused.json), "a program that can run commands would let itself in"
    assert (await api.ask("POST", "/v1/external-agents/Codex/admit", {})).json["lifecycle"] == "active"
    assert (await propose(api, "Codex")).status == 201


async def test_no_refusal_tells_a_program_a_command_that_lets_it_in(api: Api) -> None:
    for name in ("Waiting", "Paused", "Ended"):
        await api.ask("POST", "/v1/external-agents/register", {"name": name})
    for name, step in (("Paused", "pause"), ("Ended", "destroy")):
        await api.ask("POST", f"/v1/external-agents/{name}/admit", {})
        await api.ask("POST", f"/v1/external-agents/{name}/{step}", {} if step == "pause" else None)
    task = (await api.ask("POST", "/v1/tasks", {"title": "Call Ana"})).json["id"]
    giveaways = []
    for name in ("Nobody", "Waiting", "Paused", "Ended", task, "", "ff"):
        ask: dict[str, Any] = {"agent": name, "name": "send", "args": {}, "reason": "so", "key": "k"}
        requests: list[tuple[str, str, Any]] = [
            ("POST", "/v1/proposals", {"agent": name, "calls": [], "task": task}),
            ("POST", f"/v1/proposals/{task}/withdraw", {"agent": name}),
            ("POST", "/v1/asks", ask),
            ("POST", f"/v1/asks/{task}/use", {"agent": name}),
            *(
                ("GET", f"{path}?agent={name}", None)
                for path in ("/v1/proposals", "/v1/verdicts", "/v1/readable-tasks")
            ),
            ("GET", f"/v1/readable-tasks/{task}?agent={name}", None),
            ("GET", f"/v1/external-agents/{name or '%20'}/tools", None),
        ]
        for method, path, body in requests:
            answer = await api.ask(method, path, body)
            if "placet agent" in str(answer.json):
                giveaways.append((name, method, path, answer.json))
    assert giveaways == []


async def test_nobody_reads_or_takes_back_what_another_proposed(api: Api) -> None:
    for name in ("Claude", "Codex"):
        await api.ask("POST", "/v1/external-agents", {"name": name})
    theirs = (await propose(api, "Claude")).json["set"]
    assert (await api.ask("GET", f"/v1/proposals/{theirs}?agent=Codex")).status == 404
    assert (await api.ask("POST", f"/v1/proposals/{theirs}/withdraw", {"agent": "Codex"})).status == 404
    own = await api.ask("POST", f"/v1/proposals/{theirs}/withdraw", {"agent": "Claude", "items": ["ff"]})
    assert own.status == 404
    withdrawn = await api.ask("POST", f"/v1/proposals/{theirs}/withdraw", {"agent": "Claude"})
    assert [item["state"] for item in withdrawn.json["items"]] == ["retracted"]


async def test_an_agent_that_is_unknown_paused_or_ended_proposes_nothing(api: Api) -> None:
    assert (await propose(api, "Nobody")).status == 404
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    assert (await api.ask("POST", "/v1/external-agents/Claude/pause", {})).json["hindered"]
    assert (await propose(api, "Claude")).status == 409
    assert (await api.ask("POST", "/v1/external-agents/Claude/resume")).json["hindered"] is None
    assert (await api.ask("POST", "/v1/external-agents/Claude/destroy")).json["lifecycle"] == "destroyed"
    assert (await propose(api, "Claude")).status in {404, 409}


async def test_a_request_that_is_none_is_refused_and_nothing_is_stored(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    wrong: list[dict[str, Any]] = [{"changes": []}, {"key": ""}, {"by": "me"}, {"changes": [{"tool": "x"}]}]
    for more in wrong:
        assert (await propose(api, "Claude", **more)).status == 400, more
    pending = await api.store.read(
        lambda snapshot: snapshot.db.execute(
            "SELECT count(*) FROM entity WHERE kind = 'change_set'"
        ).fetchone()
    )
    assert pending == (0,)


async def test_limits_and_scope_are_shown_and_changed(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    edited = await api.ask(
        "PATCH", "/v1/external-agents/Claude", {"scope": "none", "daily_limits": {"proposals": 0}}
    )
    assert edited.json["scope"] == "none"
    assert (await propose(api, "Claude")).status == 403
    assert (await api.ask("PATCH", "/v1/external-agents/Claude", {"scope": "most"})).status == 400
    assert [agent["name"] for agent in (await api.ask("GET", "/v1/external-agents")).json] == ["Claude"]


async def test_an_agent_of_another_maker_asks_for_a_permission_by_its_name(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude", "scope": "none"})
    body = {
        "agent": "Claude",
        "name": "send_mail",
        "args": {"to": "ana@example.org"},
        "title": "Mail Ana",
        "key": "mail 1",
        "not_after": START_MS + DAY_MS,
    }
    answer = await api.ask("POST", "/v1/asks", body)
    assert (answer.status, answer.json["state"], answer.json["agent_name"]) == (201, "pending", "Claude")


async def decide(api: Api, item: dict[str, Any], verdict: str = "confirmed") -> None:
    body = {"verdict": verdict, "items": [item["item"]], "args_hashes": {item["item"]: item["args_hash"]}}
    decided = await api.ask("POST", "/v1/decisions", body)
    assert decided.json[0]["result"] == "applied", decided.json


async def test_a_program_reads_each_verdict_once_and_only_its_own(api: Api) -> None:
    for name in ("Claude", "Codex"):
        await api.ask("POST", "/v1/external-agents", {"name": name})
    start = (await api.ask("GET", "/v1/verdicts?agent=Claude")).json
    assert (start["sets"], start["asks"], start["more"]) == ([], [], False)
    proposed = (await propose(api, "Claude")).json
    other = (await propose(api, "Codex")).json
    await decide(api, proposed["items"][0])
    await decide(api, other["items"][0], "rejected")
    answer = (await api.ask("GET", f"/v1/verdicts?agent=Claude&after={start['next']}")).json
    assert [listed["set"] for listed in answer["sets"]] == [proposed["set"]]
    assert answer["sets"][0]["items"][0]["state"] == "confirmed"
    again = (await api.ask("GET", f"/v1/verdicts?agent=Claude&after={answer['next']}")).json
    assert again["sets"] == []
    assert (await api.ask("GET", "/v1/verdicts?agent=Claude")).json == again
    # A position of a journal that was put back since lies beyond the end of this one.
    anew = (await api.ask("GET", "/v1/verdicts?agent=Claude&after=999999")).json
    assert [listed["set"] for listed in anew["sets"]] == [proposed["set"]]


async def test_a_program_is_told_of_verdicts_on_asks_of_its_own_alone(api: Api) -> None:
    ask_of_each: dict[str, dict[str, Any]] = {}
    for name in ("Claude", "Codex"):
        await api.ask("POST", "/v1/external-agents", {"name": name, "scope": "none"})
        ask = {"name": "send_mail", "args": {}, "title": "Mail Ana", "not_after": START_MS + DAY_MS}
        ask_of_each[name] = (await api.ask("POST", "/v1/asks", ask | {"agent": name, "key": "k"})).json
        await decide(api, {"item": ask_of_each[name]["ask_id"], "args_hash": ask_of_each[name]["args_hash"]})
    for name, ask in ask_of_each.items():
        answer = (await api.ask("GET", f"/v1/verdicts?agent={name}&after=0")).json
        assert [(listed["ask_id"], listed["state"]) for listed in answer["asks"]] == [
            (ask["ask_id"], "permitted")
        ]


async def test_a_program_that_waits_is_answered_by_the_verdict(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    item = (await propose(api, "Claude")).json["items"][0]
    position = (await api.ask("GET", "/v1/verdicts?agent=Claude")).json["next"]
    waiting = asyncio.create_task(api.ask("GET", f"/v1/verdicts?agent=Claude&after={position}&wait_s=50"))
    # What is no verdict wakes it, and does not answer it.
    await api.store.write(make_task)
    await decide(api, item)
    answer = (await asyncio.wait_for(waiting, LIMIT_S)).json
    assert answer["sets"][0]["items"][0]["state"] == "confirmed"


async def test_a_wait_ends_without_a_verdict(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    answer = (await api.ask("GET", "/v1/verdicts?agent=Claude&wait_s=0.01")).json
    assert (answer["sets"], answer["asks"]) == ([], [])
    for query in ("agent=Claude&wait_s=51", "agent=Claude&wait_s=nan", "agent=Claude&after=-1", "after=0"):
        assert (await api.ask("GET", f"/v1/verdicts?{query}")).status == 400, query
    assert (await api.ask("GET", "/v1/verdicts?agent=Nobody")).status == 404


async def test_many_verdicts_come_in_parts(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "SCANNED_MAX", 2)
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    sets = [(await propose(api, "Claude", key=str(number))).json for number in range(5)]
    for proposed in sets:
        await decide(api, proposed["items"][0])
    names, position, more = [], 0, True
    while more:
        answer = (await api.ask("GET", f"/v1/verdicts?agent=Claude&after={position}")).json
        names += [listed["set"] for listed in answer["sets"]]
        position, more = answer["next"], answer["more"]
    assert names == [proposed["set"] for proposed in sets]


async def test_a_program_reads_with_a_task_what_it_proposed_there_and_not_what_others_did(api: Api) -> None:
    for name in ("Claude", "Codex"):
        await api.ask("POST", "/v1/external-agents", {"name": name})
    task = await api.store.write(make_task)
    rejected = (await propose(api, "Claude", task=task)).json["items"][0]["item"]
    verdict = {"verdict": "rejected", "items": [rejected], "reason": "It takes a day."}
    assert (await api.ask("POST", "/v1/decisions", verdict)).status == 200
    due = {"tool": "update_task_due_date", "args": {"dueDate": "2027-03-15"}, "why": ""}
    waiting = (await propose(api, "Claude", task=task, changes=[due], key="k2")).json["items"][0]["item"]
    title = {"tool": "set_task_title", "args": {"title": "Write to Ana B."}, "why": ""}
    await propose(api, "Codex", task=task, changes=[title])

    async def read(agent: str) -> Any:
        return (await api.ask("GET", f"/v1/readable-tasks/{task}?agent={agent}")).json

    shown, other = await read("Claude"), await read("Codex")
    assert [own["item"] for own in shown["proposals"]] == [waiting]
    (decided,) = shown["decisions"]
    assert (decided["item"], decided["verdict"], decided["state"]) == (rejected, "rejected", "rejected")
    assert decided["reason"] == "It takes a day."
    assert (len(other["proposals"]), other["decisions"]) == (1, [])
    assert shown["open_proposals"] == other["open_proposals"] == 2
    (head,) = (await api.ask("GET", "/v1/readable-tasks?agent=Claude")).json
    assert head["open_proposals"] == 2


async def test_a_program_reads_tasks_of_its_scope_alone(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    health = (await api.ask("POST", "/v1/tasks", {"title": "Call the doctor", "category": "Health"})).json[
        "id"
    ]
    other = (await api.ask("POST", "/v1/tasks", {"title": "Call Ana", "due": "2030-01-02"})).json["id"]

    async def titles(query: str = "") -> list[str]:
        answer = await api.ask("GET", f"/v1/readable-tasks?agent=Claude{query}")
        return sorted(task["title"] for task in answer.json)

    assert await titles() == await titles("&q=call") == ["Call Ana", "Call the doctor"]
    assert await titles("&q=ana&limit=1") == ["Call Ana"]
    task = (await api.ask("GET", f"/v1/readable-tasks/{other}?agent=Claude")).json
    assert (task["due"], task["notes"], task["items"], task["open_proposals"]) == ("2030-01-02", [], [], 0)
    ambiguous = await api.ask("GET", "/v1/readable-tasks/Call?agent=Claude")
    assert (ambiguous.status, "doctor" in str(ambiguous.json)) == (409, False)
    await api.ask("PATCH", "/v1/external-agents/Claude", {"scope": "categories"})
    assert await titles() == await titles("&q=call") == ["Call Ana"]
    assert (await api.ask("GET", f"/v1/readable-tasks/{health}?agent=Claude")).status == 404
    assert (await api.ask("GET", f"/v1/readable-tasks/{other}?agent=Claude")).json["title"] == "Call Ana"
    await api.ask("PATCH", "/v1/external-agents/Claude", {"scope": "none"})
    assert (await api.ask("GET", f"/v1/readable-tasks/{other}?agent=Claude")).status == 403
    assert await titles() == []
    await api.ask("POST", "/v1/external-agents/Claude/pause", {})
    assert (await api.ask("GET", "/v1/readable-tasks?agent=Claude")).status == 409


@pytest.mark.parametrize(
    ("scope", "statuses"),
    [
        ("none", {"removed": 403, "two": 403, "one": 403, "whole id": 403, "nothing": 403}),
        ("categories", {"removed": 404, "two": 404, "one": 404, "whole id": 404, "nothing": 404}),
        ("all", {"removed": 404, "two": 409, "nothing": 404}),
    ],
)
async def test_no_refusal_of_a_program_tells_of_a_task_that_it_may_not_read(
    api: Api, scope: str, statuses: dict[str, int]
) -> None:
    """Old: proposing on what two titles begin with listed both, and a removed task was named by its id.

    A part of a title told whether a task has it, because only that of a task was refused as out of scope.
    """
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    ids = [
        (await api.ask("POST", "/v1/tasks", {"title": title, "category": "Health"})).json["id"]
        for title in ("Call the doctor", "Call the lawyer", "Ask Ana")
    ]
    assert (await api.ask("DELETE", f"/v1/tasks/{ids[1]}")).status == 200
    await api.ask("POST", "/v1/tasks", {"title": "Call the plumber", "category": "Health"})
    refs = {"removed": ids[1], "two": "Call", "one": "Ask", "whole id": ids[0], "nothing": "Swim"}
    await api.ask("PATCH", "/v1/external-agents/Claude", {"scope": scope})
    change = {"tool": "update_task_estimate", "args": {"minutes": 30}}
    for name, status in statuses.items():
        ref = refs[name]
        proposal = {"agent": "Claude", "task": ref, "key": "k", "changes": [change]}
        for answer in (
            await api.ask("POST", "/v1/proposals", proposal),
            await api.ask("GET", f"/v1/readable-tasks/{ref}?agent=Claude"),
        ):
            words = str(answer.json)
            shown = [word for word in ("doctor", "lawyer", "plumber", "Ana", "Health") if word in words]
            assert (name, answer.status, shown) == (name, status, [])


async def test_a_program_that_nobody_let_in_is_refused_before_any_task_is_looked_up(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents/register", {"name": "Claude"})
    await api.ask("POST", "/v1/tasks", {"title": "Ask Ana"})
    for ref in ("Ask", "Swim"):
        change = {"tool": "update_task_estimate", "args": {"minutes": 30}}
        proposal = {"agent": "Claude", "task": ref, "key": "k", "changes": [change]}
        answers = (
            await api.ask("POST", "/v1/proposals", proposal),
            await api.ask("GET", f"/v1/readable-tasks/{ref}?agent=Claude"),
        )
        assert [answer.status for answer in answers] == [409, 409]


async def test_the_tools_are_those_that_wait_and_that_the_policy_allows(api: Api) -> None:
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    names = [tool["name"] for tool in (await api.ask("GET", "/v1/external-agents/Claude/tools")).json]
    assert "update_task_estimate" in names
    assert not {"update_report", "answer_question", "retract_proposals"} & set(names)
    denial = {"tools": {"update_task_estimate": "denied"}}
    assert (await api.ask("PATCH", "/v1/external-agents/Claude/policy", denial)).status == 200
    names = [tool["name"] for tool in (await api.ask("GET", "/v1/external-agents/Claude/tools")).json]
    assert "update_task_estimate" not in names


async def test_a_program_reads_what_of_its_own_waits_and_what_was_decided_last(api: Api) -> None:
    for name in ("Claude", "Codex"):
        await api.ask("POST", "/v1/external-agents", {"name": name})
    first, second = [(await propose(api, "Claude", key=key)).json for key in "ab"]
    await propose(api, "Codex")
    ask = {"name": "send_mail", "args": {}, "title": "Mail Ana", "not_after": START_MS + DAY_MS}
    made = [
        (await api.ask("POST", "/v1/asks", ask | {"agent": name, "key": "k"})).json
        for name in ("Claude", "Codex")
    ]
    waiting = (await api.ask("GET", "/v1/proposals?agent=Claude")).json
    assert [listed["set"] for listed in waiting["sets"]] == [second["set"], first["set"]]
    assert [listed["ask_id"] for listed in waiting["asks"]] == [made[0]["ask_id"]]
    assert (await api.ask("GET", "/v1/proposals?agent=Claude&decided=true")).json["sets"] == []
    await decide(api, first["items"][0])
    await decide(api, {"item": made[0]["ask_id"], "args_hash": made[0]["args_hash"]}, "rejected")
    waiting = (await api.ask("GET", "/v1/proposals?agent=Claude")).json
    assert ([listed["set"] for listed in waiting["sets"]], waiting["asks"]) == ([second["set"]], [])
    decided = (await api.ask("GET", "/v1/proposals?agent=Claude&decided=true")).json
    assert [listed["set"] for listed in decided["sets"]] == [first["set"]]
    assert [(listed["ask_id"], listed["state"]) for listed in decided["asks"]] == [
        (made[0]["ask_id"], "refused")
    ]
    of_codex = (await api.ask("GET", "/v1/proposals?agent=Codex&decided=true")).json
    assert of_codex == {"sets": [], "asks": [], "more": False}


async def test_the_lists_of_a_program_are_bounded_and_say_so(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_requests, "LISTED_MAX", 2)
    await api.ask("POST", "/v1/external-agents", {"name": "Claude"})
    sets = [(await propose(api, "Claude", key=str(number))).json for number in range(3)]
    waiting = (await api.ask("GET", "/v1/proposals?agent=Claude")).json
    assert [listed["set"] for listed in waiting["sets"]] == [sets[2]["set"], sets[1]["set"]]
    assert waiting["more"]
    for proposed in sets:
        await decide(api, proposed["items"][0])
    monkeypatch.setattr(own_requests, "SCANNED_MAX", 1)
    decided = (await api.ask("GET", "/v1/proposals?agent=Claude&decided=true")).json
    assert ([listed["set"] for listed in decided["sets"]], decided["more"]) == ([sets[2]["set"]], True)
