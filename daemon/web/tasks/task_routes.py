"""The routes of one task: what waits on it, what it holds, and what a person does to it.

Never changes anything on a GET. A form that is refused is shown again with what was typed, also if the task
was removed meanwhile.
"""

from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from aiohttp import web
from markupsafe import escape
from multidict import MultiDict, MultiDictProxy

from daemon.agents.person import agent_overview, inbox
from daemon.agents.person.agent_overview import OutlookLookup
from daemon.agents.person.task_agents import agents_of_tasks
from daemon.journal import conflicts, entries, tasks
from daemon.journal.fields.validation import PLAIN_STATUS, PRIORITIES, STATUSES
from daemon.journal.human_input import HumanInput
from daemon.journal.views.structures import Entry
from daemon.refusal import Refused
from daemon.task_fields import form_fields
from daemon.web.decide.item_rows import card_of
from daemon.web.decide.verdict_form import Outcome, decide_form
from daemon.web.forms import read_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, sentence_text, shortfall_words
from daemon.web.services import PageServices
from daemon.web.tasks.sent_forms import SentForm, forms_of, read_sent
from daemon.web.tasks.task_rows import ShownTask, page_of_task
from daemon.web.typed_words import words_to_copy
from daemon.words import terms
from daemon.words.translation import _
from store.snapshot import Snapshot
from syncproto.ids import id_from_text

PATH: Final = "/tasks"
CARDS_MAX: Final = 20
CONFLICTS_MAX: Final = 50
EVERY: Final = "all"
_TASK: Final = "{task:[0-9a-f]{32}}"
_ID_CHARS: Final = 32


def routes(services: PageServices, human_input: HumanInput, outlook: OutlookLookup) -> list[web.RouteDef]:
    """Return the routes of a task. `human_input` reads the days and lengths that people type.

    `outlook` says when an agent runs next.
    """
    room = _Tasks(services, human_input, outlook)
    return [web.get(f"{PATH}/{_TASK}", room.show), web.post(f"{PATH}/{_TASK}", room.act)]


class _Address(NamedTuple):
    """What the address of a page asks for: a task, one of its older notes, and whether all of them."""

    ref: str
    note: str
    notes: str

    def text(self) -> str:
        """Return the address, for the forms of the page and for the way back to it."""
        words = {name: value for name, value in (("note", self.note), ("notes", self.notes)) if value}
        return f"{PATH}/{self.ref}" + (f"?{urlencode(words)}" if words else "")


class _Tasks:
    def __init__(self, services: PageServices, human_input: HumanInput, outlook: OutlookLookup) -> None:
        self._services = services
        self._typed = human_input
        self._outlook = outlook

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(_address(request))

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for, and show the task; what is refused is said, and what was typed stays."""
        form, address = await read_form(request), _address(request)
        if "decide" in form:
            outcome = await decide_form(self._services, form, request.host)
            return await self._page(address, outcome=outcome)
        sent = read_sent(form, self._typed)
        if sent.faults:
            return await self._page(address, sent=sent)
        fault = shortfall_words(self._services)
        if not fault:
            try:
                await self._services.store.write(lambda tx: sent.write(tx, address.ref))
            except Refused as refused:
                fault = sent.fault_of(refused)
            else:
                return await self._answer_done(address, sent)
        return await self._page(address, fault=fault, sent=sent)

    async def _answer_done(self, address: _Address, sent: SentForm) -> web.Response:
        """Show the task where the form was; of one that came back, the form that was refused before."""
        if "again" in sent.typed:
            fields = MultiDict(sent.typed)
            fields["do"] = fields.pop("again")
            return await self._page(
                address, sent=read_sent(MultiDictProxy(fields), self._typed), is_back=True
            )
        if sent.name == "remove" and sent.typed.get("thing") == address.ref:
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        place = f"#{sent.place}" if sent.place else ""
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": address.text() + place})

    async def _page(
        self,
        address: _Address,
        *,
        fault: str = "",
        sent: SentForm | None = None,
        outcome: Outcome | None = None,
        is_back: bool = False,
    ) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        try:
            shown, cards = await self._services.store.read(
                lambda snapshot: (
                    self._read(snapshot, address, now_ms),
                    inbox.with_evidence(
                        snapshot, inbox.list_cards(snapshot, now_ms, id_from_text(address.ref))
                    ),
                )
            )
        except Refused as refused:
            return await self._answer_gone(address, refused, sent, after)
        task = page_of_task(shown, now_ms / 1000, with_all_notes=address.notes == EVERY)
        forms = forms_of(shown.task, task.base, task.editable_notes(), sent)
        is_refused = (sent is not None and not is_back) or (outcome is not None and outcome.refusals)
        return await self._answer(
            "tasks/task.html",
            HTTPStatus.CONFLICT if is_refused else HTTPStatus.OK,
            after=after,
            task=task,
            forms=forms,
            edited=[(field, _(words.asked)) for field, words in form_fields(is_new=False).items()],
            to_copy=words_to_copy(sent.typed) if sent is not None and sent.name not in forms else [],
            address=address.text(),
            cards=[card_of(card, now_ms / 1000) for card in cards[:CARDS_MAX]],
            cards_left=max(0, len(cards) - CARDS_MAX),
            statuses={status: terms.task_status(status) for status in STATUSES},
            plain_status=PLAIN_STATUS,
            priorities={name: name for name in PRIORITIES},
            fault=fault,
            outcome=outcome,
        )

    def _read(self, snapshot: Snapshot, address: _Address, now_ms: int) -> ShownTask:
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
        )

    async def _answer_gone(
        self, address: _Address, refused: Refused, sent: SentForm | None, after: int
    ) -> web.Response:
        """Say that there is no such task; what was typed can be copied, and comes along if it is restored."""
        is_removed = refused.sentence.id == "was-removed"
        typed = sent.typed if sent is not None else MultiDictProxy(MultiDict[str]())
        deed = typed.get("do", "")
        return await self._answer(
            "tasks/gone.html",
            HTTPStatus.NOT_FOUND,
            after=after,
            # The page has a button for what the hint says.
            fault=sentence_text(refused.sentence) if is_removed else refusal_words(refused),
            is_removed=is_removed,
            address=address.text(),
            to_copy=words_to_copy(typed),
            carried=[(name, escape(value)) for name, value in typed.items() if name not in ("do", "again")],
            again=deed if deed != "restore" else typed.get("again", ""),
        )

    async def _answer(self, template: str, status: HTTPStatus, **values: Any) -> web.Response:
        return await page_answer(self._services, template, status, room="tasks", **values)


def _address(request: web.Request) -> _Address:
    note = request.query.get("note", "")
    notes = EVERY if request.query.get("notes") == EVERY else ""
    return _Address(request.match_info["task"], note if len(note) == _ID_CHARS else "", notes)


def _named_note(snapshot: Snapshot, task: str, note: str) -> Entry | None:
    """Return a note of a task that the address names, also one that was removed; None if there is none."""
    if not note:
        return None
    try:
        entry = entries.show(snapshot, note)
    except Refused:
        return None
    return entry if entry.task_id == task else None
