"""The newest stamp of each device: the time by its clock when it last wrote.

Never decides whose clock is right.
"""

from typing import Any

from store.snapshot import Snapshot
from syncproto.hlc import Stamp
from syncproto.ids import DeviceId


def newest_stamps(snapshot: Snapshot) -> dict[DeviceId, Stamp]:
    """Return the newest stamp of each device. Stamps grow along a chain, so its last commit is enough."""
    rows: Any = snapshot.db.execute(
        "SELECT seq FROM branch JOIN feed ON feed.replica = branch.replica AND counter = tip"
        " AND hash = tip_hash"
    )
    newest: dict[DeviceId, Stamp] = {}
    for (seq,) in rows.fetchall():
        commit = snapshot.log.commit_at(seq).commit
        device = snapshot.device_of(commit.replica)
        newest[device] = max(commit.stamp, newest.get(device, commit.stamp))
    return newest
