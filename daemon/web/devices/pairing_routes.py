"""The routes of pairing: a code or a token for another device, and the code that another device shows.

Never shows an own code that is no longer valid, and never keeps one that a person typed: the answer to a form
alone has it, if something else has to be said first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import web
from multidict import MultiDictProxy

from daemon.peers.network import PeerNetwork
from daemon.peers.pairing.invitation import TRIES_MAX
from daemon.peers.pairing.invitations import InvitationState, Invited
from daemon.refusal import Refused
from daemon.web.devices.qr_code import QrCode, qr_code
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.dates import relative_time
from daemon.words.devices import (
    asked_words,
    failed_try_words,
    invitation_end_words,
    joined_words,
    newcomer_words,
)
from daemon.words.translation import _

PATH: Final = "/devices/pair"
WAIT_S: Final = 20.0
"""The page asks again after this long; the daemon answers earlier if something happens."""
_GOES_ON: Final = frozenset({"open", "proved"})
JOINED_SHOWN_MS: Final = 10 * 60_000
"""So long the page says what came of joining, also if it is fetched anew."""
_NOT_NEARBY: Final = frozenset({"no-inviter-nearby", "several-inviters", "no-usable-address"})
"""Refusals after which the address of the other device is needed."""
_OWN_ENTRIES: Final = "own-entries"


@dataclass(frozen=True, slots=True)
class JoinView:
    """How joining stands: the fault, what has to be said before it goes on, and what was typed.

    `asks` is `unite` if the device has tasks of its own, `address` if the other one was not found, else "".
    `joined` says what came of it once this one has joined.
    """

    fault: str = ""
    asks: str = ""
    secret: str = ""
    address: str = ""
    name: str = ""
    joined: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class InvitationView:
    """An invitation on the screen. `secret` is "" once nobody can use it any more."""

    secret: str
    is_code: bool
    qr: QrCode | None
    address: str
    ends: str
    stage: str
    is_linked: bool
    words: str
    goes_on: bool


def routes(services: PageServices, peers: PeerNetwork) -> list[web.RouteDef]:
    """Return the routes of pairing."""
    room = _Pairing(services, peers)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


class _Pairing:
    def __init__(self, services: PageServices, peers: PeerNetwork) -> None:
        self._services = services
        self._peers = peers
        self._invited: Invited | None = None
        self._joined: tuple[list[str], int] | None = None
        """What came of joining, a sentence each, and when that was said (Unix time in milliseconds)."""

    async def show(self, request: web.Request) -> web.Response:
        """Show how pairing stands; with `wait`, once it has got further, or after a while."""
        return await self._page(wait_s=WAIT_S if "wait" in request.query else 0.0)

    async def act(self, request: web.Request) -> web.Response:
        form = await read_form(request)
        deed = form.get("do", "")
        fault = shortfall_words(self._services)
        if fault:
            return await self._page(fault=fault)
        try:
            match deed:
                case "code" | "token":
                    self._invited = await self._peers.invitations.invite(by_code=deed == "code")
                case "cancel" if self._invited is not None:
                    await self._peers.invitations.call_off(self._invited.id)
                case "cancel":
                    pass
                case "stay":
                    pass
                case "join" | "unite":
                    return await self._join(form, unite=deed == "unite")
                case _:
                    raise refuse_form()
        except Refused as refused:
            return await self._page(fault=refusal_words(refused))
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})

    async def _join(self, form: MultiDictProxy[str], *, unite: bool) -> web.Response:
        """Join by what a person typed. It takes as long as the other device does, a minute at most."""
        secret, address = form.get("secret", ""), form.get("address", "").strip()
        name = form.get("name", "").strip()
        try:
            joined = await self._peers.join(secret, unite=unite, address=address or None, name=name or None)
        except Refused as refused:
            asks = self._what_to_ask(refused)
            view = JoinView(
                fault=_join_fault(refused),
                # Whoever has said that the tasks come along is not asked again after a wrong code.
                asks=asks or ("unite" if unite else ""),
                # Nothing was tried on the code: whoever answers need not type it again.
                secret=secret if asks else "",
                address=address,
                name=name,
            )
            return await self._page(join=view)
        words = (
            asked_words(joined.waits_for)
            if joined.waits_for
            else [joined_words(joined.name or joined.device_id, linked=joined.linked)]
        )
        self._joined = words, self._services.now_ms()
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})

    def _what_to_ask(self, refused: Refused) -> str:
        if refused.sentence.id == _OWN_ENTRIES:
            return "unite"
        return "address" if refused.sentence.id in _NOT_NEARBY else ""

    async def _page(self, wait_s: float = 0.0, fault: str = "", join: JoinView | None = None) -> web.Response:
        after, view = self._services.store.feed_end, await self._view(wait_s)
        states = (await self._peers.devices.list_states()).states
        own_name = next((state.name for state in states if state.this), "")
        join = join or JoinView(joined=self._joined_words())
        return await page_answer(
            self._services,
            "devices/pairing.html",
            status=HTTPStatus.CONFLICT if fault or join.fault else HTTPStatus.OK,
            room="devices",
            after=after,
            fault=fault,
            view=view,
            join=join,
            own_name=join.name or own_name,
        )

    def _joined_words(self) -> list[str]:
        """Return what came of joining, for a while after it."""
        words, at_ms = self._joined or ([], 0)
        return words if 0 <= self._services.now_ms() - at_ms < JOINED_SHOWN_MS else []

    async def _view(self, wait_s: float) -> InvitationView | None:
        invited = self._invited
        if invited is None:
            return None
        try:
            state = await self._peers.invitations.state(invited.id, wait_s)
        except Refused:
            # Somebody made another one on the command line: that one is followed there.
            self._invited = None
            return None
        return _view(invited, state, self._services.now_ms() / 1000)


def _join_fault(refused: Refused) -> str:
    """Say why this device did not join; what to do about it is said by the form, not by a command."""
    return {
        _OWN_ENTRIES: _("This device has tasks of its own."),
        "no-inviter-nearby": _("No device on this network shows a code."),
    }.get(refused.sentence.id) or refusal_words(refused)


def _view(invited: Invited, state: InvitationState, now_s: float) -> InvitationView:
    """Return what is shown of an invitation: its secret while it is open, how it goes, or how it ended."""
    secret = (invited.code or invited.token or "") if state.stage == "open" else ""
    words = ""
    if state.stage == "open" and state.tries_left < TRIES_MAX:
        words = failed_try_words(state.tries_left)
    elif state.stage == "proved":
        words = _("The code was right. The other device is coming in.")
    elif state.stage == "joined" and state.device is not None:
        words = newcomer_words(state.device.name or state.device.device_id, linked=state.device.linked)
    elif state.stage not in _GOES_ON:
        words, _remedy = invitation_end_words(state.stage, state.device and msgspec.to_builtins(state.device))
    return InvitationView(
        secret=secret,
        is_code=invited.code is not None,
        qr=qr_code(secret) if secret and invited.token is not None else None,
        address=invited.address,
        ends=relative_time(invited.expires_at, now_s),
        stage=state.stage,
        is_linked=state.device is not None and state.device.linked,
        words=words,
        goes_on=state.stage in _GOES_ON,
    )
