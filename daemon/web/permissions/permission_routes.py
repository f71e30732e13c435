"""The routes of permissions: what waits, and a person's verdict on what was shown.

Never changes anything on a GET, and never permits arguments that the page did not show.
"""

from http import HTTPStatus
from typing import Final, cast

import msgspec
from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.asks import ask_decisions, ask_views
from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.deciding.verdict_requests import RequestedVerdict, decide_item
from daemon.agents.person import passkeys
from daemon.cli.wording.sentences import answer_words
from daemon.refusal import Refused
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.passkey_forms import PasskeyRequest, passkey_request, proof_of
from daemon.web.permissions.permission_rows import permission_row
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from store.transaction import Transaction
from syncproto.ids import id_from_text

PATH: Final = "/permissions"
REASON_CHARS_MAX: Final = 2000
_VERDICTS: Final = ("confirmed", "rejected", "deferred")
_DONE: Final = (DecisionOutcome.APPLIED, DecisionOutcome.ALREADY)
_ID_CHARS: Final = 32
_HASH_CHARS: Final = 64
_HEX: Final = frozenset("0123456789abcdef")


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Permissions(services)
    return [web.get(PATH, room.show), web.post(PATH, room.decide)]


class _Permissions:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        del request
        return await self._page()

    async def decide(self, request: web.Request) -> web.Response:
        """Decide on one ask, and show what waits then; what is refused is said."""
        form = await read_form(request)
        verdict, ask, shown = form.get("decide", ""), form.get("ask", ""), form.get("shown", "")
        if verdict not in _VERDICTS or not _is_hex(ask, _ID_CHARS) or not _is_hex(shown, _HASH_CHARS):
            raise refuse_form()
        fault = shortfall_words(self._services)
        if fault:
            return await self._page(fault=fault)

        keys = await self._services.store.read(passkeys.list_passkeys)
        proof = proof_of(form, keys, request.host)

        def use(tx: Transaction) -> DecisionResult:
            return ask_decisions.decide(
                tx,
                id_from_text(ask),
                cast(RequestedVerdict, verdict),
                reason=form.get("reason", "").strip()[:REASON_CHARS_MAX] or None,
                via="web",
                option=_option(form, verdict),
                shown=bytes.fromhex(shown),
                proof=proof,
            )

        try:
            result = await decide_item(self._services.store, id_from_text(ask), use)
        except Refused as refused:
            return await self._page(fault=refusal_words(refused))
        words = answer_words(msgspec.to_builtins(result), "message")
        if result.challenges:
            request_of = passkey_request(words, result.challenges, keys, request.host, form, action=PATH)
            return await self._page(fault=words, passkey=request_of)
        return await self._page(done=words) if result.result in _DONE else await self._page(fault=words)

    async def _page(
        self, *, fault: str = "", done: str = "", passkey: PasskeyRequest | None = None
    ) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        asks = await self._services.store.read(
            lambda snapshot: ask_views.list_asks(snapshot, now_ms, waiting=True)
        )
        return await page_answer(
            self._services,
            "permissions/permissions.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="permissions",
            after=after,
            rows=[permission_row(ask, now_ms / 1000) for ask in asks],
            fault=fault,
            done=[done] if done else [],
            passkey=passkey,
        )


def _option(form: MultiDictProxy[str], verdict: str) -> str | None:
    return (form.get("option") or None) if verdict == "confirmed" else None


def _is_hex(text: str, length: int) -> bool:
    return len(text) == length and set(text) <= _HEX
