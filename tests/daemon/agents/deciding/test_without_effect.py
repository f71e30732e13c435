"""A confirmation that came without its effect: another client wrote it, or a fault left the effect out.

Never assumes that a member's device runs this program.
"""

from typing import Any

import pytest

from daemon.agents.deciding.decision_commit import person_decision_write
from daemon.agents.deciding.decision_history import list_decisions
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.deciding.item_state import confirmed_without_effect
from daemon.agents.deciding.set_decisions import answer_if_left_out
from daemon.agents.proposing import change_set_builder
from daemon.agents.tools.effects import written_entity
from daemon.control.health.this_device import check_decisions
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.put_back import PutBackSources
from daemon.journal.views.value_origins import status_steps
from store.fold.effects import EFFECTS_MAX
from store.fold.verdicts import Verdict
from store.transaction import EntityWrite
from store.upkeep.verification import verify_store
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from tests.support.decision_verbs import confirm, reject, undo
from tests.support.fleet import Fleet, Home


def confirm_without_effect(home: Home, item: EntityId, **how: Any) -> None:
    """Let a device write the decision, and nothing of what it means."""
    how = {"reason": None, "via": "other client", **how}
    home.write(lambda tx: tx.commit([person_decision_write(tx, home.item(item), Verdict.CONFIRMED, **how)]))


def doctor(home: Home) -> list[bool]:
    return [check.well for check in home.read(lambda snapshot: list(check_decisions(snapshot)))]


def findings(home: Home) -> list[str]:
    return [
        finding.what.id
        for finding in home.read(lambda snapshot: verify_store(snapshot, lambda *_: None)).findings
    ]


def missed(home: Home, task: EntityId | None = None) -> list[EntityId]:
    return home.read(lambda snapshot: confirmed_without_effect(snapshot, 10, task))


def test_it_is_told_everywhere_and_confirming_puts_it_into_effect_on_every_device(
    fleet: Fleet, a: Home, b: Home, task: EntityId
):
    item, created = a.estimate(task, 120), a.add(task, "Buy paper", "another run")
    fleet.sync()
    for element in (item, created):
        confirm_without_effect(b, element)
    fleet.sync()
    assert set(missed(a)) == set(missed(a, task)) == {item, created}
    assert [
        decision.without_effect for decision in a.read(lambda tx: list_decisions(tx, a.now_ms(), limit=9))
    ] == [True] * 2
    assert doctor(a) == [False] * 2
    remedies = {check.remedy_id for check in a.read(lambda snapshot: list(check_decisions(snapshot)))}
    assert remedies == {"confirm-or-undo"}
    assert findings(a) == ["verify-effect-missing"] * 2
    for element in (item, created):
        assert confirm(a, element).result is DecisionOutcome.APPLIED
        assert confirm(a, element).result is DecisionOutcome.ALREADY
    fleet.sync()
    for home in (a, b):
        assert (home.value(task, "estimate_minutes"), home.titles(task)) == (120, ["Buy paper"])
        assert (missed(home), doctor(home), findings(home)) == ([], [True], [])


def test_what_the_person_changed_meanwhile_is_not_overwritten_without_force(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm_without_effect(a, item)
    a.set(task, estimate_minutes=90)
    assert confirm(a, item).result is DecisionOutcome.STALE
    assert a.value(task, "estimate_minutes") == 90
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 120


def test_the_words_of_the_confirmation_that_lacks_its_effect_are_those_that_apply(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm_without_effect(a, item, edited={"minutes": 45})
    assert confirm(a, item).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 45


def test_a_value_that_is_in_place_already_settles_it_too(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm_without_effect(a, item)
    a.set(task, estimate_minutes=120)
    confirm(a, item, force=True)
    assert missed(a) == []


@pytest.mark.parametrize("verb", [undo, reject])
def test_it_is_taken_back_by_undo_and_left_by_a_set(verb: Any, a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm_without_effect(a, item)
    left = a.write(lambda tx: answer_if_left_out(tx, item, None))
    assert left is not None
    assert left.result is DecisionOutcome.LEFT
    expected = DecisionOutcome.APPLIED if verb is undo else DecisionOutcome.CONFLICT
    assert verb(a, item).result is expected
    assert missed(a) == ([] if verb is undo else [item])


def test_an_effect_that_is_overtaken_is_no_effect_that_is_missing(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm(a, item)
    a.set(task, estimate_minutes=90)
    assert (missed(a), doctor(a), findings(a)) == ([], [True], [])
    assert confirm(a, item).result is DecisionOutcome.ALREADY


def take_places(home: Home, item: EntityId, count: int = EFFECTS_MAX) -> None:
    """Name an item for entities of the least ids, as a member that has gone wrong can."""
    forged = [EntityId(bytes(14) + bytes([1, number])) for number in range(count)]
    home.write(
        lambda tx: tx.commit(
            [
                EntityWrite(entity, "checklist_item", {"title": "a"}, effect=item, by=AuthorKind.AGENT)
                for entity in forged
            ]
        )
    )


@pytest.fixture
def old_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let agents make ids as before they followed from what an item writes."""
    monkeypatch.setattr(change_set_builder, "written_entity", lambda *_: None)


def test_forged_effects_take_nothing_from_what_was_confirmed(fleet: Fleet, a: Home, b: Home, task: EntityId):
    estimate, created = a.estimate(task, 120), a.add(task, "Buy paper", "another run")
    waiting = a.propose(task, "third run", ("set_task_title", {"title": "Owned"}))[0]
    confirm(a, estimate)
    confirm(a, created)
    fleet.sync()
    for item in (estimate, created, waiting):
        take_places(b, item, EFFECTS_MAX + 1)
    fleet.sync()
    assert confirm(a, waiting).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        values = home.value(task, "estimate_minutes"), home.value(task, "title"), home.titles(task)
        assert values == (120, "Owned", ["Buy paper"])
        assert (missed(home), doctor(home), findings(home)) == ([], [True], [])


def test_what_follows_a_decided_item_is_named_too(a: Home, task: EntityId):
    first = a.estimate(task, 120)
    confirm(a, first)
    confirm(a, a.estimate(task, 30, "less"))
    second = a.estimate(task, 120, "later")
    assert second != first
    take_places(a, second)
    assert confirm(a, second).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 120


@pytest.mark.usefixtures("old_ids")
def test_what_was_proposed_before_ids_followed_from_it_is_not_proposed_again(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    reject(a, item)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(change_set_builder, "written_entity", written_entity)
        assert a.propose(task, "another run", ("update_task_estimate", {"minutes": 120})) == []


@pytest.mark.usefixtures("old_ids")
def test_an_effect_that_does_not_count_is_told_and_is_not_confirmed_again(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm(a, item)
    take_places(a, item)
    assert a.value(task, "estimate_minutes") == 60
    assert missed(a) == missed(a, task) == [item]
    assert doctor(a) == [False]
    assert findings(a) == ["verify-effects-crowded"]
    for force in (False, True):
        answer = confirm(a, item, force=force)
        assert (answer.result, answer.message_id) == (DecisionOutcome.FAILED, "proposal-places-taken")


def crowd_out(a: Home, task: EntityId) -> EntityId:
    item = a.estimate(task, 120)
    confirm(a, item)
    take_places(a, item)
    return item


def lose_target(a: Home, task: EntityId) -> EntityId:
    item = a.add(task, "Buy paper", "another run")
    confirm_without_effect(a, item)
    a.set(task, deleted=True)
    return item


@pytest.mark.usefixtures("old_ids")
@pytest.mark.parametrize("prevent_effect", [crowd_out, lose_target])
def test_of_what_can_take_no_effect_the_remedy_is_to_undo_it(a: Home, task: EntityId, prevent_effect: Any):
    item = prevent_effect(a, task)
    (check,) = a.read(lambda snapshot: list(check_decisions(snapshot)))
    assert check.remedy_id == "undo-and-do-it-yourself"
    (decision,) = a.read(lambda tx: list_decisions(tx, a.now_ms(), limit=9))
    assert (decision.without_effect, decision.can_take_effect) == (True, False)
    assert confirm(a, item).result is not DecisionOutcome.APPLIED
    # What the remedy names works.
    assert undo(a, item).result is DecisionOutcome.APPLIED
    assert doctor(a) == [True]


@pytest.mark.usefixtures("old_ids")
def test_what_could_not_count_is_not_confirmed(a: Home, task: EntityId):
    item = a.estimate(task, 120)
    take_places(a, item, EFFECTS_MAX - 1)
    (other,) = a.propose(task, "another run", ("set_task_title", {"title": "Owned"}))
    before = a.value(task, "title")
    take_places(a, other)
    assert confirm(a, item).result is DecisionOutcome.APPLIED
    assert confirm(a, other).message_id == "proposal-places-taken"
    assert (a.value(task, "estimate_minutes"), a.value(task, "title"), missed(a)) == (120, before, [])


@pytest.mark.usefixtures("old_ids")
def test_the_earlier_statuses_leave_out_a_write_that_does_not_count(a: Home, task: EntityId):
    (item,) = a.propose(task, "run", ("set_task_status", {"status": "GROOMED"}))
    confirm(a, item)
    take_places(a, item)
    steps = a.read(lambda now: status_steps(NameLookup(now), PutBackSources(now), now, a.entity(task)))
    assert "GROOMED" not in [step.status for step in steps]
