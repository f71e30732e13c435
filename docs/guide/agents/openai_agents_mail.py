"""An agent of the OpenAI Agents SDK whose interruptions you answer in Placet, on any device, also days later.

python openai_agents_mail.py    starts the agent, or goes on with what you decided

Needs openai-agents, a key of your model, and: placet agent add OpenAI --scope none
"""

import asyncio
import json
from pathlib import Path

from agents import Agent, Runner, RunState, function_tool
from placet_asks import keep_stop, kept_stop, verdicts_on

AGENT = "OpenAI"


@function_tool(needs_approval=True)
def send_mail(to: str, text: str) -> str:
    """Send a mail; this one only pretends to."""
    return f"sent to {to}: {text}"


agent = Agent(name="Secretary", instructions="Write short mails.", tools=[send_mail])


def decide_all(state: RunState, key: str) -> bool:
    """Ask about each interruption; put the verdicts into the state if all are there, else return False."""
    calls = [(item, json.loads(item.arguments)) for item in state.get_interruptions()]
    verdicts = verdicts_on(AGENT, key, [(item.call_id, item.name, args) for item, args in calls])
    if verdicts is None:
        return False
    for (item, args), verdict in zip(calls, verdicts, strict=True):
        if not verdict["allowed"]:
            state.reject(item, rejection_message=verdict["reason"])
        elif verdict["args"] == args:
            state.approve(item)
        else:
            # The SDK calls what the model asked for: what the person edited has to be asked for anew.
            words = f"Not so. The person wants exactly these arguments: {json.dumps(verdict['args'])}"
            state.reject(item, rejection_message=words)
    return True


async def advance(file: Path = Path("run.json")) -> str | None:
    """Run the agent until it ends or waits for a person; return its last words, None while it waits."""
    stop, start = kept_stop(file), "Write to Ana that we meet on Friday."
    while True:
        state = None if stop is None else await RunState.from_string(agent, stop.state)
        if state is not None and not decide_all(state, stop.key):
            return None
        result = await Runner.run(agent, start if state is None else state)
        if not result.interruptions:
            file.unlink(missing_ok=True)
            return str(result.final_output)
        stop = keep_stop(file, result.to_state().to_string())


if __name__ == "__main__":
    print(asyncio.run(advance()) or "It waits for you: placet review")
