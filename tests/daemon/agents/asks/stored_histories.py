"""Histories of permissions on real stores, and an outside observer who counts what agents do.

Never asks the program what a verdict comes to, or whether a permission was used: the observer keeps who was
shown what, who decided having seen what, which device knows of it, and which execution acted.

A program asks on `a`. People decide on all devices, with what their verdicts need or without, and pause the
agent on `b`. Devices meet in pairs. `a` dies before or after a commit, its backup is put back, its whole disk
is put back before it meets a peer that knows all, and copies of it run on beside it.
"""

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from daemon.agents.asks import ask_decisions, ask_requests
from daemon.agents.asks.ask_requests import NewAsk, UsedPermission
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.deciding.passkey_proof import PasskeyNeeded, PasskeyProof
from daemon.agents.person import external_agents, lifecycle, passkeys, presence_edits
from daemon.refusal import Refused
from store.fold.verdicts import Verdict
from store.transaction import Transaction
from syncproto.ids import EntityId
from tests.simulation.device import forget_replica
from tests.support.asks import MAIL, details
from tests.support.authenticator import Authenticator
from tests.support.decision_verbs import commits
from tests.support.fleet import Fleet, Home

STEPS: Final = 40
AT_ONCE: Final = 50
MINUTE_MS: Final = 60_000
LIFETIME_MS: Final = 60 * MINUTE_MS
KEYS: Final = ("mail 1", "mail 2")
EXECUTIONS: Final = ("e1", "e2", "e3")
NEEDS: Final = (None, "other_device", "passkey")
COPIES_MAX: Final = 2
MEMORY: Final = "/dev/shm"
EDIT: Final = {"text": "See you at eight"}
FINGER: Final = Authenticator.with_ed25519(1)
NO: Final = (Verdict.REJECTED, Verdict.UNDONE)
T = TypeVar("T")


class ViolationError(AssertionError):
    """The observer saw more than people permitted, or less."""


class _Killed(Exception):
    """The process dies here."""


class ObservedVerdict(NamedTuple):
    """A verdict as the observer saw it: on which ask, what was shown, and which verdicts came before."""

    number: int
    ask: EntityId
    shown: str
    verdict: Verdict
    text: str
    counts: bool
    seen: frozenset[int]


@dataclass(slots=True)
class DeviceKnowledge:
    """What a device knows: verdicts, asks by how they are shown, what was used or withdrawn, and pauses."""

    verdicts: frozenset[ObservedVerdict] = frozenset()
    asks: frozenset[tuple[EntityId, str]] = frozenset()
    withdrawn: frozenset[EntityId] = frozenset()
    used: frozenset[str] = frozenset()
    pauses: int = 0

    def take(self, other: "DeviceKnowledge") -> None:
        """Take what another device knows."""
        self.verdicts |= other.verdicts
        self.asks |= other.asks
        self.withdrawn |= other.withdrawn
        self.used |= other.used
        self.pauses = max(self.pauses, other.pauses)

    def copy(self) -> "DeviceKnowledge":
        """Return what a copy of the device knows."""
        return DeviceKnowledge(self.verdicts, self.asks, self.withdrawn, self.used, self.pauses)


@dataclass(slots=True)
class DeviceFile:
    """A file of a device and what it knows; `own` are the asks that its present replica made."""

    home: Home
    known: DeviceKnowledge
    own: dict[EntityId, str] = field(default_factory=dict)
    not_after: dict[str, int] = field(default_factory=dict)


class SavedFile(NamedTuple):
    """A copy of a device's file, and what it knew."""

    path: Path
    known: DeviceKnowledge
    own: dict[EntityId, str]


class History:
    """One history, by one seed, that begins with copies of the files of a vault."""

    def __init__(self, folder: Path, seed: int, vault: "Vault") -> None:
        self.dice = random.Random(seed)
        self.needs = vault.needs
        self.agent = vault.agent
        self.fleet = Fleet(folder)
        self.fleet.now_ms, self.fleet._drawn = vault.now_ms, 1_000_000
        for path in vault.paths:
            shutil.copyfile(path, folder / path.name)
        self.device_files = [
            DeviceFile(self.fleet.home(path.stem), DeviceKnowledge()) for path in vault.paths
        ]
        self.saved: SavedFile | None = None
        self.acted: dict[str, set[str]] = {}
        self.first_acts: set[str] = set()
        self.numbers = 0
        self.met: Counter[str] = Counter()

    def live(self) -> None:
        """Live through all steps. Raises ViolationError."""
        steps = (
            self.ask, self.ask, *[self.decide] * 5, *[self.meet] * 5, *[self.use] * 6, self.withdraw,
            self.save, self.put_back, self.put_disk_back, self.copy, self.pause, self.restart,
            self.let_time_pass,
        )  # fmt: skip
        self.ask()
        for _ in range(STEPS):
            self.dice.choice(steps)()
        self.met["histories"] += 1

    def close(self) -> None:
        """Close the stores."""
        self.fleet.close()

    # -- what the agent's program does ------------------------------------------------------------------

    def _homes(self) -> list[DeviceFile]:
        """Return the file of `a`, and its copies."""
        return [self.device_files[0], *self.device_files[3:]]

    def ask(self) -> None:
        """Ask for one of two permissions, again and again."""
        device_file, key = self.dice.choice(self._homes()), self.dice.choice(KEYS)
        not_after_ms = self.fleet.now_ms + LIFETIME_MS
        request = NewAsk(
            agent="x",
            name="send_mail",
            args={**MAIL, "subject": key},
            title="Mail Ana",
            key=key,
            not_after=not_after_ms,
        )
        try:
            ask = device_file.home.write(lambda tx: ask_requests.make_ask(tx, self.agent, request))
        except Refused:
            self._require(self._is_paused(device_file), "an agent that may work could not ask")
            return
        shown = details(device_file.home, ask).asked_hash
        if ask not in device_file.own and shown in device_file.known.used:
            self.met["asked again what was used"] += 1
            return
        if ask not in device_file.own:
            self._require(shown not in self.acted, "a new ask is shown as one before it")
            self.acted[shown] = set()
            device_file.own[ask] = shown
            device_file.not_after[shown] = not_after_ms
            self.met["asked"] += 1
        self._require(shown == device_file.own[ask], "a repeated ask is another one")
        device_file.known.asks |= {(ask, shown)}

    def withdraw(self) -> None:
        """Take an ask back, seldom."""
        device_file = self.dice.choice(self._homes())
        if device_file.own and self.dice.random() < 0.1:
            ask = self.dice.choice(sorted(device_file.own))
            device_file.home.write(lambda tx: ask_requests.withdraw(tx, ask))
            device_file.known.withdrawn |= {ask}

    def use(self) -> None:
        """Try to act, with a death before the commit, after it, or none."""
        device_file = self.dice.choice(self._homes())
        if not device_file.known.asks:
            return
        ask, _ = self.dice.choice(sorted(device_file.known.asks))
        view, execution = details(device_file.home, ask), self.dice.choice(EXECUTIONS)
        wanted = self.dice.choice((view.args_hash, view.args_hash, view.args_hash, view.asked_hash))
        death = self.dice.choice(("none", "none", "none", "before", "after"))
        answer = self._used(device_file, ask, wanted, execution, dies=death == "before")
        if death == "before":
            device_file.home.store.close()
            device_file.home.store = device_file.home.opened()
            return
        assert answer is not None
        self.met[f"use: {answer.result.value}"] += 1
        shown = device_file.own.get(ask, "")
        texts = self._permitted_texts(device_file, ask, shown)
        is_new = shown not in self.first_acts
        if answer.result is UseResult.GRANTED:
            self._require(bool(shown), "a copy grants what another one asked")
            if is_new:
                self._require((answer.args or {}).get("text") in texts, "an agent did what nobody permits")
                self.first_acts.add(shown)
            # If it died before the answer, the use is durable: a retry of this execution alone may act.
            self.acted[shown].add(execution)
            device_file.known.used |= {shown}
            self.met["acted" if death == "none" else "died before the answer"] += 1
            self._require(len(self.acted[shown]) == 1, "a permission was used twice")
        elif shown and is_new and texts and wanted == view.args_hash:
            raise ViolationError(f"what people permit was {answer.result.value}")

    def _used(
        self, device_file: DeviceFile, ask: EntityId, wanted: str, execution: str, *, dies: bool
    ) -> UsedPermission | None:
        def use(tx: Transaction) -> UsedPermission:
            answer = ask_requests.use_permission(tx, ask, bytes.fromhex(wanted), execution)
            if dies:
                raise _Killed
            return answer

        try:
            return device_file.home.write(use)
        except _Killed:
            return None

    def _permitted_texts(self, device_file: DeviceFile, ask: EntityId, shown: str) -> set[str]:
        """Return what people permit to be sent, as far as a device knows; empty if nothing may be used."""
        if not shown or ask in device_file.known.withdrawn or self._is_paused(device_file):
            return set()
        if self.fleet.now_ms > device_file.not_after[shown]:
            return set()
        verdicts = [
            verdict for verdict in device_file.known.verdicts if verdict.ask == ask and verdict.counts
        ]
        covered = {number for verdict in verdicts for number in verdict.seen}
        last = [verdict for verdict in verdicts if verdict.number not in covered]
        if any(verdict.verdict in NO for verdict in last):
            return set()
        return {
            verdict.text
            for verdict in last
            if verdict.verdict is Verdict.CONFIRMED and verdict.shown == shown
        }

    def _is_paused(self, device_file: DeviceFile) -> bool:
        return device_file.known.pauses % 2 == 1

    # -- what people do ---------------------------------------------------------------------------------

    def decide(self) -> None:
        """Decide somewhere on what is shown there, perhaps with other words, perhaps without a passkey."""
        device_file = self.dice.choice(self.device_files)
        if not device_file.known.asks:
            return
        ask, _ = self.dice.choice(sorted(device_file.known.asks))
        shown = details(device_file.home, ask).asked_hash
        verdict = self.dice.choice((*[Verdict.CONFIRMED] * 5, *NO, Verdict.DEFERRED, Verdict.REOPENED))
        edit = EDIT if verdict is Verdict.CONFIRMED and self.dice.random() < 0.25 else None
        signs = self.needs == "passkey" and self.dice.random() < 0.7
        before = commits(device_file.home)
        self._decide(device_file.home, ask, verdict, edit, signs=signs)
        if commits(device_file.home) == before:
            return
        counts = {None: True, "other_device": device_file in self.device_files[1:3], "passkey": signs}[
            self.needs
        ]
        before_it = frozenset(word.number for word in device_file.known.verdicts if word.ask == ask)
        text = str((edit or MAIL)["text"])
        self.numbers += 1
        device_file.known.verdicts |= {
            ObservedVerdict(self.numbers, ask, shown, verdict, text, counts, before_it)
        }
        self.met[f"{verdict.value}{'' if counts else ', which does not count'}"] += 1
        if self.dice.random() < 0.5:
            self._pull(self.dice.choice(self._homes()), device_file)

    def _decide(
        self, home: Home, ask: EntityId, verdict: Verdict, edit: dict[str, Any] | None, *, signs: bool
    ) -> None:
        def decide(proof: PasskeyProof | None) -> None:
            home.write(
                lambda tx: ask_decisions.decide(
                    tx, ask, verdict, reason=None, via="cli", edit=edit, proof=proof
                )
            )

        try:
            decide(PasskeyProof() if signs else None)
        except PasskeyNeeded as needed:
            decide(PasskeyProof({challenge: FINGER.answer(challenge) for challenge in needed.challenges}))

    def pause(self) -> None:
        """Pause the agent on `b`, or let it work again."""
        b = self.device_files[1]
        if not self._is_paused(b) and self.dice.random() < 0.6:
            return
        act = lifecycle.resume_agent if self._is_paused(b) else lifecycle.pause_agent
        b.home.write(lambda tx: act(tx, self.agent))
        b.known.pauses += 1
        self.met["paused or resumed"] += 1

    # -- what befalls the devices -----------------------------------------------------------------------

    def meet(self) -> None:
        """Let two files exchange what they have, in one direction or both."""
        taker, giver = self.dice.sample(self.device_files, 2)
        self._pull(taker, giver)
        if self.dice.random() < 0.7:
            self._pull(giver, taker)

    def _pull(self, taker: DeviceFile, giver: DeviceFile) -> None:
        if taker is giver:
            return
        self.fleet.pull(taker.home, giver.home)
        taker.known.take(giver.known)

    def restart(self) -> None:
        """Close a store and open it again."""
        home = self.dice.choice(self.device_files).home
        home.store.close()
        home.store = home.opened()

    def let_time_pass(self) -> None:
        """Move the time on."""
        self.fleet.now_ms += self.dice.choice((1, 1000, 10 * MINUTE_MS, 40 * MINUTE_MS))

    def save(self) -> None:
        """Copy the file of `a` away."""
        device_file = self.device_files[0]
        path = device_file.home.path.with_suffix(".saved")
        self._with_file_closed(device_file.home, lambda: shutil.copyfile(device_file.home.path, path))
        self.saved = SavedFile(path, device_file.known.copy(), dict(device_file.own))

    def put_back(self) -> None:
        """Put that copy in the place of the file, as a restore does: it goes on as another replica."""
        device_file, saved = self.device_files[0], self.saved
        if saved is None or self.dice.random() < 0.5:
            return

        def restore() -> None:
            shutil.copyfile(saved.path, device_file.home.path)
            forget_replica(device_file.home.path)

        self._with_file_closed(device_file.home, restore)
        device_file.known, device_file.own = saved.known.copy(), {}
        self.met["put back"] += 1

    def put_disk_back(self) -> None:
        """Put it back unnoticed, and let the device meet a peer that knows all before any program asks it."""
        device_file, saved, peer = self.device_files[0], self.saved, self.device_files[1]
        if saved is None or saved.own != device_file.own or self.dice.random() < 0.3:
            return
        self._pull(peer, device_file)
        end = commits(device_file.home)
        self._with_file_closed(device_file.home, lambda: shutil.copyfile(saved.path, device_file.home.path))
        device_file.known = saved.known.copy()
        wrote_since = commits(device_file.home) < end
        self._pull(device_file, peer)
        if device_file.home.store.doubt is not None:
            device_file.own = {}
            self.met["disk put back"] += wrote_since

    def copy(self) -> None:
        """Let a copy of the file of `a` run on beside it."""
        if len(self.device_files) >= 3 + COPIES_MAX or self.dice.random() < 0.5:
            return
        original, number = self.device_files[0], len(self.device_files)
        path = original.home.path.with_name(f"copy{number}.db")
        self._with_file_closed(original.home, lambda: shutil.copyfile(original.home.path, path))
        forget_replica(path)
        home = object.__new__(Home)
        home.__dict__.update(original.home.__dict__ | {"path": path, "_threads": []})
        home.store = home.opened()
        self.fleet.homes.append(home)
        self.device_files.append(DeviceFile(home, original.known.copy()))
        self.met["copied"] += 1

    def _with_file_closed(self, home: Home, act: Callable[[], object]) -> None:
        home.store.close()
        act()
        home.store = home.opened()

    def _require(self, holds: bool, words: str) -> None:
        if not holds:
            raise ViolationError(words)


class Vault:
    """Three devices that know an agent on `a`, with what its verdicts need: histories begin with copies."""

    def __init__(self, folder: Path, needs: str | None) -> None:
        self.needs = needs
        fleet = Fleet(folder)
        a, _, _ = homes = [fleet.home(name) for name in "abc"]
        self.agent = a.write(lambda tx: external_agents.add_external_agent(tx, "Claude", "none"))
        limits: dict[str, int | None] = {"asks": 10_000}
        a.write(lambda tx: external_agents.set_daily_limits(tx, self.agent, limits))
        if needs == "passkey":
            a.write(lambda tx: passkeys.add_passkey(tx, FINGER.passkey, b"c", "Finger", PasskeyProof()))
        if needs is not None:
            a.write(
                lambda tx: presence_edits.set_presence(tx, self.agent, "all", needs, has_other_devices=True)
            )
        fleet.sync()
        fleet.close()
        self.now_ms, self.paths = fleet.now_ms, [home.path for home in homes]


def live_through(count: int, first_seed: int = 0) -> Counter[str]:
    """Live through histories; return what was met, how often. Raises ViolationError with its number."""
    met: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        vaults = []
        for number, needs in enumerate(NEEDS):
            (Path(folder) / str(number)).mkdir()
            vaults.append(Vault(Path(folder) / str(number), needs))
        for seed in range(first_seed, first_seed + count):
            met += _live_one(seed, vaults[seed % len(NEEDS)])
    return met


def _live_one(seed: int, vault: Vault) -> Counter[str]:
    with tempfile.TemporaryDirectory(dir=vault.paths[0].parent) as folder:
        history = History(Path(folder), seed, vault)
        try:
            history.live()
        except ViolationError as violation:
            raise ViolationError(f"history {seed}, verdicts need {vault.needs}: {violation}") from None
        finally:
            history.close()
        return history.met


def main() -> None:
    """Live through many histories, on all processors; say what was met."""
    first, count = int(os.environ.get("SEED") or 0), int(os.environ.get("HISTORIES") or 20_000)
    met: Counter[str] = Counter()
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        starts = range(first, first + count, AT_ONCE)
        for lived in pool.map(partial(live_through, min(count, AT_ONCE)), starts):
            met += lived
    print(*(f"{times:9} {what}" for what, times in sorted(met.items())), "no yes was used twice", sep="\n")


if __name__ == "__main__":
    main()
