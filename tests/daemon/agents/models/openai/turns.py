"""Turns with a scripted server.

Never checks anything.
"""

from typing import Any

import pytest

from daemon.agents.tools.model_interface import (
    ModelFault,
    ModelTurn,
    RunContext,
)
from tests.daemon.agents.models.openai.connected_model import (
    CONTEXT,
    connected_model,
)
from tests.daemon.agents.models.openai.fake_server import (
    Step,
)

ESTIMATE = ("update_task_estimate", {"minutes": 90})


async def turn(*script: Step, context: RunContext = CONTEXT, **how: Any) -> ModelTurn:
    """Return the turn that comes of a script, all of which must be used."""
    async with connected_model(*script, **how) as connected:
        new_turn = await connected.model.turn(context)
        assert not connected.server.script
        return new_turn


async def fault(*script: Step, **how: Any) -> ModelFault:
    """Return the fault that comes of a script, all of which must be used."""
    async with connected_model(*script, **how) as connected:
        with pytest.raises(ModelFault) as raised:
            await connected.model.turn(CONTEXT)
        assert not connected.server.script
        return raised.value
