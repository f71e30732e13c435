"""What a client of the door can read by an address: two lists, and each set, ask and task by its id.

Never reads what the daemon does not show to the agent of the door.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import mcp_types as types

from daemon.cli.mcp.tool_calls import DoorRefusal

if TYPE_CHECKING:
    from daemon.cli.mcp.tool_calls import Door

ADDRESS_CHARS_MAX: Final = 300
_SCHEME: Final = "placet://"
_MEDIA: Final = "application/json"
_LISTS: Final = {
    "inbox": "What this agent proposed and asked that waits for the person, the latest first.",
    "decisions": "What this agent proposed and asked on which the person decided last.",
}
_BY_ID: Final = {
    "sets": "Changes that this agent proposed, and what became of them.",
    "asks": "A permission that this agent asked for.",
    "tasks": "A task of this agent's scope.",
    "receipts": "The receipt of a permission, by the ask: the signed commits that show what was done.",
}


class Address(NamedTuple):
    """The kind of a resource, and the name of it; a list has an empty name."""

    kind: str
    name: str


def list_resources() -> list[types.Resource]:
    """Return the lists: there is always one of each."""
    return [
        types.Resource(name=kind, uri=f"{_SCHEME}{kind}", description=described, mime_type=_MEDIA)
        for kind, described in _LISTS.items()
    ]


def list_templates() -> list[types.ResourceTemplate]:
    """Return what is read by an id."""
    return [
        types.ResourceTemplate(
            name=kind, uri_template=f"{_SCHEME}{kind}/{{id}}", description=described, mime_type=_MEDIA
        )
        for kind, described in _BY_ID.items()
    ]


def read_resource(door: Door, uri: str) -> str:
    """Return a resource as JSON. Raises `DoorRefusal` and `CommandError`."""
    address = parse_address(uri)
    return json.dumps(door.read(address.kind, address.name), ensure_ascii=False)


def parse_address(uri: str) -> Address:
    """Read an address. Raises `DoorRefusal` if it cannot be one of the door's."""
    kind, slash, name = uri.removeprefix(_SCHEME).partition("/")
    is_known = kind in _BY_ID and bool(name) if slash else kind in _LISTS
    if not uri.startswith(_SCHEME) or len(uri) > ADDRESS_CHARS_MAX or not is_known:
        raise DoorRefusal("not_found", f"there is no resource {uri[:80]!r}")
    return Address(kind, name)
