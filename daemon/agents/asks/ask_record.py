"""An ask as the log has it: what was asked, by whom, and what the verdicts on it come to.

Never believes a later write to an ask, or a creation that its home device did not sign.
"""

from dataclasses import dataclass
from typing import Any

from daemon.agents.tools.agent_record import hindrance_at_home, load_any_agent
from daemon.agents.tools.policy import denies_action
from daemon.agents.tools.presence import ANY, PRESENCES, presence_on_action
from store.fold.item import Decision
from store.fold.item_name import Presence, ask_id
from store.fold.verdicts import Verdict, deciding_opinions
from store.queries.asks import SignedWrite, signed_writes
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, DeviceId, EntityId, ReplicaId, derived_id, id_to_text, tagged_digest
from syncproto.vector_clock import Head

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
    creations = [write for write in signed_writes(snapshot, ask) if ask_in(ask, write) is not None]
    own = [creation for creation in creations if creation.head.replica == snapshot.replica]
    newest = max(own or creations, key=order_of_writes, default=None)
    return None if newest is None else ask_in(ask, newest)


def order_of_writes(write: SignedWrite) -> tuple[int, int, Head]:
    """Return the key that sorts writes by their stamps, in the same order on every device."""
    return write.stamp_ms, write.n, write.head


def ask_in(ask: EntityId, creation: SignedWrite) -> Ask | None:
    """Return what a write asks; None for a later write, whoever signed it: what was asked does not change."""
    fields = creation.fields
    agent, key, home = fields.get("agent_id"), fields.get("key"), fields.get("home")
    presence, args, options = fields.get("presence"), fields.get("args"), fields.get("options")
    if (
        not creation.creates
        or creation.is_imported
        or creation.kind != ASK
        or home != creation.signer
        or not isinstance(args, dict)
    ):
        return None
    if not isinstance(agent, bytes) or len(agent) != ID_BYTES or not isinstance(key, str):
        return None
    if presence is not None and presence not in PRESENCES[1:]:
        return None
    needed = None if presence is None else Presence(str(presence))
    not_after = fields.get("not_after")
    if ask_id(EntityId(agent), key, creation.signer, needed) != ask or type(not_after) is not int:
        return None
    name, replica = _text(fields.get("name")), creation.head.replica
    if _hash_or_none(name, args, replica) is None:
        return None
    return Ask(
        id=ask,
        agent=EntityId(agent),
        key=key,
        home=creation.signer,
        replica=replica,
        name=name,
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
    given = [grant for grant in _grants(ask, decisions) if grant.decision.id in deciding]
    return max(
        given,
        key=lambda grant: (grant.decision.stamp_ms, grant.decision.n, grant.decision.id),
        default=None,
    )


def refusal_on(decisions: tuple[Decision, ...]) -> Decision | None:
    """Return the no that counts, the newest of several; None if nobody refused."""
    deciding = {opinion.decision for opinion in deciding_opinions(decision.opinion for decision in decisions)}
    refusals = [
        decision
        for decision in decisions
        if decision.counts and decision.verdict is Verdict.REJECTED and decision.id in deciding
    ]
    return max(refusals, key=lambda decision: (decision.stamp_ms, decision.n, decision.id), default=None)


def grant_of_use(ask: Ask, use: SignedWrite, decisions: tuple[Decision, ...]) -> Grant | None:
    """Return the yes that a use was granted for, whatever was decided since; None if it is not known here."""
    given = [grant for grant in _grants(ask, decisions) if grant.args_hash == use.fields.get("args_hash")]
    # Earlier versions did not write which yes it was.
    named = [grant for grant in given if grant.decision.id == use.fields.get("decision_id")]
    return next(iter(named or given), None)


def _grants(ask: Ask, decisions: tuple[Decision, ...]) -> list[Grant]:
    """Return each yes that counts, or names a rule, and is for what was asked, in feed order."""
    grants = []
    for decision in decisions:
        # If verdicts need another device, the fold passes over a rule's yes; a use may rest on it.
        if decision.verdict is not Verdict.CONFIRMED or not (decision.counts or decision.rule is not None):
            continue
        if decision.is_imported:
            # Whoever takes a file has not looked at what an agent asks.
            continue
        args = ask.args if decision.edited_args is None else decision.edited_args
        args_hash = _hash_or_none(ask.name, args, ask.replica)
        if decision.args_hash == ask.args_hash and args_hash is not None:
            grants.append(Grant(decision, args, args_hash))
    return grants


def _hash_or_none(name: str, args: dict[str, Any], replica: ReplicaId) -> bytes | None:
    """Return the hash of arguments from the log; None if JSON cannot have them, as bytes or wide integers."""
    try:
        return hash_of_args(name, args, replica)
    except ValueError:
        return None


def genuine_use(snapshot: Snapshot, ask: Ask) -> SignedWrite | None:
    """Return what tells of the first use of an ask; None if its home device signed none."""
    return next(iter(genuine_uses(snapshot, ask)), None)


def genuine_uses(snapshot: Snapshot, ask: Ask) -> list[SignedWrite]:
    """Return what tells of the uses of an ask, the earliest first, in the same order on every device.

    There are several only if the whole disk of the home device was put back after the first, unnoticed. None
    need create its entity: another member can write to the id before.
    """
    writes = signed_writes(snapshot, use_id(ask.id, ask.replica))
    uses = [write for write in writes if is_use_of(ask, write)]
    return sorted(uses, key=order_of_writes)


def is_use_of(ask: Ask, write: SignedWrite) -> bool:
    """Report whether a write tells of the use of an ask: its home device signed it, as what it asked."""
    return (
        write.kind == USE
        and not write.is_imported
        and write.entity == use_id(ask.id, ask.replica)
        and write.signer == ask.home
        and write.head.replica == ask.replica
    )


def is_withdrawn(decisions: tuple[Decision, ...]) -> bool:
    """Report whether the agent took its ask back, whatever a person said."""
    return any(decision.verdict is Verdict.RETRACTED for decision in decisions)


def is_hindered(snapshot: Snapshot, ask: Ask) -> bool:
    """Report whether the agent may not do this any more, or needs more of a verdict than when it asked."""
    agent, entity = load_any_agent(snapshot, ask.agent), snapshot.entity(ask.agent)
    if agent is None or agent.home != ask.home or hindrance_at_home(snapshot, agent) is not None:
        return True
    if denies_action(entity, ask.name):
        return True
    needed = PRESENCES.index(presence_on_action(entity, ask.name))
    return needed > PRESENCES.index(ANY if ask.presence is None else ask.presence.value)
