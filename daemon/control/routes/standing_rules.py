"""The routes of standing rules: a person writes one, looks at them, and revokes one.

Never called by a door for agents, and never makes a rule of what a person decided.
"""

from collections.abc import Callable

from msgspec import Struct

from daemon.agents.person import standing_rules
from daemon.agents.person.external_agents import find_any_agent
from daemon.agents.person.standing_rules import NewStandingRule, StandingRuleDetails
from daemon.agents.standing_rules.rule_record import STANDING_RULE
from daemon.control.route import CREATED, Call, Nothing, ReadHandler, Route, WriteHandler
from daemon.journal.human_input import HumanInput
from daemon.journal.references import entities
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId


class RulesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which rules: those that stand, or with `all`, every one; on one agent, or on all."""

    all: bool = False
    agent: str | None = None


def routes(now_ms: Callable[[], int], typed: HumanInput) -> list[Route]:
    """Return the part of the table on standing rules."""
    handlers, path, details = _RuleHandlers(now_ms, typed), "/v1/standing-rules", StandingRuleDetails
    make, revoke = WriteHandler(handlers.make), WriteHandler(handlers.revoke)
    return [
        Route("POST", path, "Write a standing rule", make, details, NewStandingRule, status=CREATED),
        Route(
            "GET",
            path,
            "List standing rules",
            ReadHandler(handlers.list),
            list[StandingRuleDetails],
            query=RulesQuery,
        ),
        Route("GET", f"{path}/{{ref}}", "Show a standing rule", ReadHandler(handlers.show), details),
        Route("POST", f"{path}/{{ref}}/revoke", "Revoke a standing rule", revoke, details),
    ]


class _RuleHandlers:
    def __init__(self, now_ms: Callable[[], int], typed: HumanInput) -> None:
        self._now_ms = now_ms
        self._typed = typed

    def make(self, tx: Transaction, call: Call[NewStandingRule, Nothing]) -> StandingRuleDetails:
        until, agent = call.body.until, find_any_agent(tx, call.body.agent)
        if isinstance(until, str):
            until = int(self._typed.moment(until, "future").timestamp() * 1000)
        return self._details(tx, standing_rules.make_rule(tx, agent, call.body, until))

    def list(self, snapshot: Snapshot, call: Call[Nothing, RulesQuery]) -> list[StandingRuleDetails]:
        agent = None if call.query.agent is None else find_any_agent(snapshot, call.query.agent)
        return standing_rules.list_rules(snapshot, self._now_ms(), agent=agent, every=call.query.all)

    def show(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> StandingRuleDetails:
        return self._details(snapshot, _find_rule(snapshot, call.ref))

    def revoke(self, tx: Transaction, call: Call[Nothing, Nothing]) -> StandingRuleDetails:
        rule = _find_rule(tx, call.ref)
        standing_rules.revoke_rule(tx, rule)
        return self._details(tx, rule)

    def _details(self, snapshot: Snapshot, rule: EntityId) -> StandingRuleDetails:
        stored = standing_rules.require_rule(snapshot, rule)
        return standing_rules.rule_details(snapshot, stored, self._now_ms())


def _find_rule(snapshot: Snapshot, ref: str) -> EntityId:
    return entities.find_entity(snapshot, [STANDING_RULE], ref).id
