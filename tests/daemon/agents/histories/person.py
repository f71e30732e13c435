"""What a person may write: the task's fields, its items, deletions, and pages that were left open.

Never minds a refusal: what is not visible cannot be written.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import TaskEdit
from daemon.refusal import Refused
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.histories.history import REF, STATUSES, TITLES, History
from tests.daemon.agents.histories.witness import LABEL_NAMES, Page, Witness
from tests.simulation.author import TASK


class Person:
    """A person who writes, on any device."""

    def __init__(self, history: History) -> None:
        self.history = history

    def edit(self, home: Witness, dice: Random, page: Page | None = None) -> None:
        """Change fields of the task, sometimes to what has been proposed."""
        choices: Sequence[dict[str, Any]] = (
            {"estimate_minutes": dice.choice((90, 200, 300))},
            {"title": dice.choice(("Trip", self.history.word()))},
            {"priority": dice.choice(("P0", "P1", "P3"))},
            {"due": dice.choice(("2026-05-01", "2026-07-01", None))},
            dict(dice.choice(STATUSES)),
            {"add_labels": [dice.choice(LABEL_NAMES)]},
            {"remove_labels": [dice.choice(LABEL_NAMES)]},
            {"title": self.history.word(), "estimate_minutes": 45},
            {"language": dice.choice(("de", "fr"))},
        )
        change = dice.choice(choices)
        if page is not None:
            change = {**change, "base": dict(page.clock)}
        self._person(home, lambda tx: tasks.edit(tx, REF, TaskEdit(**change)), page)

    def _person(self, home: Witness, use: Callable[[Any], object], page: Page | None = None) -> None:
        """Write as a person; what is out of sight is refused."""
        self.history.touched.add(home.name)
        with suppress(Refused):
            home.write(use, page=page)

    def open_page(self, home: Witness) -> None:
        """Open the task's page and leave it open."""
        with suppress(Refused):
            task = home.read(lambda snapshot: tasks.show(snapshot, REF))
            home.page = Page(TASK, task.vector_clock, home.held)

    def write_page(self, home: Witness, dice: Random) -> None:
        """Write on a page that was left open, with the clock that it showed."""
        page, home.page = home.page, None
        if page is not None:
            self.history.count("write page", "old" if page.held != home.held else "new")
            if dice.random() < 0.5:
                self.edit(home, dice, page)
                return
            self._retitle(home, None)
            self._retitle(home, page)

    def _retitle(self, home: Witness, page: Page | None) -> None:
        base = None if page is None else dict(page.clock)
        edit = TaskEdit(title=self.history.word(), base=base)
        self._person(home, lambda tx: tasks.edit(tx, REF, edit), page)

    def item(self, home: Witness, dice: Random) -> None:
        """Tick, reword or archive an item, or add one; most often one that a proposal has made."""
        identifiers = sorted(self.history.reference(home).items())
        if not identifiers or dice.random() < 0.15:
            title = dice.choice((*TITLES, self.history.word()))
            self._person(home, lambda tx: checklist_items.add_item(tx, REF, NewItem(title)))
            return
        changes: Sequence[dict[str, Any]] = (
            {"is_checked": dice.random() < 0.7},
            {"is_checked": dice.random() < 0.7},
            {"title": dice.choice(("Pack well", self.history.word()))},
            {"is_archived": True},
            {"title": self.history.word(), "is_checked": True},
        )
        change, chosen = dice.choice(changes), id_to_text(dice.choice(identifiers))
        self._person(home, lambda tx: checklist_items.edit_item(tx, chosen, ItemEdit(**change)))
        self.history.met["item: touched"] += 1

    def touch(self, home: Witness, item: EntityId, dice: Random) -> None:
        """Tick or reword what a proposal has made."""
        text = id_to_text(self.history.reference(home).target(item))
        change = ItemEdit(is_checked=True) if dice.random() < 0.6 else ItemEdit(title=self.history.word())
        self._person(home, lambda tx: checklist_items.edit_item(tx, text, change))

    def note(self, home: Witness) -> None:
        """Add an entry, which an agent may name as evidence."""
        self._person(home, lambda tx: entries.add(tx, REF, NewEntry(self.history.word())))

    def remove(self, home: Witness, dice: Random) -> None:
        """Remove the task, an item or a checklist."""
        reference = self.history.reference(home)
        what = dice.choice(("task", "item", "item", "list"))
        if what == "task":
            self._person(home, lambda tx: tasks.remove(tx, REF))
        elif what == "item" and (identifiers := sorted(reference.items())):
            chosen = id_to_text(dice.choice(identifiers))
            self._person(home, lambda tx: checklist_items.remove_item(tx, chosen))
        elif what == "list":
            lists = home.read(lambda snapshot: snapshot.ids_pointing_at(TASK, "task_checklist"))
            if lists:
                self.history.touched.add(home.name)
                home.set(dice.choice(lists), deleted=True)
        self.history.count("remove", what)

    def restore(self, home: Witness, dice: Random) -> None:
        """Take a deletion back: the task's if it is removed, else an item's."""
        reference = self.history.reference(home)
        if not reference.visible(TASK):
            self._person(home, lambda tx: tasks.restore(tx, REF))
            self.history.met["restore: task"] += 1
            return
        hidden = home.read(
            lambda snapshot: [
                checklist_item.id for checklist_item in snapshot.entities("checklist_item", removed=True)
            ]
        )
        hidden = [identifier for identifier in hidden if reference.exists(identifier)]
        if hidden:
            chosen = id_to_text(dice.choice(hidden))
            self._person(home, lambda tx: checklist_items.restore_item(tx, chosen))
            self.history.met["restore: item"] += 1
