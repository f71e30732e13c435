"""Shapes of agents: agents, proposals, decisions, effects, and what agents keep of their runs.

Never decides for a person of the honest devices but by what a member may sign.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.hostile.chain_writer import AGENT, ChainWriter, WrittenCommit, entity_id, operation
from tests.hostile.shape import FIRST, Parcel, Target, shape
from tests.vectors import wire

_NEVER_MS = 4_000_000_000_000
_ITEMS_OF_A_SET = 10
_EFFECTS_OF_A_COMMIT = 500


def agent_id(task: bytes) -> bytes:
    """Return the id of the agent of a task."""
    return wire.derived_id("agent", [wire.text(task)], task)


def _item(task: bytes, minutes: int, previous: bytes | None = None) -> dict[str, Any]:
    """Return a genuine change item: it proposes an estimate."""
    arguments = {"minutes": minutes}
    fingerprint = wire.digest("fp", [wire.text(task), "update_task_estimate", None, arguments])
    follows = None if previous is None else wire.text(previous)
    return {
        "item_id": wire.derived_id("item", [fingerprint.hex(), follows], task),
        "fingerprint": fingerprint,
        "tool": "update_task_estimate",
        "args": arguments,
        "base": {"clock": [], "value": {"estimate_minutes": None}},
        "rationale": "it takes as long",
    }


def _set(target: Target, task: bytes, number: int, items: list[dict[str, Any]]) -> list[Any]:
    """Return the operation that proposes items for a task, by its agent."""
    fields = {
        "agent_id": agent_id(task),
        "task_id": task,
        "thread_id": f"thread {number}",
        "run_key": f"{target.name} {number}",
        "expires_at": _NEVER_MS,
        "items": items,
    }
    return operation(entity_id(target.name, "set", number), fields, kind="change_set", by=AGENT)


def _task_with_agent(target: Target, chain: ChainWriter, task: bytes, number: int = 0) -> WrittenCommit:
    """Make a task, and its agent with the first honest device as its home."""
    fields = {
        "kind": "task_agent",
        "display_name": f"agent {number}",
        "mode": "autonomous",
        "lifecycle": "active",
        "task_id": task,
        "home_device_id": target.devices[FIRST],
        "model": "rules",
    }
    return chain.write(
        operation(task, {"title": f"task {number}", "status": "OPEN"}),
        operation(agent_id(task), fields, kind="agent"),
    )


def _decision(
    target: Target, number: int, item: bytes, verdict: str, sources: list[bytes]
) -> tuple[bytes, list[Any]]:
    decision = entity_id(target.name, "decision", number)
    fields = {"item_id": item, "verdict": verdict, "seen": sources}
    return decision, operation(decision, fields, kind="decision")


@shape("a verdict that turns again and again, on an item that people see")
def verdicts_that_flip(target: Target, size: int) -> Iterator[Parcel]:
    """Confirm and undo an honest proposal, each time having seen the last decision."""
    chain = target.chain("flips")
    last: list[bytes] = []
    for number in count():
        verdict = "undone" if number % 2 else "confirmed"
        decision, written = _decision(target, number, target.proposal, verdict, last)
        yield chain.write(written)
        last = [decision]


@shape("decisions that have each seen hundreds of others")
def decisions_that_saw_all(target: Target, size: int) -> Iterator[Parcel]:
    """Decide on one item, naming the last five hundred decisions each time."""
    chain = target.chain("decisions")
    item = entity_id(target.name, "item")
    before: list[bytes] = []
    for number in count():
        decision, written = _decision(target, number, item, "deferred", before[-500:])
        yield chain.write(written)
        before.append(decision)


@shape("decisions on one item that have not seen one another")
def decisions_unseen(target: Target, size: int) -> Iterator[Parcel]:
    """Decide on an honest item again and again, having seen nothing."""
    chain = target.chain("decisions")
    for number in count():
        _, written = _decision(target, number, target.proposal, "deferred", [])
        yield chain.write(written)


@shape("effects of one item without end, and then a verdict that turns")
def effects_and_flips(target: Target, size: int) -> Iterator[Parcel]:
    """Write effects of one item for half of the bytes, then turn its verdict."""
    chain = target.chain("effects")
    item = entity_id(target.name, "item")
    sent = 0
    for number in count():
        names = range(number * _EFFECTS_OF_A_COMMIT, (number + 1) * _EFFECTS_OF_A_COMMIT)
        written = chain.write(
            *(
                operation(entity_id(target.name, name), {"title": "e"}, effect=item, by=AGENT)
                for name in names
            )
        )
        sent += len(written.body)
        yield written
        if sent >= size // 2:
            break
    last: list[bytes] = []
    for number in count():
        decision, operations = _decision(target, number, item, ("confirmed", "undone")[number % 2], last)
        yield chain.write(operations)
        last = [decision]


@shape("effects of one item again and again on one entity, under a verdict that turns")
def effects_on_an_entity(target: Target, size: int) -> Iterator[Parcel]:
    """Write versions of one task as effects of one item, and turn its verdict between them."""
    chain = target.chain("effects")
    task, item = target.subject, entity_id(target.name, "item")
    yield chain.write(operation(task, {"title": "effects", "status": "OPEN"}))
    last: list[bytes] = []
    for number in count():
        verdict = ("confirmed", "undone")[number % 2]
        decision, decided = _decision(target, number, item, verdict, last)
        effect = operation(task, {"title": f"effect {number}"}, base=chain.tip, effect=item, by=AGENT)
        yield chain.write(decided, effect)
        last = [decision]


@shape("an item after another on one task, each with effects, each confirmed and undone")
def undo_chains(target: Target, size: int) -> Iterator[Parcel]:
    """Propose, confirm and undo again and again, each item following the one before."""
    chain = target.chain("undo")
    task = target.subject
    yield _task_with_agent(target, chain, task)
    previous: bytes | None = None
    clock = chain.tip
    for number in count():
        item = _item(task, 60, previous)
        identifier: bytes = item["item_id"]
        yield chain.write(_set(target, task, number, [item]))
        confirmed, first = _decision(target, 2 * number, identifier, "confirmed", [])
        effect = operation(task, {"estimate_minutes": 60}, base=clock, effect=identifier, by=AGENT)
        yield chain.write(first, effect)
        clock = chain.tip
        _, second = _decision(target, 2 * number + 1, identifier, "undone", [confirmed])
        yield chain.write(second)
        previous = identifier


@shape("proposals without end that wait, on one task")
def proposals_without_end(target: Target, size: int) -> Iterator[Parcel]:
    """Propose ten estimates in each set, all genuine."""
    chain = target.chain("proposals")
    task = target.subject
    yield _task_with_agent(target, chain, task)
    for number in count():
        items = [_item(task, 1 + _ITEMS_OF_A_SET * number + place) for place in range(_ITEMS_OF_A_SET)]
        yield chain.write(_set(target, task, number, items))


@shape("one proposal in sets without end")
def sets_of_one_item(target: Target, size: int) -> Iterator[Parcel]:
    """Propose the same again and again."""
    chain = target.chain("proposals")
    task = target.subject
    yield _task_with_agent(target, chain, task)
    for number in count():
        yield chain.write(_set(target, task, number, [_item(task, 45)]))


@shape("sets of as many items as a commit can hold")
def largest_sets(target: Target, size: int) -> Iterator[Parcel]:
    """Propose hundreds of estimates in one set."""
    chain = target.chain("proposals")
    task = target.subject
    yield _task_with_agent(target, chain, task)
    items = [_item(task, minutes + 1) for minutes in range(min(400, max(size // 1200, 1)))]
    for number in count():
        yield chain.write(_set(target, task, number, items))


@shape("proposals of tasks and agents that nobody made")
def proposals_of_nobody(target: Target, size: int) -> Iterator[Parcel]:
    """Propose for tasks that do not exist, and items that follow from nothing."""
    chain = target.chain("proposals")
    for number in count():
        task = entity_id(target.name, "nothing", number)
        items: list[Any] = [_item(task, 1), {"item_id": task}, {}, None, [task]]
        yield chain.write(_set(target, task, number, items))


@shape("agents without a task")
def agents_without_task(target: Target, size: int) -> Iterator[Parcel]:
    """Make agents of tasks that do not exist, at home on an honest device."""
    chain = target.chain("agents")
    for number in count():
        task = entity_id(target.name, "nothing", number)
        fields = {"task_id": task, "home_device_id": target.devices[FIRST], "lifecycle": "active"}
        yield chain.write(operation(agent_id(task), fields, kind="agent"))


@shape("what an agent keeps of its runs, without end")
def messages_without_end(target: Target, size: int) -> Iterator[Parcel]:
    """Write messages, reports, payloads and usage of an honest agent."""
    chain = target.chain("messages")
    agent = agent_id(target.task)
    for number in count():
        kind = ("message", "report", "payload", "usage")[number % 4]
        fields = {"agent_id": agent, "task_id": target.task, "thread_id": "t", "role": "agent", "n": number}
        yield chain.write(operation(entity_id(target.name, number), fields, kind=kind, by=AGENT))


@shape("agents at home on an honest device, each with a note that wakes it")
def agents_that_wake(target: Target, size: int) -> Iterator[Parcel]:
    """Make tasks with an agent each at home on the first device, and a note that has something to propose."""
    chain = target.chain("agents")
    for number in count():
        task = entity_id(target.name, "task", number)
        yield _task_with_agent(target, chain, task, number)
        fields = {"task_id": task, "text": "It takes 90 minutes. " + "And then some more words follow. " * 30}
        note = operation(entity_id(target.name, "note", number), fields, kind="entry")
        yield chain.write(note, operation(task, {}, base=chain.tip))
