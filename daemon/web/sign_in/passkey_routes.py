"""The routes of passkeys: which there are, adding one that the browser made, and removing one.

Never adds a key that was made for another page, or without the challenge that this page gave.
"""

import base64
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.deciding.passkey_proof import PasskeyNeeded
from daemon.agents.deciding.verdict_requests import NEEDS_PASSKEY
from daemon.agents.person import passkeys
from daemon.refusal import Refused
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.passkey_forms import is_made_for, new_credential, passkey_request, proof_of, rp_id_of
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.dates import relative_time
from daemon.words.sentences import answer_words
from daemon.words.translation import _
from store.transaction import Transaction
from syncproto.assertion import Passkey
from syncproto.ids import id_from_text

PATH: Final = "/passkeys"
CHALLENGES_MAX: Final = 32
"""How many pages that offer a new passkey stay valid; an older one has to be opened again."""
_CHALLENGE_BYTES: Final = 32
_ID_CHARS: Final = 32
_HEX: Final = frozenset("0123456789abcdef")


def routes(services: PageServices, randomness: Callable[[int], bytes]) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Passkeys(services, randomness)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


class _Passkeys:
    def __init__(self, services: PageServices, randomness: Callable[[int], bytes]) -> None:
        self._services = services
        self._randomness = randomness
        self._challenges: dict[str, None] = {}

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request)

    async def act(self, request: web.Request) -> web.Response:
        """Add or remove a passkey; if an earlier one has to sign for that, the page asks the browser."""
        form = await read_form(request)
        deed, fault = form.get("do", ""), shortfall_words(self._services)
        if deed not in ("add", "remove"):
            raise refuse_form()
        if fault:
            return await self._page(request, fault=fault)
        listed = await self._services.store.read(passkeys.list_passkeys)
        proof = proof_of(form, listed, request.host)
        change = self._addition(request, form) if deed == "add" else _removal(form)
        if change is None:
            fault = _("This page was open for too long: try once more.")
            return await self._page(request, fault=fault)
        try:
            await self._services.store.write(lambda tx: change(tx, proof))
        except PasskeyNeeded as needed:
            words = answer_words({"message": NEEDS_PASSKEY.text, "message_id": NEEDS_PASSKEY.id}, "message")
            challenges = [challenge.hex() for challenge in needed.challenges]
            request_for_passkey = passkey_request(words, challenges, listed, request.host, form, action=PATH)
            return await self._page(request, fault=words, passkey=request_for_passkey)
        except Refused as refused:
            return await self._page(request, fault=refusal_words(refused))
        self._challenges.pop(form.get("challenge", ""), None)
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})

    def _addition(self, request: web.Request, form: MultiDictProxy[str]) -> Any:
        """Return what adds the passkey of a form; None if the page did not ask for it."""
        made, challenge = new_credential(form), form.get("challenge", "")
        if challenge not in self._challenges or not is_made_for(
            made, challenge, self._services.access.origins
        ):
            return None
        passkey = Passkey(made.key, rp_id_of(request.host))
        name = form.get("name", "")
        return lambda tx, proof: passkeys.add_passkey(tx, passkey, made.credential, name, proof)

    async def _page(self, request: web.Request, *, fault: str = "", passkey: Any = None) -> web.Response:
        now_s, after = self._services.now_ms() / 1000, self._services.store.feed_end
        listed = await self._services.store.read(passkeys.list_passkeys)
        rp_id = rp_id_of(request.host)
        return await page_answer(
            self._services,
            "sign_in/passkeys.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="devices",
            after=after,
            rows=[
                {
                    "id": details.id,
                    "name": details.name,
                    "here": details.rp_id == rp_id,
                    "facts": [details.device_name, relative_time(details.added_at, now_s), details.rp_id],
                }
                for details in listed
            ],
            challenge=self._issue_challenge(),
            rp_id=rp_id,
            fault=fault,
            passkey=passkey,
        )

    def _issue_challenge(self) -> str:
        drawn = self._randomness(_CHALLENGE_BYTES)
        challenge = base64.urlsafe_b64encode(drawn).rstrip(b"=").decode()
        self._challenges[challenge] = None
        while len(self._challenges) > CHALLENGES_MAX:
            del self._challenges[next(iter(self._challenges))]
        return challenge


def _removal(form: MultiDictProxy[str]) -> Any:
    name = form.get("passkey", "")
    if len(name) != _ID_CHARS or not set(name) <= _HEX:
        raise refuse_form()

    def remove(tx: Transaction, proof: Any) -> None:
        passkeys.remove_passkey(tx, id_from_text(name), proof)

    return remove
