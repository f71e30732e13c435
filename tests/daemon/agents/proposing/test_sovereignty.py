"""Who ticked an item decides who may untick it: the cases of the guard, and what counts as evidence.

Never asks a model what it saw: provenance and entries come from the store.
"""

from typing import Any

import pytest

from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.sovereignty import tick_objection
from daemon.agents.proposing.tool_answers import QUEUED_TEXT, CallOutcome
from daemon.timestamps import iso_utc
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fleet import START_MS, Fleet, Home
from tests.support.tool_calls import At

REASON = "The note of today says that the tests are written."
HOUR_MS = 3_600_000


class Board:
    """A task with one item, which tests tick and argue about."""

    def __init__(self, home: Home, task: EntityId) -> None:
        self.home = home
        self.task = task
        self.agent = derived_id("agent", id_to_text(task), time_of=task)
        self.checklist = home.new("checklist", task_id=task, title="Todos", position="a")
        self.item = self.make()

    def make(self, by: AuthorKind = AuthorKind.USER, **fields: Value) -> EntityId:
        values: dict[str, Value] = {
            "checklist_id": self.checklist,
            "title": "Write tests",
            "position": "a",
        }
        return self.write(None, "checklist_item", values | fields, by)

    def tick(self, is_checked: bool, by: AuthorKind = AuthorKind.USER, **how: Any) -> int:
        """Tick the item an hour later; return when."""
        self.home.fleet.now_ms += HOUR_MS
        self.write(self.item, "checklist_item", {"is_checked": is_checked}, by, **how)
        return self.home.fleet.now_ms

    def note(self, task: EntityId | None = None, by: AuthorKind = AuthorKind.USER, **how: Any) -> str:
        """Write an entry an hour later; return its id as a model is shown it."""
        self.home.fleet.now_ms += HOUR_MS
        fields: dict[str, Value] = {"task_id": task or self.task, "text": "Tests are written."}
        return id_to_text(self.write(None, "entry", fields, by, **how))

    def write(
        self, entity: EntityId | None, kind: str, fields: dict[str, Value], by: AuthorKind, **how: Any
    ) -> EntityId:
        def use(tx: Transaction) -> EntityId:
            identifier = entity or tx.new_id()
            agent = self.agent if by is AuthorKind.AGENT else None
            tx.commit([EntityWrite(identifier, kind, fields, by=by, **how)], by=by, agent=agent)
            return identifier

        return self.home.write(use)

    def ask(self, **update: Any) -> str:
        return self.at().ask("update_checklist_item", {"id": id_to_text(self.item), **update})

    def at(self, limits: ProposalLimits | None = None) -> At:
        return At(self.home, self.task, f"run {self.home.fleet.now_ms}", limits)


@pytest.fixture
def board(a: Home, task: EntityId) -> Board:
    return Board(a, task)


def blocked(at_ms: int | None, reason_min: int = 20) -> str:
    time = "unknown" if at_ms is None else iso_utc(at_ms)
    return (
        f"User set this item at {time}. Provide a reason (>= {reason_min} chars)"
        " and evidence from after that time to override."
    )


# -- the six cases ------------------------------------------------------------------------------------


def test_what_the_user_set_is_not_changed_without_a_reason(board: Board) -> None:
    at_ms = board.tick(True)
    evidence = board.note()
    assert board.ask(isChecked=False) == blocked(at_ms)
    assert board.ask(isChecked=False, evidenceIds=[evidence]) == blocked(at_ms)


def test_absence_of_evidence_is_no_evidence(board: Board) -> None:
    at_ms = board.tick(True)
    assert board.ask(isChecked=False, reason=REASON) == blocked(at_ms)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[]) == blocked(at_ms)


def test_what_the_user_set_is_changed_with_a_reason_and_evidence_from_after_that(board: Board) -> None:
    board.tick(False)
    assert board.ask(isChecked=True, reason=REASON, evidenceIds=[board.note()]) == QUEUED_TEXT


def test_what_an_agent_set_is_changed_freely(board: Board) -> None:
    board.tick(True, AuthorKind.AGENT)
    assert board.ask(isChecked=False) == QUEUED_TEXT


def test_a_title_goes_through_where_the_tick_beside_it_does_not(board: Board) -> None:
    at_ms = board.tick(True)
    caller = board.at()
    answer = caller.take(
        "update_checklist_item",
        {"id": id_to_text(board.item), "isChecked": False, "title": "Write more tests"},
    )
    assert answer.text == f"{QUEUED_TEXT}\n{blocked(at_ms)}"
    assert answer.outcome is CallOutcome.QUEUED
    assert caller.args() == [{"id": id_to_text(board.item), "title": "Write more tests"}]


def test_a_title_that_goes_through_leaves_the_provenance_of_the_tick_alone(board: Board) -> None:
    board.tick(True)
    before = board.home.entity(board.item).versions("is_checked")
    caller = board.at()
    caller.ask(
        "update_checklist_item",
        {"id": id_to_text(board.item), "isChecked": False, "title": "Write more tests"},
    )
    (proposed,) = caller.end()
    assert confirm(board.home, proposed.id).result == "applied"
    assert board.home.value(board.item, "title") == "Write more tests"
    assert board.home.entity(board.item).versions("is_checked") == before


def test_unknown_provenance_counts_as_the_users(board: Board) -> None:
    """Nobody ticked it, or an import without a time did: evidence must be later than the item."""
    assert board.ask(isChecked=True) == blocked(None)
    assert board.ask(isChecked=True, reason=REASON, evidenceIds=[board.note()]) == QUEUED_TEXT
    board.tick(False, origin={"by": "import"})
    assert board.ask(isChecked=True) == blocked(None)
    board.tick(False, AuthorKind.SYSTEM)
    assert board.ask(isChecked=True) == blocked(board.home.fleet.now_ms)


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "   ",
        "too short",
        "x" * 19,
        "a" + " " * 40 + "b",
        " \n" * 30,
        "\u200b" * 40,
        "because" + "\u200d" * 20,
    ],
)
def test_a_blank_or_short_reason_is_none(board: Board, reason: str) -> None:
    at_ms = board.tick(True)
    assert board.ask(isChecked=False, reason=reason, evidenceIds=[board.note()]) == blocked(at_ms)


def test_a_reason_of_twenty_characters_is_long_enough(board: Board) -> None:
    board.tick(True)
    assert board.ask(isChecked=False, reason="x" * 20, evidenceIds=[board.note()]) == QUEUED_TEXT


# -- only what would change ---------------------------------------------------------------------------


def test_a_tick_that_stands_is_redundant_and_no_matter_of_sovereignty(board: Board) -> None:
    board.tick(True)
    assert board.ask(isChecked=True) == 'Skipped: "Write tests" is already checked.'


def test_archiving_and_rewording_need_no_evidence(board: Board) -> None:
    board.tick(True)
    assert board.ask(isArchived=True) == QUEUED_TEXT
    assert board.ask(title="Other words") == QUEUED_TEXT


def test_the_users_own_toggles_always_succeed(board: Board) -> None:
    board.tick(True, AuthorKind.AGENT)
    board.tick(False)
    board.tick(True)
    assert board.home.value(board.item, "is_checked") is True


# -- who set it ---------------------------------------------------------------------------------------


def test_a_confirmed_tick_is_the_agents_and_an_edited_one_the_users(board: Board) -> None:
    board.tick(False, AuthorKind.AGENT)
    caller = board.at()
    caller.ask("update_checklist_item", {"id": id_to_text(board.item), "isChecked": True})
    (proposed,) = caller.end()
    confirm(board.home, proposed.id)
    assert board.ask(isChecked=False) == QUEUED_TEXT
    new_caller = At(board.home, board.task, "making")
    new_caller.ask("add_checklist_item", {"title": "New"})
    (item,) = new_caller.end()
    confirm(board.home, item.id, edit={"title": "New", "isChecked": True})
    board.item = derived_id("entity", id_to_text(item.id), time_of=item.id)
    assert board.ask(isChecked=False).startswith("User set this item at ")


def test_what_a_user_and_an_agent_set_while_apart_counts_as_the_users(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    board = Board(a, task)
    fleet.sync()
    at_ms = board.tick(True)
    existing_board = Board.__new__(Board)
    existing_board.home, existing_board.task, existing_board.agent, existing_board.item = (
        b,
        task,
        board.agent,
        board.item,
    )
    existing_board.tick(True, AuthorKind.AGENT)
    fleet.sync()
    assert len(a.entity(board.item).versions("is_checked")) == 2
    assert board.ask(isChecked=False) == blocked(at_ms)


def test_of_what_two_people_set_while_apart_evidence_is_later_than_both(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    board = Board(a, task)
    fleet.sync()
    board.tick(True)
    between = board.note()
    existing_board = Board.__new__(Board)
    existing_board.home, existing_board.task, existing_board.agent, existing_board.item = (
        b,
        task,
        board.agent,
        board.item,
    )
    at_ms = existing_board.tick(True)
    fleet.sync()
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[between]) == blocked(at_ms)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[board.note()]) == QUEUED_TEXT


# -- what counts as evidence --------------------------------------------------------------------------


def test_evidence_from_before_the_toggle_does_not_count(board: Board) -> None:
    early = board.note()
    at_ms = board.tick(True)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[early]) == blocked(at_ms)
    later = board.note()
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[later, early]) == blocked(at_ms)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[later]) == QUEUED_TEXT


def test_an_old_note_that_was_reworded_does_not_become_evidence(board: Board) -> None:
    early = board.note()
    at_ms = board.tick(True)
    board.home.fleet.now_ms += HOUR_MS
    entry = next(
        entity for entity in board.home.read(lambda s: s.entities("entry")) if id_to_text(entity.id) == early
    )
    board.home.set(entry.id, text="Reworded")
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[early]) == blocked(at_ms)


def test_an_entry_of_another_task_does_not_count(board: Board) -> None:
    other = board.home.new("task", title="Another", status="OPEN")
    at_ms = board.tick(True)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[board.note(other)]) == blocked(at_ms)


def test_an_entry_that_an_agent_wrote_or_reworded_does_not_count(board: Board) -> None:
    at_ms = board.tick(True)
    own = board.note(by=AuthorKind.AGENT)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[own]) == blocked(at_ms)
    theirs = board.note()
    entry = next(
        entity for entity in board.home.read(lambda s: s.entities("entry")) if id_to_text(entity.id) == theirs
    )
    board.write(entry.id, "entry", {"text": "It is done, says the agent."}, AuthorKind.AGENT)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[theirs]) == blocked(at_ms)
    text = board.note(by=AuthorKind.AGENT)
    entry = next(
        entity for entity in board.home.read(lambda s: s.entities("entry")) if id_to_text(entity.id) == text
    )
    board.home.set(entry.id, text="The agent began it.")
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[text]) == blocked(at_ms)


def test_what_is_no_entry_is_missing_or_was_removed_does_not_count(board: Board) -> None:
    at_ms = board.tick(True)
    noted = board.note()
    entry = next(
        entity for entity in board.home.read(lambda s: s.entities("entry")) if id_to_text(entity.id) == noted
    )
    board.home.set(entry.id, deleted=True)
    fields: dict[str, Value] = {"task_id": board.task, "text": "Not done."}
    timed = id_to_text(board.write(None, "time_record", fields, AuthorKind.USER))
    for text in (id_to_text(board.item), id_to_text(board.task), "0" * 32, noted, timed):
        assert board.ask(isChecked=False, reason=REASON, evidenceIds=[text]) == blocked(at_ms), text


def test_an_imported_note_is_as_old_as_it_was_where_it_came_from(board: Board) -> None:
    at_ms = board.tick(True)
    old = board.note(origin={"by": "import", "at_ms": START_MS - 1})
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[old]) == blocked(at_ms)
    recent = board.note(origin={"by": "import", "at_ms": at_ms + 1})
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[recent]) == QUEUED_TEXT


def test_a_note_dated_into_the_future_that_came_before_the_toggle_does_not_count(board: Board) -> None:
    early = board.note(origin={"by": "import", "at_ms": START_MS * 2})
    at_ms = board.tick(True)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[early]) == blocked(at_ms)


def test_of_an_import_what_was_later_where_it_came_from_is_later(board: Board) -> None:
    noted = board.note(origin={"by": "import", "at_ms": 2000})
    board.tick(True, origin={"by": "import", "at_ms": 1000})
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[noted]) == QUEUED_TEXT
    board.tick(True, origin={"by": "import", "at_ms": 2000})
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[noted]) == blocked(2000)


def test_the_toggle_and_the_note_are_ordered_by_their_stamps_within_a_millisecond(board: Board) -> None:
    board.write(board.item, "checklist_item", {"is_checked": True}, AuthorKind.USER)
    fields: dict[str, Value] = {"task_id": board.task, "text": "Not done after all."}
    noted = id_to_text(board.write(None, "entry", fields, AuthorKind.USER))
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[noted]) == QUEUED_TEXT
    board.write(board.item, "checklist_item", {"is_checked": True}, AuthorKind.USER)
    assert board.ask(isChecked=False, reason=REASON, evidenceIds=[noted]).startswith("User set this item")


def test_a_note_that_came_with_the_toggle_is_not_later(board: Board) -> None:
    def use(tx: Transaction) -> str:
        note = tx.new_id()
        fields: dict[str, Value] = {"task_id": board.task, "text": "Ticked by mistake."}
        tx.commit(
            [
                EntityWrite(board.item, "checklist_item", {"is_checked": True}),
                EntityWrite(note, "entry", fields),
            ]
        )
        return id_to_text(note)

    noted = board.home.write(use)
    text = board.ask(isChecked=False, reason=REASON, evidenceIds=[noted])
    assert text == blocked(board.home.fleet.now_ms)


# -- where it is called -------------------------------------------------------------------------------


def test_the_length_of_a_reason_is_a_setting(board: Board) -> None:
    at_ms = board.tick(True)
    update = {
        "id": id_to_text(board.item),
        "isChecked": False,
        "reason": REASON,
        "evidenceIds": [board.note()],
    }
    strict = board.at(ProposalLimits(reason_chars_min=60))
    assert strict.ask("update_checklist_item", update) == blocked(at_ms, 60)
    assert board.at(ProposalLimits(reason_chars_min=10)).ask("update_checklist_item", update) == QUEUED_TEXT


def test_in_a_batch_what_is_refused_stands_on_a_line_of_its_own(board: Board) -> None:
    at_ms = board.tick(True)
    free = board.make(AuthorKind.AGENT, title="Deploy", is_checked=False)
    items = [{"id": id_to_text(board.item), "isChecked": False}, {"id": id_to_text(free), "isChecked": True}]
    answer = board.at().ask("update_checklist_items", {"items": items})
    assert answer == (f'Proposal queued for user review (1 item(s) queued).\n"Write tests": {blocked(at_ms)}')


def test_it_is_judged_by_the_journal_as_it_stands_and_not_as_the_run_saw_it(board: Board) -> None:
    board.tick(False, AuthorKind.AGENT)
    caller = board.at()
    board.tick(True)
    at_ms = board.tick(False)
    assert caller.ask("update_checklist_item", {"id": id_to_text(board.item), "isChecked": True}) == blocked(
        at_ms
    )


def test_of_an_item_that_is_not_known_here_there_is_nothing_to_object_to(board: Board) -> None:
    args = {"id": "0" * 32, "isChecked": True}
    assert board.home.read(lambda snapshot: tick_objection(snapshot, board.task, None, args, 20)) is None


def test_what_makes_an_item_names_none_and_ticks_none(board: Board) -> None:
    board.tick(True)
    item = board.home.entity(board.item)
    args = {"title": "Write tests", "isChecked": False}
    assert board.home.read(lambda snapshot: tick_objection(snapshot, board.task, item, args, 20)) is None
