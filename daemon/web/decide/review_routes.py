"""The routes of a review in detail: what waits on one task, a person's selection, and their edits.

Never changes anything on a GET; a form is sent to the address of the page that shows it.
"""

from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.asks import ask_views
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.deciding import decision_history
from daemon.agents.deciding.decision_history import DECISIONS_LISTED_MAX, DecisionRecord
from daemon.agents.deciding.waiting_items import PendingItem
from daemon.agents.person import full_history, inbox
from daemon.agents.person.inbox import InboxCard
from daemon.journal import tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.references.names import shown_name
from daemon.refusal import Refused
from daemon.web.decide.argument_form import PREFIX as ARGUMENT
from daemon.web.decide.argument_form import edited_arguments
from daemon.web.decide.ask_form import PREFIX as ASK_ARGUMENT
from daemon.web.decide.ask_form import edited_ask_arguments
from daemon.web.decide.ask_review_rows import ask_review_row
from daemon.web.decide.review_rows import review_groups
from daemon.web.decide.verdict_form import Outcome, decide_form, refused_outcome
from daemon.web.forms import read_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words
from daemon.web.services import PageServices
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text

PATH: Final = "/reviews"
_TASK: Final = "{task:[0-9a-f]{32}}"


def routes(services: PageServices, human_input: HumanInput) -> list[web.RouteDef]:
    """Return the routes of this room. `human_input` reads the days and lengths that people type."""
    room = _Reviews(services, human_input)
    return [web.get(f"{PATH}/{_TASK}", room.show), web.post(f"{PATH}/{_TASK}", room.decide)]


class _Edited(NamedTuple):
    """Whether what a form is about still waits, and the arguments that the form changes."""

    does_wait: bool
    arguments: dict[str, Any]


class _Reviews:
    def __init__(self, services: PageServices, human_input: HumanInput) -> None:
        self._services = services
        self._typed = human_input

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request.match_info["task"])

    async def decide(self, request: web.Request) -> web.Response:
        """Decide on what was selected, or on one item, also with other arguments; and show what is left."""
        form, ref = await read_form(request), request.match_info["task"]
        if "edit" not in form:
            return await self._page(ref, await decide_form(self._services, form, request.host))
        verdict, _colon, shown = form.get("decide", "").partition(":")
        item_id = shown.partition(":")[0]
        edited = _Edited(does_wait=False, arguments={})
        try:
            read = lambda snapshot: self._edit(snapshot, ref, item_id, form)  # noqa: E731 - one expression
            edited = await self._services.store.read(read)
        except Refused as refused:
            outcome = refused_outcome(verdict, refusal_words(refused))
            return await self._page(ref, outcome, {item_id: form})
        edit = (edited.arguments or None) if verdict == "confirmed" else None
        outcome = await decide_form(self._services, form, request.host, edit)
        if outcome.refusals and not edited.does_wait:
            outcome = replace(outcome, typed=_typed_texts(form))
        is_kept = outcome.refusals or outcome.passkey is not None
        return await self._page(ref, outcome, {item_id: form} if is_kept else {})

    def _edit(self, snapshot: Snapshot, ref: str, item_id: str, form: MultiDictProxy[str]) -> _Edited:
        """Return the arguments that the form changes; none if nothing waits there: deciding says why."""
        is_read = form.get("decide", "").startswith("confirmed")
        item = self._item(snapshot, ref, item_id)
        if item is not None:
            arguments = edited_arguments(item.tool, item.args, form, self._typed) if is_read else {}
            return _Edited(does_wait=True, arguments=arguments)
        asks = _open_asks(snapshot, id_from_text(ref), self._services.now_ms())
        ask = next((ask for ask in asks if ask.ask_id == item_id), None)
        if ask is None:
            return _Edited(does_wait=False, arguments={})
        return _Edited(
            does_wait=True, arguments=edited_ask_arguments(ask.asked_args, form) if is_read else {}
        )

    def _item(self, snapshot: Snapshot, ref: str, item_id: str) -> PendingItem | None:
        cards = inbox.list_cards(snapshot, self._services.now_ms(), id_from_text(ref))
        return next((item for card in cards for item in card.items if item.item_id == item_id), None)

    async def _page(
        self, ref: str, outcome: Outcome | None = None, typed: dict[str, MultiDictProxy[str]] | None = None
    ) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        try:
            review = await self._services.store.read(lambda snapshot: _read(snapshot, ref, now_ms))
        except Refused as refused:
            words = refusal_words(refused)
            return await self._answer("tasks/gone.html", HTTPStatus.NOT_FOUND, after=after, fault=words)
        is_refused = outcome is not None and outcome.refusals
        return await self._answer(
            "decide/review.html",
            HTTPStatus.CONFLICT if is_refused else HTTPStatus.OK,
            after=after,
            task_id=ref,
            task_title=review.title,
            is_task=review.is_task,
            groups=review_groups(review.cards, review.records, now_ms / 1000, typed or {}),
            asks=[
                ask_review_row(ask, records, review.own_device, now_ms / 1000, typed or {})
                for ask, records in review.asks
            ],
            agents=sorted({card.agent_name for card in review.cards if card.agent_name}),
            outcome=outcome,
        )

    async def _answer(self, template: str, status: HTTPStatus, **values: Any) -> web.Response:
        return await page_answer(self._services, template, status, room="inbox", **values)


def _typed_texts(form: MultiDictProxy[str]) -> tuple[str, ...]:
    """Return what a person may have typed about something that no longer waits."""
    return tuple(
        text
        for name, text in form.items()
        if text.strip() and (name == "reason" or name.startswith((ARGUMENT, ASK_ARGUMENT)))
    )


class _Review(NamedTuple):
    """What waits on a task, and what was decided on it; of an agent, its asks and the tasks it proposes.

    Each ask is given with the decisions on it.
    """

    title: str
    is_task: bool
    cards: list[InboxCard]
    records: list[DecisionRecord]
    asks: list[tuple[AskDetails, list[DecisionRecord]]]
    own_device: str


def _read(snapshot: Snapshot, ref: str, now_ms: int) -> _Review:
    """Read a review. Raises Refused if `ref` names neither a task nor an agent of another maker."""
    subject = decision_history.find_subject(snapshot, ref)
    is_task = subject.kind == "task"
    title = tasks.show(snapshot, ref).title if is_task else shown_name(subject)
    cards = inbox.with_evidence(snapshot, inbox.list_cards(snapshot, now_ms, subject.id))
    records = decision_history.list_decisions(snapshot, now_ms, task=ref, limit=DECISIONS_LISTED_MAX)
    asks = [] if is_task else _open_asks(snapshot, subject.id, now_ms)
    decided_asks = [
        (ask, full_history.list_decided_on_ask(snapshot, now_ms, id_from_text(ask.ask_id))) for ask in asks
    ]
    return _Review(title, is_task, cards, records, decided_asks, snapshot.device.hex())


def _open_asks(snapshot: Snapshot, agent: EntityId, now_ms: int) -> list[AskDetails]:
    return ask_views.list_asks(snapshot, now_ms, waiting=True, agent=agent)
