"""What a person lets verdicts on an agent's proposals need: another device, or a passkey.

Never loosens anything on the device where the agent works: every process of the person's can call its daemon.
"""

from collections.abc import Iterable

from daemon.agents.person import lifecycle
from daemon.agents.person.policy_edits import DEFAULT, POLICY_TOOLS, tool_or_action
from daemon.agents.tools.actions import ALL_TOOLS, actions_among
from daemon.agents.tools.agent_record import load_any_agent
from daemon.agents.tools.presence import (
    ANY,
    PRESENCES,
    presence_field,
    presence_on,
    presence_on_action,
    presence_setting,
)
from daemon.agents.tools.table import equivalent_names
from daemon.refusal import RefusalCode, Refused, usage_error
from store.fold.entity import Entity
from store.fold.item_name import Presence
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import DeviceId, EntityId


def presence_by_tool(agent: Entity) -> dict[str, str]:
    """Return what verdicts need, for all, and for the tools and actions that have a setting of their own."""
    settings = {ALL_TOOLS: presence_setting(agent, None) or ANY}
    names = (*POLICY_TOOLS, *actions_among(agent, presence_field("")))
    return settings | {
        name: setting for name in names if (setting := presence_setting(agent, name)) is not None
    }


def set_presence(
    tx: Transaction, agent: EntityId, tool_name: str, presence: str, *, has_other_devices: bool
) -> None:
    """Set what verdicts on a tool or action of an agent need, or on all (`all`); `default` removes a setting.

    `has_other_devices` is whether the vault has another member. Raises Refused for an unknown tool or
    setting, for one that nothing could fulfil, and for one that loosens, on the agent's own device.
    """
    known_agent = lifecycle.require_not_destroyed(tx, agent)
    wanted = presence.strip().lower().replace("-", "_")
    is_for_all = tool_name.strip().lower() == ALL_TOOLS
    tool = None if is_for_all else tool_or_action(known_agent, tool_name, (ALL_TOOLS, *POLICY_TOOLS))
    if wanted not in (*PRESENCES, DEFAULT):
        raise usage_error(
            sentence("presence-unknown", "verdicts cannot need {presence!r}", presence=presence[:80]),
            sentence("one-of", "one of {choices}", choices=", ".join((*PRESENCES, DEFAULT))),
        )
    _require_fulfillable(tx, wanted, has_other_devices=has_other_devices)
    entity = tx.entity(agent)
    assert entity is not None
    actions = {*actions_among(entity, presence_field("")), *({tool} if tool else ())}
    before = _needs(entity, actions)
    value = None if wanted == DEFAULT else wanted
    names: Iterable[str | None] = (None,) if tool is None else equivalent_names(tool)
    fields = {presence_field(name): value if name == tool else None for name in names}
    differing = {
        field: new
        for field, new in fields.items()
        if entity.value(field) != new or len(entity.versions(field)) > 1
    }
    if not differing:
        return
    tx.commit([EntityWrite(agent, entity.kind or "agent", dict(differing))])
    changed = tx.entity(agent)
    assert changed is not None
    after = _needs(changed, actions)
    if known_agent.home == tx.device and any(new < old for new, old in zip(after, before, strict=True)):
        raise _loosens_refusal()


def _needs(agent: Entity, actions: Iterable[str]) -> list[int]:
    """Return how much verdicts need: on each tool, on some actions, and on all others, in this order."""
    presences = [presence_on(agent, name) for name in POLICY_TOOLS]
    presences += [presence_on_action(agent, name) for name in actions]
    return [PRESENCES.index(presence) for presence in (*presences, presence_setting(agent, None) or ANY)]


def require_movable(snapshot: Snapshot, agent: EntityId, device: DeviceId) -> None:
    """Raise Refused if an agent would leave this device, on which verdicts on its proposals do not count."""
    known_agent, entity = load_any_agent(snapshot, agent), snapshot.entity(agent)
    leaves = known_agent is not None and known_agent.home == snapshot.device != device
    if leaves and entity is not None and any(set(presence_by_tool(entity).values()) - {ANY}):
        raise _loosens_refusal()


def _loosens_refusal() -> Refused:
    return Refused(
        RefusalCode.CONFLICT,
        sentence(
            "presence-loosened-at-home",
            "on the device where the agent works, what its verdicts need can only be tightened",
        ),
        sentence("use-another-device", "do this on another device"),
    )


def _require_fulfillable(snapshot: Snapshot, wanted: str, *, has_other_devices: bool) -> None:
    if wanted == Presence.OTHER_DEVICE and not has_other_devices:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("presence-without-devices", "there is no other device yet that could decide"),
            sentence("use-invite", "let one in first: placet pair"),
        )
    if wanted == Presence.PASSKEY and not snapshot.has_passkey():
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("presence-without-passkey", "there is no passkey yet that could decide"),
            sentence("add-passkey", "add one on the page, below Devices: placet web"),
        )
