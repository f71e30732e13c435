"""A remote model behind Chat Completions: what a run asks of it, in the form that its server understands.

Never sends a note before the address was judged, and never tells more of a fault than its kind.
"""

import asyncio
import hashlib
from collections.abc import Iterable
from typing import Any

from daemon.agents.models.interface import (
    AnswerFault,
    BudgetSpent,
    ModelMisconfigured,
    ModelUnavailable,
    RunContext,
    Turn,
    Usage,
)
from daemon.agents.models.openai_answers import told_usage, turn_of
from daemon.agents.models.openai_around import Around
from daemon.agents.models.openai_endpoint import Endpoint
from daemon.agents.models.openai_forms import FORMS, READY, TOOLS, Form, asked_in, in_words, probe
from daemon.agents.models.openai_gate import Gate, Trouble
from daemon.agents.models.openai_prompt import messages, tokens
from daemon.agents.models.openai_refusals import NotTaken, Overflow
from daemon.agents.models.openai_retries import Clock, Patience, answered
from daemon.agents.models.openai_wire import Reply, Unreached, Wire

PROMPT_TOKENS_MAX = 60_000
TOLD_TOKENS_MIN = 250


class OpenAI:
    """One endpoint. What was learnt of its room holds until the daemon ends, its form for longer."""

    def __init__(
        self,
        endpoint: Endpoint,
        clock: Clock,
        patience: Patience | None = None,
        around: Around | None = None,
    ) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        self._redactor = endpoint.redactor
        self._clock = clock
        self._patience = patience or Patience()
        self._around = around or Around()
        self._wire = Wire(endpoint, self._patience.read_s)
        self._gate = Gate()
        self._secret = clock.randomness(16)
        self._budget = PROMPT_TOKENS_MAX
        self._form: Form | None = None
        self._probing = asyncio.Lock()

    @property
    def trouble(self) -> Trouble | None:
        """Return what keeps the server from answering, None where it answered last or was never asked."""
        return self._gate.trouble

    @property
    def form(self) -> Form | None:
        """Return the form in which the server is asked, None before that is known."""
        return self._form

    async def require(self, *, asked: bool) -> None:
        """Raise ModelUnavailable where no run may begin now; a person who asks need not wait for a server."""
        await self._around.account.require()
        if not asked:
            self._gate.require(self._clock.monotonic_s())

    async def turn(self, context: RunContext) -> Turn:
        """Answer once. By schema, one answer is all, but for a report that is asked for."""
        try:
            made = await self._turn(context)
        except BudgetSpent:
            raise
        except ModelUnavailable as fault:
            self._gate.close(fault, self._clock.monotonic_s(), self._clock.now_ms())
            raise
        self._gate.open()
        return made

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _turn(self, context: RunContext) -> Turn:
        form = await self._settled_form()
        try:
            return await self._turn_in(form, context)
        except NotTaken:
            other = await self._other_form(form)
            if other is None:
                raise
        return await self._turn_in(other, context)

    async def _turn_in(self, form: Form, context: RunContext) -> Turn:
        by_tools = form == TOOLS
        if not by_tools and context.exchanges and not context.must_call:
            return Turn(())
        number = context.exchanges[-1].turn + 1 if context.exchanges else 1
        body = await self._asked_within_room(context, form)
        try:
            return turn_of(body, number, self._redactor, by_tools=by_tools)
        except AnswerFault:
            if not context.must_call:
                raise
        # What was proposed before need not be lost because the last answer, a report, is none.
        return Turn((), usage=told_usage(body) or Usage())

    async def _asked_within_room(self, context: RunContext, form: Form) -> bytes:
        """Ask; where the request is too long for the model, tell half as much, and remember that.

        What cannot be told shorter, the rules and the tools, is not counted to what is halved.
        """
        while True:
            request = self._request(context, form)
            try:
                return await self._ask(request)
            except Overflow:
                told = sum(tokens(str(one["content"])) for one in request["messages"][1:])
                if told < TOLD_TOKENS_MIN:
                    raise
                self._budget = tokens(str(request)) - told + told // 2

    def _request(self, context: RunContext, form: Form) -> dict[str, Any]:
        how = asked_in(form, context.must_call, context.tools)
        words = in_words(form, context.must_call, context.tools)
        told = messages(
            context,
            tag=self._tag(context.run_key),
            budget_tokens=self._budget,
            by_tools=form == TOOLS,
            extra=tokens(str(how) + words),
        )
        told[0]["content"] += words
        return {"messages": told, **how}

    def _tag(self, run_key: str) -> str:
        """Return the name of a run's block: the same in every turn, and unknown to whoever writes notes."""
        return "journal-" + hashlib.sha256(self._secret + run_key.encode()).hexdigest()[:16]

    # -- asking ---------------------------------------------------------------------------------------

    async def _ask(self, body: dict[str, Any]) -> bytes:
        sent = {"model": self.name, **body}
        reply = await answered(lambda: self._post(sent), self._patience, self._clock, self._redactor)
        return reply.body

    async def _post(self, sent: dict[str, Any]) -> Reply:
        """Ask once, and book what it took: also an answer that never came whole, as it was asked for."""
        account, weight = self._around.account, tokens(str(sent))
        async with account.asking(weight):
            try:
                reply = await self._wire.post(sent)
            except Unreached:
                raise
            except BaseException:
                await account.book(Usage(weight))
                raise
            if reply.status == 200:
                await account.book(
                    told_usage(reply.body) or Usage(weight, tokens(reply.body.decode("latin")))
                )
            return reply

    # -- the form -------------------------------------------------------------------------------------

    async def _settled_form(self) -> Form:
        """Return the form; where it is neither set nor known, try the server, without any note."""
        async with self._probing:
            if self._form is None:
                allowed = FORMS[self._endpoint.mode]
                known = await self._around.memory.form()
                self._form = next((one for one in allowed if one == known), None)
                if self._form is None and self._endpoint.mode != "auto":
                    self._form = allowed[0]
            self._form = self._form or await self._understood(FORMS["auto"])
        if self._form is None:
            raise ModelMisconfigured("the server understands neither tool calls nor answers by schema")
        return self._form

    async def _understood(self, forms: Iterable[Form]) -> Form | None:
        """Return the first form that the server understands, and remember it; None where there is none."""
        for form in forms:
            if await self._understands(form):
                await self._around.memory.keep_form(form)
                return form
        return None

    async def _other_form(self, refused: Form) -> Form | None:
        """Return a form that the server understands in place of one that it refused; None where none helps.

        It may have refused what was asked rather than how: then it understands the form as before.
        """
        async with self._probing:
            if self._form != refused:
                return self._form
            others = [one for one in FORMS[self._endpoint.mode] if one != refused]
            if not others or await self._understands(refused):
                return None
            await self._around.memory.keep_form("")
            self._form = await self._understood(others)
            return self._form

    async def _understands(self, form: Form) -> bool:
        """Say whether the server answers in a form. Raises where it is away, or key or name are wrong."""
        try:
            turn = turn_of(await self._ask(probe(form)), 0, self._redactor, by_tools=form == TOOLS)
        except AnswerFault:
            return False
        return form != TOOLS or any(call.name == READY for call in turn.calls)
