"""What a person lets an agent do: a policy per tool or action, and categories of tasks that it may work on.

Never loosens a tool's own mode, and a tool that is off can only be let wait. `policy.py` decides what a
policy means for a call.
"""

from collections.abc import Iterable
from typing import Final

from daemon.agents.person import lifecycle
from daemon.agents.tools.actions import action_key, actions_among, tool_named
from daemon.agents.tools.agent_record import AnyAgent, ExternalAgent
from daemon.agents.tools.policy import (
    CATEGORIES_FIELD,
    denies_action,
    policy_field,
    ruling_on,
    settable_policies,
)
from daemon.agents.tools.presence import presence_field
from daemon.agents.tools.table import TOOLS, CallMode, equivalent_names, normalised_name
from daemon.journal.references import names
from daemon.refusal import usage_error
from store.fold.entity import Entity
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text

DEFAULT: Final = "default"
_WAITS: Final = "deferred"
_DENIED: Final = "denied"
_ELEMENTS = {tool.element for tool in TOOLS.values() if tool.element is not None}
POLICY_TOOLS = tuple(name for name in TOOLS if name not in _ELEMENTS)
"""The tools that a policy is given to. The policy of a batch also applies to the tool of its elements."""


def policy_by_tool(agent: Entity) -> dict[str, str]:
    """Return what becomes of a call of each tool, and of asks for actions that have settings of their own.

    It is immediate, deferred or denied.
    """
    rulings = {name: ruling_on(agent, name).name.lower() for name in POLICY_TOOLS}
    actions = {*actions_among(agent, policy_field("")), *actions_among(agent, presence_field(""))}
    return rulings | {name: _DENIED if denies_action(agent, name) else _WAITS for name in sorted(actions)}


def policy_choices(tool: str) -> tuple[str, ...]:
    """Return what can become of the calls of a tool, or of asks for an action, the loosest first.

    `set_tool_policy` takes each.
    """
    if tool not in TOOLS:
        return (_WAITS, _DENIED)
    return tuple(dict.fromkeys((_own_mode(tool), *settable_policies(tool))))


def _own_mode(tool: str) -> str:
    return "immediate" if TOOLS[tool].mode is CallMode.IMMEDIATE else "deferred"


def allowed_category_names(snapshot: Snapshot, agent: Entity) -> list[str]:
    """Return the names of the categories that an agent may work on; none: tasks without a category."""
    categories = (snapshot.entity(category) for category in names.member_ids(agent, CATEGORIES_FIELD))
    return sorted(names.shown_name(category) for category in categories if category is not None)


def set_tool_policy(tx: Transaction, agent: EntityId, tool_name: str, policy: str) -> None:
    """Give a tool or an action a policy, or remove it.

    Raises Refused for an unknown tool or policy, and for a policy that would loosen the tool.
    """
    known_agent = lifecycle.require_not_destroyed(tx, agent)
    tool, wanted = tool_or_action(known_agent, tool_name, POLICY_TOOLS), policy.strip().lower()
    if tool not in TOOLS:
        _set_action_policy(tx, known_agent, tool, wanted)
        return
    mode_of_tool = _own_mode(tool)
    choices = (*settable_policies(tool), DEFAULT)
    if wanted not in (*choices, mode_of_tool):
        raise usage_error(
            sentence(
                "policy-only-tightens",
                "{tool} cannot be {policy!r}: a policy only tightens",
                tool=tool,
                policy=policy[:80],
            ),
            sentence("one-of", "one of {choices}", choices=", ".join(choices)),
        )
    is_own_mode = wanted == mode_of_tool and TOOLS[tool].is_on
    value = wanted if wanted in settable_policies(tool) and not is_own_mode else None
    fields = {policy_field(name): value if name == tool else None for name in equivalent_names(tool)}
    _write(tx, known_agent, dict(fields))


def tool_or_action(agent: AnyAgent, name: str, choices: Iterable[str]) -> str:
    """Return the name under which a setting is kept, of a tool, or of an action of another maker's agent.

    Raises Refused for another name; `choices` are those to tell of.
    """
    # A hook names the tools of other servers too: "mcp__tracker__add_task" is none of the journal's.
    is_external = isinstance(agent, ExternalAgent)
    tool = tool_named(name) if is_external else normalised_name(name)
    if tool is not None and tool in TOOLS:
        return tool
    key = action_key(name) if is_external else None
    if key is not None:
        return key
    raise usage_error(
        sentence("tool-unknown", "no tool is called {name!r}", name=name[:80]),
        sentence("one-of", "one of {choices}", choices=", ".join(choices)),
    )


def _set_action_policy(tx: Transaction, agent: AnyAgent, action: str, wanted: str) -> None:
    if wanted not in (_WAITS, _DENIED, DEFAULT):
        raise usage_error(
            sentence("policy-of-action", "an ask for {name} waits, or is denied", name=action),
            sentence("one-of", "one of {choices}", choices=f"{_WAITS}, {_DENIED}, {DEFAULT}"),
        )
    _write(tx, agent, {policy_field(action): _DENIED if wanted == _DENIED else None})


def edit_allowed_categories(
    tx: Transaction, agent: EntityId, *, allow: Iterable[str], disallow: Iterable[str]
) -> None:
    """Allow an agent to work on tasks of some categories, and stop it from working on those of others.

    Raises Refused for a name that no category has.
    """
    known_agent = lifecycle.require_not_destroyed(tx, agent)
    fields: dict[str, Value] = {}
    for refs, allowed in ((allow, True), (disallow, False)):
        for ref in refs:
            fields[f"{CATEGORIES_FIELD}/{id_to_text(names.find_named(tx, 'category', ref).id)}"] = allowed
    _write(tx, known_agent, fields)


def _write(tx: Transaction, agent: AnyAgent, wanted: dict[str, Value]) -> None:
    """Write the values that differ from the current ones; a value in conflict is written again."""
    entity = tx.entity(agent.id)
    assert entity is not None
    fields = {
        name: value
        for name, value in wanted.items()
        if (entity.value(name) or None) != (value or None) or len(entity.versions(name)) > 1
    }
    if fields:
        tx.commit([EntityWrite(agent.id, "agent", fields)])
