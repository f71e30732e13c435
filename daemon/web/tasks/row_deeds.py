"""What a person does to tasks in a list: a tick, a day, a label, a removal, for one row or for those chosen.

Never writes half of what was asked for: all rows are changed together, or none.
"""

from collections.abc import Mapping
from typing import Final

from multidict import MultiDict, MultiDictProxy

from daemon.journal import tasks
from daemon.journal.human_input import HumanInput
from daemon.refusal import Refused
from daemon.task_fields import form_fields
from daemon.web.forms import refuse_form
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.web.tasks.sent_forms import SentForm, read_sent
from store.transaction import Transaction

ROWS_MAX: Final = 200
_FIELDS: Final = frozenset({"status", *(field.name for field in form_fields(is_new=False))})
_TYPED: Final[Mapping[str, str]] = {"labels": "label"}
"""The names of the fields into which another value is typed, if those are not what they set."""

Form = MultiDictProxy[str]


async def do_to_rows(services: PageServices, typed: HumanInput, form: Form) -> str:
    """Do what a form asks of its rows; return what was refused, "" if it was done.

    One that the page does not send is refused with status 400.
    """
    refs, bases = form.getall("task", []), form.getall("base", [])
    if not 0 < len(refs) == len(bases) <= ROWS_MAX:
        raise refuse_form()
    sent = [_read_row_form(form, base, typed) for base in bases]
    if fault := next((words for row_form in sent for words in row_form.faults.values()), ""):
        return fault
    if shortfall := shortfall_words(services):
        return shortfall
    try:
        await services.store.write(lambda tx: _write_all(tx, refs, sent))
    except Refused as refused:
        return refusal_words(refused)
    return ""


def _write_all(tx: Transaction, refs: list[str], sent: list[SentForm]) -> None:
    for ref, row_form in zip(refs, sent, strict=True):
        row_form.write(tx, ref)


def _read_row_form(form: Form, base: str, typed: HumanInput) -> SentForm:
    if form.get("set") == "remove":
        return SentForm("remove", form, tasks.remove)
    return read_sent(MultiDictProxy(_task_form(form, base)), typed)


def _task_form(form: Form, base: str) -> MultiDict[str]:
    """Return the form of the task's own page that does the same to one task."""
    field, colon, value = form.get("set", "").partition(":")
    reason = form.get("reason", "")
    if field == "typed":
        return _typed_form(form, base)
    if field == "unlabel":
        return MultiDict({"do": "edit", "labels": "", "shown_labels": value, "base": base})
    if field not in _FIELDS:
        raise refuse_form()
    if field == "status":
        return MultiDict({"do": "status", "status": value, "reason": reason, "base": base})
    return _edit_form({field: value if colon else form.get(_TYPED.get(field, field), "")}, base)


def _typed_form(form: Form, base: str) -> MultiDict[str]:
    """Return the form for what was typed into the menu, if Enter sends it: the key names no part of it."""
    typed = {field: form.get(_TYPED.get(field, field), "").strip() for field in _FIELDS}
    edits = {field: words for field, words in typed.items() if words}
    reason = form.get("reason", "").strip()
    if reason and not edits:
        return MultiDict({"do": "status", "reason": reason, "base": base})
    return _edit_form(edits, base)


def _edit_form(edits: Mapping[str, str], base: str) -> MultiDict[str]:
    # What is shown differs from whatever was typed: every press is meant.
    shown = {f"shown_{field}": "" if field == "labels" else "\N{EM DASH}" for field in edits}
    return MultiDict({"do": "edit", **edits, **shown, "base": base})
