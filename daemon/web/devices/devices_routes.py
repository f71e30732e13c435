"""The routes of the devices: who is connected to whom, their names, removing one, and leaving the vault.

Never removes a device, and never leaves, by a form that the page of that question did not send.
"""

import asyncio
from http import HTTPStatus
from typing import Any, Final

import msgspec
from aiohttp import web

from daemon.peers.network import PeerNetwork
from daemon.refusal import Refused
from daemon.web.devices.device_rows import device_rows, mailbox_rows
from daemon.web.devices.network_drawing import draw_network
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.devices import goodbye_words
from daemon.words.translation import _

PATH: Final = "/devices"
STATE_CHARS: Final = 12
BRING_UP_LOOK_S: Final = 1.0


def routes(services: PageServices, peers: PeerNetwork) -> list[web.RouteDef]:
    """Return the routes of the devices themselves."""
    room = _Devices(services, peers)
    return [
        web.get(PATH, room.show),
        web.post(PATH, room.act),
        web.get("/devices/leave", room.ask_to_leave),
        web.get("/devices/{device:[0-9a-f]{64}}/remove", room.ask_to_remove),
    ]


class _Devices:
    def __init__(self, services: PageServices, peers: PeerNetwork) -> None:
        self._services = services
        self._peers = peers

    async def show(self, request: web.Request) -> web.Response:
        if "wait" in request.query:
            # A page that shows how a device catches up asks again and again.
            await asyncio.sleep(BRING_UP_LOOK_S)
        return await self._page()

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for, and show the devices; what is refused is said above them."""
        form = await read_form(request)
        deed, device = form.get("do", ""), form.get("device", "")
        shortfall = shortfall_words(self._services)
        if shortfall:
            return await self._page(fault=shortfall)
        devices = self._peers.devices
        try:
            match deed:
                case "rename":
                    await devices.rename(device, form.get("name", ""))
                case "remove":
                    await devices.remove(device, with_admitted=form.get("with_admitted") == "yes")
                case "leave":
                    goodbye = msgspec.to_builtins(await devices.leave())
                    return await self._page(done=goodbye_words(goodbye))
                case _:
                    raise refuse_form()
        except Refused as refused:
            return await self._page(fault=refusal_words(refused), typed=form.get("name", ""), at=device)
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})

    async def ask_to_remove(self, request: web.Request) -> web.Response:
        """Ask before a device is removed, and name those that came in by it alone."""
        device = request.match_info["device"]
        listed = (await self._peers.devices.list_states()).states
        rows = [row for row in device_rows(listed, self._now_s()) if row.id == device and row.can_remove]
        if not rows:
            return await self._page(fault=_("This device is no longer a member."))
        try:
            admitted = await self._peers.devices.admitted_alone(device)
        except Refused as refused:
            return await self._page(fault=refusal_words(refused))
        return await self._answer("devices/remove.html", row=rows[0], admitted=admitted)

    async def ask_to_leave(self, request: web.Request) -> web.Response:
        del request
        return await self._answer("devices/leave.html")

    def _now_s(self) -> float:
        return self._services.now_ms() / 1000

    async def _page(self, fault: str = "", **shown: Any) -> web.Response:
        after = self._services.store.feed_end
        listed = await self._peers.devices.list_states()
        mailboxes = await self._peers.mailboxes.states()
        state_hash = await self._services.store.read(lambda snapshot: snapshot.state_hash())
        rows = device_rows(listed.states, self._now_s(), after)
        return await self._answer(
            "devices/devices.html",
            status=HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            after=after,
            fault=fault,
            rows=rows,
            drawing=draw_network(rows, mailboxes),
            is_member=not any(row.this and row.removed for row in rows),
            left_out=listed.members_left_out + listed.removed_left_out,
            mailboxes=mailbox_rows(mailboxes, self._now_s()),
            state=state_hash.hex()[:STATE_CHARS],
            **{"done": [], "typed": "", "at": "", **shown},
        )

    async def _answer(self, template: str, **values: Any) -> web.Response:
        values = {"after": self._services.store.feed_end, **values}
        return await page_answer(self._services, template, room="devices", **values)
