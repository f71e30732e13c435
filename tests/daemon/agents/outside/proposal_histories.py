"""Histories of what agents of other makers propose, and an observer who knows what people confirmed.

Never asks the program whose a set is, what was confirmed, or what an agent may do: the observer keeps that.

Claude works on `a`, Codex on `b`; people decide on all three devices, which meet in pairs. Programs repeat
themselves, use a key for something else, and take proposals back. At the home of each agent, people pause it
and narrow what it may work on. Days pass.
"""

import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.outside import own_requests, proposals, verdicts
from daemon.agents.outside.proposal_views import ProposedSet, set_of_agent
from daemon.agents.outside.proposals import NewProposals, ProposedChange
from daemon.agents.person import external_agents, lifecycle, presence_edits
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.refusal import Refused
from store.snapshot import Snapshot
from store.upkeep.verification import verify_store
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support import outside
from tests.support.decision_verbs import commits, confirm, defer, reject, reopen, undo
from tests.support.fleet import DAY_MS, Fleet, Home

STEPS: Final = 40
KEYS: Final = ("k1", "k2", "k3", "k4")
LIMIT: Final = 5
NEEDS: Final = (None, "other_device")
MEMORY: Final = "/dev/shm"
CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *(("update_task_estimate", {"minutes": minutes}) for minutes in (30, 90)),
    *(("set_task_title", {"title": title}) for title in ("Trip", "Plan")),
    ("add_task", {"title": "Buy stamps"}),
    ("update_report", {"tldr": "All is done."}),
    ("remove_task", {}),
)
FIELD_OF: Final = {"update_task_estimate": "estimate_minutes", "set_task_title": "title"}
AT_FIRST: Final[dict[str, Any]] = {"estimate_minutes": 60, "title": "Write the report"}
Value = tuple[EntityId | None, str, Any]
"""What a change would write: to which task, None for a new one, into which field, and what."""


class ViolationError(AssertionError):
    """The observer saw what nobody had permitted, or an agent what was not its own."""


@dataclass(slots=True)
class Known:
    """What a device knows: values that were confirmed, items that were decided, and who proposed what."""

    confirmed: set[Value] = field(default_factory=set)
    decided: set[EntityId] = field(default_factory=set)
    proposed: set[tuple[EntityId, EntityId]] = field(default_factory=set)

    def take(self, other: "Known") -> None:
        """Take what another device knows."""
        self.confirmed |= other.confirmed
        self.decided |= other.decided
        self.proposed |= other.proposed


@dataclass(slots=True)
class Program:
    """An agent as its program and the observer know it; `sent` are its requests by key, and their sets."""

    home: Home
    agent: EntityId
    scope: str = "all"
    is_paused: bool = False
    sent: dict[tuple[str, EntityId], tuple[tuple[int, ...], str]] = field(default_factory=dict)
    spent_on: dict[int, int] = field(default_factory=dict)


class History:
    """One history, by one seed. `needs` is what verdicts on all that is proposed need."""

    def __init__(self, folder: Path, seed: int, needs: str | None) -> None:
        self.dice = random.Random(seed)
        self.needs = needs
        self.fleet = Fleet(folder)
        a, b, _ = self.homes = [self.fleet.home(name) for name in "abc"]
        self.tasks = [a.new("task", status="OPEN", **AT_FIRST) for _ in range(2)]
        self.fleet.sync()
        self.programs = [
            Program(home, outside.added(home, name)) for home, name in ((a, "Claude"), (b, "Codex"))
        ]
        for program in self.programs:
            self._prepare(program)
        self.fleet.sync()
        self.known = {home.name: Known() for home in self.homes}
        self.value_of: dict[EntityId, Value] = {}
        self.met: Counter[str] = Counter()

    def _prepare(self, program: Program) -> None:
        agent = program.agent
        program.home.write(lambda tx: external_agents.set_daily_limits(tx, agent, {"proposals": LIMIT}))
        if (needs := self.needs) is not None:
            program.home.write(
                lambda tx: presence_edits.set_presence(tx, agent, "all", needs, has_other_devices=True)
            )

    def live(self) -> None:
        """Live through all steps. Raises ViolationError."""
        steps = (
            *[self.propose] * 6, *[self.decide] * 6, *[self.meet] * 3, *[self.look] * 2, self.withdraw,
            self.pause, self.narrow, self.let_time_pass,
        )  # fmt: skip
        for _ in range(STEPS):
            self.dice.choice(steps)()
            self._judge()
        self.fleet.sync()
        for home in self.homes:
            findings = home.read(lambda snapshot: verify_store(snapshot, lambda *_: None)).findings
            self._require(not findings, f"a store is broken: {findings}")
        self.met["histories"] += 1

    def close(self) -> None:
        """Close the stores."""
        self.fleet.close()

    # -- what programs do -------------------------------------------------------------------------------

    def propose(self) -> None:
        """Propose one to three changes under a key, on a task."""
        program = self.dice.choice(self.programs)
        task, key = self.dice.choice(self.tasks), self.dice.choice(KEYS)
        numbers = tuple(self.dice.choices(range(len(CALLS)), k=self.dice.randint(1, 3)))
        before = program.sent.get((key, task))
        if before is not None and self.dice.random() < 0.5:
            numbers = before[0]
        changes = [ProposedChange(*CALLS[number], "The mail says so.") for number in numbers]
        request, count = NewProposals("x", changes, key), commits(program.home)
        try:
            result = program.home.write(
                lambda tx: proposals.propose(tx, program.agent, task, request, ProposalLimits())
            )
        except Refused as refusal:
            self._require(commits(program.home) == count, "what was refused has left something")
            self._judge_refusal(str(refusal), program, before, numbers)
            return
        self._require(not program.is_paused, "an agent that is paused has proposed")
        if before is not None:
            self._require(before == (numbers, result.set), "a key stands for two requests")
            self._require(commits(program.home) == count, "a retry has written something")
            self.met["retried"] += 1
            return
        self._note(program, task, (key, numbers), result)

    def _judge_refusal(
        self,
        words: str,
        program: Program,
        before: tuple[tuple[int, ...], str] | None,
        numbers: tuple[int, ...],
    ) -> None:
        if "paused" in words:
            self._require(program.is_paused, "an agent is refused as paused, and is not")
            self.met["paused"] += 1
        elif "something else" in words:
            self._require(before is not None and before[0] != numbers, "a retry is refused")
            self.met["key used for something else"] += 1
        else:
            self._require("daily limit" in words and before is None, f"a request is refused: {words}")
            self.met["beyond the limit"] += 1

    def _note(
        self, program: Program, task: EntityId, sent: tuple[str, tuple[int, ...]], result: ProposedSet
    ) -> None:
        key, numbers = sent
        program.sent[key, task] = numbers, result.set
        day = program.home.now_ms() // DAY_MS
        waiting = [item for item in result.items if item.state == "pending" and item.item is not None]
        self._require(not waiting or program.scope == "all", "what is beyond its scope waits")
        self.met["proposed" if waiting else "nothing of it waits"] += 1
        if program.scope == "none":
            self.met["beyond the scope"] += 1
        knowledge = self.known[program.home.name]
        for item in waiting:
            tool, args = CALLS[numbers[item.change - 1]]
            self._require(tool in {*FIELD_OF, "add_task"}, f"{tool} is not for agents of other makers")
            [value] = args.values()
            name = id_from_text(item.item or "")
            is_new_task = tool == "add_task"
            wanted = (None if is_new_task else task, FIELD_OF.get(tool, "title"), value)
            self.met["proposed by both"] += (
                name in self.value_of and (name, program.agent) not in knowledge.proposed
            )
            self._require(self.value_of.setdefault(name, wanted) == wanted, "an item means two things")
            knowledge.proposed.add((name, program.agent))
        program.spent_on[day] = program.spent_on.get(day, 0) + len(waiting)
        self._require(program.spent_on[day] <= LIMIT, "an agent has proposed more than its day has")

    def withdraw(self) -> None:
        """Try to take back all that the home of a program knows of, whoever proposed it."""
        program = self.dice.choice(self.programs)
        knowledge = self.known[program.home.name]
        items = sorted({name for name, _ in knowledge.proposed})
        withdrawn = program.home.write(lambda tx: proposals.withdraw(tx, program.agent, items, "A mistake."))
        for name in withdrawn:
            self._require(name not in knowledge.decided, "an agent takes back what a person has decided")
            proposers = {agent for item, agent in knowledge.proposed if item == name}
            self._require(proposers == {program.agent}, "an agent takes back what another one proposed")
            self.met["withdrawn"] += 1

    def look(self) -> None:
        """Read all that an agent may read; nothing of it is another's."""
        program = self.dice.choice(self.programs)
        own = {set_id for _, set_id in program.sent.values()}
        others = {
            set_id for other in self.programs if other is not program for _, set_id in other.sent.values()
        }
        home, agent, now_ms = program.home, program.agent, program.home.now_ms()
        waiting = home.read(lambda snapshot: own_requests.waiting_requests(snapshot, agent, now_ms))
        decided = home.read(lambda snapshot: own_requests.decided_requests(snapshot, agent, now_ms))
        since = home.read(lambda snapshot: verdicts.verdicts_after(snapshot, agent, 0, now_ms))
        shown = {listed.set for listing in (waiting, decided, since) for listed in listing.sets}
        self._require(shown <= own, "an agent reads what is not its own")
        for name in others:
            shown_set = home.read(partial(_set_shown_to, agent, name, now_ms))
            self._require(shown_set is None, "an agent reads a set of another one")
            self.met["another's set"] += 1

    # -- what people do, and time -----------------------------------------------------------------------

    def decide(self) -> None:
        """Let a person decide on a proposal that a device knows of."""
        home = self.dice.choice(self.homes)
        knowledge = self.known[home.name]
        if not knowledge.proposed:
            return
        item, _ = self.dice.choice(sorted(knowledge.proposed))
        acts: tuple[Callable[[Home, EntityId], DecisionResult], ...] = (
            confirm, confirm, confirm, reject, defer, undo, reopen,
        )  # fmt: skip
        act = self.dice.choice(acts)
        result = act(home, item).result
        if result is DecisionOutcome.NOT_COUNTED:
            self._require(self.needs is not None, "a verdict does not count, and needs nothing")
            self.met["not counted"] += 1
        if result is not DecisionOutcome.APPLIED:
            return
        knowledge.decided.add(item)
        self.met[f"applied: {act.__name__}"] += 1
        if act is confirm:
            knowledge.confirmed.add(self.value_of[item])

    def meet(self) -> None:
        """Let one device take all from another."""
        taker, giver = self.dice.sample(self.homes, 2)
        self.fleet.pull(taker, giver)
        self.known[taker.name].take(self.known[giver.name])

    def pause(self) -> None:
        """Pause an agent at its home, or let it go on."""
        program = self.dice.choice(self.programs)
        change = lifecycle.resume_agent if program.is_paused else lifecycle.pause_agent
        program.home.write(lambda tx: change(tx, program.agent))
        program.is_paused = not program.is_paused

    def narrow(self) -> None:
        """Let an agent work on no task, or on all again."""
        program = self.dice.choice(self.programs)
        scope = program.scope = "none" if program.scope == "all" else "all"
        program.home.write(lambda tx: external_agents.set_scope(tx, program.agent, scope))

    def let_time_pass(self) -> None:
        """Let some hours pass."""
        self.fleet.now_ms += self.dice.choice((DAY_MS // 24, DAY_MS))

    # -- what must hold ---------------------------------------------------------------------------------

    def _judge(self) -> None:
        """Nothing shows on a device that no person has confirmed, as far as that device knows."""
        for home in self.homes:
            confirmed = self.known[home.name].confirmed
            for task in home.read(lambda snapshot: [entity.id for entity in snapshot.entities("task")]):
                shown = home.entity(task)
                for name, at_first in AT_FIRST.items() if task in self.tasks else [("title", None)]:
                    value = shown.value(name)
                    subject = task if task in self.tasks else None
                    is_permitted = value == at_first or (subject, name, value) in confirmed
                    self._require(
                        is_permitted or not shown.visible,
                        f"{home.name} shows {value!r}, which nobody confirmed: {id_to_text(task)}",
                    )

    def _require(self, holds: bool, violation: str) -> None:
        if not holds:
            raise ViolationError(violation)


def _set_shown_to(agent: EntityId, name: str, now_ms: int, snapshot: Snapshot) -> ProposedSet | None:
    """Return a set as a device shows it to an agent; None if it does not, or does not know it."""
    entity = snapshot.entity(id_from_text(name))
    return None if entity is None else set_of_agent(snapshot, entity, agent, now_ms)


def live_through(count: int, first_seed: int = 0) -> Counter[str]:
    """Live through histories; return what was met, how often. Raises ViolationError with its number."""
    met: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + count):
        needs = NEEDS[seed % len(NEEDS)]
        with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
            history = History(Path(folder), seed, needs)
            try:
                history.live()
            except ViolationError as violation:
                raise ViolationError(f"history {seed}, verdicts need {needs}: {violation}") from None
            finally:
                history.close()
            met += history.met
    return met
