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


class Word(NamedTuple):
    """A verdict as the observer heard it: on what ask, shown as what, with what counted words before it."""

    number: int
    ask: EntityId
    shown: str
    verdict: Verdict
    text: str
    counts: bool
    seen: frozenset[int]


@dataclass(slots=True)
class Known:
    """What a device knows: words, asks by how they are shown, what was used or withdrawn, and pauses."""

    words: frozenset[Word] = frozenset()
    asks: frozenset[tuple[EntityId, str]] = frozenset()
    withdrawn: frozenset[EntityId] = frozenset()
    used: frozenset[str] = frozenset()
    pauses: int = 0

    def take(self, other: "Known") -> None:
        """Take what another device knows."""
        self.words |= other.words
        self.asks |= other.asks
        self.withdrawn |= other.withdrawn
        self.used |= other.used
        self.pauses = max(self.pauses, other.pauses)

    def copy(self) -> "Known":
        """Return what a copy of the device knows."""
        return Known(self.words, self.asks, self.withdrawn, self.used, self.pauses)


@dataclass(slots=True)
class Body:
    """A file of a device and what it knows; `own` are the asks that it made as what it writes as now."""

    home: Home
    known: Known
    own: dict[EntityId, str] = field(default_factory=dict)
    not_after: dict[str, int] = field(default_factory=dict)


class Saved(NamedTuple):
    """A copy of a body's file, and what it knew."""

    path: Path
    known: Known
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
        self.bodies = [Body(self.fleet.home(path.stem), Known()) for path in vault.paths]
        self.saved: Saved | None = None
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

    def _homes(self) -> list[Body]:
        """Return the file of `a`, and its copies."""
        return [self.bodies[0], *self.bodies[3:]]

    def ask(self) -> None:
        """Ask for one of two permissions, again and again."""
        body, key = self.dice.choice(self._homes()), self.dice.choice(KEYS)
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
            ask = body.home.write(lambda tx: ask_requests.make_ask(tx, self.agent, request))
        except Refused:
            self._require(self._is_paused(body), "an agent that may work could not ask")
            return
        shown = details(body.home, ask).asked_hash
        if ask not in body.own and shown in body.known.used:
            self.met["asked again what was used"] += 1
            return
        if ask not in body.own:
            self._require(shown not in self.acted, "a new ask is shown as one before it")
            self.acted[shown] = set()
            body.own[ask] = shown
            body.not_after[shown] = not_after_ms
            self.met["asked"] += 1
        self._require(shown == body.own[ask], "a repeated ask is another one")
        body.known.asks |= {(ask, shown)}

    def withdraw(self) -> None:
        """Take an ask back, seldom."""
        body = self.dice.choice(self._homes())
        if body.own and self.dice.random() < 0.1:
            ask = self.dice.choice(sorted(body.own))
            body.home.write(lambda tx: ask_requests.withdraw(tx, ask))
            body.known.withdrawn |= {ask}

    def use(self) -> None:
        """Try to act, with a death before the commit, after it, or none."""
        body = self.dice.choice(self._homes())
        if not body.known.asks:
            return
        ask, _ = self.dice.choice(sorted(body.known.asks))
        view, execution = details(body.home, ask), self.dice.choice(EXECUTIONS)
        wanted = self.dice.choice((view.args_hash, view.args_hash, view.args_hash, view.asked_hash))
        death = self.dice.choice(("none", "none", "none", "before", "after"))
        answer = self._used(body, ask, wanted, execution, dies=death == "before")
        if death == "before":
            body.home.store.close()
            body.home.store = body.home.opened()
            return
        assert answer is not None
        self.met[f"use: {answer.result.value}"] += 1
        shown = body.own.get(ask, "")
        texts = self._permitted_texts(body, ask, shown)
        is_new = shown not in self.first_acts
        if answer.result is UseResult.GRANTED:
            self._require(bool(shown), "a copy grants what another one asked")
            if is_new:
                self._require((answer.args or {}).get("text") in texts, "an agent did what nobody permits")
                self.first_acts.add(shown)
            # If it died before the answer, the use is durable: a retry of this execution alone may act.
            self.acted[shown].add(execution)
            body.known.used |= {shown}
            self.met["acted" if death == "none" else "died before the answer"] += 1
            self._require(len(self.acted[shown]) == 1, "a permission was used twice")
        elif shown and is_new and texts and wanted == view.args_hash:
            raise ViolationError(f"what people permit was {answer.result.value}")

    def _used(
        self, body: Body, ask: EntityId, wanted: str, execution: str, *, dies: bool
    ) -> UsedPermission | None:
        def use(tx: Transaction) -> UsedPermission:
            answer = ask_requests.use_permission(tx, ask, bytes.fromhex(wanted), execution)
            if dies:
                raise _Killed
            return answer

        try:
            return body.home.write(use)
        except _Killed:
            return None

    def _permitted_texts(self, body: Body, ask: EntityId, shown: str) -> set[str]:
        """Return what people permit to be sent, as far as a device knows; empty if nothing may be used."""
        if not shown or ask in body.known.withdrawn or self._is_paused(body):
            return set()
        if self.fleet.now_ms > body.not_after[shown]:
            return set()
        words = [word for word in body.known.words if word.ask == ask and word.counts]
        covered = {number for word in words for number in word.seen}
        last = [word for word in words if word.number not in covered]
        if any(word.verdict in NO for word in last):
            return set()
        return {word.text for word in last if word.verdict is Verdict.CONFIRMED and word.shown == shown}

    def _is_paused(self, body: Body) -> bool:
        return body.known.pauses % 2 == 1

    # -- what people do ---------------------------------------------------------------------------------

    def decide(self) -> None:
        """Decide somewhere on what is shown there, perhaps with other words, perhaps without a passkey."""
        body = self.dice.choice(self.bodies)
        if not body.known.asks:
            return
        ask, _ = self.dice.choice(sorted(body.known.asks))
        shown = details(body.home, ask).asked_hash
        verdict = self.dice.choice((*[Verdict.CONFIRMED] * 5, *NO, Verdict.DEFERRED, Verdict.REOPENED))
        edit = EDIT if verdict is Verdict.CONFIRMED and self.dice.random() < 0.25 else None
        signs = self.needs == "passkey" and self.dice.random() < 0.7
        before = commits(body.home)
        self._decide(body.home, ask, verdict, edit, signs=signs)
        if commits(body.home) == before:
            return
        counts = {None: True, "other_device": body in self.bodies[1:3], "passkey": signs}[self.needs]
        before_it = frozenset(word.number for word in body.known.words if word.ask == ask)
        text = str((edit or MAIL)["text"])
        self.numbers += 1
        body.known.words |= {Word(self.numbers, ask, shown, verdict, text, counts, before_it)}
        self.met[f"{verdict.value}{'' if counts else ', which does not count'}"] += 1
        if self.dice.random() < 0.5:
            self._pull(self.dice.choice(self._homes()), body)

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
        b = self.bodies[1]
        if not self._is_paused(b) and self.dice.random() < 0.6:
            return
        act = lifecycle.resume_agent if self._is_paused(b) else lifecycle.pause_agent
        b.home.write(lambda tx: act(tx, self.agent))
        b.known.pauses += 1
        self.met["paused or resumed"] += 1

    # -- what befalls the devices -----------------------------------------------------------------------

    def meet(self) -> None:
        """Let two files exchange what they have, in one direction or both."""
        taker, giver = self.dice.sample(self.bodies, 2)
        self._pull(taker, giver)
        if self.dice.random() < 0.7:
            self._pull(giver, taker)

    def _pull(self, taker: Body, giver: Body) -> None:
        if taker is giver:
            return
        self.fleet.pull(taker.home, giver.home)
        taker.known.take(giver.known)

    def restart(self) -> None:
        """Close a store and open it again."""
        home = self.dice.choice(self.bodies).home
        home.store.close()
        home.store = home.opened()

    def let_time_pass(self) -> None:
        """Move the time on."""
        self.fleet.now_ms += self.dice.choice((1, 1000, 10 * MINUTE_MS, 40 * MINUTE_MS))

    def save(self) -> None:
        """Copy the file of `a` away."""
        body = self.bodies[0]
        path = body.home.path.with_suffix(".saved")
        self._with_file_closed(body.home, lambda: shutil.copyfile(body.home.path, path))
        self.saved = Saved(path, body.known.copy(), dict(body.own))

    def put_back(self) -> None:
        """Put that copy in the place of the file, as a restore does: it goes on as another replica."""
        body, saved = self.bodies[0], self.saved
        if saved is None or self.dice.random() < 0.5:
            return

        def restore() -> None:
            shutil.copyfile(saved.path, body.home.path)
            forget_replica(body.home.path)

        self._with_file_closed(body.home, restore)
        body.known, body.own = saved.known.copy(), {}
        self.met["put back"] += 1

    def put_disk_back(self) -> None:
        """Put it back unnoticed, and let the device meet a peer that knows all before any program asks it."""
        body, saved, peer = self.bodies[0], self.saved, self.bodies[1]
        if saved is None or saved.own != body.own or self.dice.random() < 0.3:
            return
        self._pull(peer, body)
        end = commits(body.home)
        self._with_file_closed(body.home, lambda: shutil.copyfile(saved.path, body.home.path))
        body.known = saved.known.copy()
        wrote_since = commits(body.home) < end
        self._pull(body, peer)
        if body.home.store.doubt is not None:
            body.own = {}
            self.met["disk put back"] += wrote_since

    def copy(self) -> None:
        """Let a copy of the file of `a` run on beside it."""
        if len(self.bodies) >= 3 + COPIES_MAX or self.dice.random() < 0.5:
            return
        original, number = self.bodies[0], len(self.bodies)
        path = original.home.path.with_name(f"copy{number}.db")
        self._with_file_closed(original.home, lambda: shutil.copyfile(original.home.path, path))
        forget_replica(path)
        home = object.__new__(Home)
        home.__dict__.update(original.home.__dict__ | {"path": path, "_threads": []})
        home.store = home.opened()
        self.fleet.homes.append(home)
        self.bodies.append(Body(home, original.known.copy()))
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
