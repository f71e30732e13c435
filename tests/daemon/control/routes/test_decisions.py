"""The routes of decisions, on a real store: what was shown, several clients at once, a store that fails.

Never repeats what the use cases are tested for: only what a route adds.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.deciding.decision_commit import person_decision_write
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.outside import proposals
from daemon.agents.outside.proposals import NewProposals, ProposedChange
from daemon.agents.person import external_agents, lifecycle
from daemon.agents.proposing.baseline import baseline_of
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.tools.agent_record import agent_id
from daemon.control.route import AsyncHandler, Call, Nothing
from daemon.control.routes.decisions import ITEMS_MAX, Decide, DecisionRoutes
from daemon.journal.preferences import list_preferences
from store.fold.verdicts import Verdict
from store.store import Store
from store.threads import StoreThreads
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text
from syncproto.keys import Signer
from tests.daemon.control.conftest import Api
from tests.support.fault_points import FaultPoints, fail_io, in_child
from tests.support.fleet import START_MS, Fleet

PATH = "/v1/decisions"
POINTS_MAX = 400


@pytest.fixture
async def decisive(tmp_path: Path) -> AsyncIterator[Api]:
    api = Api(tmp_path, [])
    api.routes += DecisionRoutes(api.store, lambda: START_MS, reason_min=20, open_per_day=50).routes()
    await api.start()
    yield api
    await api.stop()


def proposed(
    tx: Transaction, run_key: str, *calls: tuple[str, dict[str, Any]], task: EntityId | None = None
) -> list[str]:
    """Make the calls as a run of the agent of a task, which is made unless it is named; return the items."""
    if task is None:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": f"Task of {run_key}", "status": "OPEN"})])
    desk = ToolCallHandler(
        RunIdentity(agent_id(task), task, run_key, tx.now_ms()), baseline_of(tx, task), ProposalLimits()
    )
    for tool, arguments in calls:
        desk.answer_call(tool, arguments, tx)
    sets = desk.run_end_writes(tx)
    tx.commit(sets, by=AuthorKind.AGENT, agent=agent_id(task))
    return [id_to_text(item.id) for entity_write in sets for item in tx.items_of_set(entity_write.entity)]


ESTIMATE = ("update_task_estimate", {"minutes": 120})
THREE = (ESTIMATE, ("set_task_title", {"title": "Better"}), ("add_checklist_item", {"title": "Buy paper"}))


async def propose(api: Api, *calls: tuple[str, dict[str, Any]], run_key: str = "run") -> list[str]:
    return await api.store.write(lambda tx: proposed(tx, run_key, *calls))


async def decide(api: Api, verdict: str = "confirmed", **fields: Any) -> list[str]:
    answer = await api.ask("POST", PATH, {"verdict": verdict, **fields})
    assert answer.status == 200, answer.json
    return [decision["result"] for decision in answer.json]


async def test_what_is_beyond_the_budget_is_marked_unless_a_task_is_named(tmp_path: Path):
    api = Api(tmp_path, [])
    api.routes += DecisionRoutes(api.store, lambda: START_MS, reason_min=20, open_per_day=1).routes()
    await api.start()
    items = await propose(api, *THREE)
    listed = (await api.ask("GET", "/v1/pending")).json
    assert [(item["item_id"], item["held_back"]) for item in listed] == [
        (item, item != items[0]) for item in items
    ]
    of_task = (await api.ask("GET", f"/v1/pending?task={listed[0]['task_id']}")).json
    assert [item["held_back"] for item in of_task] == [False] * 3
    assert await decide(api, items=[items[2]]) == ["applied"]
    await api.stop()


async def test_what_an_agent_proposes_beside_no_task_is_listed_under_what_its_items_call_their_task(
    decisive: Api,
):
    def make_agent(tx: Transaction) -> EntityId:
        agent = external_agents.add_external_agent(tx, "Claude", "all")
        change = ProposedChange("add_task", {"title": "Call Ana"}, "She asks for it.")
        proposals.propose(tx, agent, None, NewProposals("x", [change], "k"), ProposalLimits())
        return agent

    agent = id_to_text(await decisive.store.write(make_agent))
    (listed,) = (await decisive.ask("GET", "/v1/pending")).json
    assert listed["task_id"] == agent
    path = f"/v1/pending?task={agent}"
    assert (await decisive.ask("GET", path)).json == [listed]
    await decide(decisive, "rejected", items=[listed["item_id"]])
    assert (await decisive.ask("GET", path)).status == 404


async def test_the_history_is_told_newest_first_in_pages_and_by_task(decisive: Api):
    items = await propose(decisive, *THREE)
    (other,) = await propose(decisive, ESTIMATE, run_key="other")
    await decide(decisive, items=items)
    await decide(decisive, "rejected", items=[other], reason="too long", via="cli")
    json = (await decisive.ask("GET", PATH)).json
    assert [item["item_id"] for item in json] == [other, *reversed(items)]
    assert [json[0][name] for name in ("verdict", "reason", "via", "by")] == [
        "rejected",
        "too long",
        "cli",
        "user",
    ]
    page = (await decisive.ask("GET", f"{PATH}?limit=2")).json
    rest = (await decisive.ask("GET", f"{PATH}?limit=2&before={page[-1]['seq']}")).json
    assert [*page, *rest] == json
    of_task = (await decisive.ask("GET", f"{PATH}?task={json[0]['task_id']}")).json
    assert of_task == json[:1]
    assert (await decisive.ask("GET", f"{PATH}?task=")).json == json


async def test_the_reason_of_a_rejection_can_be_remembered(decisive: Api):
    first, second, _ = await propose(decisive, *THREE)
    assert await decide(decisive, "rejected", items=[first], reason="never on a Friday", remember=True) == [
        "applied"
    ]
    await decide(decisive, "rejected", items=[first], reason="another reason", remember=True)
    await decide(decisive, "rejected", items=[second], reason="not remembered")
    lines = await decisive.store.read(list_preferences)
    assert [(line.text, line.category) for line in lines] == [("never on a Friday", None)]
    for fields in ({"verdict": "confirmed", "reason": "why"}, {"verdict": "rejected"}):
        answer = await decisive.ask("POST", PATH, {"items": [second], "remember": True, **fields})
        assert answer.status == 400


@pytest.mark.parametrize(
    ("query", "status"), [("limit=0", 400), ("limit=501", 400), ("before=-1", 400), ("task=nothing", 404)]
)
async def test_a_history_that_cannot_be_told_is_refused(decisive: Api, query: str, status: int):
    assert (await decisive.ask("GET", f"{PATH}?{query}")).status == status


async def test_what_was_shown_is_what_runs(decisive: Api):
    items = await propose(decisive, *THREE)
    displayed = {
        item["item_id"]: item["args_hash"] for item in (await decisive.ask("GET", "/v1/pending")).json
    }
    wrong = {**displayed, items[1]: "0" * 64}
    assert await decide(decisive, items=items, args_hashes=wrong) == ["applied", "stale", "applied"]
    short = {items[1][:8]: displayed[items[1]]}
    assert await decide(decisive, items=[items[1]], args_hashes=short) == ["applied"]
    for hashes in ({items[0]: "no hash"}, {items[0]: "AB" * 32}, {items[0]: 7}, ["a list"]):
        request = {"verdict": "confirmed", "items": items, "args_hashes": hashes}
        assert (await decisive.ask("POST", PATH, request)).status == 400


async def test_a_set_is_what_was_proposed_together_and_what_came_later_is_not_in_it(decisive: Api):
    items = await propose(decisive, *THREE)
    (line, *_) = (await decisive.ask("GET", "/v1/pending")).json
    await propose(decisive, ESTIMATE, run_key="later")
    answer = (await decisive.ask("POST", PATH, {"verdict": "confirmed", "set": line["set_id"]})).json
    assert [decision["item_id"] for decision in answer] == items
    assert {decision["result"] for decision in answer} == {"applied"}
    assert len((await decisive.ask("GET", "/v1/pending")).json) == 1


async def test_a_set_leaves_what_was_put_off_or_is_not_shown_and_says_so(decisive: Api):
    items = await propose(decisive, *THREE)
    (line, *_) = json = (await decisive.ask("GET", "/v1/pending")).json
    hashes = {decision["item_id"]: decision["args_hash"] for decision in json}
    await decide(decisive, "deferred", items=[items[0]])
    listed = {items[2]: hashes[items[2]]}
    assert await decide(decisive, set=line["set_id"], args_hashes=listed) == ["left", "left", "applied"]
    answer = (await decisive.ask("POST", PATH, {"verdict": "confirmed", "set": line["set_id"]})).json
    assert [(decision["result"], decision["status"], decision["message"]) for decision in answer[:1]] == [
        ("left", "deferred", "you deferred it: name it to decide on it")
    ]
    assert [decision["result"] for decision in answer] == ["left", "applied"]
    assert await decide(decisive, set=line["set_id"]) == ["left", "already", "already"]
    assert await decide(decisive, set=line["set_id"], force=True) == ["left", "already", "already"]
    assert await decide(decisive, items=[items[0]]) == ["applied"]


@pytest.mark.parametrize("verdict", ["rejected", "deferred"])
async def test_no_verdict_on_a_set_reaches_what_was_put_off(decisive: Api, verdict: str):
    items = await propose(decisive, *THREE)
    (line, *_) = (await decisive.ask("GET", "/v1/pending")).json
    await decide(decisive, "deferred", items=[items[1]])
    assert await decide(decisive, verdict, set=line["set_id"]) == ["applied", "left", "applied"]


@pytest.mark.parametrize(
    "fields", [{"verdict": "confirmed", "again": True}, {"verdict": "undone"}, {"verdict": "reopened"}]
)
async def test_what_was_decided_is_decided_anew_only_by_name(decisive: Api, fields: dict[str, Any]):
    await propose(decisive, *THREE)
    (line, *_) = (await decisive.ask("GET", "/v1/pending")).json
    answer = await decisive.ask("POST", PATH, {"set": line["set_id"], **fields})
    assert (answer.status, answer.code) == (400, "usage")


async def test_a_set_by_force_overwrites_nothing_that_was_confirmed_before(decisive: Api):
    items = await propose(decisive, *THREE)
    (line, *_) = (await decisive.ask("GET", "/v1/pending")).json
    await decide(decisive, items=items)

    def correct(tx: Transaction) -> None:
        item = tx.item(id_from_text(items[0]))
        assert item is not None
        tx.commit([EntityWrite(item.task, "task", {"estimate_minutes": 90})])

    await decisive.store.write(correct)
    assert await decide(decisive, set=line["set_id"], force=True) == ["already"] * 3


async def test_what_another_client_confirmed_without_effect_is_told_and_confirmed(decisive: Api):
    (item,) = await propose(decisive, ESTIMATE)

    def confirm_alone(tx: Transaction) -> None:
        stored = tx.item(id_from_text(item))
        assert stored is not None
        tx.commit([person_decision_write(tx, stored, Verdict.CONFIRMED, reason=None, via="web")])

    await decisive.store.write(confirm_alone)
    assert [element["without_effect"] for element in (await decisive.ask("GET", PATH)).json] == [True]
    assert await decide(decisive, items=[item]) == ["applied"]
    assert [element["without_effect"] for element in (await decisive.ask("GET", PATH)).json] == [False, False]
    assert await decide(decisive, items=[item]) == ["already"]


async def test_a_failure_does_not_stop_the_rest(decisive: Api):
    items = await propose(decisive, *THREE)
    await decide(decisive, "rejected", items=[items[1]])
    assert await decide(decisive, items=[items[0], items[1], "0" * 32, items[2]]) == [
        "applied",
        "conflict",
        "not_found",
        "applied",
    ]


async def test_a_set_that_no_agent_could_have_made_is_not_decided_as_one(decisive: Api):
    def forged(tx: Transaction) -> EntityId:
        change_set = tx.new_id()
        items: list[Any] = [
            {"item_id": derived_id("forged", number, time_of=change_set)} for number in range(ITEMS_MAX + 1)
        ]
        tx.commit(
            [EntityWrite(change_set, "change_set", {"task_id": change_set, "items": items})],
            by=AuthorKind.AGENT,
        )
        return change_set

    change_set = await decisive.store.write(forged)
    answer = await decisive.ask("POST", PATH, {"verdict": "rejected", "set": id_to_text(change_set)})
    assert (answer.status, answer.code) == (400, "usage")


@pytest.mark.parametrize("other", ["confirmed", "rejected"])
async def test_of_clients_that_decide_at_once_one_does_and_the_others_hear_so(decisive: Api, other: str):
    items = await propose(decisive, *THREE)
    before = await decisive.commits()
    answers = await asyncio.gather(
        *(
            decide(decisive, verdict, items=items)
            for verdict in ["confirmed", other, "confirmed", other, "confirmed", other]
        )
    )
    by_item = list(zip(*answers, strict=True))
    assert all(sorted(element).count("applied") == 1 for element in by_item)
    assert {result for element in by_item for result in element} <= {"applied", "already", "conflict"}
    assert await decisive.commits() == before + len(items)
    json = (await decisive.ask("GET", PATH)).json
    assert [element["counts"] for element in json] == [True] * len(items)


async def test_a_retry_under_the_same_key_gets_the_first_answer(decisive: Api):
    items = await propose(decisive, *THREE)
    request = {"verdict": "confirmed", "items": items}
    first = await decisive.ask("POST", PATH, request, key="once")
    assert (await decisive.ask("POST", PATH, request, key="once")).json == first.json
    assert await decide(decisive, items=items) == ["already"] * 3


# -- a store that fails -------------------------------------------------------------------------------


def decides_past_a_fault(folder: Path, points: FaultPoints) -> None:
    """Confirm three, one write of the disk failing: that item is told as failed, and the others go on."""
    fleet = Fleet(folder)
    store = StoreThreads(
        Store.open(
            folder / "a.db", signer=Signer(bytes(32)), now_ms=lambda: START_MS, randomness=fleet.randomness
        )
    )
    route = DecisionRoutes(store, lambda: START_MS, reason_min=20, open_per_day=50).routes()[-1]

    async def ask(items: list[str]) -> list[DecisionResult]:
        assert isinstance(route.handler, AsyncHandler)
        call: Call[Decide, Nothing] = Call({}, Decide("confirmed", items), Nothing())
        answer: Any = await route.handler.run(call)
        return list(answer)

    async def run() -> None:
        items = await store.write(lambda tx: proposed(tx, "run", *THREE))
        points.counting = True
        first = await ask(items)
        points.counting = False
        failed = [decision_result.item_id for decision_result in first if decision_result.result == "failed"]
        assert len(failed) <= 1
        assert all(
            decision_result.result == "applied"
            for decision_result in first
            if decision_result.item_id not in failed
        )
        second = await ask(items)
        results = [decision_result.result for decision_result in second]
        assert results == ["applied" if item in failed else "already" for item in items]

    asyncio.run(run())


def test_a_fault_of_the_store_fails_one_item_and_asking_again_decides_it():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for index in range(1, POINTS_MAX):
        with tempfile.TemporaryDirectory(dir=memory) as name:
            status = in_child(
                lambda points, name=name: decides_past_a_fault(Path(name), points),  # type: ignore[misc]
                index,
                fail_io,
                statements=False,
            )
        assert status in (0, 2), index
        if status == 2:
            break
    assert 10 < index < POINTS_MAX - 1


async def test_the_proposals_of_one_agent(decisive: Api):
    def make_other(tx: Transaction) -> str:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Write to Ana", "status": "OPEN"})])
        return id_to_text(lifecycle.create_agent(tx, id_to_text(task), "rules"))

    other = await decisive.store.write(make_other)
    await propose(decisive, *THREE)
    listed = (await decisive.ask("GET", "/v1/pending")).json
    agent = listed[0]["agent_id"]
    task = listed[0]["task_id"]
    await decisive.store.write(lambda tx: lifecycle.create_agent(tx, task, "rules"))
    assert (await decisive.ask("GET", f"/v1/pending?agent={agent}")).json == listed
    assert (await decisive.ask("GET", f"/v1/pending?agent={other}")).json == []
    assert (await decisive.ask("GET", "/v1/pending?agent=nobody")).status == 404
