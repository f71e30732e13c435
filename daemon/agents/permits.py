"""What a person lets an agent do: a policy for each tool, and the categories of its tasks.

Never loosens a tool's own mode; what a policy means to a call is `policy.py`'s to say.
"""

from collections.abc import Iterable
from typing import Final

from daemon.agents import lifecycle
from daemon.agents.policy import CATEGORIES, field_of, ruling, tightenings
from daemon.agents.records import Agent
from daemon.agents.tools import TOOLS, Mode, family, normalised_name
from daemon.journal import names
from daemon.journal.errors import usage
from store.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId, text

DEFAULT: Final = "default"
_ELEMENTS = {tool.element for tool in TOOLS.values() if tool.element is not None}
NAMED = tuple(name for name in TOOLS if name not in _ELEMENTS)
"""The tools that a policy is given to: that of a batch holds for the tool of its elements."""


def policies(agent: Entity) -> dict[str, str]:
    """Say what becomes of a call of each tool: immediate, deferred or denied."""
    return {name: ruling(agent, name).name.lower() for name in NAMED}


def categories(snapshot: Snapshot, agent: Entity) -> list[str]:
    """Return the names of the categories that an agent may work on; none: tasks without a category."""
    held = (snapshot.entity(one) for one in names.members(agent, CATEGORIES))
    return sorted(one.text("name") for one in held if one is not None)


def set_policy(tx: Transaction, agent: EntityId, asked: str, policy: str) -> None:
    """Give a tool a policy, or take it back. Raises Refused for one that is unknown or would loosen it."""
    known = lifecycle.living(tx, agent)
    tool, wanted = normalised_name(asked), policy.strip().lower()
    if tool not in TOOLS:
        raise usage(f"no tool is called {asked[:80]!r}", f"one of {', '.join(NAMED)}")
    own = "immediate" if TOOLS[tool].mode is Mode.IMMEDIATE else "deferred"
    choices = (*tightenings(tool), DEFAULT)
    if wanted not in (*choices, own):
        raise usage(
            f"{tool} cannot be {policy[:80]!r}: a policy only tightens", f"one of {', '.join(choices)}"
        )
    value = wanted if wanted in tightenings(tool) and wanted != own else None
    fields = {field_of(name): value if name == tool else None for name in family(tool)}
    _write(tx, known, dict(fields))


def admit(tx: Transaction, agent: EntityId, *, allow: Iterable[str], disallow: Iterable[str]) -> None:
    """Let an agent work on tasks of some categories, and no longer on others'. Raises Refused for no name."""
    known = lifecycle.living(tx, agent)
    fields: dict[str, Value] = {}
    for refs, allowed in ((allow, True), (disallow, False)):
        for ref in refs:
            fields[f"{CATEGORIES}/{text(names.find(tx, 'category', ref).id)}"] = allowed
    _write(tx, known, fields)


def _write(tx: Transaction, agent: Agent, wanted: dict[str, Value]) -> None:
    """Write what is not so already; a value that others stand beside is written over them."""
    held = tx.entity(agent.id)
    assert held is not None
    fields = {
        name: value
        for name, value in wanted.items()
        if (held.value(name) or None) != (value or None) or len(held.versions(name)) > 1
    }
    if fields:
        tx.commit([Write(agent.id, "agent", fields)])
