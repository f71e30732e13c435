"""What an agent does with asks: make one, take it back, and use the permission that a person gave.

Never uses a permission before its row and its commit are written, and never decides on an ask.
"""

from typing import Any, Final

from msgspec import Struct

from daemon.agents.asks.ask_bounds import require_keepable, require_length
from daemon.agents.asks.ask_outcome import outcome_of, permission_of
from daemon.agents.asks.ask_record import (
    ASK,
    USE,
    Ask,
    genuine_use,
    grant_of_use,
    hash_of_args,
    is_withdrawn,
    read_ask,
    use_id,
)
from daemon.agents.asks.standing_permission import permit_by_rule
from daemon.agents.asks.use_rule import UseResult, judge_use
from daemon.agents.tools.actions import ACTION_CHARS_MAX
from daemon.agents.tools.agent_record import ExternalAgent, load_any_agent, refusal_of_hindered
from daemon.agents.tools.daily_limits import ASKS, BYTES, spend_within_limits
from daemon.agents.tools.policy import denies_action
from daemon.agents.tools.presence import ANY, presence_on_action
from daemon.refusal import RefusalCode, Refused, usage_error
from store.fold.item_name import KEY_CHARS_MAX, Presence, ask_id
from store.fold.verdicts import Verdict
from store.local.granted_uses import GrantedUse, record_granted_use
from store.queries.asks import asks_that_may_wait
from store.sentence import sentence
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK

TITLE_CHARS_MAX: Final = 200
WHY_CHARS_MAX: Final = 2000
OPTIONS_MAX: Final = 6
OPTION_CHARS_MAX: Final = 100
EXECUTION_CHARS_MAX: Final = 200
LIFETIME_MAX_MS: Final = 7 * 86_400_000
OPEN_ASKS_MAX: Final = 100
"""How many asks of one agent may wait for a person: what is beyond is refused, never done."""


class NewAsk(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an agent asks permission for. `agent` names it, or its task; it works on this device.

    The same `key` with the same action is the same ask, with the same yes. So draw it at random for each
    call, and keep it for a retry of this call; an id of a framework, a model or a thread repeats. `not_after`
    is until when the permission may be used, in milliseconds of Unix time, a week ahead at most.
    """

    agent: str
    name: str
    args: dict[str, Any]
    title: str
    key: str
    not_after: int
    why: str = ""
    options: list[str] = []


class UsedPermission(Struct, frozen=True, kw_only=True):
    """The answer to a use. Only with `granted` the agent may act, with these `args`, once."""

    result: UseResult
    args: dict[str, Any] | None = None
    args_hash: str | None = None
    option: str | None = None


def make_ask(tx: Transaction, agent: EntityId, request: NewAsk) -> EntityId:
    """Ask for a permission; return the ask, which is the one that exists if the agent repeats itself.

    What was asked before this database was copied or put back, and not used as far as is known, is asked anew
    under the same id: its yes grants nothing any more. A standing rule that covers a new ask permits it.
    Raises Refused for an agent that may not act here, and for an ask that breaks a bound or reuses a key.
    """
    known_agent = load_any_agent(tx, agent)
    refused = refusal_of_hindered(tx, known_agent)
    if refused is not None:
        raise refused
    _require_bounds(request, tx.now_ms())
    entity = tx.entity(agent)
    if denies_action(entity, request.name):
        raise Refused(
            RefusalCode.FORBIDDEN,
            sentence("action-denied", "a person denied this agent the action {name!r}", name=request.name),
        )
    setting = presence_on_action(entity, request.name)
    needed = None if setting == ANY else Presence(setting)
    identifier = ask_id(agent, request.key, tx.device, needed)
    before = read_ask(tx, identifier)
    if before is not None:
        # For Python 1 and true are equal; their hashes differ.
        args_hash = hash_of_args(request.name, request.args, before.replica)
        if (before.args_hash, before.options) != (args_hash, tuple(request.options)):
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("ask-key-reused", "the agent asked something else as {key!r}", key=request.key[:80]),
            )
        if before.replica == tx.replica or genuine_use(tx, before) is not None:
            return identifier
    if _count_open(tx, agent) >= OPEN_ASKS_MAX:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("asks-too-many", "{count} asks of this agent wait already", count=OPEN_ASKS_MAX),
        )
    if isinstance(known_agent, ExternalAgent):
        size = len(codec.encode([request.name, request.args, request.title, request.why]))
        spend_within_limits(tx, agent, {ASKS: 1, BYTES: size})
    fields: dict[str, Value] = {
        "agent_id": agent,
        "key": request.key,
        "home": tx.device,
        "name": request.name,
        "args": request.args,
        "title": request.title,
        "why": request.why,
        "options": list(request.options),
        "not_after": request.not_after,
    }
    if needed is not None:
        fields["presence"] = needed.value
    # Without a base it is a creation, whoever has written to the id before.
    write = EntityWrite(identifier, ASK, fields, base=EMPTY_CLOCK)
    tx.commit([write], by=AuthorKind.AGENT, agent=agent)
    permit_by_rule(tx, require_ask(tx, identifier))
    return identifier


def _count_open(tx: Transaction, agent: EntityId) -> int:
    """Count the asks of an agent that nobody decided, and that may still be used.

    Reads no history of those that ran out, of which a standing rule may have let through thousands.
    """
    asks = (read_ask(tx, identifier) for identifier in asks_that_may_wait(tx, tx.now_ms(), agent))
    return sum(
        ask.not_after_ms >= tx.now_ms() and not _is_decided(tx, ask)
        for ask in asks
        if ask is not None and ask.home == tx.device
    )


def _is_decided(tx: Transaction, ask: Ask) -> bool:
    """Report whether a verdict counts, or a rule permits it; what a revoked rule permitted is open again."""
    opinions = tx.opinions_on(ask.id)
    if any(opinion.counts and opinion.by is not AuthorKind.SYSTEM for opinion in opinions):
        return True
    # Most asks have no decision at all: those cost one look.
    return bool(opinions) and outcome_of(tx, ask, tx.decisions_on(ask.id)).rule is not None


def _require_bounds(request: NewAsk, now_ms: int) -> None:
    lengths = (
        ("title", len(request.title), TITLE_CHARS_MAX),
        ("why", len(request.why), WHY_CHARS_MAX),
        ("name", len(request.name), ACTION_CHARS_MAX),
        ("key", len(request.key), KEY_CHARS_MAX),
        ("options", len(request.options), OPTIONS_MAX),
        ("option", max(map(len, request.options), default=0), OPTION_CHARS_MAX),
    )
    for field, length, most in lengths:
        require_length(field, length, most)
    require_keepable(request.name, request.args)
    if not (request.name.strip() and request.title.strip() and request.key):
        raise usage_error(sentence("ask-part-missing", "an ask needs a name, a title and a key"))
    if len(set(request.options)) != len(request.options) or not all(map(str.strip, request.options)):
        raise usage_error(sentence("ask-options-alike", "the options of an ask must differ"))
    if not now_ms < request.not_after <= now_ms + LIFETIME_MAX_MS:
        raise usage_error(
            sentence("ask-not-after", "not_after must be ahead, and by a week at most"),
        )


def withdraw(tx: Transaction, ask: EntityId, reason: str = "") -> Ask:
    """Take an ask back. A permission that was used stays used. Raises Refused if this device did not ask."""
    original = require_ask(tx, ask)
    if original.home != tx.device:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("ask-of-another-device", "another device asked this"),
        )
    decisions = tx.decisions_on(ask)
    if not is_withdrawn(decisions):
        fields: dict[str, Value] = {
            "item_id": ask,
            "verdict": Verdict.RETRACTED.value,
            "device": tx.device,
            "seen": [decision.id for decision in decisions],
            "via": "agent",
        }
        if reason:
            fields["reason"] = reason[:WHY_CHARS_MAX]
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)], by=AuthorKind.AGENT, agent=original.agent)
    return original


def use_permission(tx: Transaction, ask: EntityId, args_hash: bytes, execution: str) -> UsedPermission:
    """Use a permission, at most once. The row and the commit of the use are durable with the transaction.

    So whoever calls this answers the agent only once the transaction has ended. Raises Refused for an unknown
    ask, and for an execution without a name.
    """
    original = require_ask(tx, ask)
    if not execution or len(execution) > EXECUTION_CHARS_MAX:
        raise usage_error(sentence("use-execution", "an execution has an id of 1 to 200 characters"))
    permission = permission_of(tx, original)
    result = judge_use(permission, execution, args_hash, tx.now_ms())
    if result is UseResult.GRANTED and permission.used_by is None:
        grant = outcome_of(tx, original, tx.decisions_on(ask)).grant
        assert grant is not None, "only a yes is granted"
        record_granted_use(tx, ask, GrantedUse(execution, args_hash, tx.now_ms()))
        fields: dict[str, Value] = {
            "ask_id": ask,
            "execution_id": execution,
            "args_hash": args_hash,
            "decision_id": grant.decision.id,
            "home": tx.device,
        }
        entity = use_id(ask, original.replica)
        head = tx.commit([EntityWrite(entity, USE, fields)], by=AuthorKind.AGENT, agent=original.agent)
        assert head.replica == original.replica, "the replica of a transaction does not change"
    use = genuine_use(tx, original)
    grant = None if use is None else grant_of_use(original, use, tx.decisions_on(ask))
    if result is not UseResult.GRANTED or grant is None:
        return UsedPermission(result=result)
    return UsedPermission(
        result=result, args=grant.args, args_hash=grant.args_hash.hex(), option=grant.decision.option or None
    )


def require_ask(tx: Transaction, ask: EntityId) -> Ask:
    """Return a genuine ask. Raises Refused if there is none under this id."""
    original = read_ask(tx, ask)
    if original is None:
        raise Refused(RefusalCode.NOT_FOUND, sentence("ask-unknown", "there is no such ask"))
    return original
