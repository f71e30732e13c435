"""Which decisions count: what verdicts on an item need, and which passkeys there are.

Never folds a status: whoever counts verdicts asks here first.
"""

from typing import Any, NamedTuple

import apsw

from store.fold.item_name import Presence, Requirement
from store.fold.proposal_index import ParsedDecision
from store.fold.verdicts import Verdict
from syncproto.assertion import Passkey, is_asserted
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId


class WaitingDecision(NamedTuple):
    """A decision that named a passkey before that was known, and its feed position."""

    seq: int
    decision: EntityId


class PresenceIndex:
    """Requirements and passkeys, as far as the log has shown them."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def requirement(self, item: EntityId) -> Requirement | None:
        """Return what verdicts on an item need; None if every verdict of a person counts."""
        row: Any = self._db.execute(
            "SELECT presence, home FROM requirement WHERE item = ?", (item,)
        ).fetchone()
        return None if row is None else Requirement(Presence(row[0]), DeviceId(row[1]))

    def record_requirement(self, item: EntityId, requirement: Requirement) -> bool:
        """Record what verdicts on an item need; return whether it was unknown."""
        self._db.execute(
            "INSERT OR IGNORE INTO requirement VALUES (?, ?, ?)",
            (item, requirement.presence.value, requirement.home),
        )
        return bool(self._db.changes())

    def record_passkey(self, passkey: Passkey) -> list[WaitingDecision]:
        """Record a passkey; if it was unknown, return the decisions that have named it."""
        self._db.execute("INSERT OR IGNORE INTO passkey VALUES (?, ?, ?)", (passkey.id, *passkey))
        if not self._db.changes():
            return []
        rows: Any = self._db.execute(
            "SELECT seq, decision FROM opinion WHERE passkey = ? ORDER BY seq, decision", (passkey.id,)
        )
        return [WaitingDecision(*row) for row in rows]

    def has_passkey(self) -> bool:
        """Return whether any passkey is known."""
        return self._db.execute("SELECT 1 FROM passkey LIMIT 1").fetchone() is not None

    def fulfils(self, decision: ParsedDecision, signer: DeviceId, requirement: Requirement) -> bool:
        """Return whether a decision is what its item needs; `signer` is the device that signed it."""
        opinion = decision.opinion
        if opinion.by is not AuthorKind.USER:
            # An agent may take back what it proposed, and decide nothing else.
            return opinion.verdict is Verdict.RETRACTED
        if requirement.presence is Presence.OTHER_DEVICE:
            return signer != requirement.home
        return self._is_asserted(decision)

    def _is_asserted(self, decision: ParsedDecision) -> bool:
        if decision.assertion is None:
            return False
        row: Any = self._db.execute(
            "SELECT key, rp_id FROM passkey WHERE entity = ?", (decision.assertion.passkey,)
        ).fetchone()
        return row is not None and is_asserted(decision.assertion, Passkey(*row), decision.challenge)
