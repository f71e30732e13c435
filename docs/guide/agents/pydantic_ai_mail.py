"""An agent of Pydantic AI whose deferred tools you allow in Placet, on any of your devices, also days later.

python pydantic_ai_mail.py    starts the agent, or goes on with what you decided

Needs pydantic-ai, a key of your model, and: placet agent add Pydantic --scope none
"""

from pathlib import Path

from placet_asks import verdict_on
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessagesTypeAdapter

AGENT, THREAD = "Pydantic", "weekly mail"
agent = Agent("openai:gpt-5", output_type=[str, DeferredToolRequests], defer_model_check=True)


@agent.tool_plain(requires_approval=True)
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    # Here it would be sent, as the person allowed it.
    return f"sent to {to}: {text}"


def verdicts_on(requests: DeferredToolRequests) -> DeferredToolResults | None:
    """Ask about each call; return the verdicts, None while one is missing."""
    results = DeferredToolResults()
    for call in requests.approvals:
        verdict = verdict_on(AGENT, f"{THREAD} {call.tool_call_id}", call.tool_name, call.args_as_dict())
        if verdict is None:
            return None
        if verdict["allowed"]:
            results.approvals[call.tool_call_id] = ToolApproved(override_args=verdict["args"])
        else:
            results.approvals[call.tool_call_id] = ToolDenied(verdict["reason"])
    return results


def advance(file: Path = Path("messages.json")) -> str | None:
    """Run the agent until it ends or waits for a person; return its last words, None while it waits."""
    if file.exists():
        history = ModelMessagesTypeAdapter.validate_json(file.read_bytes())
        output = DeferredToolRequests(approvals=list(history[-1].tool_calls))
    else:
        first = agent.run_sync("Write to Ana that we meet on Friday.")
        history, output = first.all_messages(), first.output
    while isinstance(output, DeferredToolRequests):
        file.write_bytes(ModelMessagesTypeAdapter.dump_json(history))
        if (verdicts := verdicts_on(output)) is None:
            return None
        result = agent.run_sync(message_history=history, deferred_tool_results=verdicts)
        history, output = result.all_messages(), result.output
    file.unlink(missing_ok=True)
    return output


if __name__ == "__main__":
    print(advance() or "It waits for you: placet review")
