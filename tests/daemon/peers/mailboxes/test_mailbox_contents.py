"""Where commits are: which mailbox brought them, and in which they lie for whom.

Never guesses: what was not seen in a mailbox is not said to lie there.
"""

import asyncio
from pathlib import Path

import pytest

from daemon.peers.mailboxes.mailbox_contents import MailboxHolding
from store.local import brought_commits
from store.transaction import Transaction
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.mailboxes.devices_apart import make_apart


async def holdings_of(device: Device, first: int) -> list[MailboxHolding]:
    """Return what mailboxes have of the commits from a feed position on."""
    end = await device.read(lambda snapshot: snapshot.feed_end())
    return await device.peers.mailboxes.find_holdings(range(first, end + 1))


async def test_it_is_known_which_mailbox_brought_a_commit_and_for_whom_it_lies_in_which(
    fleet: Fleet, tmp_path: Path
):
    anna, bea, carl = await make_apart(fleet, "anna", "bea", "carl")
    for name in ("box", "stick"):
        await asyncio.to_thread((tmp_path / name).mkdir)
    for device in (anna, bea, carl):
        await device.peers.mailboxes.add("folder", str(tmp_path / "box"), "box")
    await anna.peers.mailboxes.add("folder", str(tmp_path / "stick"), "stick")
    for device in (anna, bea, carl):
        await device.peers.mailboxes.check("box")
    end = await anna.read(lambda snapshot: snapshot.feed_end())
    await anna.add("of anna", count=3)
    await anna.peers.mailboxes.check("box")
    box, stick = await holdings_of(anna, end + 1)
    assert (box.mailbox, box.brought, box.holds) == ("box", 0, 3)
    assert sorted((reader.name, reader.waits) for reader in box.devices) == [("bea", 3), ("carl", 3)]
    assert (stick.mailbox, stick.brought, stick.holds, stick.devices) == ("stick", 0, 0, [])

    # At another device the box brought all three, and they lie there for the third one.
    own_end = await bea.read(lambda snapshot: snapshot.feed_end())
    await bea.peers.mailboxes.check("box")
    (box,) = await holdings_of(bea, own_end + 1)
    assert (box.brought, box.holds) == (3, 3)
    assert [(reader.name, reader.waits) for reader in box.devices] == [("carl", 3)]
    (box,) = await holdings_of(bea, own_end + 3)
    assert (box.brought, box.holds) == (1, 1)

    # After a start, and after the mailbox was removed, it is still known what it brought.
    await carl.peers.mailboxes.check("box")
    await bea.restart()
    await bea.peers.mailboxes.check("box")
    await bea.peers.mailboxes.remove("box")
    (box,) = await holdings_of(bea, own_end + 1)
    assert (box.brought, box.holds, box.looked_at, box.devices) == (3, 0, None, [])


async def test_what_came_is_kept_as_ranges_and_not_without_bound(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    device = await fleet.start("anna")
    monkeypatch.setattr(brought_commits, "RANGES_MAX", 3)

    def note(transaction: Transaction) -> None:
        for mailbox, first, last in (
            ("old", 1, 1),
            ("box", 2, 4),
            ("box", 5, 9),
            ("stick", 12, 12),
            ("box", 13, 13),
        ):
            brought_commits.note_brought(transaction, mailbox, first, last)

    await device.db.write(note)
    rows = await device.read(
        lambda snapshot: list(snapshot.db.execute("SELECT first_seq, last_seq, mailbox FROM brought_range"))
    )
    assert rows == [(2, 9, "box"), (12, 12, "stick"), (13, 13, "box")]
    counts = await device.read(lambda snapshot: brought_commits.count_brought(snapshot, [1, 4, 5, 10, 13]))
    assert counts == {"box": 3}
