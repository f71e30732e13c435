"""What the agent may do: propose, in runs of its own or under the key of another run, and retract.

Never decides anything.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from daemon.journal import tasks
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.histories.history import REF, STATUSES, TITLES, History
from tests.daemon.agents.histories.reference import Reference, labels
from tests.daemon.agents.histories.witness import Witness
from tests.simulation.author import TASK

Call = tuple[str, dict[str, Any]]


class Agent:
    """The agent of the one task, on whichever device it runs."""

    def __init__(self, history: History) -> None:
        self.history = history

    def propose(self, home: Witness, dice: Random) -> None:
        """Let a run make a few calls, sometimes under a key that another device's run has used."""
        self.history.touched.add(home.name)
        if not self.history.reference(home).visible(TASK):
            home.write(lambda tx: tasks.restore(tx, REF))
        key = f"run {len(self.history.runs)}"
        if self.history.runs and dice.random() < 0.15:
            key = dice.choice(self.history.runs)
        if key in self._keys(home):
            return  # a device does not run the same twice
        self.history.runs.append(key)
        before = self.history.reference(home)
        identifiers = home.propose(
            TASK, key, *(self._call(home, dice) for _ in range(dice.choice((1, 2, 2, 4))))
        )
        for item in identifiers:
            self._is_no_repetition(home, before, item)
        if dice.random() < 0.4:
            self.history.meet()
        self.history.count("propose", f"{min(len(identifiers), 2)}")

    def add(self, home: Witness) -> EntityId | None:
        """Let a run propose a new item; None if the task is not visible."""
        if not self.history.reference(home).visible(TASK):
            return None
        self.history.touched.add(home.name)
        self.history.runs.append(f"run {len(self.history.runs)}")
        identifiers = home.propose(
            TASK, self.history.runs[-1], ("add_checklist_item", {"title": self.history.word()})
        )
        return identifiers[0] if identifiers else None

    def _is_no_repetition(self, home: Witness, before: Reference, item: EntityId) -> None:
        """What waits, has expired, or was rejected or deferred is not proposed again."""
        after = self.history.reference(home)
        alike = [proposal for proposal in before.proposals if before.says(proposal) == after.says(item)]
        assert all(before.status(identifier) in ("confirmed", "retracted") for identifier in alike), (
            "proposed again"
        )
        confirmed = [proposal for proposal in alike if before.status(proposal) == "confirmed"]
        for repeated in confirmed:
            # An update may name a later note as evidence.
            by_name = before.tool(repeated) == "update_checklist_item"
            assert by_name or not before.corrected(repeated), "what the person corrected is proposed again"

    def _keys(self, home: Witness) -> set[object]:
        """Return the keys of the runs that a device knows of."""
        proposals = self.history.reference(home).proposals.values()
        return {proposal.deed.value("run_key") for of_item in proposals for proposal in of_item}

    def _call(self, home: Witness, dice: Random) -> Call:
        kinds: Sequence[Callable[[Witness, Random], Call]] = (
            lambda *_: ("update_task_estimate", {"minutes": dice.choice((90, 120))}),
            lambda *_: ("set_task_title", {"title": dice.choice(("Trip", "Plan"))}),
            lambda *_: ("update_task_priority", {"priority": dice.choice(("P0", "P2"))}),
            lambda *_: ("update_task_due_date", {"dueDate": dice.choice(("2026-05-01", "2026-05-02"))}),
            lambda *_: ("set_task_status", dice.choice(STATUSES)),
            lambda *_: (
                "assign_task_labels",
                {"labels": [{"id": dice.choice(labels()), "confidence": "high"}]},
            ),
            lambda *_: ("add_multiple_checklist_items", {"items": [{"title": dice.choice(TITLES)}]}),
            lambda *_: ("add_multiple_checklist_items", {"items": [{"title": text} for text in TITLES]}),
            self._update,
            self._update,
        )
        return dice.choice(kinds)(home, dice)

    def _update(self, home: Witness, dice: Random) -> Call:
        identifiers = sorted(self.history.reference(home).items())
        if not identifiers:
            return ("update_task_estimate", {"minutes": 75})
        changes: dict[str, Any] = {"id": id_to_text(dice.choice(identifiers))}
        if dice.random() < 0.7:
            changes["isChecked"] = dice.random() < 0.7
        if dice.random() < 0.5:
            changes["title"] = dice.choice(("Pack well", "Go there"))
        if dice.random() < 0.2:
            changes["isArchived"] = True
        if dice.random() < 0.6:
            notes = sorted(self.history.reference(home).notes())
            changes |= {"reason": "The last note says that it is done"}
            changes |= {"evidenceIds": [id_to_text(dice.choice(notes))]} if notes else {}
        return ("update_checklist_items", {"items": [changes]})

    def retract(self, home: Witness, dice: Random) -> None:
        """Let a run retract proposals, whatever their decisions are; only its own open ones are retracted."""
        before = self.history.reference(home)
        proposals = sorted(before.proposals)
        self.take_back(home, dice.sample(proposals, min(len(proposals), dice.choice((1, 2)))))

    def take_back(self, home: Witness, identifiers: list[EntityId]) -> None:
        """Let a run take these proposals back."""
        before = self.history.reference(home)
        if not identifiers or not before.visible(TASK):
            return
        self.history.touched.add(home.name)
        self.history.runs.append(f"run {len(self.history.runs)}")
        request = {
            "itemIds": [id_to_text(identifier) for identifier in identifiers],
            "reason": "It was a misunderstanding",
        }
        home.propose(TASK, self.history.runs[-1], ("retract_proposals", request))
        after = self.history.reference(home)
        for item in identifiers:
            used = not before.decided(item) and not before.expired(item)
            status = "retracted" if used else before.status(item)
            assert after.status(item) == status, "an agent takes back what is not its own, or does not"
            number = len(after.oracle.decisions.get(item, ())) - len(before.oracle.decisions.get(item, ()))
            assert number == used, "an agent speaks where a person has"
            self.history.count("retract", "done" if used else "left alone")
