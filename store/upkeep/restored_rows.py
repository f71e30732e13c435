"""What a restore takes of the tables that a device keeps for itself: no signature vouches for their rows.

Never believes a row that acts by itself, and never drops one that only a person could set again.
"""

from typing import Final

import apsw

TIMERS_MAX: Final = 20
"""A person sets at most so many timers for an agent."""
ADDRESSES_MAX: Final = 16
"""A device remembers at most so many addresses of another one."""
ADDRESS_CHARS_MAX: Final = 300
"""More than a host's name of 253 characters and a port have."""

_RUN_KEY_CHARS: Final = 64
_EVERY_CHARS_MAX: Final = 16
_TIME_MAX_MS: Final = 253_402_300_799_999
"""The end of the year 9999."""

_AGENTS: Final = "SELECT id FROM entity WHERE kind = 'agent'"

_STATEMENTS: Final = (
    # What peers have, as it stands in the file, would decide which values `compact` may drop.
    "DELETE FROM peer",
    # A number that nobody reaches would make all haves old ones. This device begins as another holder.
    "DELETE FROM mailbox_have",
    "DELETE FROM own_holder",
    # A retry would be given what somebody wrote into the file as the answer to it.
    "DELETE FROM answer",
    # A run that is open begins by itself, with a reason that the model reads as the words of the person.
    "DELETE FROM run WHERE status NOT IN ('completed', 'skipped', 'failed', 'abandoned')",
    # Who has read beyond the end would miss all that is written up to there.
    "DELETE FROM watermark WHERE seq NOT BETWEEN 0 AND (SELECT coalesce(max(seq), 0) FROM feed)",
    # Spending below nothing would raise the limit of a day.
    "DELETE FROM model_day WHERE min(requests, input, output, cached, reasoning, cost_micro) < 0",
    # Both are found out anew.
    "DELETE FROM model_form",
    "DELETE FROM listener WHERE port NOT BETWEEN 1 AND 65535",
    # A timer wakes only an agent of the log, at a time that a clock can show. The next time of one that
    # recurs since before all years cannot be computed, and no timer of any agent would fire.
    f"""
    DELETE FROM timer WHERE agent NOT IN ({_AGENTS})
      OR length(run_key) != {_RUN_KEY_CHARS} OR at_ms NOT BETWEEN 0 AND {_TIME_MAX_MS}
    """,
    f"""
    DELETE FROM recurring_timer WHERE agent NOT IN ({_AGENTS}) OR length(every) > {_EVERY_CHARS_MAX}
      OR anchor_ms NOT BETWEEN 0 AND {_TIME_MAX_MS} OR next_ms NOT BETWEEN 0 AND {_TIME_MAX_MS}
    """,
    f"""
    DELETE FROM timer WHERE run_key IN (SELECT run_key FROM (
      SELECT run_key, row_number() OVER (PARTITION BY agent ORDER BY at_ms, run_key) AS n FROM timer
    ) WHERE n > {TIMERS_MAX})
    """,
    f"""
    DELETE FROM recurring_timer WHERE (agent, anchor_ms, every) IN (SELECT agent, anchor_ms, every FROM (
      SELECT *, row_number() OVER (PARTITION BY agent ORDER BY next_ms, anchor_ms, every) AS n
      FROM recurring_timer
    ) WHERE n > {TIMERS_MAX})
    """,
    # Who answers at an address must show the certificate of its device, so a false one costs a call. But one
    # that was "reached" in the future would keep out all at which the device is reached from now on.
    f"DELETE FROM peer_address WHERE length(address) > {ADDRESS_CHARS_MAX}",
    f"""
    DELETE FROM peer_address WHERE (device, address) IN (SELECT device, address FROM (
      SELECT *, row_number() OVER (PARTITION BY device ORDER BY good_ms DESC, address) AS n
      FROM peer_address
    ) WHERE n > {ADDRESSES_MAX})
    """,
    "UPDATE peer_address SET good_ms = 0",
)


def drop_unbelieved_rows(copy: apsw.Connection) -> None:
    """Drop or bound the rows that a restore does not believe, once the fold is made anew.

    Of timers and addresses, which a person would miss, those stay that this device could have written: an
    address counts as one that was never tried.
    """
    for statement in _STATEMENTS:
        copy.execute(statement)
