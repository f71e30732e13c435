"""Runs one step of a recipe in the environment of its package: `python drive.py RECIPE [CALLS]`, in a folder.

A model calls its tool CALLS times, once if nothing is said, and all its calls have one id.

Never imports the rest of the tests: they are not installed there.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).resolve().parents[2] / "docs/guide/agents"
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
ARGS = {"to": "ana@example.org", "text": "See you on Friday."}


def langgraph() -> Any:
    import langgraph_mail

    return langgraph_mail.advance()


def pydantic_ai() -> Any:
    import pydantic_ai_mail
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def model(messages: list[Any], _info: Any) -> Any:
        parts = [part for message in messages for part in message.parts]
        returned = [part for part in parts if isinstance(part, ToolReturnPart)]
        if len(returned) == CALLS:
            return ModelResponse([TextPart(str([part.content for part in returned]))])
        return ModelResponse([ToolCallPart("send_mail", ARGS, "call 1")])

    with pydantic_ai_mail.agent.override(model=FunctionModel(model)):
        return pydantic_ai_mail.advance()


def openai_agents() -> Any:
    import openai_agents_mail
    from agents import Model, ModelResponse, Usage, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class CallingModel(Model):  # type: ignore[misc]
        async def get_response(self, **request: Any) -> Any:
            parts = [part for part in request["input"] if isinstance(part, dict)]
            outputs = [part["output"] for part in parts if part.get("type") == "function_call_output"]
            if len(outputs) == CALLS:
                text = ResponseOutputText(type="output_text", text=str(outputs), annotations=[])
                message = ResponseOutputMessage(
                    id="m", type="message", role="assistant", status="completed", content=[text]
                )
                return ModelResponse(output=[message], usage=Usage(), response_id=None)
            call = ResponseFunctionToolCall(
                type="function_call", call_id="call 1", name="send_mail", arguments=json.dumps(ARGS)
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)

        def stream_response(self, *_args: Any, **_more: Any) -> Any:
            raise NotImplementedError

    set_tracing_disabled(True)
    openai_agents_mail.agent.model = CallingModel()
    return asyncio.run(openai_agents_mail.advance())


def ag_ui() -> Any:
    import ag_ui_mail
    from ag_ui.core import Interrupt, RunFinishedEvent, RunFinishedInterruptOutcome

    interrupt = Interrupt(id="i 1", reason="send_mail", message="May I send it?", metadata=ARGS)
    event = RunFinishedEvent(
        type="RUN_FINISHED",
        thread_id="weekly mail",
        run_id="1",
        outcome=RunFinishedInterruptOutcome(type="interrupt", interrupts=[interrupt]),
    )
    entries = ag_ui_mail.resume_for(event)
    return None if entries is None else [entry.model_dump(by_alias=True) for entry in entries]


if __name__ == "__main__":
    sys.path.insert(0, str(RECIPES))
    steps = {recipe.__name__: recipe for recipe in (langgraph, pydantic_ai, openai_agents, ag_ui)}
    print(json.dumps(steps[sys.argv[1]]()))
