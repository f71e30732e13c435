"""What is left of a call once it is held against the journal: what is so already, and what is the user's.

Never writes, and never drops what cannot be read: where the state is unknown, the proposal is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from daemon.agents import labelling, sovereignty, targets, wording
from daemon.agents.effects import effect_of, same
from daemon.agents.seeing import Seen
from daemon.agents.tools import SET_TASK_LANGUAGE, TOOLS, Arguments, Writes
from daemon.journal.values import folded
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.commit import By
from syncproto.ids import from_text


@dataclass(frozen=True, slots=True)
class Weighed:
    """What is left to propose, or why nothing is: it is so already, or it may not be.

    `objection` may stand beside arguments that are left: a new title goes through where a tick does not.
    """

    args: Arguments | None
    skipped: str | None = None
    objection: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What a call is held against: what the agent saw, and the journal as it stands.

    `labels` counts the labels that this run proposes already.
    """

    snapshot: Snapshot
    seen: Seen
    reason_min: int
    labels: int = 0


def weigh(view: View, tool: str, args: Arguments) -> Weighed:
    """Hold the validated arguments of a deferrable tool against the journal (DOMAIN.md §3, 2 and 3)."""
    foreign = targets.outside(view.snapshot, view.seen.task, tool, args)
    if foreign is not None:
        return Weighed(None, refused=foreign)
    return _BY_WRITES[TOOLS[tool].writes](view, tool, args)


def _of_task(view: View, tool: str, args: Arguments) -> Weighed:
    task = view.seen.task
    effect = effect_of(tool, args, task, task)
    if task in view.seen.entities and effect.is_so(lambda field: view.seen.value(task, field)):
        return Weighed(None, skipped=wording.already_so(tool, args))
    if tool == SET_TASK_LANGUAGE and (why := language_objection(view.snapshot.entity(task), args)):
        return Weighed(None, skipped=why)
    return Weighed(args)


def language_objection(task: Entity | None, args: Arguments) -> str | None:
    """Say why a language is not set: the user chose one, or the agent is not sure (DOMAIN.md §2)."""
    versions = [] if task is None else task.versions("language")
    # A person who emptied the field chose too.
    if any(one.source.by is not By.AGENT for one in versions):
        return "the user chose the language"
    return "confidence is low" if args["confidence"] == "low" else None


def _label(view: View, tool: str, args: Arguments) -> Weighed:
    name = targets.name(view.snapshot, tool, args)
    if args["confidence"] == "low":
        return Weighed(None, skipped=f"{wording.subject(tool, args, name)} has low confidence")
    task = view.snapshot.entity(view.seen.task)
    if task is None:
        return Weighed(args)
    why = labelling.objection(view.snapshot, task, from_text(args["id"]), view.labels)
    return Weighed(args) if why is None else Weighed(None, skipped=why)


def _new_item(view: View, tool: str, args: Arguments) -> Weighed:
    held = view.seen.items or []
    titles = {folded(one.text("title")) for one in held if one.value("is_archived") is not True}
    if folded(args["title"]) in titles:
        return Weighed(None, skipped=wording.already_so(tool, args))
    return Weighed(args)


def _item(view: View, tool: str, args: Arguments) -> Weighed:
    """Keep of an update what would really change and may be changed."""
    task = view.seen.task
    item = targets.target(view.snapshot, tool, args)
    if item is None:
        return Weighed(args)
    name = item.text("title")
    if not item.visible:
        return Weighed(None, skipped=f'"{name}" was removed')
    objection = sovereignty.objection(view.snapshot, task, item, args, view.reason_min)
    dropped = {
        argument
        for field, argument in TOOLS[tool].sets.items()
        if argument in args and same(item.value(field), args[argument])
    } | ({"isChecked"} if objection is not None else set())
    left = {key: value for key, value in args.items() if key not in dropped}
    if any(argument in left for argument in TOOLS[tool].sets.values()):
        return Weighed(left, objection=objection)
    if objection is not None:
        return Weighed(None, objection=objection)
    return Weighed(None, skipped=wording.already_so(tool, args, name))


_BY_WRITES: Mapping[Writes, Callable[[View, str, Arguments], Weighed]] = {
    Writes.TASK: _of_task,
    Writes.MEMBER: _label,
    Writes.NEW_ITEM: _new_item,
    Writes.ITEM: _item,
}
