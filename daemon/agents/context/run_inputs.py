"""The context of a run, read from one snapshot, in parts of bounded length (`budgets.py`).

Never asks a model, and never shows what the agent may not see.
"""

from dataclasses import dataclass
from datetime import tzinfo

from daemon.agents.context import memory, task_view, unseen_changes
from daemon.agents.context.all_notes import reads_all_notes
from daemon.agents.context.local_time import to_local
from daemon.agents.context.open_wishes import open_wishes
from daemon.agents.context.triggers import Trigger
from daemon.agents.proposing.baseline import Baseline, baseline_of
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.tools import policy
from daemon.agents.tools.agent_record import Agent
from daemon.agents.tools.model_interface import ObservationView, RunContext
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from syncproto.vector_clock import VectorClock


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run begins with: the context for the model, and what its proposals and watermark rest on.

    `wishes` are the wishes that it reads, which its end settles. `untold_observations` are those that
    the context has no room for, oldest first.
    """

    agent: Agent
    run_key: str
    reason: str
    context: RunContext
    baseline: Baseline
    log_clock: VectorClock
    wishes: tuple[EntityId, ...] = ()
    untold_observations: tuple[ObservationView, ...] = ()


def gather_inputs(
    snapshot: Snapshot,
    agent: Agent,
    triggers: list[Trigger],
    *,
    run_key: str,
    reason: str,
    now_ms: int,
    zone: tzinfo | None,
    limits: ProposalLimits,
) -> RunInputs:
    """Read all that a run needs. `zone` is the time zone of "tomorrow"; None is the device's own."""
    task, entity = snapshot.entity(agent.task), snapshot.entity(agent.id)
    assert task is not None
    first = agent.last_wake_ms is None
    # On a first wake everything is new, so no change is shown.
    notes = (
        task_view.all_note_views(snapshot, agent.task, zone)
        if reads_all_notes(snapshot, agent)
        else task_view.new_note_views(snapshot, triggers, zone)
    )
    wishes = open_wishes(snapshot, agent)
    news = unseen_changes.NO_CHANGES if first else unseen_changes.unseen_changes_of(snapshot, agent, zone)
    observations = memory.told_observations(snapshot, agent, zone)
    context = RunContext(
        run_key=run_key,
        now=to_local(now_ms, zone),
        is_first_wake=first,
        report=memory.trimmed_report(snapshot, agent),
        observations=observations.views,
        observations_left_out=len(observations.untold),
        task=task_view.view_of_task(snapshot, task),
        entries=task_view.entry_views(snapshot, agent.task, zone),
        labels=task_view.offered_label_views(snapshot, task),
        linked_tasks=task_view.linked_task_views(snapshot, agent.task, entity),
        new_entries=task_view.with_wishes(snapshot, notes, wishes, zone),
        changes=news.views,
        changes_left_out=news.left_out,
        allowed_tools=policy.allowed_tools(entity),
        proposals=memory.proposal_views(snapshot, agent, now_ms),
        decisions=memory.decision_views(snapshot, agent.task, now_ms),
        reason_chars_min=limits.reason_chars_min,
        preferences=memory.preferences_of(snapshot, task),
        agent_name=agent.name,
        agent_description=agent.description,
    )
    read = tuple(wish.id for wish in wishes)
    baseline, log_clock = baseline_of(snapshot, agent.task), snapshot.vector()
    return RunInputs(agent, run_key, reason, context, baseline, log_clock, read, observations.untold)
