"""What a confirmation of a label checks again: room, scope, removal and rejection.

Never proposes with a model.
"""

from daemon.agents.deciding import recheck
from daemon.agents.deciding.decision_result import DecisionOutcome
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.deciding.recheck_steps import label_proposed, refused
from tests.support.decision_verbs import confirm, reject, undo, waiting
from tests.support.fleet import Home


def test_a_sixth_label_is_refused_also_to_who_insists(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    for number in range(5):
        a.set(task, **{f"label_ids/{id_to_text(a.new('label', name=f'own {number}'))}": True})
    refused(a, item, recheck.LABELS_FULL)
    refused(a, item, recheck.LABELS_FULL, force=True)
    own = next(member for member in a.entity(task).members("label_ids") if member != id_to_text(label))
    a.set(task, **{f"label_ids/{own}": False})
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_a_label_that_nobody_spoke_of_is_shown_as_not_there(a: Home, task: EntityId) -> None:
    label_proposed(a, task)
    (line,) = waiting(a)
    assert (line.base, line.current, line.proposed, line.subject) == (False, False, True, "bug")


def test_labels_confirmed_one_after_the_other_end_at_five(a: Home, task: EntityId) -> None:
    items = [label_proposed(a, task, f"label {number}")[1] for number in range(6)]
    results = [confirm(a, item) for item in items]
    assert [result.result for result in results] == [DecisionOutcome.APPLIED] * 5 + [DecisionOutcome.FAILED]
    assert results[-1].message == recheck.LABELS_FULL.text


def test_a_label_that_was_scoped_away_from_the_task_is_refused(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    elsewhere = a.new("category", name="Elsewhere")
    a.set(label, **{f"category_ids/{id_to_text(elsewhere)}": True})
    refused(a, item, recheck.LABEL_OUT_OF_SCOPE, force=True)


def test_a_label_that_was_removed_makes_its_proposal_obsolete(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    a.set(label, deleted=True)
    assert (confirm(a, item).result, confirm(a, item).message) == (
        DecisionOutcome.OBSOLETE,
        "the label was removed",
    )
    assert waiting(a) == []
    a.set(label, deleted=False)
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_a_label_that_was_denied_since_in_another_proposal_is_refused_unless_insisted(
    a: Home, task: EntityId
) -> None:
    label, first = label_proposed(a, task)
    confirm(a, first)
    a.set(task, **{f"label_ids/{id_to_text(label)}": False})
    a.set(task, **{f"label_ids/{id_to_text(label)}": None})
    call = {"id": id_to_text(label), "confidence": "high"}
    (second,) = a.propose(task, "later", ("assign_task_label", call))
    undo(a, first)
    assert second != first
    refused(a, second, recheck.LABEL_SUPPRESSED)
    assert confirm(a, second, force=True).result is DecisionOutcome.APPLIED


def test_the_rejection_that_is_taken_back_does_not_suppress_the_label(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    reject(a, item)
    assert confirm(a, item, again=True).result is DecisionOutcome.APPLIED
    assert a.value(task, f"label_ids/{id_to_text(label)}") is True
