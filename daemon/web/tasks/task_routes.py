"""The routes of one task: what waits on it, what it holds, and what a person does to it.

Never changes anything on a GET. A form that is refused is shown again with what was typed.
"""

from http import HTTPStatus
from typing import Any, Final

import msgspec
from aiohttp import web
from msgspec import structs
from multidict import MultiDictProxy

from daemon.agents.person import inbox
from daemon.cli.wording import terms
from daemon.journal import checklist_items, conflicts, entries, tasks
from daemon.journal.checklist_items import ItemEdit
from daemon.journal.conflicts import Keep
from daemon.journal.entries import NewEntry
from daemon.journal.fields.validation import STATUSES
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import TaskEdit
from daemon.journal.views.structures import ClockJson, Conflict, Task
from daemon.refusal import Refused
from daemon.web.card.item_rows import card_of
from daemon.web.card.verdict_form import decide_form
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.web.tasks.task_rows import page_of_task
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import id_from_text

PATH: Final = "/tasks"
CARDS_MAX: Final = 20
CONFLICTS_MAX: Final = 50
_TASK: Final = "{task:[0-9a-f]{32}}"


def routes(services: PageServices, human_input: HumanInput) -> list[web.RouteDef]:
    """Return the routes of a task. `human_input` reads the days and lengths that people type."""
    room = _Tasks(services, human_input)
    return [web.get(f"{PATH}/{_TASK}", room.show), web.post(f"{PATH}/{_TASK}", room.act)]


class _Tasks:
    def __init__(self, services: PageServices, human_input: HumanInput) -> None:
        self._services = services
        self._typed = human_input

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request.match_info["task"])

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for, and show the task; what is refused is said, and what was typed stays."""
        form, ref = await read_form(request), request.match_info["task"]
        if "decide" in form:
            outcome = await decide_form(self._services, form, request.host)
            return await self._page(ref, outcome=outcome)
        fault = shortfall_words(self._services)
        if not fault:
            try:
                await self._services.store.write(lambda tx: _change(tx, ref, form, self._typed))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                return _redirect(ref)
        return await self._page(ref, fault=fault, typed=form.get("note", ""))

    async def _page(self, ref: str, *, fault: str = "", typed: str = "", outcome: Any = None) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        try:
            task, cards, disputes = await self._services.store.read(
                lambda snapshot: _read(snapshot, ref, now_ms)
            )
        except Refused as refused:
            words = refusal_words(refused)
            return await self._answer("tasks/gone.html", HTTPStatus.NOT_FOUND, after=after, fault=words)
        refused_items = outcome is not None and outcome.refusals
        return await self._answer(
            "tasks/task.html",
            HTTPStatus.CONFLICT if fault or refused_items else HTTPStatus.OK,
            after=after,
            task=page_of_task(task, disputes, now_ms / 1000),
            cards=[card_of(card, now_ms / 1000) for card in cards[:CARDS_MAX]],
            statuses={status: terms.task_status(status) for status in STATUSES},
            fault=fault,
            typed=typed,
            outcome=outcome,
        )

    async def _answer(self, template: str, status: HTTPStatus, **values: Any) -> web.Response:
        return await page_answer(self._services, template, status, room="tasks", **values)


def _redirect(task: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"{PATH}/{task}"})


def _read(snapshot: Snapshot, ref: str, now_ms: int) -> tuple[Task, list[inbox.InboxCard], list[Conflict]]:
    """Return a task, what waits on it, and what devices changed on it while apart."""
    task = tasks.show(snapshot, ref)
    disputes = conflicts.list_conflicts(snapshot, ref)[:CONFLICTS_MAX]
    return task, inbox.list_cards(snapshot, now_ms, id_from_text(task.id)), disputes


def _change(tx: Transaction, ref: str, form: MultiDictProxy[str], typed: HumanInput) -> None:
    """Write what a form of a task asks for. Raises Refused, and HTTPBadRequest for any other form."""
    match form.get("do", ""):
        case "note":
            entries.add(tx, ref, NewEntry(form.get("note", "")))
        case "edit":
            changes = _typed_changes(form) | _typed_labels(form)
            if changes:
                edit = structs.replace(TaskEdit(base=_clock(form)), **changes)
                tasks.edit(tx, ref, typed.read_task_edit(edit))
        case "status":
            reason = form.get("reason", "").strip()
            edit = TaskEdit(status=form.get("status", ""), base=_clock(form))
            tasks.edit(tx, ref, structs.replace(edit, reason=reason) if reason else edit)
        case "tick" | "untick" as deed:
            edit_of_item = ItemEdit(is_checked=deed == "tick", base=_clock(form))
            checklist_items.edit_item(tx, form.get("item", ""), edit_of_item)
        case "keep":
            number = form.get("n", "")
            if not (number.isascii() and number.isdigit() and 0 < len(number) <= 4 and int(number)):
                raise refuse_form()
            kept = Keep(form.get("entity", ""), form.get("field", ""), int(number), _clock(form))
            conflicts.keep_version(tx, kept)
        case "item":
            checklist_items.add_item(tx, ref, checklist_items.NewItem(title=form.get("title", "")))
        case _:
            raise refuse_form()


def _typed_changes(form: MultiDictProxy[str]) -> dict[str, str | None]:
    """Return what a person typed over, by field; an emptied one is None, and what stayed is nobody's edit."""
    shown_and_typed = {
        name: (form.get(f"shown_{name}", ""), form.get(name, "").strip())
        for name in ("title", "due", "estimate_minutes", "category")
    }
    changed = {name: typed for name, (shown, typed) in shown_and_typed.items() if typed != shown.strip()}
    # A title cannot be emptied: the journal refuses that in words.
    return {name: typed if typed or name == "title" else None for name, typed in changed.items()}


def _typed_labels(form: MultiDictProxy[str]) -> dict[str, list[str]]:
    """Return the labels that a person wrote or took away, one on each line; those that stayed are no edit."""
    before, after = (
        {line.strip() for line in form.get(name, "").splitlines() if line.strip()}
        for name in ("shown_labels", "labels")
    )
    both = {"add_labels": sorted(after - before), "remove_labels": sorted(before - after)}
    return {name: labels for name, labels in both.items() if labels}


def _clock(form: MultiDictProxy[str]) -> ClockJson:
    """Return what the page showed of what the form changes."""
    try:
        return msgspec.json.decode(form.get("base", ""), type=ClockJson)
    except msgspec.MsgspecError:
        raise refuse_form() from None
