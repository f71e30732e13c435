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

from daemon.agents.decisions import Result
from daemon.agents.proposals import Desk
from daemon.agents.queueing import Limits, Run
from daemon.agents.records import agent_id
from daemon.agents.seeing import seen_of
from daemon.control.decision_routes import ITEMS_MAX, Decide, DecisionRoutes
from daemon.control.routes import Asks, Call, Nothing
from store.store import Store
from store.threads import StoreThreads
from store.transaction import Transaction, Write
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from syncproto.keys import Signer
from tests.daemon.agents.fleet import START_MS, Fleet
from tests.daemon.control.conftest import Api
from tests.store.faulting import Points, fail_io, in_child

PATH = "/v1/decisions"
POINTS_MAX = 400


@pytest.fixture
async def decisive(tmp_path: Path) -> AsyncIterator[Api]:
    made = Api(tmp_path, [])
    made.routes += DecisionRoutes(made.store, lambda: START_MS, reason_min=20).routes()
    await made.start()
    yield made
    await made.stop()


def proposed(tx: Transaction, run_key: str, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Make a task, and the calls as a run of its agent; return the items, in order."""
    task = tx.new_id()
    tx.commit([Write(task, "task", {"title": f"Task of {run_key}", "status": "OPEN"})])
    desk = Desk(Run(agent_id(task), task, run_key, tx.now_ms()), seen_of(tx, task), Limits())
    for tool, arguments in calls:
        desk.take(tool, arguments, tx)
    sets = desk.writes(tx)
    tx.commit(sets, by=By.AGENT, agent=agent_id(task))
    return [text(item.id) for one in sets for item in tx.items_of_set(one.entity)]


ESTIMATE = ("update_task_estimate", {"minutes": 120})
THREE = (ESTIMATE, ("set_task_title", {"title": "Better"}), ("add_checklist_item", {"title": "Buy paper"}))


async def propose(api: Api, *calls: tuple[str, dict[str, Any]], run_key: str = "run") -> list[str]:
    return await api.store.write(lambda tx: proposed(tx, run_key, *calls))


async def decide(api: Api, verdict: str = "confirmed", **asked: Any) -> list[str]:
    answer = await api.ask("POST", PATH, {"verdict": verdict, **asked})
    assert answer.status == 200, answer.json
    return [one["result"] for one in answer.json]


async def test_the_history_is_told_newest_first_in_pages_and_by_task(decisive: Api):
    items = await propose(decisive, *THREE)
    (other,) = await propose(decisive, ESTIMATE, run_key="other")
    await decide(decisive, items=items)
    await decide(decisive, "rejected", items=[other], reason="too long", via="cli")
    told = (await decisive.ask("GET", PATH)).json
    assert [one["item_id"] for one in told] == [other, *reversed(items)]
    assert [told[0][name] for name in ("verdict", "reason", "via", "by")] == [
        "rejected",
        "too long",
        "cli",
        "user",
    ]
    page = (await decisive.ask("GET", f"{PATH}?limit=2")).json
    rest = (await decisive.ask("GET", f"{PATH}?limit=2&before={page[-1]['seq']}")).json
    assert [*page, *rest] == told
    of_task = (await decisive.ask("GET", f"{PATH}?task={told[0]['task_id']}")).json
    assert of_task == told[:1]
    assert (await decisive.ask("GET", f"{PATH}?task=")).json == told


@pytest.mark.parametrize(
    ("query", "status"), [("limit=0", 400), ("limit=501", 400), ("before=-1", 400), ("task=nothing", 404)]
)
async def test_a_history_that_cannot_be_told_is_refused(decisive: Api, query: str, status: int):
    assert (await decisive.ask("GET", f"{PATH}?{query}")).status == status


async def test_what_was_shown_is_what_runs(decisive: Api):
    items = await propose(decisive, *THREE)
    shown = {one["item_id"]: one["args_hash"] for one in (await decisive.ask("GET", "/v1/pending")).json}
    wrong = {**shown, items[1]: "0" * 64}
    assert await decide(decisive, items=items, args_hashes=wrong) == ["applied", "stale", "applied"]
    short = {items[1][:8]: shown[items[1]]}
    assert await decide(decisive, items=[items[1]], args_hashes=short) == ["applied"]
    for hashes in ({items[0]: "no hash"}, {items[0]: "AB" * 32}, {items[0]: 7}, ["a list"]):
        asked = {"verdict": "confirmed", "items": items, "args_hashes": hashes}
        assert (await decisive.ask("POST", PATH, asked)).status == 400


async def test_a_set_is_what_was_proposed_together_and_what_came_later_is_not_in_it(decisive: Api):
    items = await propose(decisive, *THREE)
    (line, *_) = (await decisive.ask("GET", "/v1/pending")).json
    await propose(decisive, ESTIMATE, run_key="later")
    answer = (await decisive.ask("POST", PATH, {"verdict": "confirmed", "set": line["set_id"]})).json
    assert [one["item_id"] for one in answer] == items
    assert {one["result"] for one in answer} == {"applied"}
    assert len((await decisive.ask("GET", "/v1/pending")).json) == 1


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
        tx.commit([Write(change_set, "change_set", {"task_id": change_set, "items": items})], by=By.AGENT)
        return change_set

    change_set = await decisive.store.write(forged)
    answer = await decisive.ask("POST", PATH, {"verdict": "rejected", "set": text(change_set)})
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
    assert all(sorted(one).count("applied") == 1 for one in by_item)
    assert {result for one in by_item for result in one} <= {"applied", "already", "conflict"}
    assert await decisive.commits() == before + len(items)
    made = (await decisive.ask("GET", PATH)).json
    assert [one["counts"] for one in made] == [True] * len(items)


async def test_a_retry_under_the_same_key_gets_the_first_answer(decisive: Api):
    items = await propose(decisive, *THREE)
    asked = {"verdict": "confirmed", "items": items}
    first = await decisive.ask("POST", PATH, asked, key="once")
    assert (await decisive.ask("POST", PATH, asked, key="once")).json == first.json
    assert await decide(decisive, items=items) == ["already"] * 3


# -- a store that fails -------------------------------------------------------------------------------


def decides_past_a_fault(folder: Path, points: Points) -> None:
    """Confirm three, one write of the disk failing: that item is told as failed, and the others go on."""
    fleet = Fleet(folder)
    store = StoreThreads(
        Store.open(
            folder / "a.db", signer=Signer(bytes(32)), now_ms=lambda: START_MS, randomness=fleet.randomness
        )
    )
    route = DecisionRoutes(store, lambda: START_MS, reason_min=20).routes()[-1]

    async def ask(items: list[str]) -> list[Result]:
        assert isinstance(route.how, Asks)
        call: Call[Decide, Nothing] = Call({}, Decide("confirmed", items), Nothing())
        answer: Any = await route.how.run(call)
        return list(answer)

    async def run() -> None:
        items = await store.write(lambda tx: proposed(tx, "run", *THREE))
        points.counting = True
        first = await ask(items)
        points.counting = False
        failed = [one.item_id for one in first if one.result == "failed"]
        assert len(failed) <= 1
        assert all(one.result == "applied" for one in first if one.item_id not in failed)
        second = await ask(items)
        results = [one.result for one in second]
        assert results == ["applied" if one in failed else "already" for one in items]

    asyncio.run(run())


def test_a_fault_of_the_store_fails_one_item_and_asking_again_decides_it():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for at in range(1, POINTS_MAX):
        with tempfile.TemporaryDirectory(dir=memory) as name:
            status = in_child(
                lambda points, name=name: decides_past_a_fault(Path(name), points),  # type: ignore[misc]
                at,
                fail_io,
                statements=False,
            )
        assert status in (0, 2), at
        if status == 2:
            break
    assert 10 < at < POINTS_MAX - 1
