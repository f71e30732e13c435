"""What a person may decide: confirm, with other words or by force, reject, undo, reopen, defer.

Never forgives an answer: what a person is told is foretold from what really happened.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from daemon.agents.decisions import Outcome, Result
from syncproto.commit import By
from syncproto.ids import EntityId
from tests.daemon.agents import deciding
from tests.daemon.agents.histories.foretold import confirming, left, settling
from tests.daemon.agents.histories.history import History
from tests.daemon.agents.histories.reference import OPEN, Reference
from tests.daemon.agents.histories.witness import Witness
from tests.simulation.author import TASK
from tests.simulation.device import Held


class Decider:
    """A person who decides, at any device."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._before: dict[tuple[str, EntityId], tuple[Held, dict[str, Any]]] = {}

    def pick(self, home: Witness, dice: Random, *statuses: str) -> EntityId | None:
        """Choose an item, the newest more often."""
        reference = self.history.reference(home)
        known = list(reference.proposals)
        found = [one for one in known if reference.status(one) in statuses] or known
        found.sort(key=lambda one: (reference.last(one).deed.stamp, one), reverse=True)
        return found[min(dice.randrange(len(found)), dice.randrange(len(found)))] if found else None

    def disputed(self, home: Witness, dice: Random) -> EntityId | None:
        """Choose an item that is disputed, None where none is."""
        reference = self.history.reference(home)
        found = sorted(one for one in reference.proposals if reference.disputed(one))
        return dice.choice(found) if found else None

    def confirm(self, home: Witness, item: EntityId | None, *, edit: bool = False, **how: bool) -> None:
        """Confirm an item, perhaps with other words or over something."""
        if item is None:
            return
        before = self.history.reference(home)
        words = self._edit(before.tool(item)) if edit else None
        expected = confirming(before, item, words=words, **how)
        over = before.stale(item, words) or before.overtaken(item)
        end, held = deciding.commits(home), home.held
        result = deciding.confirm(home, item, edit=words, **how)
        self._answered("confirm", home, result, expected, end)
        if result.result is Outcome.APPLIED:
            if over and how.get("force"):
                self.history.vault.truth.forced.add(home.last())
                self.history.met["confirm: forced over something"] += 1
            self._took_effect(home, before, item, words)
            if not before.decided(item):
                shown = {name: before.value(before.target(item), name) for name in before.writes(item)}
                self._before[home.name, item] = (home.held - held, shown)

    def _edit(self, tool: str) -> dict[str, Any] | None:
        """Return other words for what a tool proposes; None where it takes none."""
        number = self.history.number()
        words: dict[str, dict[str, Any]] = {
            "update_task_estimate": {"minutes": number},
            "set_task_title": {"title": f"Edited {number}"},
            "update_task_priority": {"priority": f"P{number % 4}"},
            "update_task_due_date": {"dueDate": f"2026-06-{1 + number % 28:02}"},
            "set_task_status": {"status": "BLOCKED", "reason": f"Edited {number}"},
            "add_checklist_item": {"title": f"Edited {number}"},
            "update_checklist_item": {"title": f"Edited {number}"},
        }
        return words.get(tool)

    def _answered(self, act: str, home: Witness, result: Result, expected: set[str], end: int) -> None:
        outcome = result.result.value
        self.history.touched.add(home.name)
        self.history.count(act, outcome)
        assert outcome in expected, f"{act}: answered {outcome} ({result.message}), where {expected} is due"
        assert deciding.commits(home) == end + (result.result is Outcome.APPLIED), "not one commit a decision"

    def _took_effect(self, home: Witness, before: Reference, item: EntityId, words: Any) -> None:
        after = self.history.reference(home)
        assert (after.status(item), after.disputed(item)) == ("confirmed", False), (
            "a confirmation that does not confirm"
        )
        self.history.met[f"confirmed: {before.tool(item)}"] += 1
        if before.disputed(item):
            self.history.met["confirm: settles a dispute"] += 1
        edited = before.edited(item) if words is None else words
        proposed = before.last(item).args
        args = {**proposed, **(edited or {})}
        by = By.AGENT if args == proposed else By.USER
        for name, value in before.writes(item, args).items():
            (top, *_) = after.oracle.maximal(after.target(item), name)
            assert home.value(after.target(item), name) == value, (
                f"{name}: what was just confirmed does not show"
            )
            assert top.operation.by is by, f"{name}: stamped with another's name"

    def settle(self, home: Witness, item: EntityId | None, verdict: str) -> None:
        """Reject, undo, reopen or defer an item."""
        if item is None:
            return
        before = self.history.reference(home)
        end = deciding.commits(home)
        reason = f"because of {verdict}" if verdict == "reject" else None
        acts: dict[str, Callable[[], Result]] = {
            "reject": lambda: deciding.reject(home, item, reason),
            "undo": lambda: deciding.undo(home, item),
            "reopen": lambda: deciding.reopen(home, item),
            "defer": lambda: deciding.defer(home, item),
        }
        result = acts[verdict]()
        self._answered(verdict, home, result, settling(before, item, verdict), end)
        if result.result is Outcome.APPLIED:
            after = self.history.reference(home)
            assert (after.status(item), after.disputed(item)) == (left(verdict), False)
            if before.disputed(item):
                self.history.met[f"{verdict}: settles a dispute"] += 1
            self._shows_what_was_covered(home, before, after, item, verdict)

    def _shows_what_was_covered(
        self, home: Witness, before: Reference, after: Reference, item: EntityId, verdict: str
    ) -> None:
        """Where nothing has come since a confirmation, taking it back brings back what showed before it."""
        confirmation, shown = self._before.pop((home.name, item), (frozenset(), {}))
        since = {deed.head for deed in before.oracle.deeds.get(before.target(item), [])} - confirmation
        if not confirmation or before.status(item) != "confirmed" or self._newer(before, confirmation, since):
            return
        target = before.target(item)
        if before.creates(item):
            assert not after.exists(target), "what nobody touched outlives its undo"
        for name, value in shown.items():
            assert after.value(target, name) == value, f"{name}: an undo does not show what was covered"
        self.history.met[f"{verdict}: what was covered shows again"] += 1

    def _newer(self, reference: Reference, confirmation: Held, others: Held | set[Any]) -> bool:
        """Say whether anything has come since a confirmation: on what it wrote, or as any decision."""
        (head,) = confirmation
        seen = (
            reference.oracle.truth.past[head, TASK] if (head, TASK) in self.history.vault.truth.past else None
        )
        decisions = {
            deed.head for deeds in reference.oracle.decisions.values() for deed in deeds
        } - confirmation
        known = seen or next(past for (one, _), past in self.history.vault.truth.past.items() if one == head)
        return not (set(others) | decisions) <= known

    def confirm_all(self, home: Witness, dice: Random) -> None:
        """Confirm the open items of a set, in order."""
        item = self.pick(home, dice)
        if item is None:
            return
        change_set = home.item(item).occurrences[-1].change_set
        shown = home.read(lambda snapshot: [one.id for one in snapshot.items_of_set(change_set)])
        for one in shown:
            if self.history.reference(home).status(one) in OPEN:
                self.confirm(home, one)
        self.history.count("confirm all", f"{min(len(shown), 3)}")
