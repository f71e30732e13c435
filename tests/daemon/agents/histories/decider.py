"""What a person may decide: confirm, with other words or by force, reject, undo, reopen, defer.

Never accepts a wrong answer: each answer is computed in advance from what really happened.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.deciding.set_decisions import answer_if_left_out
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from tests.daemon.agents.histories.expected_answers import confirming, left, settling
from tests.daemon.agents.histories.history import History
from tests.daemon.agents.histories.reference import OPEN, Reference
from tests.daemon.agents.histories.witness import Witness
from tests.simulation.author import TASK
from tests.simulation.device import HeldCommits
from tests.support import decision_verbs


class Decider:
    """A person who decides, on any device."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._before: dict[tuple[str, EntityId], tuple[HeldCommits, dict[str, Any]]] = {}

    def pick(self, home: Witness, dice: Random, *statuses: str) -> EntityId | None:
        """Choose an item, the newest more often."""
        reference = self.history.reference(home)
        proposals = list(reference.proposals)
        identifiers = [
            proposal for proposal in proposals if reference.status(proposal) in statuses
        ] or proposals
        identifiers.sort(
            key=lambda identifier: (reference.last(identifier).deed.stamp, identifier), reverse=True
        )
        return (
            identifiers[min(dice.randrange(len(identifiers)), dice.randrange(len(identifiers)))]
            if identifiers
            else None
        )

    def disputed(self, home: Witness, dice: Random) -> EntityId | None:
        """Choose an item that is disputed; None if there is none."""
        reference = self.history.reference(home)
        identifiers = sorted(proposal for proposal in reference.proposals if reference.disputed(proposal))
        return dice.choice(identifiers) if identifiers else None

    def confirm(self, home: Witness, item: EntityId | None, *, edit: bool = False, **how: bool) -> None:
        """Confirm an item, perhaps with other words or over something."""
        if item is None:
            return
        before = self.history.reference(home)
        words = self._edit(before.tool(item)) if edit else None
        expected = confirming(before, item, words=words, **how)
        over = before.stale(item, words) or before.overtaken(item)
        end, heads = decision_verbs.commits(home), home.held
        result = decision_verbs.confirm(home, item, edit=words, **how)
        self._answered("confirm", home, result, expected, end)
        if result.result is DecisionOutcome.APPLIED:
            if over and how.get("force"):
                self.history.vault.truth.forced.add(home.last())
                self.history.met["confirm: forced over something"] += 1
            self._took_effect(home, before, item, words)
            if not before.decided(item):
                fields = {name: before.value(before.target(item), name) for name in before.writes(item)}
                self._before[home.name, item] = (home.held - heads, fields)

    def _edit(self, tool: str) -> dict[str, Any] | None:
        """Return other words for what a tool proposes; None if the tool takes none."""
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

    def _answered(
        self, act: str, home: Witness, result: DecisionResult, expected: set[str], end: int
    ) -> None:
        outcome = result.result.value
        self.history.touched.add(home.name)
        self.history.count(act, outcome)
        assert outcome in expected, f"{act}: answered {outcome} ({result.message}), where {expected} is due"
        assert decision_verbs.commits(home) == end + (result.result is DecisionOutcome.APPLIED), (
            "not one commit a decision"
        )

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
        by = AuthorKind.AGENT if args == proposed else AuthorKind.USER
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
        end = decision_verbs.commits(home)
        reason = f"because of {verdict}" if verdict == "reject" else None
        acts: dict[str, Callable[[], DecisionResult]] = {
            "reject": lambda: decision_verbs.reject(home, item, reason),
            "undo": lambda: decision_verbs.undo(home, item),
            "reopen": lambda: decision_verbs.reopen(home, item),
            "defer": lambda: decision_verbs.defer(home, item),
        }
        result = acts[verdict]()
        self._answered(verdict, home, result, settling(before, item, verdict), end)
        if result.result is DecisionOutcome.APPLIED:
            after = self.history.reference(home)
            assert (after.status(item), after.disputed(item)) == (left(verdict), False)
            if before.disputed(item):
                self.history.met[f"{verdict}: settles a dispute"] += 1
            self._shows_what_was_covered(home, before, after, item, verdict)

    def _shows_what_was_covered(
        self, home: Witness, before: Reference, after: Reference, item: EntityId, verdict: str
    ) -> None:
        """Check that an undo brings back the value from before the confirmation.

        This only applies if nothing was written since.
        """
        confirmation, fields = self._before.pop((home.name, item), (frozenset(), {}))
        since = {deed.head for deed in before.oracle.deeds.get(before.target(item), [])} - confirmation
        if not confirmation or before.status(item) != "confirmed" or self._newer(before, confirmation, since):
            return
        target = before.target(item)
        if before.creates(item):
            assert not after.exists(target), "what nobody touched outlives its undo"
        for name, value in fields.items():
            assert after.value(target, name) == value, f"{name}: an undo does not show what was covered"
        self.history.met[f"{verdict}: what was covered shows again"] += 1

    def _newer(self, reference: Reference, confirmation: HeldCommits, others: HeldCommits | set[Any]) -> bool:
        """Report whether anything has come since a confirmation: on what it wrote, or as any decision."""
        (head,) = confirmation
        heads = (
            reference.oracle.truth.past[head, TASK] if (head, TASK) in self.history.vault.truth.past else None
        )
        decisions = {
            deed.head for deeds in reference.oracle.decisions.values() for deed in deeds
        } - confirmation
        known_heads = heads or next(
            past for (listed_head, _), past in self.history.vault.truth.past.items() if listed_head == head
        )
        return not (set(others) | decisions) <= known_heads

    def confirm_all(self, home: Witness, dice: Random) -> None:
        """Confirm what is pending of a set, in order; the rest of what is open is left."""
        item = self.pick(home, dice)
        if item is None:
            return
        change_set = home.item(item).occurrences[-1].change_set
        identifiers = home.read(
            lambda snapshot: [listed_item.id for listed_item in snapshot.items_of_set(change_set)]
        )
        for identifier in identifiers:
            self._confirm_in_set(home, identifier)
        self.history.count("confirm all", f"{min(len(identifiers), 3)}")

    def _confirm_in_set(self, home: Witness, item: EntityId) -> None:
        reference = self.history.reference(home)
        is_open = reference.status(item) in OPEN or reference.disputed(item)
        is_pending = reference.shown(item) == "pending" and not reference.disputed(item)
        left = home.write(lambda tx: answer_if_left_out(tx, item, None))
        assert (left is not None) == (is_open and not is_pending), (
            "a set is more or less than what is pending"
        )
        if left is not None:
            self.history.count("confirm all", left.result.value)
        elif is_pending:
            self.confirm(home, item)
