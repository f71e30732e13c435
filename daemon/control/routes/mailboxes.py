"""The routes of mailboxes: add one, list them, look into one now, forget one.

Never touches what lies in a mailbox; looking into it does.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.peers.mailboxes.bundles import Bundles, ReadBundle, WrittenBundle
from daemon.peers.mailboxes.carrier_choice import Access
from daemon.peers.mailboxes.mailbox_state import AddedMailbox, MailboxState
from daemon.peers.mailboxes.mailboxes import Mailboxes


class NewMailbox(Struct, frozen=True, forbid_unknown_fields=True):
    """A mailbox to look into from now on.

    The place of a folder is an absolute path; links in it are followed once, now. That of a relay is
    `https://HOST:PORT/BOX`, followed by `#sha256=HEX` if its certificate is pinned. That of NATS is
    `tls://HOST:PORT,HOST:PORT/STREAM`, followed by `?replicas=3&mib=1024&ca=FILE` and the like. Both need a
    `secret`: that of the box, or USER:PASSWORD, or a token. Without https or tls, it goes to another machine
    only if `unencrypted`. A box or stream that this device looks into already has the new secret from then
    on, keeps its name, and also its pin and the like unless the place has others.
    """

    place: Annotated[str, Meta(min_length=1, max_length=4096)]
    name: Annotated[str, Meta(min_length=1, max_length=64)]
    kind: Literal["folder", "relay", "nats"] = "folder"
    secret: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    unencrypted: bool = False


class NewBundle(Struct, frozen=True, forbid_unknown_fields=True):
    """A file to write, by its absolute path, and for which device: its name, or the beginning of its id.

    Without a device, it is for all members.
    """

    file: Annotated[str, Meta(min_length=1, max_length=4096)]
    device: str | None = None


class GivenBundle(Struct, frozen=True, forbid_unknown_fields=True):
    """A file to read, by its absolute path."""

    file: Annotated[str, Meta(min_length=1, max_length=4096)]


class MailboxRoutes:
    """The routes, on the mailboxes of this daemon; `remove` ends the invitations through a mailbox too."""

    def __init__(
        self, mailboxes: Mailboxes, bundles: Bundles, remove: Callable[[str], Awaitable[MailboxState]]
    ) -> None:
        self._mailboxes = mailboxes
        self._bundles = bundles
        self._remove_mailbox = remove

    def routes(self) -> list[Route]:
        """Return the mailboxes' part of the table."""
        return [
            Route(
                "GET", "/v1/mailboxes", "List the mailboxes", AsyncHandler(self._states), list[MailboxState]
            ),
            Route(
                "POST",
                "/v1/mailboxes",
                "Look into a mailbox from now on, or into a known one with another secret",
                AsyncHandler(self._add),
                AddedMailbox,
                NewMailbox,
                status=201,
            ),
            Route(
                "POST",
                "/v1/mailboxes/{ref}/check",
                "Look into a mailbox now, and write what waits",
                AsyncHandler(self._check),
                MailboxState,
            ),
            Route(
                "DELETE",
                "/v1/mailboxes/{ref}",
                "Stop using a mailbox; what lies in it stays",
                AsyncHandler(self._remove),
                MailboxState,
            ),
            Route(
                "POST",
                "/v1/bundles",
                "Write what other devices lack into a file, sealed",
                AsyncHandler(self._write_bundle),
                WrittenBundle,
                NewBundle,
                status=201,
            ),
            Route(
                "POST",
                "/v1/bundles/read",
                "Take what a file of another device brings",
                AsyncHandler(self._read_bundle),
                ReadBundle,
                GivenBundle,
            ),
        ]

    async def _states(self, call: Call[Nothing, Nothing]) -> list[MailboxState]:
        del call
        return await self._mailboxes.states()

    async def _add(self, call: Call[NewMailbox, Nothing]) -> AddedMailbox:
        body = call.body
        access = Access(None if body.kind == "folder" else body.secret, body.unencrypted)
        return await self._mailboxes.add(body.kind, body.place, body.name, access)

    async def _check(self, call: Call[Nothing, Nothing]) -> MailboxState:
        return await self._mailboxes.check(call.ref)

    async def _write_bundle(self, call: Call[NewBundle, Nothing]) -> WrittenBundle:
        return await self._bundles.write(call.body.file, call.body.device)

    async def _read_bundle(self, call: Call[GivenBundle, Nothing]) -> ReadBundle:
        return await self._bundles.read(call.body.file)

    async def _remove(self, call: Call[Nothing, Nothing]) -> MailboxState:
        return await self._remove_mailbox(call.ref)
