"""What tests read of an agent, and the policies that they give it.

Never runs an agent.
"""

from datetime import UTC

from daemon.agents.person import agent_overview
from daemon.agents.person.agent_overview import AgentDetails
from daemon.agents.running.timetable import Outlook
from daemon.agents.tools.agent_record import Agent, load_agent
from daemon.agents.tools.policy import policy_field
from daemon.agents.tools.table import TOOLS
from daemon.journal.human_input import HumanInput
from store.sentence import foreign_text
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.fleet import Home


def set_policy(home: Home, task: EntityId, **fields: Value) -> EntityId:
    """Write fields of a task's agent, `policy/` before the names of tools."""
    agent = derived_id("agent", id_to_text(task), time_of=task)
    values = {policy_field(name) if name in TOOLS else name: value for name, value in fields.items()}

    def use(tx: Transaction) -> None:
        tx.commit([EntityWrite(agent, "agent", {"task_id": task, **values})])

    home.write(use)
    return agent


def stored_agent(home: Home, agent: EntityId) -> Agent:
    found_agent = home.read(lambda snapshot: load_agent(snapshot, agent))
    assert found_agent is not None
    return found_agent


def agent_details_of(home: Home, agent: EntityId) -> AgentDetails:
    def outlook(_agent: EntityId) -> Outlook:
        return Outlook(None, foreign_text("nothing"))

    return home.read(lambda snapshot: agent_overview.agent_details(snapshot, agent, home.now_ms(), outlook))


def human_input_of(home: Home) -> HumanInput:
    return HumanInput(home.now_ms, UTC, "en")
