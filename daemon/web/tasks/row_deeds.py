"""What a person does to tasks in a list: a tick, a day, a label, a removal, for one row or for those chosen.

Never writes half of what was asked for: all rows are changed together, or none.
"""

from typing import Final

from multidict import MultiDict, MultiDictProxy

from daemon.journal import tasks
from daemon.journal.human_input import HumanInput
from daemon.refusal import Refused
from daemon.web.forms import refuse_form
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.web.tasks.sent_forms import SentForm, read_sent
from store.transaction import Transaction

ROWS_MAX: Final = 200
_FIELDS: Final = frozenset({"due", "priority", "status", "labels", "title"})

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
    if field not in _FIELDS:
        raise refuse_form()
    if not colon:
        value = form.get({"labels": "label"}.get(field, field), "")
    if field == "status":
        return MultiDict({"do": "status", "status": value, "base": base})
    # What is shown differs from whatever was typed: every press is meant.
    shown = "" if field == "labels" else "\N{EM DASH}"
    return MultiDict({"do": "edit", field: value, f"shown_{field}": shown, "base": base})
