"""The laws of undo, over drawn histories of two devices that edit, undo and meet.

Never compares with a second implementation: each law says what a person can see.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import convert

from daemon.agents.person.undo_of_change import UndoResult
from daemon.journal import tasks
from daemon.journal.references.change_names import commit_name
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.refusal import Refused
from syncproto.codec import Value
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.journal.undo.acts import undo
from tests.daemon.journal.undo.whole_journal import last_head, whole_journal
from tests.support.fleet import Fleet, Home

_FIELDS = {
    "title": ["Ana", "Bea", "Carl"],
    "due": ["2026-03-05", "2026-03-06"],
    "priority": ["P0", "P1", "P3"],
}


class Edit(NamedTuple):
    """A write of some fields on the device of that number."""

    device: int
    values: dict[str, str]


class Undo(NamedTuple):
    """An undo, on a device, of the change of that number, counted back from the last one that was made."""

    device: int
    back: int


class Meet(NamedTuple):
    """Both devices get all that either has."""


_devices = st.integers(0, 1)
_values = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in _FIELDS.items()}
)
_steps = st.one_of(
    st.builds(Edit, _devices, _values.filter(bool)),
    st.builds(Undo, _devices, st.integers(0, 3)),
    st.builds(Undo, _devices, st.integers(0, 3)),
    st.just(Meet()),
)

Seen = dict[str, Value]


class _Change(NamedTuple):
    """A change, and what its author saw before it and after it."""

    name: str
    before: Seen
    after: Seen


class _Play:
    """A task on two devices, and the changes that were made to it."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.homes = [fleet.home("a"), fleet.home("b")]
        made = self.homes[0].write(lambda tx: tasks.add(tx, NewTask(title="Call", due="2026-03-01")))
        self.task = EntityId(id_from_text(made.id))
        self.changes: list[_Change] = []
        fleet.sync()

    def seen(self, home: Home) -> Seen:
        return {name: home.value(self.task, name) for name in _FIELDS}

    def edit(self, step: Edit) -> None:
        home, ref = self.homes[step.device], id_to_text(self.task)
        before, end = self.seen(home), home.read(lambda snapshot: snapshot.feed_end())
        self.fleet.now_ms += 1000
        home.write(lambda tx: tasks.edit(tx, ref, convert(step.values, TaskEdit)))
        if home.read(lambda snapshot: snapshot.feed_end()) > end:
            name = home.read(lambda snapshot: commit_name(last_head(snapshot)))
            self.changes.append(_Change(name, before, self.seen(home)))

    def undo(self, step: Undo) -> None:
        """Undo a change if the device has it, and check what the answer promises."""
        home = self.homes[step.device]
        if len(self.changes) <= step.back:
            return
        change = self.changes[-1 - step.back]
        before = self.seen(home)
        try:
            undone = undo(home, change.name)
        except Refused:
            # The other device has it alone, or it repeated what stood.
            return
        after = self.seen(home)
        _require_honest(change, undone, before, after)
        if undone.undo is not None:
            self.changes.append(_Change(undone.undo, before, after))
            again = undo(home, change.name)
            assert again.already is (not again.left)
            assert {value.field for value in again.left} <= {value.field for value in undone.left}
            assert (again.undo, self.seen(home)) == (None, after)


def _require_honest(change: _Change, undone: UndoResult, before: Seen, after: Seen) -> None:
    """Check that only what the change had written was altered, and to what stood before it."""
    left = {value.field for value in undone.left}
    for field, value in after.items():
        if value != before[field]:
            assert before[field] == change.after[field]
            assert value == change.before[field]
            assert field not in left
    if undone.undo is None:
        assert after == before


_SAME: list[Edit | Undo | Meet] = [
    Edit(1, {"title": "Ana", "priority": "P0"}),
    Undo(1, 0),
    Meet(),
    Edit(0, {"title": "Ana"}),
    Undo(0, 1),
]
"""A redo that leaves a value, which is the one that it would write."""

_BESIDE: list[Edit | Undo | Meet] = [
    Edit(0, {"title": "Ana"}),
    Meet(),
    Edit(0, {"title": "Bea"}),
    Edit(1, {"title": "Carl"}),
    Meet(),
    Edit(1, {"title": "Ana"}),
    Undo(1, 0),
    Meet(),
    Undo(1, 3),
]
"""An undo of what another device wrote beside a value that an undo has put back."""


@pytest.mark.slow
@example(_BESIDE)
@example(_SAME)
@settings(max_examples=30, deadline=None)
@given(st.lists(_steps, max_size=14))
def test_an_undo_alters_only_what_nobody_wrote_since_and_devices_agree(
    steps: list[Edit | Undo | Meet],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play = _Play(Fleet(Path(folder)))
        for step in steps:
            if isinstance(step, Edit):
                play.edit(step)
            elif isinstance(step, Undo):
                play.undo(step)
            else:
                play.fleet.sync()
        play.fleet.sync()
        first, second = (home.read(whole_journal) for home in play.homes)
        assert first == second
        play.fleet.close()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(_values.filter(bool), max_size=6), st.data())
def test_undone_from_the_last_to_the_first_and_redone_all_is_as_it_was(
    edits: list[dict[str, str]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play = _Play(Fleet(Path(folder)))
        home, undos = play.homes[0], list[_Change]()
        for values in edits:
            play.edit(Edit(0, values))
        count = data.draw(st.integers(0, len(play.changes)))
        for change in play.changes[::-1][:count]:
            undone = undo(home, change.name)
            assert undone.left == []
            assert play.seen(home) == change.before
            assert undone.undo is not None
            undos.append(_Change(undone.undo, change.before, change.after))
        for done in undos[::-1]:
            redone = undo(home, done.name)
            assert redone.left == []
            assert play.seen(home) == done.after
        play.fleet.close()
