"""The routes of the inbox: what waits, a person's verdicts on it, and what was decided elsewhere.

Never changes anything on a GET; a form is sent to the address of the page that shows it.
"""

from http import HTTPStatus
from typing import Any, Final, cast

import msgspec
from aiohttp import web

from daemon.agents.person import inbox
from daemon.web.decide.item_rows import KINDS, kind_of
from daemon.web.decide.verdict_form import Outcome, decide_form
from daemon.web.first_run.step_values import step_values
from daemon.web.forms import read_form
from daemon.web.inbox.waiting_rows import Waiting, read_waiting, rows_with_evidence
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices
from daemon.words import terms
from daemon.words.dates import relative_time
from daemon.words.proposals import summary_words
from daemon.words.translation import _
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text

PATH: Final = "/inbox"
CARDS_SHOWN_MAX = 50
ASKS_KIND: Final = "asks"
_ID_PATTERN = "{item:[0-9a-f]{32}}"


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Inbox(services)
    return [
        web.get(PATH, room.show),
        web.post(PATH, room.decide),
        web.get(f"/items/{_ID_PATTERN}", room.show_decided),
    ]


class _Inbox:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request)

    async def decide(self, request: web.Request) -> web.Response:
        """Decide, and answer with the page as it is then: the script takes its parts, a browser all of it."""
        outcome = await decide_form(self._services, await read_form(request), request.host)
        return await self._page(request, outcome)

    async def show_decided(self, request: web.Request) -> web.Response:
        """Tell what became of an item or an ask that left the screen without this browser."""
        name, now_ms = id_from_text(request.match_info["item"]), self._services.now_ms()
        words = await self._services.store.read(lambda snapshot: _decided_words(snapshot, name, now_ms))
        text = self._services.renderer.render("inbox/decided.html", words=words)
        return web.Response(text=text, content_type="text/html", charset="utf-8")

    async def _page(self, request: web.Request, outcome: Outcome | None = None) -> web.Response:
        # Read before the cards: what comes in between is shown, and announced once more.
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        per_day = self._services.open_per_day
        waiting, empty = await self._services.store.read(lambda snapshot: _read(snapshot, now_ms, per_day))
        status = HTTPStatus.CONFLICT if outcome is not None and outcome.refusals else HTTPStatus.OK
        values = _values(
            waiting,
            request.query.get("agent", ""),
            request.query.get("label", ""),
            request.query.get("kind", ""),
            whole=bool(request.query.get("all")),
        )
        first = inbox.in_order_of_urgency(values.pop("cards"), values.pop("asks"), now_ms)[:CARDS_SHOWN_MAX]
        entries = await self._services.store.read(
            lambda snapshot: rows_with_evidence(snapshot, first, now_ms / 1000)
        )
        return await page_answer(
            self._services,
            "inbox/inbox.html",
            status,
            room="inbox",
            outcome=outcome,
            after=after,
            entries=entries,
            **waiting.counts(),
            **empty,
            **values,
        )


def _decided_words(snapshot: Snapshot, name: EntityId, now_ms: int) -> str:
    ask = inbox.find_ask(snapshot, now_ms, name)
    if ask is not None:
        verdict = ask.verdict
        if verdict is None:
            return f"{terms.proposal_status(ask.state)}: {ask.title}"
        status, device, moment, summary = ask.state, verdict.device_name, verdict.at, ask.title
    else:
        record = inbox.latest_decision(snapshot, now_ms, name)
        if record is None:
            return _("This no longer waits.")
        status, device, moment = record.verdict, record.device_name, record.at
        summary = summary_words(cast(Any, msgspec.to_builtins(record)))
    return _("{verdict} on {device}, {when}: {summary}").format(
        verdict=terms.proposal_status(status),
        device=device,
        when=relative_time(moment, now_ms / 1000),
        summary=summary,
    )


def _read(snapshot: Snapshot, now_ms: int, open_per_day: int) -> tuple[Waiting, dict[str, Any]]:
    """Read all that waits, and what an inbox shows in which nothing does."""
    waiting = read_waiting(snapshot, now_ms, open_per_day)
    if waiting.cards or waiting.asks:
        return waiting, {}
    last_run_at = inbox.last_run_at(snapshot)
    last_run = relative_time(last_run_at, now_ms / 1000) if last_run_at else ""
    return waiting, {"last_run": last_run, **step_values(snapshot)}


def _values(waiting: Waiting, agent: str, label: str, kind: str, *, whole: bool) -> dict[str, Any]:
    """Return the cards and asks that the filters leave, and what the filters offer.

    Whoever chooses an agent sees all that it proposes, as does whoever asks for the `whole`.
    """
    cards, asks = waiting.cards, waiting.asks
    names = {card.agent_name for card in cards} | {ask.agent_name for ask in asks}
    labels = sorted({label for card in cards for label in card.labels})
    kinds = {
        name: _(KINDS[name])
        for name in KINDS
        if any(kind_of(item) == name for card in cards for item in card.items)
    }
    if kind in KINDS:
        kinds |= {kind: _(KINDS[kind])}
    if asks or kind == ASKS_KIND:
        kinds = {ASKS_KIND: _("Permissions"), **kinds}
    wanted = [
        card
        for card in cards
        if (not agent or card.agent_name == agent)
        and (not label or label in card.labels)
        and (not kind or any(kind_of(item) == kind for item in card.items))
    ]
    held_back = 0
    if not (whole or agent):
        wanted_count = sum(card.count for card in wanted)
        wanted = [rest for card in wanted if (rest := inbox.without_held_back(card)) is not None]
        held_back = wanted_count - sum(card.count for card in wanted)
    wanted_asks = [
        ask
        for ask in asks
        if (not agent or ask.agent_name == agent) and not label and kind in ("", ASKS_KIND)
    ]
    return {
        "cards": wanted,
        "asks": wanted_asks,
        "held_back": held_back,
        "left_out": max(0, len(wanted) + len(wanted_asks) - CARDS_SHOWN_MAX),
        "filters": {"agent": agent, "label": label, "kind": kind},
        # What was chosen stays to be seen, also if nothing of it is left.
        "agents": sorted({name for name in [*names, agent] if name}),
        "labels": sorted({*labels, *filter(None, [label])}),
        "kinds": kinds,
    }
