"""A remote model with the rules behind it: for tasks that stay here, and while the server gives no answer.

Never asks both models in one run, and never lets a run begin anew that the remote model began.
"""

from collections import OrderedDict
from dataclasses import replace

from daemon.agents.tools.model_interface import (
    AvailabilityGuard,
    Model,
    ModelFault,
    ModelTurn,
    RunContext,
    TaskWithheld,
    anything_taken,
)

RUNS_REMEMBERED = 100


class ModelWithStandIn:
    """A model, and another one that answers in its place.

    `answers_outages`: also while its server is away, or gives answers from which nothing follows.

    The stand-in answers for tasks that the model must not see in any case.
    """

    def __init__(self, model: Model, stand_in: Model, *, answers_outages: bool) -> None:
        self.name = model.name
        self._model = model
        self._stand_in = stand_in
        self._answers_outages = answers_outages
        self._reasons: OrderedDict[str, str] = OrderedDict()

    async def require_available(self, *, by_person: bool) -> None:
        """Raise ModelUnavailable if no run may begin now; with a stand-in for outages any may."""
        if not self._answers_outages and isinstance(self._model, AvailabilityGuard):
            await self._model.require_available(by_person=by_person)

    async def turn(self, context: RunContext) -> ModelTurn:
        """Answer once: whoever first had something taken in a run answers to its end."""
        if not context.tool_exchanges:
            self._reasons.pop(context.run_key, None)
        if context.run_key in self._reasons:
            return await self._stand_in_turn(context, self._reasons[context.run_key])
        try:
            if self._answers_outages and not context.tool_exchanges:
                await self._require_remote()
            return await self._model.turn(context)
        except TaskWithheld as fault:
            return await self._stand_in_turn(context, str(fault))
        except ModelFault as fault:
            # What the remote model proposed in earlier turns is kept by the run; the rules add nothing to it.
            if not self._answers_outages or anything_taken(context):
                raise
            # Calls that were all refused are no answer, so the stand-in begins.
            return await self._stand_in_turn(replace(context, tool_exchanges=()), str(fault))

    async def stand_in_turn(self, context: RunContext, fault: ModelFault) -> ModelTurn:
        """Answer a run that begins anew because of a fault of the model's; raises it if it must be told."""
        if not self._answers_outages or context.run_key in self._reasons:
            raise fault
        return await self._stand_in_turn(context, str(fault))

    async def _require_remote(self) -> None:
        """Raise ModelUnavailable while it is too early to ask the server again."""
        if isinstance(self._model, AvailabilityGuard):
            await self._model.require_available(by_person=False)

    async def _stand_in_turn(self, context: RunContext, reason: str) -> ModelTurn:
        self._reasons[context.run_key] = reason
        while len(self._reasons) > RUNS_REMEMBERED:
            self._reasons.popitem(last=False)
        try:
            turn = await self._stand_in.turn(context)
        except ModelFault:
            self._reasons.pop(context.run_key, None)
            raise
        return replace(turn, answered_by=self._stand_in.name, stood_in_because=reason)
