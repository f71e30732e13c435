"""One proposal of each kind: a field, several fields, a label, a language, a new item, a changed item.

Never decides anything: it knows what is proposed, what is there, and how a person overwrites it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from store.transaction import EntityWrite
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm, reopen, undo
from tests.support.fleet import Home


class Stage(NamedTuple):
    """A task, the item, and what the proposal is about: the task itself if it names nothing."""

    task: EntityId
    target: EntityId
    item: EntityId

    @property
    def created(self) -> EntityId:
        """Return the entity that the item makes, if it makes one."""
        return derived_id("entity", id_to_text(self.item), time_of=self.item)


class Kind(NamedTuple):
    """A tool at work. `before`, `after`, `edited` and `over` are the values of `there` at these moments."""

    tool: str
    prepare: Callable[[Home, EntityId], EntityId]
    args: Callable[[EntityId], dict[str, Any]]
    there: Callable[[Home, Stage], Any]
    before: Any
    after: Any
    edit: dict[str, Any]
    edited: Any
    write_over: Callable[[Home, Stage], None]
    over: Any
    entity: Callable[[Stage], EntityId]
    field: Callable[[Stage], str]

    def propose(self, home: Home, task: EntityId, run_key: str = "run") -> Stage:
        """Prepare what the proposal is about, and propose it."""
        return self.again(home, task, self.prepare(home, task), run_key)

    def again(self, home: Home, task: EntityId, target: EntityId, run_key: str) -> Stage:
        """Propose it for what is there already."""
        (item,) = home.propose(task, run_key, (self.tool, self.args(target)))
        return Stage(task, target, item)

    @property
    def makes(self) -> bool:
        """Report whether it creates something."""
        return self.tool in ("add_checklist_item", "add_task")

    def make_stale(self, home: Home, stage: Stage) -> None:
        """Let a person overwrite the value, so that the item is open and its base has changed."""
        self.write_over(home, stage)
        if self.makes:
            undo(home, stage.item)
            reopen(home, stage.item)


def _itself(home: Home, task: EntityId) -> EntityId:
    del home
    return task


def _label(home: Home, task: EntityId) -> EntityId:
    del task
    return home.new("label", name="bug")


def _item(home: Home, task: EntityId) -> EntityId:
    """Give the task an item that its agent once made: ticking it takes no argument."""
    identifier = home.add(task, "Tests", "earlier")
    confirm(home, identifier)
    return derived_id("entity", id_to_text(identifier), time_of=identifier)


def _language(home: Home, task: EntityId) -> EntityId:
    """Give the task an agent whose languages wait for the person."""
    return _with_policy(home, task, "set_task_language")


def _with_new_tasks(home: Home, task: EntityId) -> EntityId:
    """Give the task an agent that may propose tasks."""
    return _with_policy(home, task, "add_task")


def _with_policy(home: Home, task: EntityId, tool: str) -> EntityId:
    agent = derived_id("agent", id_to_text(task), time_of=task)
    fields: dict[str, Any] = {"kind": "task_agent", "task_id": task, f"policy/{tool}": "deferred"}
    home.write(lambda tx: tx.commit([EntityWrite(agent, "agent", fields)]))
    return task


def _value(field: str) -> Callable[[Home, Stage], Any]:
    return lambda home, stage: home.value(stage.task, field)


def _fields(*fields: str) -> Callable[[Home, Stage], Any]:
    return lambda home, stage: tuple(home.value(stage.target, field) for field in fields)


def _has_label(home: Home, stage: Stage) -> bool:
    return home.value(stage.task, _label_field(stage)) is True


def _label_field(stage: Stage) -> str:
    return f"label_ids/{id_to_text(stage.target)}"


def _title_made(home: Home, stage: Stage) -> str | None:
    """Return the title of the item that was made, None if it cannot be seen."""
    titles = home.titles(stage.task)
    assert len(titles) <= 1
    return titles[0] if titles else None


def _task_made(home: Home, stage: Stage) -> str | None:
    """Return the title of the task that was made, None if it cannot be seen."""
    made = home.read(lambda snapshot: snapshot.entity(stage.created))
    return made.text("title") if made is not None and made.visible else None


def _take_label_off(home: Home, stage: Stage) -> None:
    home.set(stage.task, **{_label_field(stage): True})
    home.set(stage.task, **{_label_field(stage): False})


def _reword_made(home: Home, stage: Stage) -> None:
    confirm(home, stage.item)
    home.set(stage.created, title="Mine")


KINDS = (
    Kind(
        tool="update_task_estimate",
        prepare=_itself,
        args=lambda _: {"minutes": 120},
        there=_value("estimate_minutes"),
        before=60,
        after=120,
        edit={"minutes": 90},
        edited=90,
        write_over=lambda home, stage: home.set(stage.task, estimate_minutes=45),
        over=45,
        entity=lambda stage: stage.task,
        field=lambda _: "estimate_minutes",
    ),
    Kind(
        tool="set_task_status",
        prepare=_itself,
        args=lambda _: {"status": "BLOCKED", "reason": "waits for Ann"},
        there=_fields("status", "reason"),
        before=("OPEN", None),
        after=("BLOCKED", "waits for Ann"),
        edit={"reason": "waits for Bob"},
        edited=("BLOCKED", "waits for Bob"),
        write_over=lambda home, stage: home.set(stage.task, status="IN PROGRESS", reason="mine"),
        over=("IN PROGRESS", "mine"),
        entity=lambda stage: stage.task,
        field=lambda _: "status",
    ),
    Kind(
        tool="assign_task_label",
        prepare=_label,
        args=lambda label: {"id": id_to_text(label), "confidence": "high"},
        there=_has_label,
        before=False,
        after=True,
        edit={"confidence": "medium"},
        edited=True,
        write_over=_take_label_off,
        over=False,
        entity=lambda stage: stage.task,
        field=_label_field,
    ),
    Kind(
        tool="set_task_language",
        prepare=_language,
        args=lambda _: {"languageCode": "de", "confidence": "high"},
        there=_value("language"),
        before=None,
        after="de",
        edit={"languageCode": "fr"},
        edited="fr",
        write_over=lambda home, stage: home.set(stage.task, language="ro"),
        over="ro",
        entity=lambda stage: stage.task,
        field=lambda _: "language",
    ),
    Kind(
        tool="add_checklist_item",
        prepare=_itself,
        args=lambda _: {"title": "Buy paper"},
        there=_title_made,
        before=None,
        after="Buy paper",
        edit={"title": "Buy ink"},
        edited="Buy ink",
        write_over=_reword_made,
        over="Mine",
        entity=lambda stage: stage.created,
        field=lambda _: "title",
    ),
    Kind(
        tool="add_task",
        prepare=_with_new_tasks,
        args=lambda _: {"title": "Call the printer", "dueDate": "2026-03-20", "priority": "P1"},
        there=_task_made,
        before=None,
        after="Call the printer",
        edit={"title": "Call Ana"},
        edited="Call Ana",
        write_over=_reword_made,
        over="Mine",
        entity=lambda stage: stage.created,
        field=lambda _: "title",
    ),
    Kind(
        tool="update_checklist_item",
        prepare=_item,
        args=lambda item: {"id": id_to_text(item), "title": "Write tests", "isChecked": True},
        there=_fields("title", "is_checked"),
        before=("Tests", False),
        after=("Write tests", True),
        edit={"title": "Write all tests"},
        edited=("Write all tests", True),
        write_over=lambda home, stage: home.set(stage.target, title="Mine", is_checked=False),
        over=("Mine", False),
        entity=lambda stage: stage.target,
        field=lambda _: "title",
    ),
)
