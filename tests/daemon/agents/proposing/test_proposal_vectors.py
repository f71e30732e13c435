"""Proposals and confirmations as the second implementation writes them, from the documents alone.

Never checks the fold of other commits: `tests/vectors/test_vectors.py` does.
"""

import json
from typing import Any

import pytest

from daemon.agents.proposing.authenticity import authentic_item
from daemon.agents.tools.effects import args_hash, fingerprint_of
from store.fold.verdicts import DecisionStatus
from syncproto.commit import Operation, SignedCommit
from syncproto.ids import EntityId
from tests.support.decision_verbs import confirm
from tests.support.fleet import Fleet, Home
from tests.vectors import generate

Case = dict[str, Any]


def cases(name: str) -> list[Case]:
    document: list[Case] = json.loads(generate.path(name).read_text("utf-8"))
    return document


def test_what_a_person_is_shown_and_what_it_comes_down_to_are_hashed_as_specified(
    subtests: pytest.Subtests,
) -> None:
    for case in cases("args_hashes"):
        tool, args = case["tool"], case["args"]
        with subtests.test(tool):
            assert args_hash(tool, args).hex() == case["args_hash"]
            task = EntityId(bytes.fromhex(case["task"]))
            assert fingerprint_of(task, tool, args).hex() == case["fingerprint"]


def home_with(fleet: Fleet, name: str, commits: list[list[str]]) -> Home:
    home = fleet.home(name)
    for body, signature in commits:
        with home.store.write() as tx:
            tx.accept_page([SignedCommit(bytes.fromhex(body), bytes.fromhex(signature))])
    return home


def is_genuine(home: Home, item: EntityId) -> bool:
    with home.store.read() as snapshot:
        stored_item = snapshot.item(item)
        assert stored_item is not None
        return authentic_item(snapshot, stored_item) is not None


def test_a_proposal_is_genuine_and_confirmed_as_specified(fleet: Fleet, subtests: pytest.Subtests) -> None:
    for number, case in enumerate(cases("proposals")):
        with subtests.test(case["name"]):
            item = EntityId(bytes.fromhex(case["item"]))
            before = case["commits"][:-1] if case["confirms"] else case["commits"]
            here = home_with(fleet, f"here {number}", before)
            assert is_genuine(here, item) == case["genuine"]
            if not case["confirms"]:
                continue
            elsewhere = home_with(fleet, f"elsewhere {number}", case["commits"])
            assert elsewhere.item(item).status is DecisionStatus.CONFIRMED
            (decision,) = last_operations(elsewhere)["decision"]
            confirm(here, item, edit=decision["fields"].get("edited_args"))
            assert without_messages(here) == without_messages(elsewhere)


def last_operations(home: Home) -> dict[str, list[dict[str, Any]]]:
    """Return the operations of the last commit, by kind."""
    (last,) = home.read(lambda snapshot: snapshot.read_feed(snapshot.feed_end() - 1, 1))
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for operation in last[1].commit.operations:
        by_kind.setdefault(operation.kind, []).append(shown(operation))
    return by_kind


def shown(operation: Operation) -> dict[str, Any]:
    """Return what is the same whoever decides: a decision has a fresh id, and names its device."""
    is_decision = operation.kind == "decision"
    return {
        "entity": None if is_decision else operation.entity,
        "base": operation.base,
        "fields": {
            name: value for name, value in operation.fields.items() if not is_decision or name != "device"
        },
        "effect": operation.effect,
        "by": operation.by,
        "origin": operation.origin,
    }


def without_messages(home: Home) -> dict[str, list[dict[str, Any]]]:
    """Return the operations of the last commit; what tells the agent of them may be left out."""
    return {kind: operations for kind, operations in last_operations(home).items() if kind != "message"}
