"""A standing rule as the log has it: what a person wrote, on which device, and whether it still stands.

Never believes a later write to a rule: whatever it says, it ends the rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from daemon.agents.standing_rules.argument_pattern import Pattern
from store.fold.item_name import Presence
from store.queries.asks import SignedWrite, signed_writes
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import ID_BYTES, DeviceId, EntityId, derived_id, id_to_text

STANDING_RULE: Final = "standing_rule"
RELATION: Final = "agent_rule"
"""The relation from an agent to the rules on it."""


@dataclass(frozen=True, slots=True)
class StandingRule:
    """What a person allows an agent beforehand: an action by its name, with arguments that fit a pattern.

    `home` is the device where the agent worked when it was written: no other applies it. `maker` is that
    whose key signed it. `until_ms` is until when it stands, `made_ms` when it was written, Unix time in
    milliseconds. `uses_a_day` is how often it may be used in a day of UTC. `revoked` is the first write that
    ended it, None if there is none.
    """

    id: EntityId
    agent: EntityId
    home: DeviceId
    name: str
    pattern: Pattern
    until_ms: int
    uses_a_day: int
    maker: DeviceId
    made_ms: int
    revoked: SignedWrite | None

    def is_in_force(self, now_ms: int) -> bool:
        """Report whether it may be used at a time, Unix time in milliseconds."""
        return self.revoked is None and now_ms <= self.until_ms

    def meets_need(self, needed: Presence | None) -> bool:
        """Report whether it can replace the verdict of a person, by what verdicts need.

        With `other_device` only a rule counts that was not written on the device where the agent works: every
        process there can write one. With `passkey` each verdict needs an assertion of its own.
        """
        match needed:
            case None:
                return True
            case Presence.OTHER_DEVICE:
                return self.maker != self.home
            case _:
                return False


class RuleTerms(NamedTuple):
    """What a person allows by a rule; the units are those of `StandingRule`."""

    agent: EntityId
    home: DeviceId
    name: str
    pattern: Pattern
    until_ms: int
    uses_a_day: int


def rule_fields(terms: RuleTerms, maker: DeviceId, nonce: bytes) -> dict[str, Value]:
    """Return what the creation of a rule says; its id follows from that. `nonce` has 16 bytes."""
    return {
        "agent_id": terms.agent,
        "home": terms.home,
        "name": terms.name,
        "exact": dict(terms.pattern.exact),
        "begins": dict(terms.pattern.begins),
        "until": terms.until_ms,
        "uses_a_day": terms.uses_a_day,
        "maker": maker,
        "nonce": nonce,
    }


def rule_id(fields: dict[str, Value]) -> EntityId | None:
    """Return the id of the rule with these fields; None if they are not those of a rule."""
    agent, name, nonce = (fields.get(key) for key in ("agent_id", "name", "nonce"))
    home, maker = fields.get("home"), fields.get("maker")
    until_ms, uses_a_day, pattern = fields.get("until"), fields.get("uses_a_day"), _pattern_in(fields)
    if not isinstance(agent, bytes) or len(agent) != ID_BYTES or not isinstance(name, str):
        return None
    if not isinstance(nonce, bytes) or len(nonce) != ID_BYTES or not isinstance(home, bytes):
        return None
    if not isinstance(maker, bytes):
        return None
    if type(until_ms) is not int or type(uses_a_day) is not int or pattern is None:
        return None
    try:
        # Wide integers cannot be hashed as JSON, so they go in as text.
        numbers, devices = (str(until_ms), str(uses_a_day)), (home.hex(), maker.hex())
        parts = (id_to_text(agent), name, *numbers, *devices, nonce.hex(), pattern.digest_source.hex())
        return derived_id(STANDING_RULE, *parts, time_of=EntityId(nonce))
    except ValueError:
        return None


def _pattern_in(fields: dict[str, Value]) -> Pattern | None:
    exact, begins = fields.get("exact"), fields.get("begins")
    if not isinstance(exact, dict) or not isinstance(begins, dict) or exact.keys() & begins.keys():
        return None
    texts: dict[str, Any] = begins
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    return Pattern(exact, texts)


def read_rule(snapshot: Snapshot, rule: EntityId) -> StandingRule | None:
    """Return a rule; None if no person has written one under this id, with the key of the device it names."""
    return rule_in(rule, signed_writes(snapshot, rule))


def rule_in(rule: EntityId, writes: Sequence[SignedWrite]) -> StandingRule | None:
    """Return a rule by the writes to its entity, in feed order; None if no creation among them makes it."""
    creation = next((write for write in writes if is_creation_of_rule(rule, write)), None)
    pattern = None if creation is None else _pattern_in(creation.fields)
    if creation is None or pattern is None:
        return None
    fields: dict[str, Any] = creation.fields
    return StandingRule(
        id=rule,
        agent=EntityId(fields["agent_id"]),
        home=DeviceId(fields["home"]),
        name=fields["name"],
        pattern=pattern,
        until_ms=fields["until"],
        uses_a_day=fields["uses_a_day"],
        maker=creation.signer,
        made_ms=creation.stamp_ms,
        revoked=next((write for write in writes if write is not creation), None),
    )


def is_creation_of_rule(rule: EntityId, write: SignedWrite) -> bool:
    """Report whether a person wrote a rule by this write, with the key of the device that the rule names."""
    return (
        write.creates
        and not write.is_imported
        and write.kind == STANDING_RULE
        and write.by is AuthorKind.USER
        and write.fields.get("maker") == write.signer
        and rule_id(write.fields) == rule
    )


def rules_on(snapshot: Snapshot, agent: EntityId) -> list[StandingRule]:
    """Return the rules on an agent, revoked and past ones too, in the order of their ids."""
    rules = (read_rule(snapshot, rule) for rule in snapshot.ids_pointing_at(agent, RELATION, removed=True))
    return [rule for rule in rules if rule is not None and rule.agent == agent]


def rules_in_force_on(snapshot: Snapshot, agent: EntityId, now_ms: int) -> list[StandingRule]:
    """Return the rules on an agent that stand at a time (Unix time in milliseconds), by id.

    Reads the history of those alone that are not over: an agent may have had thousands.
    """
    rules = (
        read_rule(snapshot, entity)
        for entity in snapshot.ids_pointing_at(agent, RELATION)
        if not _is_over(snapshot, entity, now_ms)
    )
    return [rule for rule in rules if rule is not None and rule.agent == agent and rule.is_in_force(now_ms)]


def _is_over(snapshot: Snapshot, rule: EntityId, now_ms: int) -> bool:
    """Report whether folded fields end a rule; whatever another write made of them has ended it too."""
    entity = snapshot.entity(rule)
    until_ms = None if entity is None else entity.value("until")
    return (
        not isinstance(until_ms, int) or until_ms < now_ms or entity is None or bool(entity.value("revoked"))
    )
