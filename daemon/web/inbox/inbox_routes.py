"""The routes of the inbox: what waits, a person's verdicts on it, and what was decided elsewhere.

Never changes anything on a GET; a form is sent to the address of the page that shows it.
"""

from http import HTTPStatus
from typing import Any, cast

import msgspec
from aiohttp import web

from daemon.agents.asks import ask_views
from daemon.agents.person import inbox
from daemon.cli.translation import _
from daemon.cli.wording import terms
from daemon.cli.wording.dates import relative_time
from daemon.cli.wording.proposals import summary_words
from daemon.web.card.item_rows import KINDS, card_of, kind_of
from daemon.web.card.verdict_form import Outcome, decide_form
from daemon.web.first_run.step_values import step_values
from daemon.web.forms import read_form
from daemon.web.services import PageServices
from store.snapshot import Snapshot
from syncproto.ids import id_from_text

CARDS_SHOWN_MAX = 50
_ID_PATTERN = "{item:[0-9a-f]{32}}"


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Inbox(services)
    return [
        web.get("/", room.show),
        web.post("/", room.decide),
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
        """Tell what became of an item that left the screen without this browser."""
        item, now_ms = id_from_text(request.match_info["item"]), self._services.now_ms()
        record = await self._services.store.read(
            lambda snapshot: inbox.latest_decision(snapshot, now_ms, item)
        )
        if record is None:
            words = _("This no longer waits.")
        else:
            words = _("{verdict} on {device}, {when}: {summary}").format(
                verdict=terms.proposal_status(record.verdict),
                device=record.device_name,
                when=relative_time(record.at, now_ms / 1000),
                summary=summary_words(cast(Any, msgspec.to_builtins(record))),
            )
        text = self._services.renderer.render("inbox/decided.html", words=words)
        return web.Response(text=text, content_type="text/html", charset="utf-8")

    async def _page(self, request: web.Request, outcome: Outcome | None = None) -> web.Response:
        # Read before the cards: what comes in between is shown, and announced once more.
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        per_day = self._services.open_per_day
        cards, empty, asks = await self._services.store.read(
            lambda snapshot: _read(snapshot, now_ms, per_day)
        )
        status = HTTPStatus.CONFLICT if outcome is not None and outcome.refusals else HTTPStatus.OK
        values = _values(
            cards,
            request.query.get("agent", ""),
            request.query.get("label", ""),
            request.query.get("kind", ""),
            whole=bool(request.query.get("all")),
        )
        text = self._services.renderer.render(
            "inbox/inbox.html",
            room="inbox",
            outcome=outcome,
            asks_count=asks,
            after=after,
            **empty,
            cards=[card_of(card, now_ms / 1000) for card in values.pop("wanted")[:CARDS_SHOWN_MAX]],
            **values,
        )
        response = web.Response(status=status, text=text, content_type="text/html", charset="utf-8")
        response.enable_compression()
        return response


def _read(
    snapshot: Snapshot, now_ms: int, open_per_day: int
) -> tuple[list[inbox.InboxCard], dict[str, Any], int]:
    """Return the cards, what an inbox without any shows, and how many permissions are asked for."""
    cards = inbox.list_cards(snapshot, now_ms, open_per_day=open_per_day)
    empty: dict[str, Any] = {}
    if not cards:
        last_run_at = inbox.last_run_at(snapshot)
        empty = {
            "last_run": relative_time(last_run_at, now_ms / 1000) if last_run_at else "",
            **step_values(snapshot),
        }
    return cards, empty, ask_views.count_open_asks(snapshot, now_ms)


def _values(
    cards: list[inbox.InboxCard], agent: str, label: str, kind: str, *, whole: bool
) -> dict[str, Any]:
    """Return the cards that the filters leave, and what the filters offer.

    Whoever chooses an agent sees all that it proposes, as does whoever asks for the `whole`.
    """
    agents = sorted({card.agent_name for card in cards if card.agent_name})
    labels = sorted({label for card in cards for label in card.labels})
    kinds = {
        name: _(KINDS[name])
        for name in KINDS
        if any(kind_of(item) == name for card in cards for item in card.items)
    }
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
    return {
        "wanted": wanted,
        "held_back": held_back,
        "left_out": max(0, len(wanted) - CARDS_SHOWN_MAX),
        "waiting_count": sum(card.count for card in cards),
        "filters": {"agent": agent, "label": label, "kind": kind},
        "agents": agents,
        "labels": labels,
        "kinds": kinds,
    }
