"""The histories as Hypothesis draws them: a state machine of acts on three devices, judged after every step.

Never draws from anything but Hypothesis: the same seed gives the same histories.
"""

import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from syncproto.ids import EntityId
from tests.daemon.agents.histories.agent import Agent
from tests.daemon.agents.histories.decider import Decider
from tests.daemon.agents.histories.history import History
from tests.daemon.agents.histories.person import Person
from tests.daemon.agents.histories.witness import NAMES, Vault, Witness

STEPS = 30
DEVICES = st.integers(0, len(NAMES) - 1)
DICE = st.integers(0, 2**40)
SETTLING = st.sampled_from(("reject", "undo", "reopen", "defer"))


def memory() -> Path | None:
    """Return a folder in memory if the system has one: durability is tested elsewhere."""
    path = Path("/dev/shm")
    return path if path.is_dir() else None


@cache
def original() -> tuple[Vault, "tempfile.TemporaryDirectory[str]"]:
    """Return the vault that every history copies, and its folder."""
    folder = tempfile.TemporaryDirectory(dir=memory())
    return Vault(Path(folder.name), (0,) * len(NAMES)), folder


def proposed(machine: "Histories") -> bool:
    """Report whether there is anything to decide on."""
    return bool(machine.history.runs)


class Histories(RuleBasedStateMachine):
    """Three devices, one task, one agent, one person."""

    met: ClassVar[Counter[str]] = Counter()
    """What all histories of this process came to."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=memory())
        self._history: History | None = None
        self.failed = True

    @property
    def history(self) -> History:
        assert self._history is not None
        return self._history

    @initialize(dice=DICE)
    def begin(self, dice: int) -> None:
        throw = Random(dice)
        self._history = History(Path(self.folder.name), original()[0], throw)
        self.agent, self.decider = Agent(self._history), Decider(self._history)
        self.person = Person(self._history)
        if throw.random() < 0.8:
            self.agent.propose(self._history.homes[0], throw)

    def at(self, device: int) -> Witness:
        self.met["steps"] += 1
        self.history.vault.now_ms += 1000
        return self.history.homes[device]

    # -- the agent ----------------------------------------------------------------------------------------

    @rule(index=DEVICES, dice=DICE)
    def propose(self, index: int, dice: int) -> None:
        self.agent.propose(self.at(index), Random(dice))

    @rule(index=DEVICES, dice=DICE)
    def propose_more(self, index: int, dice: int) -> None:
        self.agent.propose(self.at(index), Random(dice))

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def retract(self, index: int, dice: int) -> None:
        self.agent.retract(self.at(index), Random(dice))

    # -- a person decides ---------------------------------------------------------------------------------

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def confirm(self, index: int, dice: int) -> None:
        home = self.at(index)
        self.decider.confirm(home, self.decider.pick(home, Random(dice)))

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def confirm_open(self, index: int, dice: int) -> None:
        home = self.at(index)
        self.decider.confirm(home, self.decider.pick(home, Random(dice), "pending", "deferred"))

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE, force=st.booleans(), again=st.booleans())
    def confirm_edited(self, index: int, dice: int, force: bool, again: bool) -> None:
        home = self.at(index)
        self.decider.confirm(home, self.decider.pick(home, Random(dice)), edit=True, force=force, again=again)

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE, again=st.booleans())
    def confirm_by_force(self, index: int, dice: int, again: bool) -> None:
        home = self.at(index)
        self.decider.confirm(home, self.decider.pick(home, Random(dice)), force=True, again=again)

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def confirm_again(self, index: int, dice: int) -> None:
        home = self.at(index)
        self.decider.confirm(home, self.decider.pick(home, Random(dice), "rejected", "retracted"), again=True)

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def confirm_all(self, index: int, dice: int) -> None:
        self.decider.confirm_all(self.at(index), Random(dice))

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE, verdict=SETTLING)
    def settle(self, index: int, dice: int, verdict: str) -> None:
        home = self.at(index)
        self.decider.settle(home, self.decider.pick(home, Random(dice)), verdict)

    @precondition(proposed)
    @rule(
        index=DEVICES, dice=DICE, verdict=st.sampled_from(("confirm", "confirm", "reject", "undo", "reopen"))
    )
    def settle_dispute(self, index: int, dice: int, verdict: str) -> None:
        home = self.at(index)
        item = self.decider.disputed(home, Random(dice))
        if verdict == "confirm":
            self.decider.confirm(home, item)
        else:
            self.decider.settle(home, item, verdict)

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def undo(self, index: int, dice: int) -> None:
        home = self.at(index)
        self.decider.settle(home, self.decider.pick(home, Random(dice), "confirmed"), "undo")

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def defer(self, index: int, dice: int) -> None:
        home = self.at(index)
        self.decider.settle(home, self.decider.pick(home, Random(dice), "pending"), "defer")

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE)
    def reject(self, index: int, dice: int) -> None:
        home = self.at(index)
        self.decider.settle(home, self.decider.pick(home, Random(dice), "pending", "deferred"), "reject")

    @precondition(proposed)
    @rule(dice=DICE, acts=st.tuples(*[st.integers(0, 9)] * len(NAMES)), meets=st.booleans())
    def apart(self, dice: int, acts: tuple[int, ...], meets: bool) -> None:
        """Let everyone know the same, then let each act alone on one item; perhaps let them meet."""
        self.history.meet()
        item = self.decider.pick(self.history.homes[0], Random(dice))
        for index, act in enumerate(acts):
            self._act(act, self.at(index), item, Random(dice + index))
        if meets:
            self.history.judge()
            self.history.meet()

    @rule(index=DEVICES, acts=st.tuples(*[st.integers(0, 17)] * 4), dice=DICE)
    def with_a_new_item(self, index: int, acts: tuple[int, ...], dice: int) -> None:
        """Let an item be proposed, made and known to all; then it is touched, undone, taken up again."""
        home = self.at(index)
        item = self.agent.add(home)
        if item is None:
            return
        self.history.meet()
        self.decider.confirm(home, item)
        for number, act in enumerate(acts):
            self._act_on_new(act // 3, self.at(act % 3), item, Random(dice + number))

    @rule(index=DEVICES, way=st.integers(1, 2), verdicts=st.sampled_from((("reject", "reopen"), ("defer",))))
    def taken_back_apart(self, index: int, way: int, verdicts: tuple[str, ...]) -> None:
        """Let the agent take an item back here while a person decides on it there."""
        home, peer = self.at(index), self.history.homes[(index + way) % len(NAMES)]
        item = self.agent.add(home)
        if item is None:
            return
        self.history.meet()
        self.agent.take_back(home, [item])
        for verdict in verdicts:
            self.decider.settle(peer, item, verdict)
        self.history.meet()

    @precondition(proposed)
    @rule(index=DEVICES, dice=DICE, force=st.booleans())
    def confirm_after_an_edit(self, index: int, dice: int, force: bool) -> None:
        """Write something on the task, and then confirm what may rest on what was there."""
        home, throw = self.at(index), Random(dice)
        item = self.decider.pick(home, throw, "pending", "deferred")
        for _ in range(3):
            self.person.edit(home, throw)
        self.decider.confirm(home, item, force=force)

    def _act_on_new(self, act: int, home: Witness, item: EntityId, dice: Random) -> None:
        table: tuple[Callable[[], None], ...] = (
            lambda: self.person.touch(home, item, dice),
            lambda: self.person.touch(home, item, dice),
            lambda: self.decider.settle(home, item, "undo"),
            lambda: self.decider.settle(home, item, "undo"),
            lambda: self.decider.confirm(home, item, again=True, force=dice.random() < 0.5),
            lambda: self.history.pull(home, dice.choice(self.history.homes), dice),
        )
        table[act]()

    def _act(self, act: int, home: Witness, item: EntityId | None, dice: Random) -> None:
        table: tuple[Callable[[], None], ...] = (
            lambda: self.decider.confirm(home, item),
            lambda: self.decider.confirm(home, item, edit=True),
            lambda: self.decider.confirm(home, item, again=True, force=True),
            lambda: self.decider.settle(home, item, "reject"),
            lambda: self.decider.settle(home, item, "undo"),
            lambda: self.decider.settle(home, item, "reopen"),
            lambda: self.person.edit(home, dice),
            lambda: self.person.item(home, dice),
            lambda: self.person.remove(home, dice),
            lambda: self.history.wait(dice),
        )
        table[act]()

    # -- a person writes ----------------------------------------------------------------------------------

    @rule(index=DEVICES, dice=DICE)
    def edit(self, index: int, dice: int) -> None:
        self.person.edit(self.at(index), Random(dice))

    @rule(index=DEVICES, dice=DICE)
    def item(self, index: int, dice: int) -> None:
        self.person.item(self.at(index), Random(dice))

    @rule(index=DEVICES)
    def note(self, index: int) -> None:
        self.person.note(self.at(index))

    @rule(index=DEVICES, dice=DICE)
    def page(self, index: int, dice: int) -> None:
        """Open a page, or write on one that was left open."""
        home = self.at(index)
        if home.page is None:
            self.person.open_page(home)
        else:
            self.person.write_page(home, Random(dice))

    @rule(index=DEVICES, dice=DICE)
    def remove(self, index: int, dice: int) -> None:
        self.person.remove(self.at(index), Random(dice))

    @rule(index=DEVICES, dice=DICE)
    def restore(self, index: int, dice: int) -> None:
        self.person.restore(self.at(index), Random(dice))

    # -- time, links and files ----------------------------------------------------------------------------

    @rule(dice=DICE)
    def wait(self, dice: int) -> None:
        self.met["steps"] += 1
        self.history.wait(Random(dice))

    @rule(index=DEVICES, way=st.integers(1, 2), dice=DICE)
    def pull(self, index: int, way: int, dice: int) -> None:
        self.history.pull(self.at(index), self.history.homes[(index + way) % len(NAMES)], Random(dice))

    @rule(index=DEVICES, way=st.integers(1, 2), dice=DICE)
    def exchange(self, index: int, way: int, dice: int) -> None:
        home, peer = self.at(index), self.history.homes[(index + way) % len(NAMES)]
        self.history.pull(home, peer, Random(dice))
        self.history.pull(peer, home, Random(dice))

    @rule()
    def meet(self) -> None:
        self.met["steps"] += 1
        self.history.meet()

    @rule(index=DEVICES)
    def restart(self, index: int) -> None:
        self.at(index).restart()

    @rule(index=DEVICES)
    def keep_copy(self, index: int) -> None:
        self.at(index).keep_copy()

    @precondition(lambda self: any(home.copy for home in self.history.homes))
    @rule()
    def go_back(self) -> None:
        home = next(home for home in self.history.homes if home.copy)
        self.met["steps"] += 1
        self.met["restored as a new replica"] += 1
        home.go_back()
        home.copy = None
        self.history.touched.add(home.name)

    # -- what must hold -----------------------------------------------------------------------------------

    @invariant()
    def holds(self) -> None:
        if self._history is not None:
            self.failed = True
            self.history.judge()
            self.failed = False

    def teardown(self) -> None:
        try:
            if self._history is not None and not self.failed:
                self.history.end()
                self.met["histories"] += 1
                self.met.update(self.history.met)
        finally:
            if self._history is not None:
                self.history.close()
            self.folder.cleanup()


def live_through(histories: int, throw: int, *, shrink: bool = True) -> Counter[str]:
    """Run this many histories of a seed; return the cases that they met."""

    class Thrown(Histories):
        met: ClassVar[Counter[str]] = Counter()

    run_state_machine_as_test(
        seed(throw)(Thrown),
        settings=settings(
            max_examples=histories,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            print_blob=False,
            phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    return Thrown.met
