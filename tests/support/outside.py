"""An agent of another maker as its program uses it, and a person who makes it or lets it in.

Never goes through a socket: tests of the routes do.
"""

from typing import Any

from daemon.agents.outside import proposals
from daemon.agents.outside.proposal_views import ProposedSet
from daemon.agents.outside.proposals import NewProposals, ProposedChange
from daemon.agents.person import external_agents
from daemon.agents.proposing.change_set_builder import ProposalLimits
from syncproto.ids import EntityId
from tests.support.fleet import Home

ESTIMATE: tuple[str, dict[str, Any]] = ("update_task_estimate", {"minutes": 90})


def added(home: Home, name: str = "Claude", scope: str = "all") -> EntityId:
    return home.write(lambda tx: external_agents.add_external_agent(tx, name, scope))


def proposed(
    home: Home,
    agent: EntityId,
    task: EntityId | None,
    *calls: tuple[str, dict[str, Any]],
    key: str = "k",
    why: str = "The mail says so.",
) -> ProposedSet:
    """Propose as an agent, with `ESTIMATE` if no calls are given."""
    changes = [ProposedChange(tool, args, why) for tool, args in calls or (ESTIMATE,)]
    request = NewProposals("x", changes, key)
    return home.write(lambda tx: proposals.propose(tx, agent, task, request, ProposalLimits()))
