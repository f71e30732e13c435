"""The verbs of a person who decides, each in a transaction of its own.

Never checks anything: it returns the person's answer.
"""

from typing import Any

from daemon.agents.deciding import decisions
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.waiting_items import PendingItem, list_waiting_items
from syncproto.ids import EntityId
from tests.support.fleet import Home


def confirm(home: Home, item: EntityId, **how: Any) -> DecisionResult:
    return home.write(lambda tx: decisions.confirm(tx, item, via="cli", **how))


def reject(home: Home, item: EntityId, reason: str | None = None) -> DecisionResult:
    return home.write(lambda tx: decisions.reject(tx, item, reason=reason, via="cli"))


def undo(home: Home, item: EntityId) -> DecisionResult:
    return home.write(lambda tx: decisions.undo(tx, item, via="cli"))


def reopen(home: Home, item: EntityId) -> DecisionResult:
    return home.write(lambda tx: decisions.reopen(tx, item, via="cli"))


def defer(home: Home, item: EntityId) -> DecisionResult:
    return home.write(lambda tx: decisions.defer(tx, item, via="cli"))


def waiting(home: Home, task: EntityId | None = None) -> list[PendingItem]:
    return home.read(lambda snapshot: list_waiting_items(snapshot, home.now_ms(), task=task))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.feed_end())
