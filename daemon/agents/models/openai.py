"""A remote model behind Chat Completions: what a run asks of it, in the mode that its server understands.

Never sends a note before the address was judged, and never tells more of a fault than its kind.
"""

import asyncio
import hashlib
from typing import Any, Final

from daemon.agents.models.interface import AnswerFault, ModelMisconfigured, RunContext, Turn
from daemon.agents.models.openai_answers import turn_of
from daemon.agents.models.openai_endpoint import Endpoint, Mode
from daemon.agents.models.openai_prompt import answer_schema, messages, tokens, tool_list
from daemon.agents.models.openai_refusals import Overflow
from daemon.agents.models.openai_retries import Clock, Patience, answered
from daemon.agents.models.openai_wire import Wire

PROMPT_TOKENS_MAX = 60_000
PROMPT_TOKENS_MIN = 2000
TOOLS: Final = "tools"
ACTIONS: Final = "actions"
_READY = "ready"
_ASK_READY = 'Say that you are ready: {"ready": true}'
_NAMED = {"type": "function", "function": {"name": _READY}}
_NOTHING = {"type": "object", "properties": {"ready": {"type": "boolean"}}, "required": ["ready"]}


class OpenAI:
    """One endpoint. What was learnt of it (mode, room) holds until the daemon ends."""

    def __init__(self, endpoint: Endpoint, clock: Clock, patience: Patience | None = None) -> None:
        self.name = endpoint.model
        self._mode = endpoint.mode
        self._redactor = endpoint.redactor
        self._clock = clock
        self._patience = patience or Patience()
        self._wire = Wire(endpoint, self._patience.read_s)
        self._secret = clock.randomness(16)
        self._budget = PROMPT_TOKENS_MAX
        self._probing = asyncio.Lock()

    async def turn(self, context: RunContext) -> Turn:
        """Answer once. In the mode `actions` one answer is all, but for a report that is asked for."""
        by_tools = await self._settled_mode() == TOOLS
        if not by_tools and context.exchanges and not context.must_call:
            return Turn(())
        number = context.exchanges[-1].turn + 1 if context.exchanges else 1
        body = await self._asked_within_room(context, by_tools=by_tools)
        return turn_of(body, number, self._redactor, by_tools=by_tools)

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _asked_within_room(self, context: RunContext, *, by_tools: bool) -> bytes:
        """Ask; where the request is too long for the model, tell half as much, and remember that."""
        while True:
            request = self._request(context, by_tools=by_tools)
            try:
                return await self._ask(request)
            except Overflow:
                weight = tokens(str(request))
                self._budget = min(self._budget, weight) // 2
                if self._budget < PROMPT_TOKENS_MIN:
                    raise

    async def _ask(self, body: dict[str, Any]) -> bytes:
        sent = {"model": self.name, **body}
        reply = await answered(lambda: self._wire.post(sent), self._patience, self._clock, self._redactor)
        return reply.body

    def _request(self, context: RunContext, *, by_tools: bool) -> dict[str, Any]:
        how = _tools_part(context.must_call) if by_tools else _schema_part(context.must_call)
        told = messages(
            context,
            tag=self._tag(context.run_key),
            budget_tokens=self._budget,
            by_tools=by_tools,
            extra=tokens(str(how)),
        )
        return {"messages": told, **how}

    def _tag(self, run_key: str) -> str:
        """Return the name of a run's block: the same in every turn, and unknown to whoever writes notes."""
        return "journal-" + hashlib.sha256(self._secret + run_key.encode()).hexdigest()[:16]

    # -- the mode -------------------------------------------------------------------------------------

    async def _settled_mode(self) -> Mode:
        """Return the mode; where the settings leave it open, try the server once, without any note."""
        if self._mode == "auto":
            async with self._probing:
                if self._mode == "auto":
                    self._mode = await self._probed()
        return self._mode

    async def _probed(self) -> Mode:
        asked = {"messages": [{"role": "user", "content": _ASK_READY}]}
        ready = {"name": _READY, "description": "Say that you are ready.", "parameters": _NOTHING}
        by_tools = {"tools": [{"type": "function", "function": ready}], "tool_choice": _NAMED}
        by_schema = _formatted(_NOTHING)
        if await self._understands(asked | by_tools, TOOLS):
            return TOOLS
        if await self._understands(asked | by_schema, ACTIONS):
            return ACTIONS
        raise ModelMisconfigured("the server understands neither tool calls nor answers by schema")

    async def _understands(self, request: dict[str, Any], mode: Mode) -> bool:
        """Say whether the server answers in a mode. Raises where it is away, or key or name are wrong."""
        try:
            turn = turn_of(await self._ask(request), 0, self._redactor, by_tools=mode == TOOLS)
        except AnswerFault:
            return False
        return mode == ACTIONS or any(call.name == _READY for call in turn.calls)


def _tools_part(must_call: str) -> dict[str, Any]:
    named = {"type": "function", "function": {"name": must_call}}
    return {"tools": tool_list(), "tool_choice": named if must_call else "auto"}


def _schema_part(must_call: str) -> dict[str, Any]:
    return _formatted(answer_schema(must_call))


def _formatted(schema: dict[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
