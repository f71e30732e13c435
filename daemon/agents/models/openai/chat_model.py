"""A remote model behind Chat Completions: what a run asks of it, in the form that its server understands.

Never sends a note before the address was checked, and never reports more of a fault than its kind.
"""

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from daemon.agents.models.openai.answer_parser import (
    answered_object,
    parse_answer_object,
    parse_turn,
    reported_usage,
)
from daemon.agents.models.openai.circuit_breaker import CircuitBreaker, Outage
from daemon.agents.models.openai.client import ChatClient, HttpReply, ServerUnreached
from daemon.agents.models.openai.device_services import DeviceServices
from daemon.agents.models.openai.endpoint import Endpoint, RequestSettings
from daemon.agents.models.openai.http_errors import PromptTooLong, RequestNotUnderstood
from daemon.agents.models.openai.prompt import chat_messages
from daemon.agents.models.openai.request_forms import (
    CANARY_BYTES,
    FORMS_BY_MODE,
    PIECES_FORM,
    TOOLS_FORM,
    RequestForm,
    form_fields,
    has_canary,
    obeys_schema,
    pieces_request,
    probe_request,
    tools_as_text,
)
from daemon.agents.models.openai.request_settings import SHORT_ANSWER_TOKENS, RequestParameters
from daemon.agents.models.openai.retry_policy import RetryClock, RetryPolicy, post_with_retries
from daemon.agents.models.openai.sorting.note_pieces import pieces_of
from daemon.agents.models.openai.sorting.piece_calls import calls_of_pieces, possible_kinds
from daemon.agents.models.openai.text_calls import PROBE_TOOL
from daemon.agents.models.openai.tool_schemas import may_repeat, offered_tools
from daemon.agents.models.openai.unusable_answers import NothingCalled, nothing_called
from daemon.agents.tools.budgets import estimated_tokens
from daemon.agents.tools.model_interface import (
    AnswerFault,
    BudgetSpent,
    ChangeView,
    ModelFault,
    ModelMisconfigured,
    ModelTurn,
    ModelUnavailable,
    RunContext,
    TaskWithheld,
    TokenUsage,
    all_refused,
    anything_taken,
    may_report,
    total_usage,
)
from daemon.text_comparison import comparison_key
from store.sentence import sentence

_PARENTS = frozenset({"task_id", "checklist_id"})
PROMPT_TOKENS_MAX = 60_000
TOTAL_PER_ANSWER = 1.75
"""How long one turn may take, pauses and further tries included, for each second that an answer may take."""
TASK_TOKENS_MIN = 250
REFUSED_TURNS_MAX = 3
"""How many turns in a row a model may call only what cannot be used, from the beginning of a run."""
CALL_INSTEAD = (
    "Words do nothing here. Call the tools for what newNotes ask for, and update_report last;"
    " if they ask for nothing, call update_report alone."
)


def _patience(requests: RequestSettings) -> RetryPolicy:
    if requests.timeout_s is None:
        return RetryPolicy()
    return RetryPolicy(read_s=requests.timeout_s, total_s=requests.timeout_s * TOTAL_PER_ANSWER)


def _without_other_task(change: ChangeView) -> ChangeView:
    """Return a change of where something belongs without the names of what it belongs to."""
    return replace(change, before=None, after=None) if change.field in _PARENTS else change


def _no_form() -> ModelMisconfigured:
    return ModelMisconfigured(
        sentence("model-server-no-tools", "the server understands neither tool calls nor answers by schema")
    )


class ChatCompletionsModel:
    """One endpoint. What was learnt of its context size lasts until the daemon ends, its form for longer."""

    def __init__(
        self,
        endpoint: Endpoint,
        clock: RetryClock,
        patience: RetryPolicy | None = None,
        around: DeviceServices | None = None,
    ) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        self._redactor = endpoint.redactor
        self._clock = clock
        self._patience = patience or _patience(endpoint.requests)
        self._parameters = RequestParameters(endpoint.requests)
        self._around = around or DeviceServices()
        self._wire = ChatClient(endpoint, self._patience.read_s)
        self._gate = CircuitBreaker()
        self._secret = clock.randomness(16)
        self._budget = self._room()
        self._refusal: Outage[ModelFault] | None = None
        self._form: RequestForm | None = None
        self._probing = asyncio.Lock()

    @property
    def outage(self) -> Outage[ModelFault] | None:
        """Return what keeps the server from answering, or its answers from being of use.

        None if the last answer could be used, or the server was never asked.
        """
        return self._gate.outage or self._refusal

    @property
    def known_form(self) -> RequestForm | None:
        """Return the form in which the server is asked, None before that is known."""
        return self._form

    async def require_available(self, *, by_person: bool) -> None:
        """Raise ModelUnavailable if no run may begin now. A person who asks skips a server's pause."""
        await self._around.account.require_budget()
        if not by_person:
            self._gate.require_askable(self._clock.monotonic_s())

    async def turn(self, context: RunContext) -> ModelTurn:
        """Answer once. A form by schema allows one answer per run, and one more if a report is asked for."""
        try:
            model_turn = await self._turn(context)
        # The person's own limit says nothing about the server, so it does not open the breaker.
        except BudgetSpent:
            raise
        except ModelUnavailable as fault:
            self._gate.record_failure(fault, self._clock.monotonic_s(), self._clock.now_ms())
            raise
        # The server is there, so others may ask it; but a person must learn that it refuses runs.
        except AnswerFault as fault:
            self._gate.record_answer()
            since_ms = self._clock.now_ms() if self._refusal is None else self._refusal.since_ms
            self._refusal = Outage(fault, since_ms, 1, 0.0)
            raise
        self._gate.record_answer()
        self._refusal = None
        return model_turn

    async def probe(self) -> None:
        """Ask the server anew whether it can be asked, without sending any note. Raises ModelFault."""
        if await self._find_form(FORMS_BY_MODE[self._endpoint.mode]) is None:
            raise _no_form()

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _turn(self, context: RunContext) -> ModelTurn:
        context = self._without_withheld(context)
        form = await self._settle_form()
        try:
            return await self._turn_in(form, context)
        except RequestNotUnderstood:
            other = await self._other_form(form)
            if other is None:
                raise
        return await self._turn_in(other, context)

    async def _turn_in(self, form: RequestForm, context: RunContext) -> ModelTurn:
        if form == PIECES_FORM:
            return await self._sort_pieces(context)
        by_tools = form == TOOLS_FORM
        taken = anything_taken(context)
        turns = context.tool_exchanges[-1].turn if context.tool_exchanges else 0
        is_over = not taken and may_report(context) and turns >= (REFUSED_TURNS_MAX if by_tools else 1)
        if is_over and not context.required_tool:
            raise all_refused()
        # An answer by schema contains all calls of the run at once: there is nothing more to ask for.
        if not by_tools and context.tool_exchanges and not context.required_tool:
            return ModelTurn(())
        body = await self._ask_within_room(context, form)
        try:
            return parse_turn(body, turns + 1, self._redactor, by_tools=by_tools)
        except NothingCalled as fault:
            if taken and not context.required_tool:
                return fault.turn
            if fault.in_words and not context.required_tool:
                return await self._turn_after_words(context, fault.turn)
            if not taken:
                raise
        except AnswerFault:
            if not (context.required_tool and taken):
                raise
        # What was proposed before need not be lost because the last answer, a report, is none.
        return ModelTurn((), usage=reported_usage(body) or TokenUsage())

    async def _turn_after_words(self, context: RunContext, in_words: ModelTurn) -> ModelTurn:
        """Ask once more after an answer in words, the only way to say nothing if the agent may not report."""
        if not may_report(context):
            return in_words
        turns = context.tool_exchanges[-1].turn if context.tool_exchanges else 0
        again = replace(context, instruction=CALL_INSTEAD)
        body = await self._ask_within_room(again, TOOLS_FORM)
        turn = parse_turn(body, turns + 1, self._redactor, by_tools=True)
        return replace(turn, usage=total_usage(in_words.usage, turn.usage))

    async def _sort_pieces(self, context: RunContext) -> ModelTurn:
        """Ask once what the pieces of the new notes are; code makes the calls, which are all of the run."""
        pieces = pieces_of(context.new_entries)
        if context.tool_exchanges or context.required_tool or not pieces:
            return ModelTurn(())
        kinds = [possible_kinds(context, piece) for piece in pieces]
        request = pieces_request(context, pieces, kinds, self._tag(context.run_key))
        fields, turn = parse_answer_object(await self._ask(request), self._redactor)
        if not any(isinstance(fields.get(str(number)), dict) for number in range(1, len(pieces) + 1)):
            raise nothing_called(turn, turn.text, "", by_tools=False)
        offered = offered_tools(context)
        calls = [call for call in calls_of_pieces(context, pieces, fields) if call.name in offered]
        return replace(turn, calls=tuple(calls))

    def _without_withheld(self, context: RunContext) -> RunContext:
        """Return a context without linked tasks that must not leave this machine.

        A change names a task that was linked, or from which something came, without its category: no change
        shows another task then. Raises TaskWithheld if the task itself must not leave.
        """
        withheld = self._endpoint.withheld_categories
        if not withheld:
            return context
        if comparison_key(context.task.category or "") in withheld:
            raise TaskWithheld(
                sentence(
                    "task-stays-here",
                    "tasks of this category are not sent to another machine (model.local_only_categories)",
                )
            )
        linked = (
            task for task in context.linked_tasks if comparison_key(task.category or "") not in withheld
        )
        changes = (_without_other_task(change) for change in context.changes if change.kind != "link")
        return replace(context, linked_tasks=tuple(linked), changes=tuple(changes))

    def _room(self) -> int:
        """Return how many tokens a request may have: what the model reads, less what it may write."""
        limit = self._endpoint.requests.context_tokens
        if limit is None:
            return PROMPT_TOKENS_MAX
        written = min(self._parameters.output_tokens or SHORT_ANSWER_TOKENS, limit // 3)
        return min(PROMPT_TOKENS_MAX, limit - written)

    async def _ask_within_room(self, context: RunContext, form: RequestForm) -> bytes:
        """Ask. If the request is too long for the model, send half of the task, and remember that size.

        Before that, the answer may have fewer tokens, which some servers count too. The rules and the tools
        cannot be made shorter, so they do not count as part of what is halved.
        """
        while True:
            request = self._request(context, form)
            try:
                return await self._ask(request)
            except PromptTooLong:
                if self._parameters.shorten_answer():
                    continue
                total = sum(estimated_tokens(str(message["content"])) for message in request["messages"][1:])
                if total < TASK_TOKENS_MIN:
                    raise
                self._budget = estimated_tokens(str(request)) - total + total // 2

    def _request(self, context: RunContext, form: RequestForm) -> dict[str, Any]:
        offered = offered_tools(context)
        repeats = may_repeat(context)
        how = form_fields(form, context.required_tool, offered, with_evidence=repeats)
        words = tools_as_text(form, offered, with_evidence=repeats)
        messages = chat_messages(
            context,
            tag=self._tag(context.run_key),
            budget_tokens=self._budget,
            by_tools=form == TOOLS_FORM,
            offered=offered,
            tools_text=words,
            extra=estimated_tokens(str(how)),
        )
        return {"messages": messages, **how}

    def _tag(self, run_key: str) -> str:
        """Return the name of a run's block: the same in every turn, and unknown to whoever writes notes."""
        return "journal-" + hashlib.sha256(self._secret + run_key.encode()).hexdigest()[:8]

    # -- asking ---------------------------------------------------------------------------------------

    async def _ask(self, body: dict[str, Any]) -> bytes:
        """Ask, without the parameters that the server refuses to take; each is tried once."""
        while True:
            sent = {"model": self.name, **self._parameters.complete(body)}
            try:
                return (await self._ask_patiently(sent)).body
            except RequestNotUnderstood as fault:
                if not self._parameters.learn(fault, sent):
                    raise

    async def _ask_patiently(self, sent: dict[str, Any]) -> HttpReply:
        return await post_with_retries(lambda: self._post(sent), self._patience, self._clock, self._redactor)

    async def _post(self, sent: dict[str, Any]) -> HttpReply:
        """Ask once, and book what it took: also an answer that never came whole, as it was asked for."""
        account, weight = self._around.account, estimated_tokens(str(sent))
        async with account.reserve(weight):
            try:
                reply = await self._wire.post(sent)
            # The server has read nothing, so nothing is paid for.
            except ServerUnreached:
                raise
            except BaseException:
                await account.record_usage(TokenUsage(weight))
                raise
            if reply.status == 200:
                await account.record_usage(
                    reported_usage(reply.body)
                    or TokenUsage(weight, estimated_tokens(reply.body.decode("latin")))
                )
            return reply

    # -- the form -------------------------------------------------------------------------------------

    async def _settle_form(self) -> RequestForm:
        """Return the form. If it is neither set nor known, try the server, without sending any note."""
        async with self._probing:
            if self._form is None:
                allowed = FORMS_BY_MODE[self._endpoint.mode]
                remembered_form = await self._around.form_memory.remembered_form()
                self._form = next((form for form in allowed if form == remembered_form), None)
                if self._form is None and self._endpoint.mode != "auto":
                    self._form = allowed[0]
            self._form = self._form or await self._find_form(FORMS_BY_MODE["auto"])
        if self._form is None:
            raise _no_form()
        return self._form

    async def _find_form(self, forms: Iterable[RequestForm]) -> RequestForm | None:
        """Return the first form that the server understands, and remember it; None if it understands none."""
        for form in forms:
            if await self._understands(form):
                await self._around.form_memory.remember_form(form)
                return form
        return None

    async def _other_form(self, refused: RequestForm) -> RequestForm | None:
        """Return a form that the server understands in place of one that it refused; None if none helps.

        The server may have refused the content rather than the form: then it still understands the form.
        """
        async with self._probing:
            # Another run waited for the same answer and has found another form meanwhile.
            if self._form != refused:
                return self._form
            others = [form for form in FORMS_BY_MODE[self._endpoint.mode] if form != refused]
            if not others or await self._understands(refused):
                return None
            await self._around.form_memory.remember_form("")
            self._form = await self._find_form(others)
            return self._form

    async def _understands(self, form: RequestForm) -> bool:
        """Return whether the server answers in a form. Raises if it is away, or if key or name are wrong."""
        canary = self._clock.randomness(CANARY_BYTES).hex()
        try:
            body = await self._ask(probe_request(form, canary))
            if form != TOOLS_FORM:
                return obeys_schema(form, answered_object(body), canary)
            turn = parse_turn(body, 0, self._redactor, by_tools=True)
        except PromptTooLong:
            # A question this short is too long only together with what the answer may have.
            return self._parameters.shorten_answer() and await self._understands(form)
        except AnswerFault:
            return False
        # Some servers accept tools and ignore them: only a call that could read its tool shows otherwise.
        return any(call.name == PROBE_TOOL and has_canary(call.arguments, canary) for call in turn.calls)
