"""What an agent may do: a policy per tool or action, and the categories of the tasks that it may work on.

Never loosens anything: a policy can only make a tool wait or deny it, and an unreadable policy denies. The
tools that are off until a person lets a task's agent call them wait then, too.
"""

from enum import IntEnum
from typing import Final

from daemon.agents.tools.actions import action_key
from daemon.agents.tools.table import TOOLS, CallMode, equivalent_names
from daemon.journal.references import names
from store.fold.entity import Entity
from store.fold.field_versions import Version
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.codec import Value

POLICY_FIELD: Final = "policy"
"""The policies of an agent, a field `policy/<name>` per tool or action. Without one, its own mode applies."""

CATEGORIES_FIELD: Final = "allowed_category_ids"
"""The categories whose tasks an agent may work on, one field per category.

An agent without any may only work on tasks without a category.
"""


SCOPE_FIELD: Final = "scope"
"""What an agent of another maker may work on: all tasks, those of its categories, or none, for asks alone."""

ALL_TASKS, CATEGORIES, NO_TASKS = SCOPES = ("all", "categories", "none")

ASKS_ONLY: Final = sentence("agent-asks-only", "this agent may only ask for permissions, and work on no task")
"""Why an agent of the tightest scope may not work on a task."""


class Ruling(IntEnum):
    """What becomes of a call; a higher value is tighter."""

    IMMEDIATE = 0
    DEFERRED = 1
    DENIED = 2


_RULINGS = {"deferred": Ruling.DEFERRED, "denied": Ruling.DENIED}


def policy_field(tool: str) -> str:
    """Return the field of an agent that contains its policy for a tool."""
    return f"{POLICY_FIELD}/{tool}"


def settable_policies(tool: str) -> tuple[str, ...]:
    """Return the policies that a tool can be given.

    A tool that writes no field of the journal cannot wait.
    """
    waits = TOOLS[tool].deferrable or TOOLS[tool].mode is CallMode.EXPLODED
    return tuple(_RULINGS) if waits else ("denied",)


def ruling_on(agent: Entity | None, tool: str) -> Ruling:
    """Return what an agent's policy makes of a tool, which is given by its normalised name.

    None is an agent without policies. A batch and the tool of its elements count as one: the tighter of their
    policies applies to both. Of policies that devices set while apart, the tightest applies.
    """
    own = Ruling.IMMEDIATE if TOOLS[tool].mode is CallMode.IMMEDIATE else Ruling.DEFERRED
    rulings = [
        _ruling_of(agent, version.value, tool)
        for name in equivalent_names(tool)
        for version in _versions(agent, name)
    ]
    tightest = max(own, *(rulings or [_ruling_of(agent, None, tool)]))
    if tightest is Ruling.DEFERRED and "deferred" not in settable_policies(tool):
        return Ruling.DENIED
    return tightest


def _versions(agent: Entity | None, tool: str) -> list[Version]:
    return [] if agent is None else agent.versions(policy_field(tool))


def _is_on(agent: Entity | None, tool: str) -> bool:
    """Report whether an agent may call a tool without a policy: one of another maker may call each."""
    is_of_other_maker = agent is not None and agent.value("task_id") is None
    return is_of_other_maker or tool not in TOOLS or TOOLS[tool].is_on


def _ruling_of(agent: Entity | None, value: Value, tool: str) -> Ruling:
    """Read a policy for a tool.

    No policy leaves the tool as it is, on or off; an unknown one, of a newer version, counts as the tightest.
    """
    if value is None:
        return Ruling.IMMEDIATE if _is_on(agent, tool) else Ruling.DENIED
    return _RULINGS.get(value, Ruling.DENIED) if isinstance(value, str) else Ruling.DENIED


def permitting_versions(agent: Entity) -> list[Version]:
    """Return the current versions of an agent's policies that deny nothing."""
    prefix = policy_field("")
    return [
        version
        for field in agent.fields()
        if field.startswith(prefix)
        for version in agent.versions(field)
        if _ruling_of(agent, version.value, field.removeprefix(prefix)) is not Ruling.DENIED
    ]


def allowed_tools(agent: Entity | None) -> tuple[str, ...]:
    """Return the tools that an agent may call, in the order of the table."""
    return tuple(name for name in TOOLS if ruling_on(agent, name) is not Ruling.DENIED)


def denial_reason(agent: Entity | None, tool: str) -> str | None:
    """Return, for the model, why an agent may not call a tool; None if it may."""
    if ruling_on(agent, tool) is not Ruling.DENIED:
        return None
    if not _is_on(agent, tool) and not any(version.value for version in _versions(agent, tool)):
        return f"{tool} is off until the user lets this agent call it"
    return f"the user's policy for this agent denies {tool}"


def denies_action(agent: Entity | None, name: str) -> bool:
    """Report whether an agent may not ask for an action. A policy that cannot be read denies."""
    key = action_key(name)
    versions = [] if key is None else _versions(agent, key)
    return any(
        version.value is not None and version.value != Ruling.DEFERRED.name.lower() for version in versions
    )


def scope_of(agent: Entity) -> str:
    """Return what an agent may work on; a task's own agent goes by categories.

    Of scopes that devices set while apart the tightest applies; one that cannot be read is the tightest.
    """
    if agent.value("task_id") is not None:
        return CATEGORIES
    written = [str(version.value) for version in agent.versions(SCOPE_FIELD)]
    scopes = [scope if scope in SCOPES else NO_TASKS for scope in written]
    return max(scopes, key=SCOPES.index, default=NO_TASKS)


def category_refusal(snapshot: Snapshot, agent: Entity | None, task: Entity | None) -> Sentence | None:
    """Return why an agent may not work on tasks of this category; None if it may, or nothing can be read.

    If it proposes new tasks beside no task, `task` is the agent itself: a new task has no category.
    """
    if agent is None or task is None:
        return None
    scope = scope_of(agent)
    if scope == ALL_TASKS:
        return None
    if scope == NO_TASKS:
        return ASKS_ONLY
    allowed = set(names.member_ids(agent, CATEGORIES_FIELD))
    category = None if task.id == agent.id else names.category_id_of(task)
    # No category is a choice too: it lets the agent work on tasks without a category, and on no others.
    if category in allowed or (category is None and not allowed):
        return None
    if category is None:
        return sentence("agent-not-without-category", "this agent may not work on tasks without a category")
    entity = snapshot.entity(category)
    name = entity.text("name")[:80] if entity is not None else ""
    return sentence(
        "agent-not-of-category",
        'this agent may not work on tasks of the category "{name}"',
        name=name or "unknown",
    )
