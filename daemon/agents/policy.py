"""What an agent may do: a policy for each tool, and the categories of the tasks that it may work on.

Never loosens anything: a policy can only make a tool wait or deny it, and what cannot be read denies.
"""

from enum import IntEnum
from typing import Final

from daemon.agents.tools import TOOLS, Mode, family
from daemon.journal import names
from store.entity import Entity
from store.fold import Version
from store.snapshot import Snapshot
from syncproto.codec import Value

POLICY: Final = "policy"
"""The policies of an agent: one field a tool, `policy/<tool>`; without one, the tool's own mode holds."""

CATEGORIES: Final = "allowed_category_ids"
"""The categories whose tasks an agent may work on: one field a member; none: tasks without a category."""


class Ruling(IntEnum):
    """What becomes of a call; the higher, the tighter."""

    IMMEDIATE = 0
    DEFERRED = 1
    DENIED = 2


_WORDS = {"deferred": Ruling.DEFERRED, "denied": Ruling.DENIED}


def field_of(tool: str) -> str:
    """Return the field of an agent that holds its policy for a tool."""
    return f"{POLICY}/{tool}"


def tightenings(tool: str) -> tuple[str, ...]:
    """Return the policies that a tool can be given: what writes no field of the journal cannot wait."""
    waits = TOOLS[tool].deferrable or TOOLS[tool].mode is Mode.EXPLODED
    return tuple(_WORDS) if waits else ("denied",)


def ruling(agent: Entity | None, tool: str) -> Ruling:
    """Return what an agent's policy makes of a tool, a normalised name; None: an agent without policies.

    A batch and the tool of its elements are one matter: the tighter of their policies holds for both. Of
    policies that were set while apart, the tightest does.
    """
    default = Ruling.IMMEDIATE if TOOLS[tool].mode is Mode.IMMEDIATE else Ruling.DEFERRED
    said = [_read(one.value) for name in family(tool) for one in _versions(agent, name)]
    tightest = max(default, *said) if said else default
    if tightest is Ruling.DEFERRED and "deferred" not in tightenings(tool):
        return Ruling.DENIED
    return tightest


def _versions(agent: Entity | None, tool: str) -> list[Version]:
    return [] if agent is None else agent.versions(field_of(tool))


def _read(value: Value) -> Ruling:
    """Read a policy; none loosens nothing, and one of a newer version is taken for the tightest."""
    if value is None:
        return Ruling.IMMEDIATE
    return _WORDS.get(value, Ruling.DENIED) if isinstance(value, str) else Ruling.DENIED


def allowed_tools(agent: Entity | None) -> tuple[str, ...]:
    """Return the tools that an agent may call, in the order of the table."""
    return tuple(name for name in TOOLS if ruling(agent, name) is not Ruling.DENIED)


def denial(agent: Entity | None, tool: str) -> str | None:
    """Say that an agent may not call a tool; None where it may."""
    if ruling(agent, tool) is not Ruling.DENIED:
        return None
    return f"the user's policy for this agent denies {tool}"


def category_refusal(snapshot: Snapshot, agent: Entity | None, task: Entity | None) -> str | None:
    """Say that an agent may not work on tasks of this category; None where it may, or nothing can be read."""
    if agent is None or task is None:
        return None
    allowed, category = set(names.members(agent, CATEGORIES)), names.category_of(task)
    if category in allowed or (category is None and not allowed):
        return None
    if category is None:
        return "this agent may not work on tasks without a category"
    held = snapshot.entity(category)
    called = held.text("name")[:80] if held is not None else ""
    return f'this agent may not work on tasks of the category "{called or "unknown"}"'
