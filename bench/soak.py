"""A day of five devices in some minutes: `python -m bench.soak [MINUTES] [SEED] [apart]`, as root.

It makes networks. Never runs as part of the tests, and never leaves its own network namespaces.

What makes a day, here: each device comes, goes, moves or is cut off every quarter of an hour (96 times), and
its person writes 400 times. The soak does these one after the other without the hours between them, so that
its length is told as days of that kind. What passes with time alone is not made faster: lifetimes of mDNS
records, the heart beat of a quiet link. Two of the five are never ended, so that their memory can be watched
throughout; the others are also killed and restarted. It succeeds if at the end all hold the same commits
and show the same state, every write that was told to have been made is there, `doctor` finds no difference,
no daemon has written of an error, and the memory of those two is flat.

Flat is judged by anonymous memory alone. Of what a daemon holds, a third is the code of its libraries, mapped
from files: it does not grow, and would make what does grow look smaller. Some 10 MiB are still to come when
the first disturbance does, and come within about 1500 of them: SQLite's pages of a journal that outgrows
their cache (2 MiB), what libraries remember of the last few hundred names, and most of all what the allocator
keeps, since what is freed between blocks in use does not go back to the system. So twelve minutes end with
some six percent more than they had, and forty with two: a leak of a few KiB a disturbance shows in forty
alone. `tests/daemon/peers/test_resource_leaks.py` counts what is left of each link and announcement: nothing.

With `apart`, the five are on two networks that know nothing of each other, three on one and two on the
other. Six of the ten pairs have no link then, and all that they exchange goes through three mailboxes: a
folder, a relay and NATS. Two devices look into each, and each is away now and then. The second network came
into the vault through the folder. See bench/soak_places.py.
"""

import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

from bench.soak_places import KINDS, Places, places_in
from tests.support.devices import have_equal_state
from tests.support.networks.namespaces import remove_leftover_namespaces
from tests.support.networks.residents import Resident, World, pair_by_code, wait_until_with_logs

NAMES = ("desk", "server", "phone", "tablet", "laptop")
STEADY = 2
"""So many of them are never ended."""
DISTURBANCES_A_DAY = 96 * len(NAMES)
WRITES_A_DAY = 400 * len(NAMES)
HOUSE, OFFICE = ("desk", "phone", "tablet"), ("server", "laptop")
"""The two networks, if they are apart. The first of each is never ended."""
AT_HOME, AT_WORK = "10.77", "10.78"
"""How the addresses on either begin."""
MAILBOX_SETTINGS = {"PLACET_MAILBOX_LOOK_S": "0.5", "PLACET_MAILBOX_GATHER_S": "1"}
AWAY_S_MAX = 3.0
SAMPLE_S = 10.0
SETTLED_S = 120.0
GROWTH_MAX = 0.10
FAULTS_SHOWN = 5
ENTRY = re.compile(r"^(?=timestamp=|[A-Z]+ [a-z])", re.MULTILINE)
"""Where an entry of a daemon's log begins: its own, or a library's."""
KIB = 1024
"""So many are a MiB, and so many bytes are one."""


Fate = Callable[[Resident], Callable[[], None]]
"""What is done to a device; it returns what undoes it."""


class Sample(NamedTuple):
    """What the two that are never ended held at a moment, and how often any device had been disturbed."""

    at_s: float
    disturbances: int
    held_mib: tuple[float, ...]


@dataclass
class Soak:
    """Five devices on one network, what was done to them, and what is to be undone when."""

    world: World
    devices: list[Resident]
    drawn: Random
    done: Counter[str] = field(default_factory=Counter)
    away: dict[str, tuple[float, Callable[[], None]]] = field(default_factory=dict)
    memory: list[Sample] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    moved: int = 100
    places: Places | None = None
    """The mailboxes through which they exchange, if they are apart."""

    @property
    def disturbances(self) -> int:
        """Return how often a device was disturbed."""
        return sum(count for what, count in self.done.items() if what != "write")

    def run(self, minutes: float) -> None:
        """Disturb and write until the time is over, then let everything heal."""
        began_s, sampled_s = time.monotonic(), 0.0
        while (at_s := time.monotonic() - began_s) < 60 * minutes:
            self._heal(at_s)
            self._disturb(at_s)
            self._write()
            if at_s - sampled_s >= SAMPLE_S:
                sampled_s = at_s
                anonymous_mibs = tuple(anonymous_mib(resident) for resident in self.devices[:STEADY])
                self.memory.append(Sample(at_s, self.disturbances, anonymous_mibs))
        self._heal(float("inf"))
        for device in self.devices:
            wait_until_with_logs(f"{device.name} answers", device.answers, device, limit_s=SETTLED_S)

    def _heal(self, at_s: float) -> None:
        for name, (until_s, heal) in list(self.away.items()):
            if until_s <= at_s:
                del self.away[name]
                heal()

    def _disturb(self, at_s: float) -> None:
        present = [resident for resident in self.devices if resident.name not in self.away]
        if len(present) < 2:
            return
        device = self.drawn.choice(present)
        fates: dict[str, Fate] = {"cut": self._cut, "silence": self._silence, "move": self._move}
        if device not in self.devices[:STEADY]:
            fates |= {"restart": self._restart, "kill": self._kill}
        if self.places is not None:
            fates |= {f"no {kind}": self._take_away(kind) for kind in KINDS if kind not in self.places.away}
        what = self.drawn.choice(sorted(fates))
        self.away[device.name] = at_s + self.drawn.uniform(0.2, AWAY_S_MAX), fates[what](device)
        self.done[what] += 1

    def _cut(self, device: Resident) -> Callable[[], None]:
        plug = device.machine.plugs[0]
        plug.cut()
        return plug.reconnect

    def _silence(self, device: Resident) -> Callable[[], None]:
        plug = device.machine.plugs[0]
        plug.drop_frames()
        return plug.forward

    def _move(self, device: Resident) -> Callable[[], None]:
        plug = device.machine.plugs[0]
        plug.remove(self.addresses[device.name])
        self.moved += 1
        prefix = prefix_of(device.name, apart=self.places is not None)
        self.addresses[device.name] = fresh = f"{prefix}.{self.moved // 200}.{self.moved % 200 + 1}/16"
        return lambda: plug.add(fresh)

    def _restart(self, device: Resident) -> Callable[[], None]:
        # One that has only begun to start cannot hear the signal yet, and just ends.
        assert device.stop() in (0, -signal.SIGTERM)
        return device.launch

    def _kill(self, device: Resident) -> Callable[[], None]:
        device.kill()
        return device.launch

    def _take_away(self, kind: str) -> Fate:
        """Return what takes a mailbox away from all; it is not about the device that was drawn."""
        places = self.places
        assert places is not None
        return lambda _: places.take_away(kind)

    def _write(self) -> None:
        """Let people write on devices that run, several at once."""
        running = [
            device for device in self.devices if device.daemon is not None and device.daemon.poll() is None
        ]
        drawn = [self.drawn.choice(running) for _ in range(WRITES_A_DAY // DISTURBANCES_A_DAY + 1)]
        with ThreadPoolExecutor() as people:
            results = people.map(lambda device: device.run("add", f"a task of {device.name}"), drawn)
        # One that has only just been started does not answer yet.
        self.done["write"] += sum(result.status == 0 for result in results)


def anonymous_mib(device: Resident) -> float:
    """Return the memory that a daemon holds, without what is mapped from files."""
    assert device.daemon is not None
    lines = Path(f"/proc/{device.daemon.pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / KIB


def errors(device: Resident) -> list[str]:
    """Return what a daemon and its libraries wrote of errors, tracebacks included, in killed runs too."""
    text = (device.home.parent / f"{device.name}.log").read_text("utf-8", "replace")
    entries = ENTRY.split(text)
    return [entry.rstrip() for entry in entries if " level=error " in entry or entry.startswith("ERROR ")]


def growth(memory: list[Sample], which: int) -> tuple[float, float]:
    """Return by how much the last quarter is above the second one: the first is for warming up.

    As a part of it, and in KiB for each disturbance between them.
    """
    quarter = len(memory) // 4
    if not quarter:
        return 0.0, 0.0
    second, last = memory[quarter : 2 * quarter], memory[-quarter:]
    before, after = (fmean(sample.held_mib[which] for sample in part) for part in (second, last))
    between = fmean(sample.disturbances for sample in last) - fmean(sample.disturbances for sample in second)
    return after / before - 1, (after - before) * KIB / max(between, 1.0)


def prefix_of(name: str, *, apart: bool) -> str:
    """Return how the addresses of a device begin."""
    return AT_WORK if apart and name in OFFICE else AT_HOME


def pair_apart(devices: dict[str, Resident], places: Places) -> None:
    """Pair those of each network, and the networks through the folder; each looks into its mailboxes then."""
    (first, *others), (second, *further) = (
        [devices[name] for name in network] for network in (HOUSE, OFFICE)
    )
    places.start()
    pair_by_code(first, *others)
    places.add_to(first)
    token = first.do("pair", "--invite", "--mailbox", "box")["token"]
    second.do("join", "--mailbox", str(places.box), typed=token)
    wait_until_with_logs(
        "the second network is in",
        lambda: second.do("mailbox", "list") != [] and len(second.do("devices")) == len(HOUSE) + 1,
        second,
        limit_s=SETTLED_S,
    )
    pair_by_code(second, *further)
    for device in (*others, second, *further):
        places.add_to(device)
    wait_until_with_logs(
        "each knows all",
        lambda: all(len(device.do("devices")) == len(NAMES) for device in devices.values()),
        *devices.values(),
        limit_s=SETTLED_S,
    )


def soak(folder: Path, minutes: float, seed: int, *, apart: bool = False) -> int:
    """Run, and tell; return the exit status."""
    world = World(folder)
    places: Places | None = None
    try:
        prefixes = {name: prefix_of(name, apart=apart) for name in NAMES}
        segments = {prefix: world.networks.segment("lan") for prefix in sorted(set(prefixes.values()))}
        addresses = {
            name: f"{prefix}.0.{number}/16" for number, (name, prefix) in enumerate(prefixes.items(), start=1)
        }
        devices = [world.at(segments[prefixes[name]], name, addresses[name]) for name in NAMES]
        for device in devices:
            device.settings |= MAILBOX_SETTINGS if apart else {}
        world.start(*devices)
        if apart:
            places = places_in(folder, world, segments, prefixes)
            pair_apart({device.name: device for device in devices}, places)
        else:
            pair_by_code(devices[0], *devices[1:])
        run = Soak(world, devices, Random(seed), addresses=addresses, places=places)
        run.run(minutes)
        began_s = time.monotonic()
        wait_until_with_logs(
            "all hold the same", lambda: have_equal_state(*devices), *devices, limit_s=SETTLED_S
        )
        settled_s = time.monotonic() - began_s
        if apart:
            # Mailboxes may bring the last commits before a link that was cut is there again.
            near = sum(first == second for first, second in combinations(prefixes.values(), 2))
            wait_until_with_logs(
                "all of one network are linked",
                lambda: link_count(devices) == near,
                *devices,
                limit_s=SETTLED_S,
            )
        return tell(run, settled_s, seed)
    finally:
        if places is not None:
            places.close()
        world.close()


def link_count(devices: Sequence[Resident]) -> int:
    """Return between how many pairs of devices there is a link, as both ends see it."""
    linked = sum(device["connected"] for resident in devices for device in resident.do("devices"))
    return int(linked - len(NAMES)) // 2


def tell_of_mailboxes(run: Soak) -> None:
    """Print between whom there is a link, and what each made of its mailboxes."""
    print(f"links: {link_count(run.devices)} of {len(NAMES) * (len(NAMES) - 1) // 2}")
    for resident in run.devices:
        for state in resident.do("mailbox", "list"):
            lacks = {reader["name"]: reader["lacks"] for reader in state["readers"]}
            what = f"the {state['kind']} at {resident.name}"
            print(f"{what}: {state['blobs']} blobs, {state['trouble']}, lacks {lacks}")


def tell(run: Soak, settled_s: float, seed: int) -> int:
    """Print what was seen; return 0 if it is as it should be."""
    print(
        f"seed {seed}: {run.disturbances} disturbances and {run.done['write']} writes on {len(NAMES)} devices"
    )
    print(", ".join(f"{count} {what}" for what, count in sorted(run.done.items())))
    days = run.disturbances / DISTURBANCES_A_DAY, run.done["write"] / WRITES_A_DAY
    print(f"as many as {days[0]:.1f} days bring, and the writes of {days[1]:.1f}")
    states = {device.do("status")["state_hash"] for device in run.devices}
    commits = {device.do("status")["commits"] for device in run.devices}
    print(f"in step {settled_s:.1f} s after the last: {commits} commits, state {states}")
    if run.places is not None:
        tell_of_mailboxes(run)
    print("anonymous memory, MiB: " + ", ".join(run.devices[which].name for which in range(STEADY)))
    for at_s, disturbances, held_mib in run.memory[:: max(1, len(run.memory) // 20)]:
        print(f"{at_s:6.0f} s {disturbances:6} " + " ".join(f"{mib:7.1f}" for mib in held_mib))
    grown = [growth(run.memory, which) for which in range(STEADY)]
    text = ", ".join(f"{part:+.1%} ({each_kib:+.1f} KiB a disturbance)" for part, each_kib in grown)
    print(f"growth from the second to the last quarter: {text}")
    # A write whose answer a kill cut off may be there too.
    lost = max(0, run.done["write"] - len(run.devices[0].do("list")))
    print(f"writes that were lost: {lost}")
    differ = [device.name for device in run.devices if "same changes" not in device.run("doctor").out]
    print(f"differences that doctor tells of: {', '.join(differ) or 'none'}")
    apart = len(states) != 1 or len(commits) != 1 or bool(differ)
    faults = [f"{device.name}: {line}" for device in run.devices for line in errors(device)]
    print("\n".join([f"errors: {len(faults)}", *faults[:FAULTS_SHOWN]]))
    # Less than a day is all warming up.
    swollen = run.disturbances >= DISTURBANCES_A_DAY and max(part for part, _ in grown) > GROWTH_MAX
    return int(apart or bool(lost) or bool(faults) or swollen)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "apart"]
    remove_leftover_namespaces()
    with tempfile.TemporaryDirectory() as made:
        minutes, seed = [*map(float, words), *(10.0, 1.0)[len(words) :]]
        sys.exit(soak(Path(made), minutes, int(seed), apart="apart" in sys.argv))
