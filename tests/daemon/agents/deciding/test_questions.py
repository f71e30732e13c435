"""A person answers an agent's question: one answer in effect, none lost, on however many devices.

Never asks a model: `tests/daemon/agents/proposing/test_asking.py` does.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.context.memory import decision_views
from daemon.agents.deciding.decision_history import list_decisions
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.deciding.item_state import lacks_effect
from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.policy import policy_field
from daemon.journal import tasks
from daemon.journal.change_log import list_changes
from daemon.journal.views.lookup import answer_in
from store.fold.verdicts import DecisionStatus, Opinion, Verdict, deciding_opinions, item_status_from
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, defer, reject, reopen, undo, waiting
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.questions import answered_by, asked

FIRST, SECOND = "2027-03-01", "2027-03-08"


@pytest.fixture
def answers(fleet: Fleet, a: Home, b: Home, task: EntityId) -> list[EntityId]:
    items = asked(a, task)
    fleet.sync()
    return items


def statuses(home: Home, answers: list[EntityId]) -> list[str]:
    return [home.item(answer).status.value for answer in answers]


def due(home: Home, task: EntityId) -> object:
    return home.value(task, "due")


def test_choosing_an_answer_makes_its_change_and_turns_the_others_down(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    result = confirm(a, answers[1])
    assert result.result is DecisionOutcome.APPLIED
    assert result.message == "Set due date to 2027-03-08"
    assert due(a, task) == SECOND
    assert statuses(a, answers) == ["rejected", "confirmed", "rejected"]
    assert waiting(a, task) == []
    (record,) = a.read(lambda snapshot: list_decisions(snapshot, a.now_ms(), limit=10))
    assert (record.question, record.answer) == ("When is it due?", "A week later")
    (view,) = a.read(lambda snapshot: decision_views(snapshot, task, a.now_ms()))
    assert view.prompt_line == '- ✓ ask_question("When is it due?") — answered "A week later"'


def test_the_log_and_the_provenance_name_the_question_and_the_answer(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    confirm(a, answers[1])
    changes = a.read(lambda snapshot: list_changes(snapshot, id_to_text(task), limit=50))
    (why,) = [change.why for change in changes if change.field == "due"]
    assert why == 'the answer "A week later" to the question of an agent "When is it due?"'
    titles = {change.title for change in changes if change.kind == "decision" and change.after == "confirmed"}
    assert titles == {"When is it due? A week later"}
    shown = a.read(lambda snapshot: tasks.show(snapshot, id_to_text(task), provenance=True))
    origin = (shown.provenance or {})["due"]
    assert (origin.question, origin.answer) == ("When is it due?", "A week later")


@pytest.mark.parametrize(
    "args",
    [
        *(
            {"question": "Q", "answers": [{"text": "A"}], "number": number}
            for number in (0, 2, -1, True, "1", None, 1 << 70)
        ),
        {"question": 5, "answers": [{"text": "A"}], "number": 1},
        {"question": "Q", "answers": ["A"], "number": 1},
        {"question": "Q", "answers": [{"text": 7}], "number": 1},
        {"question": "Q", "answers": {"text": "A"}, "number": 1},
        {},
    ],
)
def test_arguments_that_another_device_forged_name_no_answer(args: dict[str, Any]) -> None:
    assert answer_in(args) is None


def test_an_answer_without_a_change_is_an_answer_all_the_same(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    assert confirm(a, answers[2]).result is DecisionOutcome.APPLIED
    assert due(a, task) is None
    assert statuses(a, answers) == ["rejected", "rejected", "confirmed"]
    assert not a.read(lambda snapshot: lacks_effect(snapshot, a.item(answers[2])))
    assert undo(a, answers[2]).message == "undone: the answer is taken back"


def test_none_of_these_rejects_the_question_with_the_reason(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    assert reject(a, answers[1], "ask Ana").message == "rejected: none of the answers"
    assert statuses(a, answers) == ["rejected"] * 3
    (view,) = a.read(lambda snapshot: decision_views(snapshot, task, a.now_ms()))
    assert view.prompt_line == '- ✗ ask_question("When is it due?") — rejected (reason: "ask Ana")'


def test_the_same_answer_on_two_devices_is_one_change(
    fleet: Fleet, a: Home, b: Home, task: EntityId, answers: list[EntityId]
) -> None:
    for home in (a, b):
        confirm(home, answers[0])
    fleet.sync()
    for home in (a, b):
        assert due(home, task) == FIRST
        assert home.entity(task).conflicts() == {}
        assert statuses(home, answers) == ["confirmed", "rejected", "rejected"]
        assert waiting(home, task) == []


@pytest.mark.parametrize("settled", [0, 1, 2])
def test_two_answers_chosen_while_apart_are_disputed_until_one_is_chosen_again(
    fleet: Fleet, b: Home, task: EntityId, answers: list[EntityId], settled: int
) -> None:
    (a, _) = fleet.homes
    confirm(a, answers[0])
    confirm(b, answers[1])
    fleet.sync()
    for home in (a, b):
        assert due(home, task) is None
        assert [(item.disputed, item.item_id) for item in waiting(home, task)] == [
            (True, item.item_id) for item in waiting(a, task)
        ]
        assert len(waiting(home, task)) == 2
    assert confirm(b, answers[settled]).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert due(home, task) == (FIRST, SECOND, None)[settled]
        assert waiting(home, task) == []
        assert [place for place, status in enumerate(statuses(home, answers)) if status == "confirmed"] == [
            settled
        ]


def test_an_answer_here_and_none_of_these_there_is_disputed(
    fleet: Fleet, a: Home, b: Home, task: EntityId, answers: list[EntityId]
) -> None:
    confirm(a, answers[0])
    reject(b, answers[0])
    fleet.sync()
    for home in (a, b):
        assert due(home, task) is None
        assert [item.disputed for item in waiting(home, task)] == [True]


def test_another_answer_is_chosen_by_saying_so(a: Home, task: EntityId, answers: list[EntityId]) -> None:
    confirm(a, answers[0])
    refused = confirm(a, answers[1])
    assert refused.result is DecisionOutcome.CONFLICT
    assert "confirm --again" in refused.message
    assert confirm(a, answers[1], again=True).result is DecisionOutcome.APPLIED
    assert due(a, task) == SECOND
    assert statuses(a, answers) == ["rejected", "confirmed", "rejected"]


def test_a_question_is_deferred_and_reopened_as_a_whole(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    defer(a, answers[2])
    assert statuses(a, answers) == ["deferred"] * 3
    confirm(a, answers[0])
    assert reopen(a, answers[1]).message == "the question is open again"
    assert statuses(a, answers) == ["pending"] * 3
    assert due(a, task) is None
    assert len(waiting(a, task)) == 3


def test_an_answer_that_is_stale_when_chosen_is_refused_and_can_be_forced(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    a.set(task, due=SECOND)
    refused = confirm(a, answers[0])
    assert refused.result is DecisionOutcome.STALE
    assert refused.can_force
    assert statuses(a, answers) == ["pending"] * 3
    # What the person wrote by hand meanwhile is an answer, too.
    assert confirm(a, answers[1]).result is DecisionOutcome.APPLIED


def test_an_answer_that_the_policy_denies_by_now_is_refused(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    fields = {policy_field("update_task_due_date"): "denied"}
    a.write(lambda tx: tx.commit([EntityWrite(agent_id(task), "agent", {"task_id": task, **fields})]))
    assert confirm(a, answers[0]).result is DecisionOutcome.FAILED
    assert confirm(a, answers[2]).result is DecisionOutcome.APPLIED


def test_a_question_expires_as_a_whole(
    fleet: Fleet, a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    fleet.now_ms += 8 * DAY_MS
    assert waiting(a, task) == []
    assert confirm(a, answers[0]).result is DecisionOutcome.EXPIRED
    (view,) = a.read(lambda snapshot: decision_views(snapshot, task, a.now_ms()))
    assert view.prompt_line == '- · ask_question("When is it due?") — no decision'


def test_the_change_of_an_answer_can_be_edited_and_an_answer_without_one_cannot(
    a: Home, task: EntityId, answers: list[EntityId]
) -> None:
    assert confirm(a, answers[2], edit={"number": 1}).result is DecisionOutcome.FAILED
    assert confirm(a, answers[0], edit={"dueDate": "2027-03-02"}).result is DecisionOutcome.APPLIED
    assert due(a, task) == "2027-03-02"


def test_an_answer_that_makes_an_item_makes_the_same_one_on_two_devices(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    items = asked(
        a,
        task,
        answers=[answered_by("Yes", "add_checklist_item", title="Book the train"), {"text": "No"}],
    )
    fleet.sync()
    for home in (a, b):
        assert confirm(home, items[0]).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert home.titles(task) == ["Book the train"]
    undo(b, items[0])
    fleet.sync()
    assert a.titles(task) == []


# -- any history, on any number of devices --------------------------------------------------------------

ACTS: list[Callable[[Home, EntityId], object]] = [
    lambda home, item: confirm(home, item, again=True, force=True),
    reject,
    defer,
    reopen,
    undo,
]


@given(st.data())
def test_never_are_two_answers_in_effect(data: st.DataObject) -> None:
    """The fold of verdicts alone: an act decides on each answer, and knows what its device knows."""
    answers, devices = range(3), range(3)
    seen_acts: list[set[int]] = [set() for _ in devices]
    acts: list[list[Opinion]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        device, other = data.draw(st.sampled_from(devices)), data.draw(st.sampled_from(devices))
        if data.draw(st.booleans()):
            seen_acts[device] |= seen_acts[other]
            continue
        chosen = data.draw(st.sampled_from(answers))
        verdict = data.draw(st.sampled_from([*Verdict, Verdict.CONFIRMED]))
        acts.append(
            [
                Opinion(
                    EntityId(bytes([len(acts), answer])),
                    Verdict.REJECTED if verdict is Verdict.CONFIRMED and answer != chosen else verdict,
                    AuthorKind.USER,
                    frozenset(acts[act][answer].decision for act in seen_acts[device]),
                )
                for answer in answers
            ]
        )
        seen_acts[device].add(len(acts) - 1)
    folded = []
    for answer in answers:
        counts: dict[Verdict, int] = {}
        for opinion in deciding_opinions(act[answer] for act in acts):
            counts[opinion.verdict] = counts.get(opinion.verdict, 0) + 1
        folded.append((item_status_from(counts), counts.get(Verdict.CONFIRMED, 0)))
    in_effect = [status for status, _ in folded if status.status is DecisionStatus.CONFIRMED]
    assert len(in_effect) <= 1
    # Of two answers that were both chosen last, each is shown as disputed.
    for (first, times), (second, other_times) in combinations(folded, 2):
        if times and other_times:
            assert first.disputed
            assert second.disputed


@given(data=st.data())
def test_stores_that_answer_while_apart_agree_and_change_one_thing_at_most(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fleet = Fleet(tmp_path_factory.mktemp("question"))
    try:
        a, b = fleet.home("a"), fleet.home("b")
        task = a.new("task", title="Write the report", status="OPEN")
        answers = asked(a, task)
        fleet.sync()
        for _ in range(data.draw(st.integers(1, 6))):
            home = data.draw(st.sampled_from([a, b]))
            data.draw(st.sampled_from(ACTS))(home, data.draw(st.sampled_from(answers)))
            if data.draw(st.booleans()):
                fleet.sync()
        fleet.sync()
        for home in (a, b):
            chosen = [place for place, status in enumerate(statuses(home, answers)) if status == "confirmed"]
            assert len(chosen) <= 1
            assert due(home, task) == ((FIRST, SECOND, None)[chosen[0]] if chosen else None)
    finally:
        fleet.close()
