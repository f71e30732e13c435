"""The context of a run, read from one snapshot, in parts of bounded length (`room.py`).

Never asks a model, and never shows what an agent has no business with.
"""

from dataclasses import dataclass
from datetime import tzinfo

from daemon.agents import changed, memory, policy, task_view
from daemon.agents.models.interface import RunContext
from daemon.agents.moments import local
from daemon.agents.proposals import Limits, Seen
from daemon.agents.records import Agent
from daemon.agents.seeing import seen_of
from daemon.agents.wakes import Trigger
from store.snapshot import Snapshot
from syncproto.heads import Clock


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a run begins with: the context for the model, and what its proposals and watermark rest on."""

    agent: Agent
    run_key: str
    reason: str
    context: RunContext
    seen: Seen
    vector: Clock


def gather(
    snapshot: Snapshot,
    agent: Agent,
    triggers: list[Trigger],
    *,
    run_key: str,
    reason: str,
    now_ms: int,
    zone: tzinfo | None,
    limits: Limits,
) -> Gathered:
    """Read all that a run needs. `zone` is where "tomorrow" is reckoned; None is the device's own."""
    task, held = snapshot.entity(agent.task), snapshot.entity(agent.id)
    assert task is not None
    first = agent.last_wake_ms is None
    news = changed.NOTHING if first else changed.changed_since(snapshot, agent, zone)
    context = RunContext(
        run_key=run_key,
        now=local(now_ms, zone),
        first_wake=first,
        report=memory.report(snapshot, agent),
        observations=memory.observations(snapshot, agent, zone),
        task=task_view.task_view(snapshot, task),
        entries=task_view.entries(snapshot, agent.task, zone),
        labels=task_view.labels_offered(snapshot, task),
        linked=task_view.linked(snapshot, agent.task, held),
        notes=task_view.new_notes(snapshot, triggers, zone),
        changes=news.told,
        changes_left_out=news.left_out,
        tools=policy.allowed_tools(held),
        proposals=memory.proposals(snapshot, agent, now_ms),
        decisions=memory.decisions(snapshot, agent.task, now_ms),
        reason_min=limits.reason_min,
    )
    return Gathered(agent, run_key, reason, context, seen_of(snapshot, agent.task), snapshot.vector())
