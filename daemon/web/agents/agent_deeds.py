"""What a person does to an agent of any make by a form: pauses, resumes, moves, ends it, says what it may do.

Never wakes an agent.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from multidict import MultiDictProxy

from daemon.agents.person import agent_timers, lifecycle, presence_edits
from daemon.journal.human_input import HumanInput
from daemon.peers.linking.device_states import DeviceList, DeviceState
from daemon.web.agents.rights_form import change_rights
from daemon.web.forms import refuse_form
from daemon.web.services import PageServices
from store.transaction import Transaction
from syncproto.ids import DeviceId, EntityId

DEEDS: Final = ("pause", "resume", "move", "destroy", "rights")


class Members(Protocol):
    """Lists the devices of the vault."""

    async def list_states(self, after: str | None = None) -> DeviceList:
        """Return the devices of the roster."""


class AgentDeeds:
    """The deeds, on one daemon. `human_input` reads the times that people type."""

    def __init__(self, services: PageServices, human_input: HumanInput, members: Members) -> None:
        self._services = services
        self._typed = human_input
        self._members = members

    async def list_homes(self) -> list[tuple[str, str]]:
        """Return the devices on which an agent can work: their ids and names, this one first."""
        states = [state for state in (await self._members.list_states()).states if not state.removed]
        return [
            (state.device_id, state.name)
            for state in sorted(states, key=lambda state: (not state.this, state.name))
        ]

    async def carry_out(self, agent: EntityId, form: MultiDictProxy[str]) -> None:
        """Do one of `DEEDS`. Raises Refused as the use cases do."""
        states = (await self._members.list_states()).states
        await self._services.store.write(lambda tx: self._write(tx, agent, form, states))

    def _write(
        self,
        tx: Transaction,
        agent: EntityId,
        form: MultiDictProxy[str],
        states: Sequence[DeviceState],
    ) -> None:
        match form.get("do", ""):
            case "pause":
                until = form.get("until", "").strip()
                until_ms = agent_timers.future_ms(until, self._typed, tx.now_ms()) if until else None
                lifecycle.pause_agent(tx, agent, until_ms)
            case "resume":
                lifecycle.resume_agent(tx, agent)
            case "move":
                home = next((state for state in states if state.device_id == form.get("device")), None)
                if home is None or home.removed:
                    raise refuse_form()
                device = DeviceId(bytes.fromhex(home.device_id))
                presence_edits.require_movable(tx, agent, device)
                lifecycle.move_agent(tx, agent, device)
            case "destroy":
                lifecycle.destroy_agent(tx, agent)
            case "rights":
                others = any(not (state.this or state.removed) for state in states)
                change_rights(tx, agent, form, has_other_devices=others)
            case _:
                raise refuse_form()
