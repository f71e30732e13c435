"""How often a rule was used, counted in the log: no restart and no restored backup forgets a use.

Never counts by the clock alone, unless the rule was made under stamps of a clock that had been wrong.
"""

from typing import Final

from daemon.agents.standing_rules.rule_record import StandingRule
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import EntityId, derived_id, id_to_text

DAY_MS: Final = 86_400_000
OF_RULE, OF_DAY = "rule_use", "rule_use_of_day"
"""The relations from a rule, and from a day of it, to the decisions that used it."""


def use_fields(tx: Transaction, rule: StandingRule) -> dict[str, Value]:
    """Return the fields by which a decision names the rule that made it, and the day that it counts on."""
    return {"rule": rule.id, "rule_day": _day_id(rule.id, judged_ms(tx, rule, tx.now_ms()) // DAY_MS)}


def uses_on_day(snapshot: Snapshot, rule: EntityId, at_ms: int) -> int:
    """Count the uses of a rule on the day of UTC of a time. Costs what was used on that day."""
    return len(snapshot.ids_pointing_at(_day_id(rule, at_ms // DAY_MS), OF_DAY, removed=True))


def may_use(tx: Transaction, rule: StandingRule) -> bool:
    """Report whether a rule stands now, and has uses left today, as far as this device knows."""
    at_ms = judged_ms(tx, rule, tx.now_ms())
    return stands_at(tx, rule, at_ms) and uses_on_day(tx, rule.id, at_ms) < rule.uses_a_day


def stands_at(snapshot: Snapshot, rule: StandingRule, at_ms: int) -> bool:
    """Report whether a rule of this device may be used at the time that counts for it, if uses are left."""
    return rule.is_in_force(at_ms) and not _began_again(snapshot, at_ms // DAY_MS)


def judged_ms(snapshot: Snapshot, rule: StandingRule, now_ms: int) -> int:
    """Return the time that counts for a rule at a time of the clock, both Unix time in milliseconds.

    On its home the stamp of the next commit counts too, so that a clock that is set back gives nothing back;
    no other device knows those stamps. A rule that ended before it was stamped was made while the stamps were
    those of a clock that had been wrong: of these it knows nothing, and the person who made it saw the clock.
    """
    if rule.home != snapshot.device or rule.until_ms < rule.made_ms:
        return now_ms
    return max(now_ms, snapshot.stamp_ms_at(now_ms))


def _day_id(rule: EntityId, day: int) -> EntityId:
    return derived_id("rule day", id_to_text(rule), day, time_of=rule)


def _began_again(snapshot: Snapshot, day: int) -> bool:
    """Report whether this database was put back, and may have been on this day: it may lack uses of it."""
    own, device = snapshot.replica, snapshot.device
    if own is None or all(
        head.replica == own or snapshot.device_of(head.replica) != device for head in snapshot.vector()
    ):
        return False
    # Before, its stamps may have been ahead of a clock that is right by what a clock follows others at most.
    return day <= (snapshot.log.first_commit(own).commit.stamp.ms + LEAD_MS_MAX) // DAY_MS
