"""The routes of devices: invitations, joining, the roster, synchronising.

Never keeps a token: an answer that holds one is not stored for a retry.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field, structs

from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.journal import change_log
from daemon.peers.exchange_days import ExchangeDay
from daemon.peers.linking.device_states import AdmittedDevices, DeviceState, Goodbye, SyncReport
from daemon.peers.linking.replication_status import Whereabouts
from daemon.peers.mailboxes.mailbox_contents import MailboxHolding
from daemon.peers.network import PeerNetwork
from daemon.peers.pairing.invitations import InvitationState, Invited, JoinedDevice

WAIT_S_MAX = 600
WATCH_S_MAX = 25


class Invite(Struct, frozen=True, forbid_unknown_fields=True):
    """How the invitation gets to the other device: as a code that a person types, or as a token.

    With a `mailbox` (its name), the token is for a device that joins through that alone.
    """

    by: Literal["code", "token"] = "token"
    mailbox: str | None = None


class InvitationQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many seconds to wait until something about the invitation changes; 0: not at all."""

    wait: Annotated[float, Meta(ge=0, le=WATCH_S_MAX)] = 0.0


class Join(Struct, frozen=True, forbid_unknown_fields=True):
    """An invitation to accept. `token` is its code or its token.

    `mailbox` is the folder in which both devices look, if the invitation is through one.
    `address` is the only address to try, as `host:port`; null: those of the token, or of the device that
    invites nearby. `unite`: this device's own tasks come along. `name` is what this device is called from
    then on.
    """

    token: str
    address: str | None = None
    unite: bool = False
    mailbox: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    name: Annotated[str, Meta(max_length=256)] | None = None


class Replication(Whereabouts, frozen=True):
    """What was asked for, which devices have it, and what mailboxes have of it, as they were last seen."""

    mailboxes: list[MailboxHolding] = field(default_factory=list)


class DeviceEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """A device's new name."""

    name: str


class DevicesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The id of the device after which the list begins; null: the first one. One answer has at most 500."""

    after: str | None = None


class RemovalQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the devices that only the removed one has let in are removed too."""

    with_admitted: bool = False


class AdmittedQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a device, or the beginning of its id."""

    by: str


class WhereQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A commit by its position in the log, a task by id or title, or anything else by its id."""

    of: str


class Sync(Struct, frozen=True, forbid_unknown_fields=True):
    """How many seconds to wait until the connected peers have the same commits.

    `pause` does something else: true stops the exchange, false resumes it.
    """

    wait: Annotated[float, Meta(ge=0, le=WAIT_S_MAX)] = 0.0
    pause: bool | None = None


class PeerRoutes:
    """The routes, on the one peers' side of this daemon."""

    def __init__(self, peers: PeerNetwork) -> None:
        self._peers = peers

    def routes(self) -> list[Route]:
        """Return the peers' part of the table."""
        return [*self._pairing_routes(), *self._device_routes(), *self._exchange_routes()]

    def _pairing_routes(self) -> list[Route]:
        invite = AsyncHandler(self._invite, stores_response=False)
        return [
            Route("POST", "/v1/invitations", "Invite a device", invite, Invited, Invite, status=201),
            Route(
                "GET",
                "/v1/invitations/{ref}",
                "Show how far an invitation has got",
                AsyncHandler(self._invitation),
                InvitationState,
                query=InvitationQuery,
            ),
            Route(
                "DELETE",
                "/v1/invitations/{ref}",
                "Call an invitation off",
                AsyncHandler(self._call_off),
                InvitationState,
            ),
            Route("POST", "/v1/join", "Accept an invitation", AsyncHandler(self._join), JoinedDevice, Join),
        ]

    def _device_routes(self) -> list[Route]:
        return [
            Route(
                "GET",
                "/v1/devices",
                "List the devices",
                AsyncHandler(self._devices),
                list[DeviceState],
                query=DevicesQuery,
            ),
            Route(
                "PATCH",
                "/v1/devices/{ref}",
                "Rename a device",
                AsyncHandler(self._rename),
                DeviceState,
                DeviceEdit,
            ),
            Route(
                "DELETE",
                "/v1/devices/{ref}",
                "Remove a device: it gets nothing new",
                AsyncHandler(self._remove),
                DeviceState,
                query=RemovalQuery,
            ),
            Route(
                "GET",
                "/v1/admitted",
                "List the members that go with a device if it is removed with those that it alone let in",
                AsyncHandler(self._list_admitted),
                AdmittedDevices,
                query=AdmittedQuery,
            ),
            Route("POST", "/v1/leave", "Say goodbye to the vault", AsyncHandler(self._leave), Goodbye),
        ]

    def _exchange_routes(self) -> list[Route]:
        return [
            Route(
                "GET",
                "/v1/where",
                "Say which devices and mailboxes hold a commit, or all that was done to a thing",
                AsyncHandler(self._where),
                Replication,
                query=WhereQuery,
            ),
            Route(
                "GET",
                "/v1/exchange-days",
                "Say what was exchanged on each of the last 30 days on which anything was, the newest first",
                AsyncHandler(self._list_days),
                list[ExchangeDay],
            ),
            Route(
                "POST",
                "/v1/sync",
                "Synchronise now",
                AsyncHandler(self._sync),
                SyncReport,
                Sync,
                # What it asks for goes on by itself anyway; with a full disk, sending or a pause may help.
                writes_nothing=lambda _: True,
            ),
        ]

    async def _invite(self, call: Call[Invite, Nothing]) -> Invited:
        if call.body.mailbox is not None:
            return await self._peers.invite_through(call.body.mailbox)
        return await self._peers.invitations.invite(by_code=call.body.by == "code")

    async def _invitation(self, call: Call[Nothing, InvitationQuery]) -> InvitationState:
        return await self._peers.invitations.state(call.ref, call.query.wait)

    async def _call_off(self, call: Call[Nothing, Nothing]) -> InvitationState:
        return await self._peers.invitations.call_off(call.ref)

    async def _join(self, call: Call[Join, Nothing]) -> JoinedDevice:
        body = call.body
        return await self._peers.join(
            body.token, unite=body.unite, address=body.address, mailbox=body.mailbox, name=body.name
        )

    async def _devices(self, call: Call[Nothing, DevicesQuery]) -> list[DeviceState]:
        after = call.query.after
        return (await self._peers.devices.list_states(after)).states

    async def _where(self, call: Call[Nothing, WhereQuery]) -> Replication:
        devices, family_of = self._peers.devices, change_log.find_entity_family
        whereabouts = await devices.replication_status(
            call.query.of, family_of=family_of, device_name_of=change_log.replica_device_name
        )
        positions = await devices.find_positions(call.query.of, family_of)
        holdings = await self._peers.mailboxes.find_holdings(positions)
        return Replication(**structs.asdict(whereabouts), mailboxes=holdings)

    async def _rename(self, call: Call[DeviceEdit, Nothing]) -> DeviceState:
        return await self._peers.devices.rename(call.ref, call.body.name)

    async def _remove(self, call: Call[Nothing, RemovalQuery]) -> DeviceState:
        return await self._peers.devices.remove(call.ref, with_admitted=call.query.with_admitted)

    async def _list_admitted(self, call: Call[Nothing, AdmittedQuery]) -> AdmittedDevices:
        return await self._peers.devices.admitted_alone(call.query.by)

    async def _leave(self, call: Call[Nothing, Nothing]) -> Goodbye:
        del call
        return await self._peers.devices.leave()

    async def _list_days(self, call: Call[Nothing, Nothing]) -> list[ExchangeDay]:
        del call
        return await self._peers.exchange_days.list_days()

    async def _sync(self, call: Call[Sync, Nothing]) -> SyncReport:
        body = call.body
        if body.pause:
            self._peers.replication.pause()
        elif body.pause is False:
            self._peers.replication.resume()
        return await self._peers.synchronisation.sync(body.wait)
