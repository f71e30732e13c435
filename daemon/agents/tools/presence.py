"""What verdicts on an agent's proposals need beside a person's word: another device, or a passkey.

Never decides whether a verdict counts: the fold does. An unreadable setting asks for the most.
"""

from collections.abc import Iterable
from typing import Final

from daemon.agents.tools.actions import action_key
from daemon.agents.tools.table import equivalent_names
from store.fold.entity import Entity
from store.fold.item_name import Presence, Requirement
from syncproto.codec import Value
from syncproto.ids import DeviceId

PRESENCE_FIELD: Final = "presence"
"""What verdicts need on whatever the agent proposes; `presence/<name>` says it of one tool or action."""

ANY: Final = "any"
OTHER_DEVICE: Final = Presence.OTHER_DEVICE.value
"""The setting by which every verdict of a person counts."""

PRESENCES: Final = (ANY, *(presence.value for presence in Presence))
"""The settings, the loosest first."""


def presence_field(tool: str | None) -> str:
    """Return the field of an agent that says what verdicts need: on one tool or action, or on all."""
    return PRESENCE_FIELD if tool is None else f"{PRESENCE_FIELD}/{tool}"


def presence_setting(agent: Entity | None, tool: str | None) -> str | None:
    """Return what is set for a tool or an action, or for all (None); None if nothing is.

    A batch and the tool of its elements count as one. Of several settings, as devices make them while apart,
    the tightest applies.
    """
    names: Iterable[str | None] = (None,) if tool is None else equivalent_names(tool)
    values = [
        version.value
        for name in names
        for version in ([] if agent is None else agent.versions(presence_field(name)))
    ]
    settings = [_readable(value) for value in values if value is not None]
    return max(settings, key=PRESENCES.index, default=None)


def presence_on(agent: Entity | None, tool: str) -> str:
    """Return what verdicts on an agent's calls of a tool need: `any`, `other_device` or `passkey`."""
    return presence_setting(agent, tool) or presence_setting(agent, None) or ANY


def presence_on_action(agent: Entity | None, name: str) -> str:
    """Return what verdicts on an agent's asks for an action need: `any`, `other_device` or `passkey`."""
    key = action_key(name)
    own = None if key is None else presence_setting(agent, key)
    return own or presence_setting(agent, None) or ANY


def requirement_on(agent: Entity | None, tools: Iterable[str], home: DeviceId) -> Requirement | None:
    """Return what verdicts need on a proposal of an agent that works on the device `home`.

    `tools` are those that the proposal calls, one or more: the tightest of their settings applies. None is a
    proposal on which every verdict of a person counts.
    """
    tightest = max((presence_on(agent, tool) for tool in tools), key=PRESENCES.index)
    return None if tightest == ANY else Requirement(Presence(tightest), home)


def _readable(value: Value) -> str:
    return value if isinstance(value, str) and value in PRESENCES else PRESENCES[-1]
