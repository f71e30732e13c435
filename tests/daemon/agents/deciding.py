"""The verbs of a person who decides, each in a transaction of its own.

Never checks anything: it returns what the person would be answered.
"""

from typing import Any

from daemon.agents import decisions
from daemon.agents.decisions import Result
from daemon.agents.pending import PendingItem, pending
from syncproto.ids import EntityId
from tests.daemon.agents.fleet import Home


def confirm(home: Home, item: EntityId, **how: Any) -> Result:
    return home.write(lambda tx: decisions.confirm(tx, item, via="cli", **how))


def reject(home: Home, item: EntityId, reason: str | None = None) -> Result:
    return home.write(lambda tx: decisions.reject(tx, item, reason=reason, via="cli"))


def undo(home: Home, item: EntityId) -> Result:
    return home.write(lambda tx: decisions.undo(tx, item, via="cli"))


def reopen(home: Home, item: EntityId) -> Result:
    return home.write(lambda tx: decisions.reopen(tx, item, via="cli"))


def defer(home: Home, item: EntityId) -> Result:
    return home.write(lambda tx: decisions.defer(tx, item, via="cli"))


def waiting(home: Home, task: EntityId | None = None) -> list[PendingItem]:
    return home.read(lambda snapshot: pending(snapshot, home.now_ms(), task=task))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.feed_end())
