"""Histories of one permission, lived through without a store, and an observer who counts what agents do.

Never knows the rule: it calls `judge_use`, and says from outside whether a yes was used twice.

A home device asks, people on two other devices answer, agents try to act. Devices are partitioned and meet
again. The home crashes before or after it writes. Its database is put back, or a copy of it runs on.
"""

import random
import sys
from dataclasses import dataclass, field

from daemon.agents.asks.use_rule import Permission, UsedBy, UseResult, judge_use
from store.fold.verdicts import Opinion, Verdict, deciding_opinions, item_status_from
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

STEPS = 24
EXECUTIONS = ("e1", "e2", "e3")
LATE_MS = 100


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision: what the fold needs of it, and the hash of the arguments that it was given to."""

    opinion: Opinion
    asked_hash: bytes
    granted_hash: bytes


@dataclass(slots=True)
class Replicated:
    """What devices exchange: the replicas that asked, and the decisions."""

    asked_by: frozenset[int] = frozenset()
    decisions: dict[EntityId, RecordedDecision] = field(default_factory=dict)

    def merge(self, other: "Replicated") -> None:
        """Take what another device has."""
        self.asked_by |= other.asked_by
        self.decisions |= other.decisions

    def copy(self) -> "Replicated":
        """Return a copy that goes its own way."""
        return Replicated(self.asked_by, dict(self.decisions))


@dataclass(slots=True)
class HomeStore:
    """The database of the home device, or a copy of it: what it writes as, and its own row of the use."""

    replica: int
    log: Replicated
    used_by: dict[int, UsedBy]

    def copy_as(self, replica: int) -> "HomeStore":
        """Return what a restored backup or a copy is: the same, and another replica."""
        return HomeStore(replica, self.log.copy(), dict(self.used_by))


def hash_of(replica: int, words: int) -> bytes:
    """Return the hash of the arguments that a replica asks for; `words` 0 are the agent's own."""
    return bytes((replica % 256, replica // 256, words))


class UsedTwice(AssertionError):
    """The observer saw more than a yes allows."""


class History:
    """One history, by one seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.now_ms = 0
        self.replicas = 1
        self.homes = [HomeStore(1, Replicated(), {})]
        self.backup: HomeStore | None = None
        self.others = [Replicated(), Replicated()]
        self.hindered = False
        self.numbers = 0
        self.acts: dict[EntityId, set[str]] = {}
        self.granted = 0
        self.results: set[UseResult] = set()

    def live(self) -> None:
        """Live through all steps. Raises UsedTwice."""
        steps = (
            self.ask, self.decide, self.decide, self.decide, self.meet, self.meet, self.meet, self.use,
            self.use, self.use, self.use, self.save, self.put_back, self.clone, self.let_time_pass,
        )  # fmt: skip
        self.ask()
        for _ in range(STEPS):
            self.dice.choice(steps)()

    def ask(self) -> None:
        """Ask, unless the home knows an ask under this key."""
        home = self.dice.choice(self.homes)
        if not home.log.asked_by:
            home.log.asked_by = frozenset((home.replica,))

    def decide(self) -> None:
        """Let a person decide somewhere, on what the device shows there."""
        place = self.dice.choice([*self.others, self.dice.choice(self.homes).log])
        if not place.asked_by:
            return
        asker = max(place.asked_by)
        self.numbers += 1
        identifier = EntityId(self.numbers.to_bytes(16, "big"))
        verdict = self.dice.choice(
            (Verdict.CONFIRMED, Verdict.CONFIRMED, Verdict.CONFIRMED, Verdict.REJECTED, Verdict.UNDONE)
        )
        by = AuthorKind.USER
        if self.dice.random() < 0.05:
            verdict, by = Verdict.RETRACTED, AuthorKind.AGENT
        opinion = Opinion(identifier, verdict, by, frozenset(place.decisions))
        words = self.dice.choice((0, 0, 0, 1))
        place.decisions[identifier] = RecordedDecision(opinion, hash_of(asker, 0), hash_of(asker, words))

    def meet(self) -> None:
        """Let two devices exchange what they have, in one direction or both."""
        places = [*self.others, *(home.log for home in self.homes)]
        first, another = self.dice.sample(places, 2)
        first.merge(another)
        if self.dice.random() < 0.7:
            another.merge(first)

    def use(self) -> None:
        """Let an agent try to act, with a crash before the write, after it, or none."""
        home = self.dice.choice(self.homes)
        log = home.log
        if not log.asked_by:
            return
        own = home.replica in log.asked_by
        asker = home.replica if own else max(log.asked_by)
        grants = self.grants(log, asker)
        words = self.dice.choice((0, 0, 1))
        args_hash = hash_of(asker, words)
        execution = self.dice.choice(EXECUTIONS)
        opinions = deciding_opinions(decision.opinion for decision in log.decisions.values())
        permission = Permission(
            asked_here=own,
            status=item_status_from(_count(opinions)),
            granted_hash=None if not grants else grants[-1].granted_hash,
            not_after_ms=LATE_MS,
            is_withdrawn=any(
                decision.opinion.verdict is Verdict.RETRACTED for decision in log.decisions.values()
            ),
            is_hindered=self.hindered,
            used_by=home.used_by.get(home.replica),
        )
        result = judge_use(permission, execution, args_hash, self.now_ms)
        self.results.add(result)
        if self.dice.random() < 0.1:
            return  # killed before it wrote: nobody is told
        if result is not UseResult.GRANTED:
            return
        home.used_by.setdefault(home.replica, UsedBy(execution, args_hash))
        if self.dice.random() < 0.2:
            return  # killed after it wrote: the agent was not told, and asks again
        self.observe(log, asker, execution, args_hash, is_first=permission.used_by is None)

    def grants(self, log: Replicated, asker: int) -> list[RecordedDecision]:
        """Return the deciding yeses to what a replica asked."""
        deciding = {
            opinion.decision
            for opinion in deciding_opinions(decision.opinion for decision in log.decisions.values())
            if opinion.verdict is Verdict.CONFIRMED
        }
        return [
            decision
            for identifier, decision in log.decisions.items()
            if identifier in deciding and decision.asked_hash == hash_of(asker, 0)
        ]

    def observe(
        self, log: Replicated, asker: int, execution: str, args_hash: bytes, *, is_first: bool
    ) -> None:
        """See an agent act, and hold it against every yes that anybody gave."""
        self.granted += 1
        given = [
            (identifier, decision)
            for identifier, decision in log.decisions.items()
            if decision.opinion.verdict is Verdict.CONFIRMED and decision.granted_hash == args_hash
        ]
        if not given:
            raise UsedTwice("an agent did what nobody had said yes to")
        if is_first and self.now_ms > LATE_MS:
            raise UsedTwice("an agent acted too late")
        for identifier, _ in given:
            self.acts.setdefault(identifier, set()).add(execution)
            if len(self.acts[identifier]) > 1:
                raise UsedTwice(f"one yes was used by {sorted(self.acts[identifier])}")

    def save(self) -> None:
        """Make a backup of the home's database."""
        self.backup = self.homes[0].copy_as(self.homes[0].replica)

    def put_back(self) -> None:
        """Restore the backup: what was written since is gone here, and the store writes as a new replica."""
        if self.backup is not None:
            self.homes[0] = self.backup.copy_as(self._next_replica())

    def clone(self) -> None:
        """Let a copy of the home's database run on beside it."""
        if len(self.homes) < 3:
            self.homes.append(self.dice.choice(self.homes).copy_as(self._next_replica()))

    def let_time_pass(self) -> None:
        """Move the clock, and let a person pause or resume the agent at times."""
        self.now_ms += self.dice.choice((1, 1, 60))
        self.hindered = self.dice.random() < 0.1

    def _next_replica(self) -> int:
        self.replicas += 1
        return self.replicas


def _count(opinions: list[Opinion]) -> dict[Verdict, int]:
    counts: dict[Verdict, int] = {}
    for opinion in opinions:
        counts[opinion.verdict] = counts.get(opinion.verdict, 0) + 1
    return counts


def live_through(count: int, first_seed: int = 0) -> tuple[int, set[UseResult]]:
    """Live through histories; return how often an agent acted, and which answers there were."""
    acts, results = 0, set[UseResult]()
    for seed in range(first_seed, first_seed + count):
        history = History(seed)
        try:
            history.live()
        except UsedTwice as twice:
            raise UsedTwice(f"history {seed}: {twice}") from None
        acts += history.granted
        results |= history.results
    return acts, results


if __name__ == "__main__":
    number = int(sys.argv[1])
    acted, answers = live_through(number)
    print(f"{number} histories, {acted} acts, no yes used twice; answers: {', '.join(sorted(answers))}")
