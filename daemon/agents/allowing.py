"""What is asked again when a person confirms: policy, category, sovereignty, labels (DOMAIN.md §4).

Never trusts that it was asked when the item was proposed: all of it may have changed, or never been asked.
"""

from typing import Final

from daemon.agents import labelling, sovereignty
from daemon.agents.effects import target_of
from daemon.agents.judging import Case
from daemon.agents.policy import category_refusal, denial
from daemon.agents.records import agent_id
from daemon.agents.tools import TOOLS, Arguments, Writes
from daemon.journal import names
from store.snapshot import Snapshot

DENIED: Final = "your policy for this agent denies this"
CATEGORY: Final = "this agent may not work on tasks of this category"
OWN_TICK: Final = (
    "you set this item yourself, and what the agent says for it does not count: --force applies it"
)
SCOPE: Final = "the label is not for the category of the task"
SUPPRESSED: Final = "you denied the task this label: --force gives it anyway"
FULL: Final = f"the task has {labelling.LABELS_MAX} labels, and agents give it no more: take one off first"


def refusal(snapshot: Snapshot, found: Case, args: Arguments, *, force: bool, reason_min: int) -> str | None:
    """Say why a person's confirmation does not go through; None where it does.

    `args` are those that would run, `reason_min` is how long a reason against a person's tick is. A person
    who insists overrules what guards their own word, and not what they have set for the agent.
    """
    agent = snapshot.entity(agent_id(found.item.task))
    if denial(agent, found.item.tool) is not None:
        return DENIED
    if category_refusal(snapshot, agent, found.task) is not None:
        return CATEGORY
    if TOOLS[found.item.tool].writes is Writes.MEMBER:
        return _label(snapshot, found, args, force=force)
    if TOOLS[found.item.tool].writes is Writes.ITEM and not force:
        return _own_tick(snapshot, found, args, reason_min)
    return None


def _own_tick(snapshot: Snapshot, found: Case, args: Arguments, reason_min: int) -> str | None:
    """Guard what a person ticked or unticked, unless they say themselves what it should be."""
    ticked_by_person = args.get("isChecked") != found.proposed.get("isChecked")
    if ticked_by_person:
        return None
    objection = sovereignty.objection(snapshot, found.item.task, found.target, args, reason_min)
    return None if objection is None else OWN_TICK


def _label(snapshot: Snapshot, found: Case, args: Arguments, *, force: bool) -> str | None:
    label, task = target_of(found.item.tool, args), found.task
    assert label is not None
    assert task is not None
    held = snapshot.entity(label)
    if held is not None and not names.is_for(held, names.category_of(task)):
        return SCOPE
    if not force and labelling.suppressed(snapshot, task, label, besides=found.item.id) is not None:
        return SUPPRESSED
    is_there = label in names.members(task, names.SET)
    return None if is_there or labelling.full(snapshot, task) is None else FULL
