"""Random histories of devices that meet only in a mailbox: `make mailbox-histories` runs a million.

Never decides what is written or cleared up, unless it plays a rule that is broken: the rule of mailboxes
does. A commit is a bit, and so is each of its causes. The order of bits is that in which commits were made.
"""

import sys
from collections.abc import Callable
from multiprocessing import Pool
from random import Random

from syncproto.mailboxes import exchange_rule
from syncproto.mailboxes.exchange_rule import DropView, MemberView, Plan
from tests.simulation.mailbox_device import DAY_MS, Blob, Contact, Device, HolderId, Noticed
from tests.simulation.mailbox_place import Place

MONTH_MS = 30 * DAY_MS
PREDECESSOR_MS = 2 * DAY_MS
PAGE_COMMITS = 4
HEALING_ROUNDS = 16
CHUNK = 2000
DEVICES_MAX = 7

Rule = Callable[[Device, list[MemberView], list[DropView], int], Plan]


def sound_rule(_device: Device, members: list[MemberView], drops: list[DropView], _now_ms: int) -> Plan:
    """Decide as Placet does."""
    return exchange_rule.plan(members, drops)


def own_commits_only(device: Device, members: list[MemberView], drops: list[DropView], _now_ms: int) -> Plan:
    """Write what this device itself made, once: nobody stands in for anyone."""
    chosen = exchange_rule.plan(members, drops)
    write, device.unwritten = chosen.write & device.unwritten, device.unwritten & ~chosen.write
    return chosen._replace(write=write)


def written_once(device: Device, members: list[MemberView], drops: list[DropView], _now_ms: int) -> Plan:
    """Never write again what was put once, whatever the place shows or has refused since."""
    chosen = exchange_rule.plan(members, drops)
    write = chosen.write & ~device.passed_on
    device.passed_on |= write
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
    """One random history under a rule; `run` it and ask `lost`.

    `broken` names what goes wrong beside the rule: `one file` for all drops of a device, `one holder` for a
    device and its copies, `any have` that has the own name will do, `spoiled stay`, `no admissions`.
    """

    def __init__(self, seed: int, rule: Rule = sound_rule, *, broken: str = "") -> None:
        self.random = Random(seed)
        self.rule = rule
        self.broken = broken
        self.place = Place(self.random)
        self.causes: list[int] = []
        self.removals: dict[int, int] = {}
        """The commit that removes a device, by device."""
        self.admissions: dict[int, int] = {}
        """The commit that let a device in; founders have none."""
        self.now_ms = 1000 * DAY_MS
        self.devices = [self.make_device(no) for no in range(self.random.randint(2, 5))]
        for device in self.devices:
            self.make_commit(device)
        everything = (1 << len(self.causes)) - 1
        # They were paired: each has the entries of all.
        for device in self.devices:
            device.held = device.entries = everything

    def make_device(self, no: int) -> Device:
        clock_ms = self.random.choice([0, 0, 0, -365, 365, 1]) * DAY_MS
        device = Device(no, clock_ms=clock_ms, holder=self.random.getrandbits(48) + 1)
        device.key, device.replica = self.random.randbytes(8), self.random.getrandbits(48)
        return device

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

    def is_known(self, device: Device, sender: int) -> bool:
        """Return whether a device knows another one as a member."""
        removal, admission = self.removals.get(sender), self.admissions.get(sender)
        if removal is not None and device.held >> removal & 1:
            return False
        return admission is None or bool(device.held >> admission & 1)

    def now_of(self, device: Device) -> int:
        return self.now_ms + device.clock_ms

    def visit(self, device: Device) -> None:
        """Look into the mailbox: read, clear up, say what it has, write what is lacking."""
        now_ms = self.now_of(device)
        if not self.is_known(device, device.no) and self.random.random() < 0.5:
            return  # half of those that were removed know it and stop
        self.read_drops(device)
        self.find_holder(device)
        haves = self.newest_haves(device)
        self.note_haves(device, haves, now_ms)
        members = self.member_views(device, haves, now_ms)
        chosen = self.rule(device, members, self.drops_of(device), now_ms)
        for name in chosen.clear:
            device.change(name, None)
        keys = frozenset(have.key for have in haves.values())
        self.write_have(device, now_ms, keys)
        self.write_drops(device, chosen, now_ms)
        for holder in haves:
            if holder.no == device.no and now_ms - device.noticed[holder].at_ms >= PREDECESSOR_MS:
                self.delete_haves(device, holder)

    def read_drops(self, device: Device) -> None:
        progress = True
        while progress:
            progress = False
            for name, drop in list(device.view.items()):
                if drop is None or drop.is_have or not self.is_known(device, drop.sender):
                    continue
                if device.key in drop.spoiled_for:
                    if self.broken != "spoiled stay":
                        device.change(name, None)
                elif (
                    device.key in drop.readers
                    and drop.commits & ~device.held
                    and not drop.needs & ~device.held
                ):
                    device.held |= drop.commits
                    progress = True

    def drops_of(self, device: Device) -> list[DropView]:
        names: dict[Blob, list[str]] = {}
        for name, drop in device.view.items():
            if (
                drop is not None
                and not drop.is_have
                and self.is_known(device, drop.sender)
                and device.key in drop.readers - drop.spoiled_for
                and not drop.commits & ~device.held
            ):
                names.setdefault(drop, []).append(name)
        return [
            DropView(
                tuple(same), drop.commits, drop.needs | self.admission_of(device, drop.sender), drop.readers
            )
            for drop, same in names.items()
        ]

    def admission_of(self, device: Device, no: int) -> int:
        if no not in self.admissions or no == device.no or self.broken == "no admissions":
            return 0
        return 1 << self.admissions[no]

    def find_holder(self, device: Device) -> None:
        """Go on as another holder if a have lies there under this device's name that it did not leave."""
        if self.broken in ("one holder", "any have"):
            return
        for have in device.own_haves():
            if have.holder == device.holder and (
                device.left is None
                or have.number > device.left.number
                or (have.number == device.left.number and have != device.left)
            ):
                device.holder, device.left = self.random.getrandbits(48) + 1, None
                return

    def newest_haves(self, device: Device) -> dict[HolderId, Blob]:
        """Return the newest have of each other holder in sight."""
        newest: dict[HolderId, Blob] = {}
        for blob in device.view.values():
            if blob is None or not blob.is_have or not self.is_known(device, blob.sender):
                continue
            is_open = device.key in blob.readers
            have = blob if is_open else blob._replace(commits=0, replica=None)
            holder = HolderId(have.sender, have.holder if is_open and self.broken != "one holder" else 0)
            if holder not in newest or have.number > newest[holder].number:
                newest[holder] = have
        newest.pop(HolderId(device.no, device.holder), None)
        if self.broken == "one holder":
            newest.pop(HolderId(device.no, 0), None)
        latest: dict[int, int] = {}
        for holder, have in newest.items():
            latest[holder.no] = max(have.number, latest.get(holder.no, 0))
        return {
            holder: have
            for holder, have in sorted(newest.items())
            if have.replica is not None or have.number == latest[holder.no]
        }

    def note_haves(self, device: Device, haves: dict[HolderId, Blob], now_ms: int) -> None:
        for holder, have in haves.items():
            if holder in device.noticed and have.number <= device.noticed[holder].number:
                continue
            device.noticed[holder] = Noticed(have.number, now_ms)
            contact = device.contacts.get(holder.no)
            if have.replica is None or holder.no == device.no:
                continue
            is_known = contact is not None and contact.replica == have.replica
            if not (is_known and contact and not have.commits & ~contact.commits):
                device.contacts[holder.no] = Contact(have.commits, have.replica)

    def member_views(self, device: Device, haves: dict[HolderId, Blob], now_ms: int) -> list[MemberView]:
        devices = [holder.no for holder in haves]
        views: list[MemberView] = []
        for holder, have in haves.items():
            if holder.no == device.no and have.replica is None:
                continue
            commits, contact = have.commits, device.contacts.get(holder.no)
            is_alone = devices.count(holder.no) == 1
            if contact and (have.replica is None or (is_alone and contact.replica == have.replica)):
                commits = contact.commits
            silent_ms = now_ms - device.noticed[holder].at_ms
            views.append(MemberView(have.key, device.held & ~commits, silent_ms))
        return views

    def write_have(self, device: Device, now_ms: int, readers: frozenset[bytes]) -> None:
        name = f"{device.no}.have" if self.broken == "one holder" else f"{device.no}-{device.holder}.have"
        present_have = device.view.get(name)
        now_told = (device.held, device.replica, device.key, readers)
        is_fresh = 0 <= now_ms - device.have_at_ms < DAY_MS
        is_there = present_have is not None and (
            present_have == device.left or self.broken in ("one holder", "any have")
        )
        if not (is_there and is_fresh and now_told == device.told):
            newest = max((have.number for have in device.own_haves()), default=0)
            newest = max(newest, device.left.number if device.left else 0, device.number)
            device.number = max(now_ms, newest + 1)
            have = Blob(
                device.no,
                device.number,
                now_ms,
                device.held,
                readers=readers | {device.key},
                key=device.key,
                holder=device.holder,
                replica=device.replica,
            )
            device.left = have
            if not device.change(name, have):
                return
            device.told, device.have_at_ms = now_told, now_ms
        self.delete_haves(device, HolderId(device.no, device.holder), keep=name)

    def delete_haves(self, device: Device, holder: HolderId, keep: str = "") -> None:
        for name, have in list(device.view.items()):
            if have is None or not have.is_have or have.sender != device.no or name == keep:
                continue
            named_holder = have.holder if device.key in have.readers else 0
            if named_holder == holder.holder:
                device.change(name, None)

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
            if self.broken == "one file":
                name = f"{device.no}/latest.drop"
            device.change(name, Blob(device.no, device.number, now_ms, page, causes & ~page, readers))

    # -- the history ----------------------------------------------------------------------------------

    def step(self) -> None:
        random = self.random
        device = random.choice(self.devices)
        draw = random.random()
        if draw < 0.25:
            for _ in range(random.randint(1, 6)):
                self.make_commit(device)
        elif draw < 0.55:
            self.place.pull(device)
            device.refuses = random.choice(["", "", "", "", "", "puts", "all"])
            self.visit(device)
            device.refuses = ""
            self.place.push(device)
        elif draw < 0.63:
            self.place.push(device)
        elif draw < 0.71:
            self.place.pull(device)
        elif draw < 0.79:
            self.now_ms += random.choice([1000, DAY_MS, 10 * DAY_MS, 100 * DAY_MS])
        elif draw < 0.85:
            self.place.delete_files()
        elif draw < 0.91:
            self.place.replay()
        else:
            self.befall(device)

    def befall(self, device: Device) -> None:
        draw = self.random.random()
        if draw < 0.2:
            self.restore(device)
        elif draw < 0.3:
            device.key = self.random.randbytes(8)
        elif draw < 0.45:
            device.clock_ms = self.random.choice([-365, 0, 365]) * DAY_MS
        elif draw < 0.55:
            device.contacts.clear()
            device.noticed.clear()
        elif draw < 0.65:
            self.spoil(device)
        elif draw < 0.8 and len(self.devices) < DEVICES_MAX:
            self.let_in(device)
        elif draw < 0.9 and len(self.devices) < DEVICES_MAX:
            self.devices.append(device.copy(self.random))
        elif len({other.no for other in self.devices} - self.removals.keys()) > 2:
            other = self.random.choice([other for other in self.devices if other.no != device.no])
            if self.is_known(device, device.no) and self.is_known(device, other.no):
                self.removals.setdefault(other.no, self.make_commit(device))

    def restore(self, device: Device) -> None:
        """Go back to a backup as a new replica, and with a new key if the old one is gone."""
        kept = self.random.randint(0, device.held.bit_length())
        device.held = device.held & ((1 << kept) - 1) | device.entries
        device.last_commit, device.number, device.left = 0, 0, None
        device.contacts.clear()
        device.noticed.clear()
        device.replica, device.holder = self.random.getrandbits(48), self.random.getrandbits(48) + 1
        if self.random.random() < 0.5:
            device.key = self.random.randbytes(8)

    def let_in(self, inviter: Device) -> None:
        """Let a newcomer in, which has all that the inviter has."""
        if not self.is_known(inviter, inviter.no):
            return
        newcomer = self.make_device(1 + max(device.no for device in self.devices))
        self.admissions[newcomer.no] = self.make_commit(inviter)
        newcomer.held = newcomer.entries = inviter.held
        self.devices.append(newcomer)

    def spoil(self, device: Device) -> None:
        """Seal a drop that opens for some of its readers and not for others."""
        readers = frozenset(other.key for other in self.devices)
        spoiled_for = frozenset(key for key in sorted(readers) if self.random.random() < 0.4)
        blob = Blob(device.no, device.number + 1, self.now_of(device), device.held, 0, readers)
        name = f"{device.no}/{device.number}-{self.random.getrandbits(32):x}.drop"
        device.change(name, blob._replace(spoiled_for=spoiled_for - {device.key}))

    def run(self) -> "History":
        for _ in range(self.random.randint(5, 40)):
            self.step()
        self.members = self.find_members()
        self.wanted = 0
        for device in self.members:
            self.wanted |= device.held
        for _ in range(HEALING_ROUNDS):
            if not self.lost:
                break
            for device in self.random.sample(self.members, len(self.members)):
                self.place.push(device, all_of_it=True)
                self.place.pull(device, all_of_it=True)
                self.visit(device)
                self.place.push(device, all_of_it=True)
            self.now_ms += DAY_MS
        return self

    def find_members(self) -> list[Device]:
        """Return the devices that belong together: an admission that all have lost lets nobody in."""
        staying = [device for device in self.devices if device.no not in self.removals]
        members = [device for device in staying if device.no not in self.admissions]
        for _ in staying:
            members = [
                device
                for device in staying
                if device in members or any(self.is_known(member, device.no) for member in members)
            ]
        return members

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
