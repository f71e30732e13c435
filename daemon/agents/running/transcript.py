"""The messages of a run, as it happens: what woke the agent, what its model said and called, the answers.

Never wakes an agent, and never stores more text of a run than RUN_BYTES_MAX allows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from daemon.agents.proposing.tool_answers import REFUSALS, CallOutcome, ToolAnswer
from daemon.agents.tools.agent_record import Agent, state_id
from daemon.agents.tools.budgets import CUT_MARK, as_json
from daemon.agents.tools.effects import operation_id
from daemon.agents.tools.message_ids import next_message_id
from daemon.agents.tools.model_interface import ModelTurn, TokenUsage, ToolCall
from daemon.agents.tools.table import normalised_name
from store.local import run_log
from store.local.run_log import WakeCause
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

INLINE_BYTES_MAX: Final = 1_000
"""A longer text goes into a payload of its own, so that a list of messages stays short."""
PAYLOAD_BYTES_MAX: Final = 64 * 1024
RUN_BYTES_MAX: Final = 512 * 1024
"""How many bytes all texts of a run may have; beyond that only their beginnings are stored."""
TRANSCRIPT_COMMIT_BYTES_MAX: Final = 160 * 1024
NAME_CHARS_MAX: Final = 64

AnsweredCall = tuple[ToolCall, ToolAnswer]


class Transcript:
    """Writes the messages of one attempt at a run, each chained to the one before it."""

    def __init__(self, agent: Agent, run_key: str, reason: str) -> None:
        self._agent = agent.id
        self._run_key = run_key
        self._reason = reason
        self._bytes_left = RUN_BYTES_MAX
        self.first_message: EntityId | None = None
        self.last_message: EntityId | None = None

    def record_turn(
        self, tx: Transaction, turn: ModelTurn, answered: Sequence[AnsweredCall], dropped: int
    ) -> None:
        """Write one turn, which is durable with the transaction.

        `dropped` is the number of calls not handled.
        """
        if not turn.text.strip() and not answered:
            return
        writes = self._opening_message(tx)
        if turn.text.strip():
            writes += self._message(tx, "thought", turn.text, tokens=_tokens(turn.usage))
        for call, answer in answered:
            writes += self._call_messages(tx, call, answer)
        if dropped:
            writes += self.message_writes(tx, "system", f"{dropped} further calls were not looked at")
        commit_in_parts(tx, self._agent, writes)

    def record_failure(self, tx: Transaction, error: str) -> None:
        """Write why the run failed."""
        commit_in_parts(tx, self._agent, self.message_writes(tx, "system", error, {"error": True}))

    def message_writes(
        self, tx: Transaction, kind: str, text: str = "", metadata: dict[str, Value] | None = None
    ) -> list[EntityWrite]:
        """Return the writes of one message, which follows the last one."""
        return [*self._opening_message(tx), *self._message(tx, kind, text, metadata)]

    def observation_writes(self, tx: Transaction, words: str) -> list[EntityWrite]:
        """Return the write of an observation of the agent's, with the fields by which it is found again."""
        opening = self._opening_message(tx)
        *payload, message = self._message(tx, "observation")
        fields: dict[str, Value] = {"observer_id": self._agent, "text": words}
        return [*opening, *payload, replace(message, fields=message.fields | fields)]

    # -- messages -------------------------------------------------------------------------------------

    def _opening_message(self, tx: Transaction) -> list[EntityWrite]:
        """Return the first message of the attempt, which says what woke the agent; none if it is written."""
        if self.first_message is not None:
            return []
        self.last_message = _head(tx, self._agent)
        run = run_log.find(tx, self._run_key)
        by_person = run is not None and run.cause is WakeCause.SESSION
        writes = self._message(tx, "user" if by_person else "system", trigger=self._reason)
        self.first_message = self.last_message
        return writes

    def _call_messages(self, tx: Transaction, call: ToolCall, answer: ToolAnswer) -> list[EntityWrite]:
        """Return the messages of a call and of its answer."""
        metadata: dict[str, Value] = {"tool": answer.tool or normalised_name(call.name)[:NAME_CHARS_MAX]}
        if answer.tool is not None and answer.args is not None:
            targets = list(answer.items)
            metadata["operation_id"] = operation_id(self._run_key, answer.tool, answer.args, targets)
        arguments = call.arguments if isinstance(call.arguments, str) else as_json(call.arguments)
        action = self._message(tx, "action", arguments, metadata)
        result: dict[str, Value] = {**metadata, "outcome": answer.outcome.value}
        if answer.items:
            result["item_ids"] = list(answer.items)
        if answer.outcome in REFUSALS:
            result["error" if answer.outcome is CallOutcome.REFUSED else "denied"] = True
        return [*action, *self._message(tx, "tool_result", answer.text, result)]

    def _message(
        self,
        tx: Transaction,
        kind: str,
        text: str = "",
        metadata: dict[str, Value] | None = None,
        *,
        trigger: str = "",
        tokens: int = 0,
    ) -> list[EntityWrite]:
        fields: dict[str, Value] = {"agent_id": self._agent, "thread_id": self._run_key, "kind": kind}
        optional: dict[str, Value] = {
            "prev_message_id": self.last_message,
            "trigger": trigger,
            "tokens": tokens,
            "metadata": metadata,
        }
        fields |= {name: value for name, value in optional.items() if value}
        payload = self._text_writes(tx, fields, text)
        self.last_message = next_message_id(tx.new_id(), self.last_message)
        return [*payload, EntityWrite(self.last_message, "message", fields)]

    def _text_writes(self, tx: Transaction, fields: dict[str, Value], text: str) -> list[EntityWrite]:
        """Put a text into its message, or a long one into a payload; without room, its beginning alone."""
        plain = text.encode(errors="replace")
        bytes_max = (
            INLINE_BYTES_MAX if len(plain) <= INLINE_BYTES_MAX else min(PAYLOAD_BYTES_MAX, self._bytes_left)
        )
        kept_text = _cut(plain, max(bytes_max, INLINE_BYTES_MAX))
        self._bytes_left -= len(kept_text.encode())
        if len(kept_text.encode()) <= INLINE_BYTES_MAX + len(CUT_MARK):
            fields |= {"text": kept_text} if kept_text else {}
            return []
        payload = tx.new_id()
        fields["payload_id"] = payload
        return [EntityWrite(payload, "payload", {"content": kept_text})]


def commit_in_parts(tx: Transaction, agent: EntityId, writes: Iterable[EntityWrite]) -> None:
    """Commit an agent's own writes in as few commits as their size allows, in one transaction."""
    part: list[EntityWrite] = []
    size = 0
    for write in writes:
        weight = len(codec.encode(write.fields)) + 100
        if part and size + weight > TRANSCRIPT_COMMIT_BYTES_MAX:
            tx.commit(part, by=AuthorKind.AGENT, agent=agent)
            part, size = [], 0
        part.append(write)
        size += weight
    if part:
        tx.commit(part, by=AuthorKind.AGENT, agent=agent)


def _head(tx: Transaction, agent: EntityId) -> EntityId | None:
    """Return the last message of the agent's last completed run."""
    state = tx.entity(state_id(agent))
    head = None if state is None else state.value("head_message_id")
    return EntityId(head) if isinstance(head, bytes) else None


def _cut(plain: bytes, bytes_max: int) -> str:
    """Return a text, or its beginning with a mark that it was cut."""
    if len(plain) <= bytes_max:
        return plain.decode()
    return plain[:bytes_max].decode(errors="ignore") + CUT_MARK


def _tokens(usage: TokenUsage) -> int:
    return usage.input + usage.output
