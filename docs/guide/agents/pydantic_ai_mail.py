"""An agent of Pydantic AI whose deferred tools you allow in Placet, on any of your devices, also days later.

python pydantic_ai_mail.py    starts the agent, or goes on with what you decided

Needs pydantic-ai, a key of your model, and: placet agent add Pydantic --scope none
"""

from pathlib import Path

from placet_asks import Stop, keep_stop, kept_stop, verdicts_on
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessagesTypeAdapter

AGENT = "Pydantic"
agent = Agent("openai:gpt-5", output_type=[str, DeferredToolRequests], defer_model_check=True)


@agent.tool_plain(requires_approval=True)
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    # Here it would be sent, as the person allowed it.
    return f"sent to {to}: {text}"


def results_of(stop: Stop) -> DeferredToolResults | None:
    """Ask about each call at which the run stopped; return the verdicts, None while one is missing."""
    calls = list(ModelMessagesTypeAdapter.validate_python(stop.state)[-1].tool_calls)
    verdicts = verdicts_on(
        AGENT, stop.key, [(call.tool_call_id, call.tool_name, call.args_as_dict()) for call in calls]
    )
    if verdicts is None:
        return None
    results = DeferredToolResults()
    for call, verdict in zip(calls, verdicts, strict=True):
        if verdict["allowed"]:
            results.approvals[call.tool_call_id] = ToolApproved(override_args=verdict["args"])
        else:
            results.approvals[call.tool_call_id] = ToolDenied(verdict["reason"])
    return results


def advance(file: Path = Path("messages.json")) -> str | None:
    """Run the agent until it ends or waits for a person; return its last words, None while it waits."""
    stop = kept_stop(file)
    result = agent.run_sync("Write to Ana that we meet on Friday.") if stop is None else None
    while result is None or isinstance(result.output, DeferredToolRequests):
        if result is not None:
            stop = keep_stop(file, ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json"))
        assert stop is not None
        if (verdicts := results_of(stop)) is None:
            return None
        history = ModelMessagesTypeAdapter.validate_python(stop.state)
        result = agent.run_sync(message_history=history, deferred_tool_results=verdicts)
    file.unlink(missing_ok=True)
    return result.output


if __name__ == "__main__":
    print(advance() or "It waits for you: placet review")
