"""One task as a page shows it, alone or beside a list: what is read of it, and what its forms do.

Never answers a browser by itself, and never changes anything but what a form asks for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from markupsafe import escape
from msgspec import UnsetType
from multidict import MultiDict, MultiDictProxy

from daemon.agents.deciding.waiting_items import newest_occurrence
from daemon.agents.person import agent_overview, inbox
from daemon.agents.person.agent_overview import OutlookLookup
from daemon.agents.person.task_agents import agents_of_tasks
from daemon.agents.tools.agent_record import load_any_agent
from daemon.journal import conflicts, entries, tasks
from daemon.journal.fields.validation import PLAIN_STATUS, PRIORITIES
from daemon.journal.human_input import HumanInput
from daemon.journal.references.names import short_text
from daemon.journal.views.structures import Entry, Task
from daemon.refusal import Refused
from daemon.task_fields import form_fields
from daemon.web.decide.item_rows import card_of
from daemon.web.decide.verdict_form import Outcome, decide_form
from daemon.web.refusals import refusal_words, sentence_text, shortfall_words
from daemon.web.services import PageServices
from daemon.web.tasks.row_deeds import do_to_rows
from daemon.web.tasks.row_menu import category_names, label_names, menu_choices, offered_labels
from daemon.web.tasks.sent_forms import SentForm, forms_of, read_sent
from daemon.web.tasks.task_rows import ShownTask, TaskPage, page_of_task
from daemon.web.typed_words import words_to_copy
from daemon.words.translation import _
from store.snapshot import Snapshot
from syncproto.ids import id_from_text

PATH: Final = "/tasks"
CARDS_MAX: Final = 20
CONFLICTS_MAX: Final = 50
EVERY: Final = "all"
_ID_CHARS: Final = 32
_REF: Final = re.compile("[0-9a-f]{32}")

Form = MultiDictProxy[str]


class TaskAddress(NamedTuple):
    """What an address asks for: a task, one of its older notes, and whether all of them."""

    ref: str
    note: str = ""
    notes: str = ""

    def text(self) -> str:
        """Return the address of the task's own page, for its forms and for the way back to it."""
        words = {name: value for name, value in (("note", self.note), ("notes", self.notes)) if value}
        return f"{PATH}/{self.ref}" + (f"?{urlencode(words)}" if words else "")


@dataclass(frozen=True, slots=True)
class DoneForm:
    """What came of a form: what was refused with what was typed, or what was decided.

    `is_done`: the page that has the task is shown again; `place` is the part of it that the form belongs to.
    `is_removed`: the task itself is out of sight. `is_back`: it came back, and `sent` is shown as typed.
    """

    sent: SentForm | None = None
    outcome: Outcome | None = None
    fault: str = ""
    place: str = ""
    is_done: bool = False
    is_removed: bool = False
    is_back: bool = False

    def is_refused(self) -> bool:
        """Report whether something of it was not done."""
        is_refused = self.outcome is not None and bool(self.outcome.refusals)
        return is_refused or bool(self.fault) or (self.sent is not None and not self.is_back)


NOTHING_DONE: Final = DoneForm()


class OneTask:
    """The tasks of a daemon, one at a time. `outlook` says when an agent runs next."""

    def __init__(self, services: PageServices, human_input: HumanInput, outlook: OutlookLookup) -> None:
        self._services = services
        self._typed = human_input
        self._outlook = outlook

    # -- what a form does -----------------------------------------------------------------------------

    async def act(self, form: Form, ref: str, host: str) -> DoneForm:
        """Do what a form of the task that `ref` names asks for."""
        if "decide" in form:
            return DoneForm(outcome=await decide_form(self._services, form, host))
        if form.get("do") == "set" or not ref:
            fault = await do_to_rows(self._services, self._typed, form)
            is_removed = form.get("set") == "remove" and form.getall("task", []) == [ref]
            return DoneForm(fault=fault, is_done=not fault, is_removed=is_removed and not fault)
        sent = read_sent(form, self._typed)
        if sent.faults:
            return DoneForm(sent)
        fault = shortfall_words(self._services)
        if not fault:
            try:
                await self._services.store.write(lambda tx: sent.write(tx, ref))
            except Refused as refused:
                fault = sent.fault_of(refused)
            else:
                return self._finish(sent, ref)
        return DoneForm(sent, fault=fault)

    def _finish(self, sent: SentForm, ref: str) -> DoneForm:
        """Return what follows a form that was done; of a task that came back, the form refused before."""
        if "again" in sent.typed:
            fields = MultiDict(sent.typed)
            fields["do"] = fields.pop("again")
            return DoneForm(read_sent(MultiDictProxy(fields), self._typed), is_back=True)
        is_removed = sent.name == "remove" and sent.typed.get("thing") == ref
        return DoneForm(place=f"#{sent.place}" if sent.place else "", is_done=True, is_removed=is_removed)

    # -- what is shown --------------------------------------------------------------------------------

    async def values(self, address: TaskAddress, done: DoneForm, here: str) -> dict[str, Any]:
        """Return what templates show of a task; its forms go to `here`. Raises Refused if it is gone."""
        now_ms = self._services.now_ms()
        # What takes time is done on the thread that reads: the event loop serves everybody.
        task, shown, cards, labels, categories = await self._services.store.read(
            lambda snapshot: (
                *self._read_page(snapshot, address, now_ms),
                inbox.with_evidence(snapshot, inbox.list_cards(snapshot, now_ms, id_from_text(address.ref))),
                label_names(snapshot),
                category_names(snapshot),
            )
        )
        sent, own = done.sent, shown.task.labels
        forms = forms_of(shown.task, task.base, task.editable_notes(), sent)
        return {
            "task": task,
            "forms": forms,
            "edited": [(field, _(words.asked)) for field, words in form_fields(is_new=False).items()],
            "to_copy": words_to_copy(sent.typed) if sent is not None and sent.name not in forms else [],
            "here": here,
            "cards": [card_of(card, now_ms / 1000) for card in cards[:CARDS_MAX]],
            "cards_left": max(0, len(cards) - CARDS_MAX),
            "plain_status": PLAIN_STATUS,
            "priorities": {name: name for name in PRIORITIES},
            "menu": menu_choices(self._typed.today(), offered_labels(labels, own), categories, own),
        }

    async def pane(self, ref: str, done: DoneForm, here: str, closed: str) -> dict[str, Any]:
        """Return what the templates show of a task beside a list, which is at `closed` without it.

        Without a `ref`, that is nothing.
        """
        if not ref:
            return {"task": None, "gone": ""}
        try:
            shown = await self.values(TaskAddress(ref), done, here)
        except Refused as refused:
            shown = self.gone_values(TaskAddress(ref), refused, done, here)
        return {"gone": "", "close": closed, **shown}

    def gone_values(
        self, address: TaskAddress, refused: Refused, done: DoneForm, here: str
    ) -> dict[str, Any]:
        """Return what is said if there is no such task: what was typed comes along if it is restored."""
        is_removed = refused.sentence.id == "was-removed"
        typed = done.sent.typed if done.sent is not None else MultiDictProxy(MultiDict[str]())
        deed = typed.get("do", "")
        return {
            "task": None,
            # The page has a button for what the hint says.
            "gone": sentence_text(refused.sentence) if is_removed else refusal_words(refused),
            "is_removed": is_removed,
            "restores_at": address.text(),
            "here": here,
            "to_copy": words_to_copy(typed),
            "carried": [
                (name, escape(value)) for name, value in typed.items() if name not in ("do", "again")
            ],
            "again": deed if deed != "restore" else typed.get("again", ""),
        }

    def _read_page(self, snapshot: Snapshot, address: TaskAddress, now_ms: int) -> tuple[TaskPage, ShownTask]:
        shown = self._read(snapshot, address, now_ms)
        return page_of_task(shown, now_ms / 1000, with_all_notes=address.notes == EVERY), shown

    def _read(self, snapshot: Snapshot, address: TaskAddress, now_ms: int) -> ShownTask:
        """Read a task, its agent, what devices changed on it while apart, and a note. Raises Refused."""
        task = tasks.show(snapshot, address.ref, provenance=True)
        agent = agents_of_tasks(snapshot, [id_from_text(task.id)]).get(id_from_text(task.id))
        return ShownTask(
            task,
            None
            if agent is None
            else agent_overview.agent_details(snapshot, agent.id, now_ms, self._outlook),
            conflicts.list_conflicts(snapshot, task.id)[:CONFLICTS_MAX],
            _named_note(snapshot, task.id, address.note),
            _proposers(snapshot, task),
        )


def _proposers(snapshot: Snapshot, task: Task) -> dict[str, str]:
    """Return the names of the agents that proposed values of a task, by the proposal; "" of one without."""
    origins = {} if isinstance(task.provenance, UnsetType) else task.provenance
    names = {}
    for ref in {origin.item_id for origin in origins.values() if origin.item_id is not None}:
        item = snapshot.item(id_from_text(ref))
        agent = None if item is None else load_any_agent(snapshot, newest_occurrence(item).agent)
        names[ref] = "" if agent is None else short_text(agent.name)
    return names


def open_task(query: Mapping[str, str]) -> str:
    """Return the task that the address of a list opens beside it; "" for none."""
    ref = query.get("task", "")
    return ref if _REF.fullmatch(ref) else ""


def _named_note(snapshot: Snapshot, task: str, note: str) -> Entry | None:
    """Return a note of a task that the address names, also one that was removed; None if there is none."""
    if len(note) != _ID_CHARS:
        return None
    try:
        entry = entries.show(snapshot, note)
    except Refused:
        return None
    return entry if entry.task_id == task else None
