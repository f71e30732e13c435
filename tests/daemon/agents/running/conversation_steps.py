"""What a run left, for the tests of conversations.

Never checks anything.
"""

from typing import Any

from daemon.agents.person.activity import AgentMessage, agent_messages
from daemon.agents.tools.agent_record import current_report, load_agent
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from tests.support.fleet import Home
from tests.support.scripted_runs import (
    messages_of,
)

ESTIMATE = ("update_task_estimate", {"minutes": 90})


def kinds(home: Home, agent: EntityId) -> list[str]:
    return [message.text("kind") for message in messages_of(home, agent)]


def report(home: Home, agent: EntityId) -> dict[str, Any] | None:
    def use(snapshot: Snapshot) -> dict[str, Any] | None:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        return current_report(snapshot, known_agent)

    return home.read(use)


def log(home: Home, agent: EntityId, **how: Any) -> list[AgentMessage]:
    request = {"tools": True, "limit": 100} | how
    return home.read(lambda snapshot: agent_messages(snapshot, agent, **request))
