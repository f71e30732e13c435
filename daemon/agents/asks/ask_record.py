"""An ask as the log has it: what was asked, by whom, and what the verdicts on it come to.

Never believes a later write to an ask, or a creation that its home device did not sign.
"""

from dataclasses import dataclass
from typing import Any

from daemon.agents.asks.use_rule import Permission, UsedBy
from daemon.agents.tools.agent_record import DESTROYED, DORMANT, load_agent
from daemon.agents.tools.presence import ANY, PRESENCES, presence_setting
from store.fold.item import Decision
from store.fold.item_name import Presence, ask_id
from store.fold.verdicts import DecisionStatus, Verdict, deciding_opinions
from store.local.granted_uses import granted_use
from store.queries.asks import Creation, creations_of
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, DeviceId, EntityId, ReplicaId, derived_id, id_to_text, tagged_digest

ASK, USE = "ask", "use"


@dataclass(frozen=True, slots=True)
class Ask:
    """What an agent asked permission for. `args_hash` is over the arguments and the asking replica.

    `not_after_ms` is until when a permission may be used, `made_ms` when it was asked, Unix time in
    milliseconds. `presence` is what verdicts need, None if every one counts. A person may choose an option.
    """

    id: EntityId
    agent: EntityId
    key: str
    home: DeviceId
    replica: ReplicaId
    name: str
    args: dict[str, Any]
    title: str
    why: str
    options: tuple[str, ...]
    presence: Presence | None
    not_after_ms: int
    made_ms: int

    @property
    def args_hash(self) -> bytes:
        """Return the hash of what was asked; a person's yes is bound to it."""
        return hash_of_args(self.name, self.args, self.replica)


@dataclass(frozen=True, slots=True)
class Grant:
    """A person's yes: the decision, and the arguments that it is for, with their hash."""

    decision: Decision
    args: dict[str, Any]
    args_hash: bytes

    @property
    def is_edited(self) -> bool:
        """Return whether the person changed the arguments."""
        return self.decision.edited_args is not None


def hash_of_args(name: str, args: dict[str, Any], replica: ReplicaId) -> bytes:
    """Return a hash of 32 bytes over an action, its arguments, and the replica that asks.

    With the replica, a yes to what a device asked before its database was put back fits nothing that it asks
    afterwards.
    """
    return tagged_digest("ask args", name, args, replica.hex())


def use_id(ask: EntityId, replica: ReplicaId) -> EntityId:
    """Return the id of the entity that tells other devices of a use."""
    return derived_id("use", id_to_text(ask), replica.hex(), time_of=ask)


def read_ask(snapshot: Snapshot, ask: EntityId) -> Ask | None:
    """Return an ask; None if there is no genuine one under this id.

    If its home device asked again after its database was put back, what this store wrote itself counts, else
    the newest.
    """
    asks = [read for creation in creations_of(snapshot, ask) if (read := _genuine(ask, creation)) is not None]
    own = [candidate for candidate in asks if candidate.replica == snapshot.replica]
    return max(own or asks, key=lambda candidate: (candidate.made_ms, candidate.replica), default=None)


def _genuine(ask: EntityId, creation: Creation) -> Ask | None:
    fields = creation.fields
    agent, key, home = fields.get("agent_id"), fields.get("key"), fields.get("home")
    presence, args, options = fields.get("presence"), fields.get("args"), fields.get("options")
    if creation.kind != ASK or home != creation.signer or not isinstance(args, dict):
        return None
    if not isinstance(agent, bytes) or len(agent) != ID_BYTES or not isinstance(key, str):
        return None
    if presence is not None and presence not in PRESENCES[1:]:
        return None
    needed = None if presence is None else Presence(str(presence))
    not_after = fields.get("not_after")
    if ask_id(EntityId(agent), key, creation.signer, needed) != ask or type(not_after) is not int:
        return None
    return Ask(
        id=ask,
        agent=EntityId(agent),
        key=key,
        home=creation.signer,
        replica=creation.head.replica,
        name=_text(fields.get("name")),
        args=args,
        title=_text(fields.get("title")),
        why=_text(fields.get("why")),
        options=tuple(map(_text, options)) if isinstance(options, list) else (),
        presence=needed,
        not_after_ms=not_after,
        made_ms=creation.stamp_ms,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def grant_on(ask: Ask, decisions: tuple[Decision, ...]) -> Grant | None:
    """Return the yes that counts for an ask, the newest of several; None if none is for what it asks."""
    opinions = deciding_opinions(decision.opinion for decision in decisions)
    deciding = {opinion.decision for opinion in opinions}
    given = [
        decision
        for decision in decisions
        if decision.id in deciding
        and decision.verdict is Verdict.CONFIRMED
        and decision.args_hash == ask.args_hash
    ]
    if not given:
        return None
    newest = max(given, key=lambda decision: (decision.stamp_ms, decision.n, decision.id))
    args = ask.args if newest.edited_args is None else newest.edited_args
    return Grant(newest, args, hash_of_args(ask.name, args, ask.replica))


def is_withdrawn(decisions: tuple[Decision, ...]) -> bool:
    """Report whether the agent took its ask back, whatever a person said."""
    return any(decision.verdict is Verdict.RETRACTED for decision in decisions)


def is_hindered(snapshot: Snapshot, ask: Ask) -> bool:
    """Report whether the agent may not act any more, or needs more of a verdict than when it asked."""
    agent, entity = load_agent(snapshot, ask.agent), snapshot.entity(ask.agent)
    if agent is None or agent.lifecycle in (DESTROYED, DORMANT) or agent.home != ask.home:
        return True
    needed = PRESENCES.index(presence_setting(entity, None) or ANY)
    return needed > PRESENCES.index(ANY if ask.presence is None else ask.presence.value)


def permission_of(snapshot: Snapshot, ask: Ask) -> Permission:
    """Return what the rule of use needs to know of an ask, as this device knows it."""
    decisions = snapshot.decisions_on(ask.id)
    status = snapshot.item_status(ask.id)
    grant = grant_on(ask, decisions) if status.status is DecisionStatus.CONFIRMED else None
    used = granted_use(snapshot, ask.id)
    return Permission(
        asked_here=ask.home == snapshot.device and ask.replica == snapshot.replica,
        status=status,
        granted_hash=None if grant is None else grant.args_hash,
        not_after_ms=ask.not_after_ms,
        is_withdrawn=is_withdrawn(decisions),
        is_hindered=is_hindered(snapshot, ask),
        used_by=None if used is None else UsedBy(used.execution, used.args_hash),
    )
