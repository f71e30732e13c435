"""What a run is told of its agent's own observations if there are too many for it.

Never asks a model: the runs are scripted.
"""

from syncproto.ids import EntityId
from tests.daemon.agents.running.conversation_steps import log
from tests.support.fleet import Home
from tests.support.scripted_runs import gathered_inputs, new_agent, ran, says


async def test_an_observation_that_is_not_told_any_more_is_told_again_if_it_is_noted_again(
    a: Home, task: EntityId
) -> None:
    agent = new_agent(a, task)
    for number in range(0, 160, 16):
        texts = [f"{kept} " + "x" * 250 for kept in range(number, number + 16)]
        await ran(a, agent, says(("record_observations", {"observations": texts})), key=f"run {number}")
        a.fleet.now_ms += 1000
    first = f"0 {'x' * 250}"
    assert not any(view.text.startswith("0 ") for view in gathered_inputs(a, agent).context.observations)
    # Beyond the hundred newest, too, each is counted.
    left_out = gathered_inputs(a, agent).context.observations_left_out
    assert left_out == 160 - len(gathered_inputs(a, agent).context.observations)
    await ran(a, agent, says(("record_observations", {"observations": [first]})), key="again")
    assert gathered_inputs(a, agent).context.observations[-1].text == first
    assert log(a, agent)[-1].ended["observations_left_out"] == left_out
