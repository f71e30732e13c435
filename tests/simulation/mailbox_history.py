"""Random histories of devices that meet only in a folder: `make mailbox-histories` runs a million.

Never decides what is written or cleared up, unless it plays a rule that is broken: the rule of mailboxes
does. A commit is a bit, and so is each of its causes. The order of bits is that in which commits were made.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Pool
from random import Random
from typing import NamedTuple

from syncproto.mailboxes import exchange_rule
from syncproto.mailboxes.exchange_rule import DropView, MemberView, Plan

DAY_MS = 86_400_000
MONTH_MS = 30 * DAY_MS
PAGE_COMMITS = 4
HEALING_ROUNDS = 14
CHUNK = 2000


class Blob(NamedTuple):
    """A drop (commits, their causes, keys that it is sealed to) or a have (commits, its sender's key)."""

    sender: int
    number: int
    at_ms: int
    commits: int
    needs: int = 0
    readers: frozenset[bytes] = frozenset()
    key: bytes = b""
    """Of a have: what to seal to, in the clear."""

    @property
    def is_have(self) -> bool:
        return bool(self.key)


@dataclass
class Device:
    """One device: its store, its key, its clock, and the folder as its synchroniser shows it."""

    no: int
    held: int = 0
    unwritten: int = 0
    passed_on: int = 0
    """What broken rules remember: own commits that they have not written, and what they saw in drops."""
    key: bytes = b""
    clock_ms: int = 0
    have_at_ms: int = 0
    number: int = 0
    last_commit: int = 0
    view: dict[str, Blob | None] = field(default_factory=dict)
    """None stands for a file of which half has arrived."""
    outgoing: list[tuple[str, Blob | None]] = field(default_factory=list)
    """What it wrote, and what it deleted (None), and the synchroniser has not yet taken along."""
    contacts: dict[int, tuple[Blob, int]] = field(default_factory=dict)
    """The newest have of each device, and when it was noticed, by this device's clock."""


Rule = Callable[[Device, list[MemberView], list[DropView], int], Plan]


def sound_rule(_device: Device, members: list[MemberView], drops: list[DropView], _now_ms: int) -> Plan:
    """Decide as Placet does."""
    return exchange_rule.plan(members, drops)


def own_commits_only(device: Device, members: list[MemberView], drops: list[DropView], _now_ms: int) -> Plan:
    """Write what this device itself made, once: nobody stands in for anyone."""
    chosen = exchange_rule.plan(members, drops)
    write, device.unwritten = chosen.write & device.unwritten, device.unwritten & ~chosen.write
    return chosen._replace(write=write)


def clear_up_by_age(device: Device, members: list[MemberView], drops: list[DropView], now_ms: int) -> Plan:
    """Write everything once, and delete it after a month, whoever has read it."""
    chosen = exchange_rule.plan(members, drops)
    blobs = [blob for blob in device.view.values() if blob is not None and not blob.is_have]
    for blob in blobs:
        device.passed_on |= blob.commits
    write = chosen.write & ~device.passed_on
    device.passed_on |= write
    old = {name for name, blob in device.view.items() if blob in blobs and now_ms - blob.at_ms > MONTH_MS}
    return chosen._replace(write=write, clear=sorted(old))


class History:
    """One random history under a rule; `run` it and ask `lost`."""

    def __init__(self, seed: int, rule: Rule = sound_rule, *, one_file: bool = False) -> None:
        self.random = Random(seed)
        self.rule = rule
        self.one_file = one_file
        self.cloud: dict[str, Blob] = {}
        self.causes: list[int] = []
        self.removals: dict[int, int] = {}
        """The commit that removes a device, by device."""
        self.now_ms = 1000 * DAY_MS
        self.devices = [Device(no) for no in range(self.random.randint(2, 5))]
        for device in self.devices:
            device.clock_ms = self.random.choice([0, 0, 0, -365, 365, 1]) * DAY_MS
            self.renew_key(device)
            self.make_commit(device)
        everything = (1 << len(self.causes)) - 1
        # They were paired: each has the entries of all.
        for device in self.devices:
            device.held = everything

    # -- what devices do ------------------------------------------------------------------------------

    def make_commit(self, device: Device) -> int:
        commit = len(self.causes)
        causes = device.last_commit
        if device.held and self.random.random() < 0.7:
            causes |= 1 << self.drawn_bit(device.held)
        self.causes.append(causes & device.held)
        device.held |= 1 << commit
        device.unwritten |= 1 << commit
        device.last_commit = 1 << commit
        return commit

    def drawn_bit(self, mask: int) -> int:
        places = [place for place in range(mask.bit_length()) if mask >> place & 1]
        return self.random.choice(places[-6:])

    def renew_key(self, device: Device) -> None:
        device.key = self.random.randbytes(8)

    def removed_in(self, device: Device) -> set[int]:
        return {no for no, commit in self.removals.items() if device.held >> commit & 1}

    def now_of(self, device: Device) -> int:
        return self.now_ms + device.clock_ms

    def visit(self, device: Device) -> None:
        """Look into the folder: read, say what it has, write what is lacking, clear up."""
        now_ms, removed = self.now_of(device), self.removed_in(device)
        if device.no in removed and self.random.random() < 0.5:
            return  # half of those that were removed know it and stop
        self.read_drops(device, removed)
        removed = self.removed_in(device)
        haves = self.read_haves(device, removed, now_ms)
        self.write_have(device, now_ms, frozenset(have.key for have in haves.values()))
        drops = self.drops_of(device, removed)
        members = [
            MemberView(haves[no].key, device.held & ~have.commits, now_ms - noticed_ms)
            for no, (have, noticed_ms) in sorted(device.contacts.items())
            if no in haves
        ]
        chosen = self.rule(device, members, drops, now_ms)
        self.write_drops(device, chosen, now_ms)
        for name in chosen.clear:
            self.change(device, name, None)

    def read_drops(self, device: Device, removed: set[int]) -> None:
        waiting = [drop for drop in device.view.values() if drop is not None and not drop.is_have]
        waiting = [drop for drop in waiting if drop.sender not in removed and device.key in drop.readers]
        progress = True
        while progress:
            progress = False
            for drop in waiting:
                if drop.commits & ~device.held and not drop.needs & ~device.held:
                    device.held |= drop.commits
                    progress = True

    def drops_of(self, device: Device, removed: set[int]) -> list[DropView]:
        return [
            DropView(name, drop.commits, drop.needs, drop.readers)
            for name, drop in device.view.items()
            if drop is not None
            and not drop.is_have
            and drop.sender not in removed
            and device.key in drop.readers
            and not drop.commits & ~device.held
        ]

    def read_haves(self, device: Device, removed: set[int], now_ms: int) -> dict[int, Blob]:
        """Return the newest have of each other member in sight, and remember what can be read of them."""
        newest: dict[int, Blob] = {}
        for have in device.view.values():
            if have is None or not have.is_have or have.sender in removed or have.sender == device.no:
                continue
            if have.sender not in newest or have.number > newest[have.sender].number:
                newest[have.sender] = have
        for no, have in newest.items():
            contact = device.contacts.get(no)
            if contact is None:
                device.contacts[no] = have._replace(commits=0), now_ms
            if device.key in have.readers and (contact is None or contact[0] != have):
                device.contacts[no] = have, now_ms
        return newest

    def write_have(self, device: Device, now_ms: int, readers: frozenset[bytes]) -> None:
        name = f"{device.no}.have"
        own = {
            copy: have
            for copy, have in device.view.items()
            if have and have.is_have and have.sender == device.no
        }
        newest = max((have.number for have in own.values()), default=0)
        is_fresh = 0 <= now_ms - device.have_at_ms < DAY_MS
        now = Blob(device.no, newest, device.have_at_ms, device.held, readers=readers, key=device.key)
        if is_fresh and own.get(name) == now:
            return
        device.number = max(now_ms, newest + 1, device.number + 1)
        device.have_at_ms = now_ms
        self.change(device, name, now._replace(number=device.number, at_ms=now_ms))
        for copy in own:
            if copy != name:
                self.change(device, copy, None)

    def write_drops(self, device: Device, chosen: Plan, now_ms: int) -> None:
        write, readers = chosen.write, chosen.readers | {device.key}
        while write:
            page, causes = 0, 0
            for _ in range(PAGE_COMMITS):
                lowest = write & -write
                page |= lowest
                causes |= self.causes[lowest.bit_length() - 1] if lowest else 0
                write ^= lowest
            device.number += 1
            name = f"{device.no}/{device.number}-{self.random.getrandbits(32):x}.drop"
            if self.one_file:
                name = f"{device.no}/latest.drop"
            self.change(device, name, Blob(device.no, device.number, now_ms, page, causes & ~page, readers))

    def change(self, device: Device, name: str, blob: Blob | None) -> None:
        if blob is None:
            device.view.pop(name, None)
        else:
            device.view[name] = blob
        device.outgoing.append((name, blob))

    # -- what the carrier does ------------------------------------------------------------------------

    def push(self, device: Device, *, all_of_it: bool = False) -> None:
        count = len(device.outgoing) if all_of_it else self.random.randint(0, len(device.outgoing))
        for name, blob in device.outgoing[:count]:
            before = self.cloud.get(name)
            if blob is None:
                self.cloud.pop(name, None)
                continue
            if before is not None and self.random.random() < 0.2 and not all_of_it:
                self.cloud[f"{name}.conflict-{self.random.getrandbits(16):x}"] = before
            self.cloud[name] = blob
        del device.outgoing[:count]

    def pull(self, device: Device, *, all_of_it: bool = False) -> None:
        own = {name for name, _ in device.outgoing}
        names = sorted((device.view.keys() | self.cloud.keys()) - own)
        for name in names:
            if all_of_it or self.random.random() < 0.6:
                if name not in self.cloud:
                    device.view.pop(name, None)
                elif all_of_it or self.random.random() < 0.9:
                    device.view[name] = self.cloud[name]
                else:
                    device.view[name] = None

    # -- the history ----------------------------------------------------------------------------------

    def step(self) -> None:
        random = self.random
        device = random.choice(self.devices)
        draw = random.random()
        if draw < 0.25:
            for _ in range(random.randint(1, 6)):
                self.make_commit(device)
        elif draw < 0.55:
            self.pull(device)
            self.visit(device)
            self.push(device)
        elif draw < 0.65:
            self.push(device)
        elif draw < 0.75:
            self.pull(device)
        elif draw < 0.83:
            self.now_ms += random.choice([1000, DAY_MS, 10 * DAY_MS, 100 * DAY_MS])
        elif draw < 0.91:
            self.delete_files()
        else:
            self.befall(device)

    def delete_files(self) -> None:
        for name in sorted(self.cloud):
            if self.random.random() < 0.4:
                del self.cloud[name]

    def befall(self, device: Device) -> None:
        draw = self.random.random()
        if draw < 0.3:
            # Restored from a backup: it goes on as a new replica, and with a new key if the old one is gone.
            keep = self.random.randint(0, device.held.bit_length())
            device.held = device.held & ((1 << keep) - 1) | self.entries(device.held)
            device.last_commit = 0
            device.contacts.clear()
            device.number = 0
            if self.random.random() < 0.5:
                self.renew_key(device)
        elif draw < 0.5:
            self.renew_key(device)
        elif draw < 0.7:
            device.clock_ms = self.random.choice([-365, 0, 365]) * DAY_MS
        elif draw < 0.85:
            device.contacts.clear()
        elif len(self.devices) - len(self.removals) > 2:
            other = self.random.choice([other for other in self.devices if other.no != device.no])
            if device.no not in self.removed_in(device):
                self.removals.setdefault(other.no, self.make_commit(device))

    def entries(self, mask: int) -> int:
        """Return the commits that pairing gave everyone: a device cannot be without them."""
        return mask & ((1 << len(self.devices)) - 1)

    def run(self) -> "History":
        for _ in range(self.random.randint(5, 40)):
            self.step()
        members = [device for device in self.devices if device.no not in self.removals]
        self.wanted = 0
        for device in members:
            self.wanted |= device.held
        for _ in range(HEALING_ROUNDS):
            if all(device.held == members[0].held for device in members):
                break
            for device in self.random.sample(members, len(members)):
                self.push(device, all_of_it=True)
                self.pull(device, all_of_it=True)
                self.visit(device)
                self.push(device, all_of_it=True)
            self.now_ms += DAY_MS
        self.members = members
        return self

    @property
    def lost(self) -> bool:
        """Return whether a member lacks at the end what another one had."""
        return any(self.wanted & ~device.held for device in self.members)


def count_lost(span: tuple[int, int]) -> int:
    """Return how many of some histories lose anything."""
    return sum(History(seed).run().lost for seed in range(*span))


def main(count: int) -> None:
    spans = [(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]
    with Pool() as pool:
        lost = sum(pool.imap_unordered(count_lost, spans))
    sys.stdout.write(f"{lost} of {count} histories lost something\n")
    sys.exit(lost > 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
