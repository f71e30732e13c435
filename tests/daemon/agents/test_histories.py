"""Random histories of three devices with wrong clocks: proposals, verdicts, edits, syncs in any order.

Never looks at a clock or at `seen`: what is shown is judged by what was done. A failure names its seed.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from daemon.agents.decisions import Outcome, Result
from store.history import operations
from store.item import Item
from store.snapshot import Snapshot
from store.verdicts import Status
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from tests.daemon.agents.deciding import confirm, defer, reject, reopen, undo, waiting
from tests.daemon.agents.fleet import Fleet, Home

HISTORIES = 40
STEPS = 50
SKEWS_MS = (0, -300_000, 5_000_000)


class History:
    """One history, drawn from one seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.fleet = Fleet(folder)
        self.homes = [self.fleet.home(f"device {at}", skew) for at, skew in enumerate(SKEWS_MS)]
        self.task = self.homes[0].new("task", title="T0", status="OPEN", priority="P2", estimate_minutes=60)
        self.fleet.sync()
        self.met: Counter[str] = Counter()
        self.steps: dict[Callable[[Home], None], int] = {
            self.propose: 5,
            self.confirm: 8,
            self.reject: 4,
            self.undo: 4,
            self.reopen: 2,
            self.defer: 1,
            self.edit: 4,
            self.touch_created: 3,
            self.remove_list: 1,
            self.pull: 12,
        }

    def play(self) -> None:
        for _ in range(STEPS):
            (step,) = self.random.choices(list(self.steps), list(self.steps.values()))
            self.fleet.now_ms += self.random.choice([1, 1000, 60_000])
            step(self.random.choice(self.homes))
        self.fleet.sync()
        for home in self.homes:
            home.read(self.judge)
        assert len({tuple(line.item_id for line in waiting(home)) for home in self.homes}) == 1

    # -- what may happen ------------------------------------------------------------------------------

    def propose(self, home: Home) -> None:
        minutes, title = self.random.choice([90, 120]), self.random.choice(["One", "Two"])
        calls: list[tuple[str, dict[str, Any]]] = [
            ("update_task_estimate", {"minutes": minutes}),
            ("add_checklist_item", {"title": title}),
        ]
        call = self.random.choice(calls)
        self.met["proposed"] += len(home.propose(self.task, f"run {self.random.random()}", call))

    def pick(self, home: Home) -> EntityId | None:
        items = home.read(lambda snapshot: [item.id for item in snapshot.items(self.task)])
        return self.random.choice(items) if items else None

    def confirm(self, home: Home) -> None:
        item = self.pick(home)
        if item is None:
            return
        before, shown = home.item(item), self.value(home, item)
        force, again, edits = (self.random.random() < chance for chance in (0.3, 0.3, 0.2))
        edit = self.edited(before) if edits else None
        result = confirm(home, item, force=force, again=again, edit=edit)
        self.met[f"confirm: {result.result}"] += 1
        if before.disputed:
            self.met[f"confirm disputed: {result.result}"] += 1
        if result.result is not Outcome.APPLIED:
            return
        after = home.item(item)
        assert (after.status, after.disputed) == (Status.CONFIRMED, False)
        if edit is not None:
            assert self.value(home, item) in (*edit.values(), after.args.get("minutes"))
        if before.tool == "update_task_estimate" and not force:
            assert shown in {one.value["estimate_minutes"] for one in before.occurrences}

    def edited(self, item: Item) -> dict[str, object]:
        if item.tool == "update_task_estimate":
            return {"minutes": self.random.randint(1, 50)}
        return {"title": f"Edited {self.random.randint(1, 9)}"}

    def value(self, home: Home, item: EntityId) -> object:
        """Return what shows in the field that an item writes."""
        held = home.item(item)
        if held.tool == "update_task_estimate":
            return home.value(self.task, "estimate_minutes")
        created = home.read(lambda snapshot: snapshot.entity(created_by(item)))
        return created.value("title") if created is not None and created.visible else None

    def verdict(self, home: Home, decide: Callable[[Home, EntityId], Result], becomes: Status) -> None:
        item = self.pick(home)
        if item is None:
            return
        result = decide(home, item)
        self.met[f"{decide.__name__}: {result.result}"] += 1
        if result.result is Outcome.APPLIED:
            after = home.item(item)
            assert (after.status, after.disputed) == (becomes, False)

    def reject(self, home: Home) -> None:
        self.verdict(home, reject, Status.REJECTED)

    def undo(self, home: Home) -> None:
        self.verdict(home, undo, Status.REJECTED)

    def reopen(self, home: Home) -> None:
        self.verdict(home, reopen, Status.PENDING)

    def defer(self, home: Home) -> None:
        self.verdict(home, defer, Status.DEFERRED)

    def edit(self, home: Home) -> None:
        home.set(self.task, estimate_minutes=self.random.choice([90, 120, 200, 300]))

    def touch_created(self, home: Home) -> None:
        item = self.pick(home)
        held = None if item is None else home.read(lambda snapshot: snapshot.entity(created_by(item)))
        if held is not None and held.visible:
            home.set(held.id, is_checked=True)
            self.met["touched"] += 1

    def remove_list(self, home: Home) -> None:
        lists = home.read(lambda snapshot: snapshot.referring(self.task, "task_checklist"))
        if lists and self.random.random() < 0.3:
            home.set(lists[0], deleted=True)

    def pull(self, home: Home) -> None:
        self.fleet.pull(home, self.random.choice([one for one in self.homes if one is not home]))

    # -- what must hold -------------------------------------------------------------------------------

    def judge(self, snapshot: Snapshot) -> None:
        for item in snapshot.items(self.task):
            if item.status is Status.CONFIRMED:
                self.judge_confirmed(snapshot, item)
            else:
                self.judge_other(snapshot, item)
            self.met[f"status: {item.status}{' disputed' if item.disputed else ''}"] += 1

    def target(self, item: Item) -> EntityId:
        return self.task if item.tool == "update_task_estimate" else created_by(item.id)

    def judge_confirmed(self, snapshot: Snapshot, item: Item) -> None:
        """What is confirmed was written, and is shown unless someone wrote over it."""
        entity, field = self.target(item), "estimate_minutes" if "minutes" in item.args else "title"
        written = [one for one in operations(snapshot, entity) if one.operation.effect == item.id]
        assert written
        held = snapshot.entity(entity)
        assert held is not None
        assert held.exists
        assert held.version(field) is not None

    def judge_other(self, snapshot: Snapshot, item: Item) -> None:
        """What is not confirmed is not in effect, unless a person's own write rests on what it made."""
        held = snapshot.entity(self.target(item))
        if held is None:
            return
        if item.tool == "update_task_estimate":
            effects = {one.source.effect for one in held.versions("estimate_minutes")}
            assert item.id not in effects
        elif held.exists:
            writes = operations(snapshot, held.id)
            assert any(one.operation.by is By.USER and one.operation.effect is None for one in writes)


def created_by(item: EntityId) -> EntityId:
    return derived_id("entity", text(item), time_of=item)


@pytest.mark.timeout(300)
def test_random_histories_keep_the_laws_and_meet_the_cases(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in range(HISTORIES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        history = History(folder, seed)
        try:
            history.play()
        except BaseException as fault:
            fault.add_note(f"seed {seed}")
            raise
        finally:
            history.fleet.close()
        met += history.met
    wanted = {
        *(f"confirm: {outcome}" for outcome in ("applied", "already", "stale", "obsolete", "conflict")),
        *(f"status: {status}" for status in ("confirmed", "rejected", "pending", "rejected disputed")),
        "confirm disputed: applied",
        "undo: applied",
        "reopen: applied",
        "defer: applied",
        "touched",
    }
    assert not {case for case in wanted if met[case] < 3}, met
