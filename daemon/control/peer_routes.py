"""The routes of devices: invitations, joining, the roster, synchronising.

Never keeps a token: an answer that holds one is not stored for a retry.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.control.routes import Asks, Call, Nothing, Route
from daemon.peers.peers import Peers
from daemon.peers.states import DeviceState, Goodbye, InvitationState, Invited, JoinedDevice, SyncReport
from daemon.peers.whereabouts import Whereabouts

WAIT_S_MAX = 600
WATCH_S_MAX = 25


class Invite(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the invitation is brought over as a code that a person types, or as a token."""

    by: Literal["code", "token"] = "token"


class InvitationQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many seconds to wait for an invitation to get further."""

    wait: Annotated[float, Meta(ge=0, le=WATCH_S_MAX)] = 0.0


class Join(Struct, frozen=True, forbid_unknown_fields=True):
    """An invitation's code or token; where to try; and whether this device's own tasks come along."""

    token: str
    address: str | None = None
    unite: bool = False


class DeviceEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """A device's new name."""

    name: str


class WhereQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A commit by its position in the log, a task by id or title, or anything else by its id."""

    of: str


class Sync(Struct, frozen=True, forbid_unknown_fields=True):
    """How many seconds to wait for the connected peers; `pause` stops or resumes the exchange instead."""

    wait: Annotated[float, Meta(ge=0, le=WAIT_S_MAX)] = 0.0
    pause: bool | None = None


class PeerRoutes:
    """The routes, on the one peers' side of this daemon."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    def routes(self) -> list[Route]:
        """Return the peers' part of the table."""
        invite = Asks(self._invite, kept=False)
        return [
            Route("POST", "/v1/invitations", "Invite a device", invite, Invited, Invite, status=201),
            Route(
                "GET",
                "/v1/invitations/{ref}",
                "Show how far an invitation has got",
                Asks(self._invitation),
                InvitationState,
                query=InvitationQuery,
            ),
            Route(
                "DELETE",
                "/v1/invitations/{ref}",
                "Call an invitation off",
                Asks(self._call_off),
                InvitationState,
            ),
            Route("POST", "/v1/join", "Accept an invitation", Asks(self._join), JoinedDevice, Join),
            Route("GET", "/v1/devices", "List the devices", Asks(self._devices), list[DeviceState]),
            Route(
                "PATCH", "/v1/devices/{ref}", "Rename a device", Asks(self._rename), DeviceState, DeviceEdit
            ),
            Route(
                "GET",
                "/v1/where",
                "Say which devices hold a commit, or all that was done to a thing",
                Asks(self._where),
                Whereabouts,
                query=WhereQuery,
            ),
            Route("POST", "/v1/leave", "Say goodbye to the vault", Asks(self._leave), Goodbye),
            Route(
                "DELETE", "/v1/devices/{ref}", "Close the door to a device", Asks(self._remove), DeviceState
            ),
            Route(
                "POST",
                "/v1/sync",
                "Synchronise now",
                Asks(self._sync),
                SyncReport,
                Sync,
                # What it asks for goes on by itself anyway; with a full disk, sending or a pause may help.
                only_looks=lambda _: True,
            ),
        ]

    async def _invite(self, call: Call[Invite, Nothing]) -> Invited:
        return await self._peers.invite(by_code=call.body.by == "code")

    async def _invitation(self, call: Call[Nothing, InvitationQuery]) -> InvitationState:
        return await self._peers.invitation(call.ref, call.query.wait)

    async def _call_off(self, call: Call[Nothing, Nothing]) -> InvitationState:
        return await self._peers.call_off(call.ref)

    async def _join(self, call: Call[Join, Nothing]) -> JoinedDevice:
        asked = call.body
        return await self._peers.join(asked.token, unite=asked.unite, address=asked.address)

    async def _devices(self, call: Call[Nothing, Nothing]) -> list[DeviceState]:
        del call
        return await self._peers.devices()

    async def _where(self, call: Call[Nothing, WhereQuery]) -> Whereabouts:
        return await self._peers.where(call.query.of)

    async def _rename(self, call: Call[DeviceEdit, Nothing]) -> DeviceState:
        return await self._peers.rename(call.ref, call.body.name)

    async def _remove(self, call: Call[Nothing, Nothing]) -> DeviceState:
        return await self._peers.remove(call.ref)

    async def _leave(self, call: Call[Nothing, Nothing]) -> Goodbye:
        del call
        return await self._peers.leave()

    async def _sync(self, call: Call[Sync, Nothing]) -> SyncReport:
        asked = call.body
        if asked.pause:
            self._peers.pause()
        elif asked.pause is False:
            self._peers.resume()
        return await self._peers.sync(asked.wait)
