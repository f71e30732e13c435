"""What a person does with agents of other makers: makes them, lets them in, says what they may do.

Never lets an agent in by itself: a program that names itself waits until a person has.
"""

import unicodedata
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from daemon.agents.deciding.waiting_items import count_waiting_items_of_agent
from daemon.agents.person import lifecycle, policy_edits, presence_edits
from daemon.agents.person.agent_overview import find_agent
from daemon.agents.tools.agent_record import (
    ACTIVE,
    CREATED,
    EXTERNAL,
    ExternalAgent,
    external_agent_id,
    hindrance,
    is_paused,
    load_external_agent,
)
from daemon.agents.tools.daily_limits import DEFAULTS, LIMIT_MAX, daily_limits, limit_field, spending_today
from daemon.agents.tools.policy import ALL_TASKS, NO_TASKS, SCOPE_FIELD, SCOPES, scope_of
from daemon.journal.references import entities
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import Candidate, RefusalCode, Refused, one_of, usage_error
from daemon.text_comparison import comparison_key
from daemon.timestamps import iso_utc
from store.sentence import sentence, sentence_fields
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId, id_to_text

NAME_CHARS_MAX: Final = 60
PENDING_MAX: Final = 10
"""How many agents may wait to be let in on a device: a program that keeps renaming itself fills no list."""


class ExternalAgentDetails(Struct, frozen=True, kw_only=True):
    """An agent of another maker as people see it.

    `lifecycle` is created until a person lets it in, then active, dormant or destroyed. `hindered` is why it
    may not work on this device now. `scope` is what it may work on: all, categories or none. `daily_limits`
    and `spent_today` count proposals, asks and bytes in a day of UTC; the latter on this device alone.
    `presence` is what verdicts on its proposals need, `policy` what becomes of its calls.
    """

    id: str
    name: str
    kind: str
    lifecycle: str
    hindered: str | None
    hindered_id: str = ""
    hindered_params: dict[str, Any] = {}
    home_device_id: str
    home_device_name: str
    at_home: bool
    scope: str
    allowed_categories: list[str]
    policy: dict[str, str]
    presence: dict[str, str]
    daily_limits: dict[str, int]
    spent_today: dict[str, int]
    pending_items: int
    paused_until: str | None = None


def add_external_agent(tx: Transaction, name: str, scope: str | None = None) -> EntityId:
    """Make an agent of this name on this device, or let the one in that waits; return its id.

    Raises Refused for a name that cannot be one, an unknown scope, and an agent that was destroyed.
    """
    identifier = external_agent_id(tx.device, _checked_name(name))
    agent = load_external_agent(tx, identifier)
    if agent is not None:
        if scope is not None:
            set_scope(tx, identifier, scope)
        admit_external_agent(tx, identifier)
        return identifier
    fields = _fields(tx.device, name) | {"lifecycle": ACTIVE, SCOPE_FIELD: _checked_scope(scope or ALL_TASKS)}
    tx.commit([EntityWrite(identifier, "agent", fields)])
    return identifier


def register_external_agent(tx: Transaction, name: str) -> EntityId:
    """Note that a program works under a name; a new one waits until a person lets it in.

    Raises Refused for a name that cannot be one, and if too many wait already.
    """
    identifier = external_agent_id(tx.device, _checked_name(name))
    if load_external_agent(tx, identifier) is not None:
        return identifier
    waiting = [agent for agent in _agents(tx) if agent.lifecycle == CREATED and agent.home == tx.device]
    if len(waiting) >= PENDING_MAX:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("agents-waiting-many", "{count} agents wait to be let in already", count=len(waiting)),
            sentence("wait-for-person", "wait until a person has decided on some of them"),
        )
    fields = _fields(tx.device, name) | {"lifecycle": CREATED, SCOPE_FIELD: NO_TASKS}
    tx.commit([EntityWrite(identifier, "agent", fields)], by=AuthorKind.AGENT, agent=identifier)
    return identifier


def admit_external_agent(tx: Transaction, agent: EntityId, scope: str | None = None) -> None:
    """Let an agent in. One that named itself may then work on all tasks, if no scope is given.

    Raises Refused for an agent that was destroyed, and for an unknown scope.
    """
    known_agent = lifecycle.require_not_destroyed(tx, agent)
    _require_external(known_agent)
    if known_agent.lifecycle == CREATED:
        scope_field: dict[str, Value] = {SCOPE_FIELD: _checked_scope(scope or ALL_TASKS)}
        tx.commit([EntityWrite(agent, "agent", {"lifecycle": ACTIVE, **scope_field})])
    elif scope is not None:
        set_scope(tx, agent, scope)


def set_scope(tx: Transaction, agent: EntityId, scope: str) -> None:
    """Say what an agent may work on. Raises Refused for an unknown scope."""
    _require_external(lifecycle.require_not_destroyed(tx, agent))
    tx.commit([EntityWrite(agent, "agent", {SCOPE_FIELD: _checked_scope(scope)})])


def set_daily_limits(tx: Transaction, agent: EntityId, limits: dict[str, int | None]) -> None:
    """Set daily limits by kind; None takes one back to what it is without a setting. Raises Refused."""
    _require_external(lifecycle.require_not_destroyed(tx, agent))
    for kind, limit in limits.items():
        if kind not in DEFAULTS:
            raise usage_error(
                sentence("limit-unknown", "no daily limit is called {name!r}", name=kind[:80]),
                one_of(sorted(DEFAULTS)),
            )
        if limit is not None and not 0 <= limit <= LIMIT_MAX:
            raise usage_error(sentence("limit-out-of-range", "a daily limit is 0 or more"))
    fields: dict[str, Value] = {limit_field(kind): limit for kind, limit in limits.items()}
    if fields:
        tx.commit([EntityWrite(agent, "agent", fields)])


def find_external_agent(snapshot: Snapshot, ref: str) -> EntityId:
    """Find an agent of another maker: by its name on this device, by its id or a prefix of that, or by name.

    Raises Refused if there is none, or if agents of several other devices have the name.
    """
    own = external_agent_id(snapshot.device, _plain_name(ref))
    if load_external_agent(snapshot, own) is not None:
        return own
    try:
        identifier = entities.find_entity(snapshot, ["agent"], ref).id
    except Refused as refused:
        if refused.code not in (RefusalCode.NOT_FOUND, RefusalCode.USAGE):
            raise
        identifier = _of_another_device(snapshot, ref) or own
    if load_external_agent(snapshot, identifier) is None:
        raise Refused(
            RefusalCode.NOT_FOUND,
            sentence("no-external-agent", "no agent of another maker is called {name!r}", name=ref[:80]),
            sentence("use-agent-add", "make it: placet agent add NAME"),
        )
    return identifier


def _of_another_device(snapshot: Snapshot, name: str) -> EntityId | None:
    """Return the agent of this name, wherever it works; None if there is none. Raises Refused for several."""
    key = comparison_key(_plain_name(name))
    named = [agent for agent in _agents(snapshot) if comparison_key(agent.name) == key]
    if len(named) > 1:
        names = NameLookup(snapshot)
        raise Refused(
            RefusalCode.AMBIGUOUS,
            sentence("agent-name-twice", "agents of several devices are called {name!r}", name=name[:80]),
            sentence("more-of-id", "give more of the id"),
            [Candidate(id_to_text(agent.id), names.device_name(DeviceId(agent.home))) for agent in named],
        )
    return named[0].id if named else None


def find_any_agent(snapshot: Snapshot, ref: str) -> EntityId:
    """Find an agent of another maker by its name or id, else a task's own. Raises Refused."""
    try:
        return find_external_agent(snapshot, ref)
    except Refused as refused:
        if refused.code is not RefusalCode.NOT_FOUND:
            raise
    return find_agent(snapshot, ref)


def find_calling_agent(
    snapshot: Snapshot, ref: str, find: Callable[[Snapshot, str], EntityId] = find_external_agent
) -> EntityId:
    """Find the agent as which a program calls. Raises Refused without the command that would make one."""
    try:
        return find(snapshot, ref)
    except Refused as refused:
        if refused.code is not RefusalCode.NOT_FOUND:
            raise
        ask = sentence("ask-person-to-let-in", "ask the person to let this program in; do not do it yourself")
        raise Refused(refused.code, refused.sentence, ask) from refused


def list_external_agents(snapshot: Snapshot, now_ms: int) -> list[ExternalAgentDetails]:
    """List the agents of other makers, those that wait to be let in first, then by name."""
    agents = sorted(_agents(snapshot), key=lambda agent: (agent.lifecycle != CREATED, agent.name, agent.id))
    return [external_agent_details(snapshot, agent.id, now_ms) for agent in agents]


def external_agent_details(snapshot: Snapshot, agent: EntityId, now_ms: int) -> ExternalAgentDetails:
    """Return an existing agent of another maker as people see it."""
    known_agent, entity = load_external_agent(snapshot, agent), snapshot.entity(agent)
    assert known_agent is not None
    assert entity is not None
    until_ms = known_agent.paused_until_ms if is_paused(known_agent) else None
    return ExternalAgentDetails(
        id=id_to_text(agent),
        name=known_agent.name,
        kind=EXTERNAL,
        lifecycle=known_agent.lifecycle,
        **sentence_fields("hindered", hindrance(snapshot, known_agent)),
        home_device_id=known_agent.home.hex(),
        home_device_name=NameLookup(snapshot).device_name(DeviceId(known_agent.home)),
        at_home=known_agent.home == snapshot.device,
        scope=scope_of(entity),
        allowed_categories=policy_edits.allowed_category_names(snapshot, entity),
        policy=policy_edits.policy_by_tool(entity),
        presence=presence_edits.presence_by_tool(entity),
        daily_limits=daily_limits(entity),
        spent_today=spending_today(snapshot, agent, now_ms),
        pending_items=count_waiting_items_of_agent(snapshot, now_ms, agent),
        paused_until=None if until_ms is None else iso_utc(until_ms),
    )


def _agents(snapshot: Snapshot) -> list[ExternalAgent]:
    agents = (load_external_agent(snapshot, entity.id) for entity in snapshot.entities("agent"))
    return [agent for agent in agents if agent is not None]


def _fields(home: DeviceId, name: str) -> dict[str, Value]:
    return {"kind": EXTERNAL, "name": _plain_name(name), "home_device_id": home}


def _plain_name(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def _checked_name(name: str) -> str:
    """Return a name on one line. Raises Refused for an empty one, a long one, or one with signs unseen."""
    plain = _plain_name(name)
    unseen = any(unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs", "Cn") for sign in plain)
    if not plain or len(plain) > NAME_CHARS_MAX or unseen:
        raise usage_error(
            sentence(
                "agent-name-malformed",
                "an agent's name has 1 to {most} characters, all of which can be seen",
                most=NAME_CHARS_MAX,
            )
        )
    return plain


def _checked_scope(scope: str) -> str:
    if scope not in SCOPES:
        raise usage_error(
            sentence("scope-unknown", "no scope is called {name!r}", name=scope[:80]), one_of(SCOPES)
        )
    return scope


def _require_external(agent: object) -> None:
    if not isinstance(agent, ExternalAgent):
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("agent-of-task", "this is the agent of a task: it has no scope and no daily limits"),
        )
