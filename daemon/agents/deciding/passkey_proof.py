"""The passkey's part of a verdict: what it has to sign, and its assertion in each decision that needs one.

Never writes a decision that needs a passkey without an assertion that counts: nothing is written then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from store.fold.item_name import Presence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.assertion import (
    ASSERTION_FIELD,
    Assertion,
    Passkey,
    assertion_value,
    decision_challenge,
    is_asserted,
    passkey_in,
)
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id

PASSKEY_KIND = "passkey"


class PasskeyNeeded(Exception):
    """What a passkey has to sign, 32 bytes each, before a person's request can be carried out."""

    def __init__(self, challenges: Sequence[bytes]) -> None:
        super().__init__("a passkey has to sign first")
        self.challenges = tuple(challenges)


@dataclass(frozen=True, slots=True)
class PasskeyProof:
    """The assertions that a person's browser returned, by what they are over; none before it was asked."""

    assertions: Mapping[bytes, Assertion] = field(default_factory=dict)

    def with_assertions(self, tx: Transaction, writes: Sequence[EntityWrite]) -> list[EntityWrite]:
        """Put its assertion into each decision whose item needs a passkey. Raises PasskeyNeeded."""
        challenges = {
            write.entity: decision_challenge(write.fields) for write in writes if _needs_passkey(tx, write)
        }
        self.require(tx, list(challenges.values()))
        return [
            write
            if write.entity not in challenges
            else replace(write, fields=self._fields_with_assertion(write.fields, challenges[write.entity]))
            for write in writes
        ]

    def require(self, tx: Transaction, challenges: Sequence[bytes]) -> None:
        """Raise PasskeyNeeded with those of some challenges over which no known passkey's assertion is."""
        lacking = [challenge for challenge in challenges if not self._is_met(tx, challenge)]
        if lacking:
            raise PasskeyNeeded(lacking)

    def _is_met(self, tx: Transaction, challenge: bytes) -> bool:
        assertion = self.assertions.get(challenge)
        passkey = None if assertion is None else known_passkey(tx, assertion.passkey)
        return assertion is not None and passkey is not None and is_asserted(assertion, passkey, challenge)

    def _fields_with_assertion(self, fields: Mapping[str, Value], challenge: bytes) -> dict[str, Value]:
        return {**fields, ASSERTION_FIELD: assertion_value(self.assertions[challenge])}


def known_passkey(snapshot: Snapshot, identifier: EntityId) -> Passkey | None:
    """Return a passkey that nobody has removed; None if there is none."""
    entity = snapshot.entity(identifier)
    if entity is None or entity.kind != PASSKEY_KIND or not entity.visible:
        return None
    passkey = passkey_in({"key": entity.value("key"), "rp_id": entity.value("rp_id")})
    return passkey if passkey is not None and passkey.id == identifier else None


def decision_id(item: EntityId, fields: Mapping[str, Value]) -> EntityId:
    """Return the id of a decision that a passkey signs: it is the same when the assertion comes.

    What the passkey signs besides, such as the refusals of the other answers to a question, names it.
    """
    return derived_id("asserted decision", decision_challenge(fields).hex(), time_of=item)


def _needs_passkey(tx: Transaction, write: EntityWrite) -> bool:
    item = write.fields.get("item_id") if write.kind == "decision" else None
    needed = tx.requirement_of(EntityId(item)) if isinstance(item, bytes) else None
    return needed is not None and needed.presence is Presence.PASSKEY
