"""Asks as an agent's program makes and uses them, and as a person decides on them, on a device's own store.

Never goes through a socket: tests of the routes do.
"""

from typing import Any

from daemon.agents.asks import ask_decisions, ask_requests, ask_views
from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_requests import NewAsk, UsedPermission
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.deciding.decision_result import DecisionResult
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from tests.support.fleet import DAY_MS, Home

MAIL: dict[str, Any] = {"to": "ana@example.org", "text": "See you"}


def asked(home: Home, agent: EntityId, key: str = "mail 1", **changed: Any) -> EntityId:
    """Ask for the permission to send a mail, within a day; return the ask. Raises Refused."""
    fields: dict[str, Any] = {
        "agent": "x",
        "name": "send_mail",
        "args": MAIL,
        "title": "Send Ana a mail",
        "key": key,
        "not_after": home.now_ms() + DAY_MS,
    }
    return home.write(lambda tx: ask_requests.make_ask(tx, agent, NewAsk(**(fields | changed))))


def decided(home: Home, ask: EntityId, verdict: Verdict, **how: Any) -> DecisionResult:
    """Decide on an ask, as a person does on this device."""
    how = {"reason": None, "via": "cli", **how}
    return home.write(lambda tx: ask_decisions.decide(tx, ask, verdict, **how))


def details(home: Home, ask: EntityId) -> AskDetails:
    """Return an ask as this device shows it."""

    def read(snapshot: Snapshot) -> AskDetails:
        stored = read_ask(snapshot, ask)
        assert stored is not None
        return ask_views.ask_details(snapshot, stored, home.now_ms())

    return home.read(read)


def used(
    home: Home, ask: EntityId, execution: str = "run 1", args_hash: bytes | None = None
) -> UsedPermission:
    """Use a permission, with the arguments that are shown if no others are given."""
    wanted = bytes.fromhex(details(home, ask).args_hash) if args_hash is None else args_hash
    return home.write(lambda tx: ask_requests.use_permission(tx, ask, wanted, execution))
