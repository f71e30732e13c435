"""Histories of standing rules on real stores, and an observer who counts what they permit.

Never asks the program what a rule allows: a table says which action fits which rule, and the observer keeps
which device knows what.

An agent asks where it works. A person writes and revokes rules on two devices, which meet now and then. In
some histories the agent moves, in some a clock is wrong, in some a database is put back.
"""

import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from daemon.agents.asks import ask_decisions, ask_requests, ask_views
from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.person import lifecycle, presence_edits, standing_rules
from daemon.agents.person.standing_rules import NewStandingRule
from daemon.agents.tools.agent_record import agent_id
from daemon.refusal import Refused
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.simulation.device import forget_replica
from tests.support.fleet import DAY_MS, Fleet, Home

STEPS: Final = 50
HOUR_MS: Final = 3_600_000
LEAD_MS: Final = 9 * 60_000
T = TypeVar("T")
Known = set[tuple[str, Any]]


class Action(NamedTuple):
    """What the agent asks for, and the pattern that it fits, empty if none."""

    name: str
    args: dict[str, Any]
    pattern: str
    options: tuple[str, ...] = ()


PATTERNS: Final[dict[str, dict[str, Any]]] = {
    "test": {"name": "run", "exact": {"in": "/srv"}, "begins": {"command": "npm test"}},
    "mail": {"name": "send", "exact": {"to": "ana", "copies": 1}},
}
ACTIONS: Final = (
    *(Action("run", {"in": "/srv", "command": f"npm test{more}"}, "test") for more in ("", " a", " docs")),
    *[Action("send", {"to": "ana", "copies": 1}, "mail")] * 3,
    Action("run", {"in": "/srv", "command": "npm test && rm -rf ~"}, ""),
    Action("run", {"in": "/", "command": "npm test"}, ""),
    Action("run", {"in": "/srv", "command": "npm test", "as": "root"}, ""),
    Action("send", {"to": "ana", "copies": True}, ""),
    Action("send", {"to": "ana"}, ""),
    Action("send", {"to": "ana", "copies": 1}, "", ("now", "later")),
)


class WrittenRule(NamedTuple):
    """A rule as the observer saw it written; `home` is where the agent worked, as the writer knew."""

    pattern: str
    until_ms: int
    uses_a_day: int
    maker: str
    home: str


@dataclass(slots=True)
class SeenAsk:
    """An ask as the observer saw it made, the rule that permitted it, and the execution that used it."""

    action: Action
    key: str
    place: str
    permitted_by: EntityId | None
    used_by: str = ""


class ViolationError(AssertionError):
    """The observer saw more than a rule allows, or less than it promises."""


@dataclass(slots=True)
class Observer:
    """What an outsider saw, and which device knows what of it."""

    known: dict[str, Known] = field(default_factory=lambda: {"a": set(), "b": set()})
    rules: dict[EntityId, WrittenRule] = field(default_factory=dict)
    asks: dict[EntityId, SeenAsk] = field(default_factory=dict)
    permits: Counter[tuple[EntityId, int]] = field(default_factory=Counter)
    decided: set[EntityId] = field(default_factory=set)

    def home_for(self, place: str) -> str:
        """Return where the agent works, as a device knows."""
        return "b" if ("moved", None) in self.known[place] else "a"


class History:
    """One history, by one seed, in a folder of its own."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.fleet = Fleet(folder)
        self.a, self.b = self.fleet.home("a"), self.fleet.home("b")
        self.kind = ("plain", "wrong clock", "put back")[seed % 3]
        self.needs_other = self.dice.random() < 0.4
        self.observer = Observer()
        self.copy: Known | None = None
        self.met: Counter[str] = Counter()
        task = self.a.new("task", title="Write the report")
        self.agent = agent_id(task)
        self.a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
        if self.needs_other:
            self.a.write(self._need_other_device)
        self.fleet.sync()
        if self.kind == "put back":
            self.b.skew_ms = self.dice.choice((0, LEAD_MS))

    def _need_other_device(self, tx: Transaction) -> None:
        presence_edits.set_presence(tx, self.agent, "all", "other_device", has_other_devices=True)

    def live(self) -> None:
        """Live through all steps. Raises ViolationError."""
        steps = [
            self.write_rule, self.write_rule, self.revoke, self.ask, self.ask, self.ask, self.ask, self.ask,
            self.use, self.use, self.use, self.decide, self.meet, self.meet, self.repeat, self.restart,
            self.let_time_pass, self.let_time_pass,
        ]  # fmt: skip
        steps += {
            "plain": [self.move],
            "wrong clock": [self.set_clock],
            "put back": [self.save, self.go_back],
        }[self.kind]
        for _ in range(STEPS):
            self.dice.choice(steps)()

    def close(self) -> None:
        """Close the stores."""
        self.fleet.close()

    # -- what a person does -----------------------------------------------------------------------------

    def write_rule(self) -> None:
        """Write a rule somewhere, on what the device knows of the agent."""
        place = self._place()
        pattern, days = self.dice.choice(tuple(PATTERNS)), self.dice.choice((0.2, 1, 5))
        until_ms, uses_a_day = place.now_ms() + int(days * DAY_MS), self.dice.choice((1, 1, 2))
        request = NewStandingRule(agent="x", until=until_ms, uses_a_day=uses_a_day, **PATTERNS[pattern])
        home = self.observer.home_for(place.name)
        rule = self._try(place, lambda tx: standing_rules.make_rule(tx, self.agent, request, until_ms))
        if self.needs_other and home == place.name:
            self._require(rule is None, "a rule for an agent was taken from the device where it works")
        if rule is not None:
            self.observer.rules[rule] = WrittenRule(pattern, until_ms, uses_a_day, place.name, home)
            self._know(place).add(("rule", rule))

    def revoke(self) -> None:
        """Revoke a rule on a device that knows it."""
        place = self._place()
        rules = [rule for rule in self.observer.rules if ("rule", rule) in self._know(place)]
        if rules:
            rule = self.dice.choice(rules)
            place.write(lambda tx: standing_rules.revoke_rule(tx, rule))
            self._know(place).add(("revoked", rule))

    def decide(self) -> None:
        """Let a person decide on an ask, once in a history."""
        place = self._place()
        asks = [
            ask
            for ask in self.observer.asks
            if ("ask", ask) in self._know(place) and ask not in self.observer.decided
        ]
        if not asks:
            return
        ask, verdict = self.dice.choice(asks), self.dice.choice((Verdict.CONFIRMED, Verdict.REJECTED))
        if self._try(place, lambda tx: ask_decisions.decide(tx, ask, verdict, reason="", via="cli")) is None:
            return
        self.observer.decided.add(ask)
        if not self.needs_other or self.observer.asks[ask].place != place.name:
            self._know(place).add((verdict.value, ask))

    def move(self) -> None:
        """Give the agent another home, on that device."""
        if ("moved", None) not in self._know(self.b) and self.dice.random() < 0.3:
            self.b.write(lambda tx: lifecycle.move_agent(tx, self.agent, tx.device))
            self._know(self.b).add(("moved", None))
            self.met["moved"] += 1

    # -- what an agent does -----------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask under a new key, and hold what comes of it against the rules."""
        place, action = self._place(), self.dice.choice(ACTIONS)
        if self.dice.random() < 0.9:
            place = self._home(self.observer.home_for(place.name))
        key = f"{len(self.observer.asks)}"
        ask = self._make_ask(place, action, key)
        if self.observer.home_for(place.name) != place.name:
            self._require(ask is None, "an agent asked where it does not work")
            return
        assert ask is not None
        details = self._details(place, ask)
        assert details is not None
        rule = None if details.verdict is None else details.verdict.rule
        permitted_by = None if rule is None else id_from_text(rule)
        self.observer.asks[ask] = SeenAsk(action, key, place.name, permitted_by)
        self._know(place).add(("ask", ask))
        self._require((details.state == "permitted") == (permitted_by is not None), "nobody permitted an ask")
        day = place.read(lambda snapshot: _made_ms(snapshot, ask)) // DAY_MS
        if permitted_by is not None:
            self._count(place, action, permitted_by, day)
        elif self.kind == "plain":
            self._require(not self._usable(place, action, day), "a rule that stands permitted nothing")
        self.met["asked: " + ("permitted" if permitted_by else "pending")] += 1

    def _count(self, place: Home, action: Action, permitted_by: EntityId, day: int) -> None:
        fault = self._fault(place, action, permitted_by)
        self._require(not fault, f"a rule permitted an ask: {fault}")
        self.observer.permits[permitted_by, day] += 1
        count, rule = self.observer.permits[permitted_by, day], self.observer.rules[permitted_by]
        self._require(count <= rule.uses_a_day, "a rule was used more often than it says")
        self.met["limit reached"] += count == rule.uses_a_day

    def _usable(self, place: Home, action: Action, day: int) -> list[EntityId]:
        return [
            rule
            for rule, written in self.observer.rules.items()
            if not self._fault(place, action, rule) and self.observer.permits[rule, day] < written.uses_a_day
        ]

    def _fault(self, place: Home, action: Action, rule: EntityId) -> str:
        """Return why a rule must not permit an action on a device; empty if it may."""
        rule_written, facts = self.observer.rules.get(rule), self._know(place)
        if rule_written is None or ("rule", rule) not in facts:
            return "there is none"
        reasons = {
            "revoked": ("revoked", rule) in facts,
            "over": place.now_ms() > rule_written.until_ms,
            "other arguments": rule_written.pattern != action.pattern,
            "another home": rule_written.home != place.name,
            "written at home": self.needs_other and rule_written.maker == place.name,
        }
        broken = [reason for reason, applies in reasons.items() if applies]
        if len(broken) == 1:
            self.met[f"only {broken[0]}"] += 1
        return ", ".join(broken)

    def repeat(self) -> None:
        """Ask again under the same key: no rule that came since permits it."""
        asks = [
            ask
            for ask, asked_before in self.observer.asks.items()
            if asked_before.place == self.observer.home_for(asked_before.place)
        ]
        if not asks:
            return
        ask = self.dice.choice(asks)
        asked_before = self.observer.asks[ask]
        place = self._home(asked_before.place)
        if ("ask", ask) not in self._know(place):
            return  # it went with what was put back
        self._require(
            self._make_ask(place, asked_before.action, asked_before.key) == ask,
            "a repeated ask is another one",
        )
        details = self._details(place, ask)
        verdict = None if details is None else details.verdict
        late = verdict is not None and verdict.rule is not None and asked_before.permitted_by is None
        self._require(not late, "a rule permitted an ask that was older than it")
        self.met["repeated"] += 1

    def use(self) -> None:
        """Try to use a permission, and hold the answer against what anybody permitted."""
        if not self.observer.asks:
            return
        ask = self.dice.choice(tuple(self.observer.asks)[-4:])
        asked_before = self.observer.asks[ask]
        place, execution = self._home(asked_before.place), self.dice.choice(("e1", "e2"))
        details = self._details(place, ask)
        if details is None:
            return
        wanted = bytes.fromhex(details.args_hash)
        used = place.write(lambda tx: ask_requests.use_permission(tx, ask, wanted, execution))
        facts = self._know(place)
        works = self.observer.home_for(place.name) == place.name
        by_rule = (
            asked_before.permitted_by is not None
            and not self._fault(place, asked_before.action, asked_before.permitted_by)
            and works
        )
        if used.result is not UseResult.GRANTED:
            is_open = ("ask", ask) in facts and not asked_before.used_by and ask not in self.observer.decided
            promised = self.kind == "plain" and by_rule and is_open and not self._is_late(place, ask)
            self._require(not promised, f"what a rule permitted was {used.result}")
            self.met["use: not granted"] += 1
            return
        self._require(asked_before.used_by in {"", execution}, "a permission was used twice")
        if not asked_before.used_by:
            by_person = ("confirmed", ask) in facts
            self._require(by_person or by_rule, "nobody permitted what was used")
            self._require(("rejected", ask) not in facts, "a rule outranked a person")
            self.met["use: by a person" if by_person else "use: by a rule"] += 1
        asked_before.used_by = execution

    # -- what befalls the devices -----------------------------------------------------------------------

    def meet(self) -> None:
        """Let one device take what the other has."""
        taker, giver = self.dice.choice(((self.a, self.b), (self.b, self.a)))
        self.fleet.pull(taker, giver)
        self._know(taker).update(self._know(giver))

    def restart(self) -> None:
        """Close a store and open it again."""
        place = self._place()
        place.store.close()
        place.store = place.opened()

    def let_time_pass(self) -> None:
        """Move the time on."""
        self.fleet.now_ms += self.dice.choice((1000, 1000, HOUR_MS, 7 * HOUR_MS, DAY_MS))

    def set_clock(self) -> None:
        """Set the clock of a device wrong, or right again."""
        self._place().skew_ms = self.dice.choice((0, 0, -DAY_MS, -3 * HOUR_MS, DAY_MS))
        self.met["clock set"] += 1

    def save(self) -> None:
        """Copy the database of the home device away."""
        self.a.store.close()
        shutil.copyfile(self.a.path, self.a.path.with_suffix(".copy"))
        self.a.store = self.a.opened()
        self.copy = set(self._know(self.a))

    def go_back(self) -> None:
        """Put that copy in the place of the database."""
        if self.copy is not None and self.dice.random() < 0.5:
            self.a.store.close()
            shutil.copyfile(self.a.path.with_suffix(".copy"), self.a.path)
            forget_replica(self.a.path)
            self.a.store = self.a.opened()
            self.observer.known["a"] = set(self.copy)
            self.met["put back"] += 1

    # -- small things -----------------------------------------------------------------------------------

    def _place(self) -> Home:
        return self.dice.choice((self.a, self.a, self.b))

    def _home(self, name: str) -> Home:
        return self.a if name == "a" else self.b

    def _know(self, place: Home) -> Known:
        return self.observer.known[place.name]

    def _make_ask(self, place: Home, action: Action, key: str) -> EntityId | None:
        request = NewAsk(
            agent="x",
            name=action.name,
            args=action.args,
            title="May I?",
            key=key,
            not_after=place.now_ms() + 3 * DAY_MS,
            options=list(action.options),
        )
        return self._try(place, lambda tx: ask_requests.make_ask(tx, self.agent, request))

    def _try(self, place: Home, use: Callable[[Transaction], T]) -> T | None:
        try:
            return place.write(use)
        except Refused:
            self.met["refused"] += 1
            return None

    def _details(self, place: Home, ask: EntityId) -> ask_views.AskDetails | None:
        def read(snapshot: Snapshot) -> ask_views.AskDetails | None:
            stored = read_ask(snapshot, ask)
            return None if stored is None else ask_views.ask_details(snapshot, stored, place.now_ms())

        return place.read(read)

    def _is_late(self, place: Home, ask: EntityId) -> bool:
        def read(snapshot: Snapshot) -> bool:
            stored = read_ask(snapshot, ask)
            return stored is None or place.now_ms() > stored.not_after_ms

        return place.read(read)

    def _require(self, holds: bool, words: str) -> None:
        if not holds:
            raise ViolationError(words)


def _made_ms(snapshot: Snapshot, ask: EntityId) -> int:
    stored = read_ask(snapshot, ask)
    assert stored is not None
    return stored.made_ms


def live_through(count: int, first_seed: int = 0) -> Counter[str]:
    """Live through histories; return what was met, how often. Raises ViolationError with its number."""
    met: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + count):
        with tempfile.TemporaryDirectory() as folder:
            history = History(Path(folder), seed)
            try:
                history.live()
            except ViolationError as violation:
                raise ViolationError(f"history {seed}, {history.kind}: {violation}") from None
            finally:
                history.close()
            met += history.met
    return met


if __name__ == "__main__":
    print(*(f"{times:7} {what}" for what, times in sorted(live_through(int(sys.argv[1])).items())), sep="\n")
