"""The forms of a task: what each writes, what it shows, and what is wrong at which of its fields.

Never writes by itself, and never changes what was typed: a refused form has it again, as it was.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec
from markupsafe import escape
from msgspec import structs
from multidict import MultiDictProxy

from daemon.journal import checklist_items, conflicts, entries, tasks, time_records
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.conflicts import Keep
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.fields import validation
from daemon.journal.human_input import HumanInput
from daemon.journal.item_moves import ItemMove, move_item, step_item
from daemon.journal.removed import remove_thing
from daemon.journal.tasks import TaskEdit
from daemon.journal.time_records import NewTimer, Stop
from daemon.journal.views.structures import ClockJson, Task
from daemon.refusal import Refused
from daemon.task_fields import FieldType, TaskField, form_fields
from daemon.web.forms import refuse_form
from daemon.web.refusals import refusal_words
from daemon.web.tasks.part_rows import NoteRow
from daemon.words.dates import due_words, duration_words
from daemon.words.terminal_text import escape as visible
from daemon.words.translation import _
from store.transaction import Transaction

_EDITED: Final = tuple(form_fields(is_new=False))
_NUMBER_DIGITS_MAX: Final = 4
_FIELD_BY_SENTENCE: Final = {"too-many-labels": "labels", "label-for-category": "labels"}
"""At which field a person mends what only the journal can see."""

Form = MultiDictProxy[str]
Write = Callable[[Transaction, str], Any]
"""Writes to the task that a reference names."""


@dataclass(frozen=True, slots=True)
class FormFields:
    """What a form shows: its values, and what is wrong, by the field. `is_typed`: it was refused."""

    values: Mapping[str, Any]
    faults: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_typed: bool = False


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form that was sent: which one, what was typed, what is wrong by the field, and what it writes.

    `place` is the part of the page that it belongs to.
    """

    name: str
    typed: Form
    write: Write
    faults: dict[str, str] = dataclasses.field(default_factory=dict)
    place: str = ""

    def fault_of(self, refused: Refused) -> str:
        """Put what the journal refused at its field if it has one; else return it, for above the page."""
        words = refusal_words(refused)
        name = _FIELD_BY_SENTENCE.get(refused.sentence.id)
        if name is None:
            return words
        self.faults[name] = words
        return ""

    def fields(self) -> FormFields:
        """Return the form with what was typed."""
        return typed_fields(self.typed, self.faults)


def typed_fields(typed: Form, faults: Mapping[str, str]) -> FormFields:
    """Return a form with what was typed, as it was: these are words that only their author sees."""
    values = {name: escape(value.replace("\r\n", "\n")) for name, value in typed.items()}
    return FormFields(values, faults, is_typed=True)


def forms_of(task: Task, base: str, notes: Iterable[NoteRow], sent: SentForm | None) -> dict[str, FormFields]:
    """Return what the forms of a task show. `sent` is the one that was refused; None for none."""
    values = {field.name: _typed_form(field, getattr(task, field.name)) for field in _EDITED}
    values["due"] = due_words(task.due, None, task.due_time)[0]
    shown = {f"shown_{name}": value for name, value in values.items()}
    forms = {
        "edit": FormFields(values | shown | {"base": base}),
        "item": FormFields({"title": "", "checklist": ""}),
        "note": FormFields({"note": ""}),
    }
    for note in notes:
        forms[form_of_note(note.id)] = FormFields(
            {"note": escape(note.text), "shown": _digest(note.text), "base": note.base}
        )
    if sent is not None and sent.name in forms:
        forms[sent.name] = FormFields(
            {**forms[sent.name].values, **sent.fields().values}, sent.faults, is_typed=True
        )
    return forms


def _typed_form(field: TaskField, value: Any) -> str:
    """Return a value as a person would type it into its field."""
    match field.type:
        case "minutes":
            return duration_words(value) if value else ""
        case "names":
            return escape("\n".join(map(visible, value)))
    return value or ""


def form_of_note(note: str) -> str:
    """Return the name of the form by which a note is edited."""
    return f"note-{note}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# -- reading ------------------------------------------------------------------------------------------


def read_sent(form: Form, human_input: HumanInput) -> SentForm:
    """Read a form of a task. One that the page does not send is refused with status 400."""
    reader = _READERS.get(form.get("do", "").partition(":")[0])
    if reader is None:
        raise refuse_form()
    return reader(form, human_input)


def _read_note(form: Form, _human_input: HumanInput) -> SentForm:
    text = form.get("note", "")
    faults = faults_of({"note": lambda: validation.checked_entry_text(text)})
    return SentForm("note", form, lambda tx, ref: entries.add(tx, ref, NewEntry(text)), faults, "notes")


def _read_note_edit(form: Form, _human_input: HumanInput) -> SentForm:
    note, text = form.get("entry", ""), form.get("note", "").replace("\r\n", "\n")
    edit = EntryEdit(text, base=_clock(form))
    faults = faults_of({"note": lambda: validation.checked_entry_text(text)})

    def write(tx: Transaction, _ref: str) -> None:
        # What stayed as it was shown is nobody's edit, also if the note has changed since.
        if _digest(text) != form.get("shown"):
            entries.edit(tx, note, edit)

    return SentForm(form_of_note(note), form, write, faults, f"n-{note[:32]}")


def _read_item(form: Form, _human_input: HumanInput) -> SentForm:
    new = NewItem(title=form.get("title", ""), checklist=form.get("checklist") or None)
    faults = faults_of({"title": lambda: validation.checked_title(new.title)})
    return SentForm(
        "item", form, lambda tx, ref: checklist_items.add_item(tx, ref, new), faults, "checklists"
    )


def _read_tick(form: Form, _human_input: HumanInput) -> SentForm:
    item, edit = form.get("item", ""), ItemEdit(is_checked=form["do"] == "tick", base=_clock(form))
    return SentForm(
        "tick", form, lambda tx, _ref: checklist_items.edit_item(tx, item, edit), place=f"i-{item[:32]}"
    )


def _read_item_edit(form: Form, _human_input: HumanInput) -> SentForm:
    deed, item, clock = form["do"], form.get("item", ""), _clock(form)
    edit = ItemEdit(is_archived=deed == "archive-item", base=clock)
    if deed == "edit-item":
        edit = ItemEdit(title=form.get("title", ""), base=clock)
    return _item_form(form, lambda tx: checklist_items.edit_item(tx, item, edit))


def _read_item_move(form: Form, _human_input: HumanInput) -> SentForm:
    """Read where an item goes: up, down, beside another item, or into a list that is named or typed."""
    item, clock = form.get("item", ""), _clock(form)
    _deed, _colon, place = form["do"].partition(":")
    way, _colon, value = place.partition(":")
    if way in ("up", "down"):
        return _item_form(form, lambda tx: step_item(tx, item, is_up=way == "up", base=clock))
    moves = {
        "before": ItemMove(before=value, base=clock),
        "after": ItemMove(after=value, base=clock),
        "list": ItemMove(checklist=value or form.get("checklist", ""), base=clock),
    }
    if way not in moves:
        raise refuse_form()
    return _item_form(form, lambda tx: move_item(tx, item, moves[way]))


def _item_form(form: Form, write: Callable[[Transaction], object]) -> SentForm:
    return SentForm("item-edit", form, lambda tx, _ref: write(tx), place=f"i-{form.get('item', '')[:32]}")


def _read_keep(form: Form, _human_input: HumanInput) -> SentForm:
    number = form.get("n", "")
    is_number = number.isascii() and number.isdigit() and 0 < len(number) <= _NUMBER_DIGITS_MAX
    if not is_number or not int(number):
        raise refuse_form()
    kept = Keep(form.get("entity", ""), form.get("field", ""), int(number), _clock(form))
    return SentForm("keep", form, lambda tx, _ref: conflicts.keep_version(tx, kept))


def _read_restore(form: Form, _human_input: HumanInput) -> SentForm:
    return SentForm("restore", form, tasks.restore)


def _read_remove(form: Form, _human_input: HumanInput) -> SentForm:
    thing = form.get("thing", "")
    return SentForm("remove", form, lambda tx, _ref: remove_thing(tx, thing))


def _read_start(form: Form, human_input: HumanInput) -> SentForm:
    return SentForm(
        "start", form, lambda tx, ref: time_records.start(tx, ref, NewTimer(), human_input), place="times"
    )


def _read_stop(form: Form, human_input: HumanInput) -> SentForm:
    if not form.get("thing"):
        raise refuse_form()
    stop = Stop(record=form["thing"])
    return SentForm("stop", form, lambda tx, _ref: time_records.stop(tx, stop, human_input), place="times")


def _read_status(form: Form, _human_input: HumanInput) -> SentForm:
    """Read a status, a reason, or both; a reason alone is one for the status that the task has."""
    edit, reason = TaskEdit(base=_clock(form)), form.get("reason", "").strip()
    status = form.get("status")
    if reason:
        edit = structs.replace(edit, reason=reason)
    checks: dict[str, Callable[[], object]] = {"reason": lambda: validation.checked_reason(reason)}
    if status is not None:
        edit = structs.replace(edit, status=status)
        checks["status"] = lambda: validation.checked_status(status)
    faults = faults_of(checks)
    if not faults and not reason and (status is None or status in validation.NEEDS_REASON):
        faults["reason"] = _("This status needs a reason: say what the task waits for.")
    return SentForm("status", form, lambda tx, ref: tasks.edit(tx, ref, edit), faults)


def _read_edit(form: Form, human_input: HumanInput) -> SentForm:
    changes = _typed_changes(form)
    labels = _typed_labels(form)
    clock = _clock(form)
    faults = faults_of(
        checks_of({name: words for name, words in changes.items() if words is not None}, human_input)
        | {
            "labels": lambda: [
                validation.checked_name(name, "label") for name in labels.get("add_labels", [])
            ]
        }
    )

    def write(tx: Transaction, ref: str) -> None:
        if changes or labels:
            edit = structs.replace(TaskEdit(base=clock), **changes, **labels)
            tasks.edit(tx, ref, human_input.read_task_edit(edit))

    return SentForm("edit", form, write, faults)


_READERS: Final[Mapping[str, Callable[[Form, HumanInput], SentForm]]] = {
    "note": _read_note,
    "edit-note": _read_note_edit,
    "item": _read_item,
    "tick": _read_tick,
    "untick": _read_tick,
    "edit-item": _read_item_edit,
    "archive-item": _read_item_edit,
    "unarchive-item": _read_item_edit,
    "move-item": _read_item_move,
    "keep": _read_keep,
    "remove": _read_remove,
    "restore": _read_restore,
    "start": _read_start,
    "stop": _read_stop,
    "status": _read_status,
    "edit": _read_edit,
}


def faults_of(checks: Mapping[str, Callable[[], object]]) -> dict[str, str]:
    """Return what is wrong at each field."""
    faults = {}
    for name, check in checks.items():
        try:
            check()
        except Refused as refused:
            faults[name] = refusal_words(refused)
    return faults


def checks_of(typed: Mapping[str, str], human_input: HumanInput) -> dict[str, Callable[[], object]]:
    """Return what checks each field as a person types it; labels are checked one by one elsewhere."""
    by_type: dict[FieldType, Callable[[str], object]] = {
        "title": validation.checked_title,
        "day": human_input.due_day,
        "due_time": human_input.hour_words,
        "minutes": lambda words: _checked_length(words, human_input),
        "priority": validation.checked_priority,
        "name": lambda name: validation.checked_name(name, "category"),
    }
    by_name = {"due": human_input.due}
    return {
        field.name: partial(by_name.get(field.name, by_type[field.type]), typed[field.name])
        for field in _EDITED
        if field.name in typed and field.type != "names"
    }


def _checked_length(words: str, human_input: HumanInput) -> None:
    """Check a length as a person types it. Raises Refused."""
    minutes = human_input.read_task_edit(TaskEdit(estimate_minutes=words)).estimate_minutes
    if isinstance(minutes, int):
        validation.checked_estimate(minutes)


def _typed_changes(form: Form) -> dict[str, str | None]:
    """Return what a person typed over, by field; an emptied one is None, and what stayed is nobody's edit."""
    shown_and_typed = {
        field.name: (form.get(f"shown_{field.name}", ""), form[field.name].strip())
        for field in _EDITED
        if field.name in form and field.type != "names"
    }
    changed = {name: typed for name, (shown, typed) in shown_and_typed.items() if typed != shown.strip()}
    # A title cannot be emptied: the journal refuses that in words. An hour that is typed no more is gone.
    hours = {"due_time": None} if "due" in changed and ":" in shown_and_typed["due"][0] else {}
    return hours | {name: typed if typed or name == "title" else None for name, typed in changed.items()}


def _typed_labels(form: Form) -> dict[str, list[str]]:
    """Return the labels that a person wrote or took away, one on each line; those that stayed are no edit."""
    before, after = (
        {line.strip() for line in form.get(name, "").splitlines() if line.strip()}
        for name in ("shown_labels", "labels")
    )
    both = {"add_labels": sorted(after - before), "remove_labels": sorted(before - after)}
    return {name: labels for name, labels in both.items() if labels}


def _clock(form: Form) -> ClockJson:
    """Return what the page showed of what the form changes."""
    try:
        return msgspec.json.decode(form.get("base", ""), type=ClockJson)
    except msgspec.MsgspecError:
        raise refuse_form() from None
