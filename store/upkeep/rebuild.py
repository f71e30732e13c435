"""The tables that follow from the log, made anew from it.

Never believes what stands in them, and never goes on after a fault of the log that prevents the fold.
"""

import apsw

from store.file.errors import DamagedDatabase
from store.fold import word_index
from store.sentence import sentence
from store.upkeep.log_check import LogCheck, feed_end
from store.upkeep.progress import ReportProgress, report_positions
from store.upkeep.replay import DERIVED_TABLES, Replay
from syncproto.messages import STATE_HASH_BYTES


def rebuild_tables(db: apsw.Connection, report: ReportProgress, *, is_strict: bool = False) -> int:
    """Empty the tables and fold the whole log again, in the caller's transaction; return how many entities.

    Raises DamagedDatabase at the first fault of the log that prevents the fold, or with `is_strict` at the
    first fault of all, such as a signature that does not hold.
    """
    for table in DERIVED_TABLES:
        db.execute(f"DELETE FROM {table}")
    word_index.rebuild_index(db)
    replay = Replay(db, db)
    check = LogCheck(db, replay.add_commit)
    for fault in check.find_faults(report_positions("folding the log again", feed_end(db), report)):
        if is_strict or fault.prevents_fold:
            raise DamagedDatabase(
                sentence("log-damaged", "{where}: {what}", where=fault.where, what=fault.what)
            )
    replay.flush()
    total = replay.state_sum.to_bytes(STATE_HASH_BYTES, "big")
    db.execute("UPDATE standing SET state_sum = ?, entities = ?", (total, replay.entities))
    return replay.entities
