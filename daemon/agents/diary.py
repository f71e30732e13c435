"""The messages of a run: what woke the agent, what its model said, called and was answered, as it happens.

Never wakes anyone, and never keeps more of a run than it has room for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from daemon.agents.effects import operation_id
from daemon.agents.message_ids import next_id
from daemon.agents.models.interface import ToolCall, Turn, Usage
from daemon.agents.proposals import Answer, Taken
from daemon.agents.records import Agent, state_id
from daemon.agents.room import CUT, as_json
from daemon.agents.tools import normalised_name
from store import runs
from store.runs import Cause
from store.transaction import Transaction, Write
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId

INLINE_BYTES_MAX: Final = 1_000
"""A longer text goes into a payload of its own, so that a list of messages stays short."""
PAYLOAD_BYTES_MAX: Final = 64 * 1024
RUN_BYTES_MAX: Final = 512 * 1024
"""What all texts of a run may take; beyond it only their beginnings are kept."""
COMMIT_BYTES: Final = 160 * 1024
NAME_CHARS_MAX: Final = 64

Made = tuple[ToolCall, Answer]


class Diary:
    """Writes the messages of one attempt at a run, each chained to the one before it."""

    def __init__(self, agent: Agent, run_key: str, reason: str) -> None:
        self._agent = agent.id
        self._run_key = run_key
        self._reason = reason
        self._room = RUN_BYTES_MAX
        self.first: EntityId | None = None
        self.last: EntityId | None = None

    def keep_turn(self, tx: Transaction, turn: Turn, made: Sequence[Made], dropped: int) -> None:
        """Write one turn: durable once the transaction is. `dropped` is how many calls were not looked at."""
        if not turn.text.strip() and not made:
            return
        writes = self._woken(tx)
        if turn.text.strip():
            writes += self._message(tx, "thought", turn.text, tokens=_tokens(turn.usage))
        for call, answer in made:
            writes += self._call(tx, call, answer)
        if dropped:
            writes += self.message(tx, "system", f"{dropped} further calls were not looked at")
        commit_in_parts(tx, self._agent, writes)

    def keep_end(self, tx: Transaction, error: str) -> None:
        """Write why the run did not come to its end."""
        commit_in_parts(tx, self._agent, self.message(tx, "system", error, {"error": True}))

    def message(
        self, tx: Transaction, kind: str, written: str = "", metadata: dict[str, Value] | None = None
    ) -> list[Write]:
        """Return the writes of one message, which follows the last one."""
        return [*self._woken(tx), *self._message(tx, kind, written, metadata)]

    def observation(self, tx: Transaction, words: str) -> list[Write]:
        """Return the write of something that the agent notes for itself, by which it is found again."""
        woken = self._woken(tx)
        *payload, message = self._message(tx, "observation")
        fields: dict[str, Value] = {"observer_id": self._agent, "text": words}
        return [*woken, *payload, replace(message, fields=message.fields | fields)]

    # -- messages -------------------------------------------------------------------------------------

    def _woken(self, tx: Transaction) -> list[Write]:
        """Return the first message of the attempt, which says what woke the agent; none where it is there."""
        if self.first is not None:
            return []
        self.last = _head(tx, self._agent)
        run = runs.find(tx, self._run_key)
        asked = run is not None and run.cause is Cause.SESSION
        writes = self._message(tx, "user" if asked else "system", trigger=self._reason)
        self.first = self.last
        return writes

    def _call(self, tx: Transaction, call: ToolCall, answer: Answer) -> list[Write]:
        """Return a call and what it was answered."""
        about: dict[str, Value] = {"tool": answer.tool or normalised_name(call.name)[:NAME_CHARS_MAX]}
        if answer.tool is not None and answer.args is not None:
            targets = list(answer.items)
            about["operation_id"] = operation_id(self._run_key, answer.tool, answer.args, targets)
        asked = call.arguments if isinstance(call.arguments, str) else as_json(call.arguments)
        action = self._message(tx, "action", asked, about)
        came: dict[str, Value] = {**about, "outcome": answer.taken.value}
        if answer.items:
            came["item_ids"] = list(answer.items)
        if answer.taken in (Taken.REFUSED, Taken.DENIED):
            came["error" if answer.taken is Taken.REFUSED else "denied"] = True
        return [*action, *self._message(tx, "tool_result", answer.text, came)]

    def _message(
        self,
        tx: Transaction,
        kind: str,
        written: str = "",
        metadata: dict[str, Value] | None = None,
        *,
        trigger: str = "",
        tokens: int = 0,
    ) -> list[Write]:
        fields: dict[str, Value] = {"agent_id": self._agent, "thread_id": self._run_key, "kind": kind}
        optional: dict[str, Value] = {
            "prev_message_id": self.last,
            "trigger": trigger,
            "tokens": tokens,
            "metadata": metadata,
        }
        fields |= {name: value for name, value in optional.items() if value}
        payload = self._text(tx, fields, written)
        self.last = next_id(tx.new_id(), self.last)
        return [*payload, Write(self.last, "message", fields)]

    def _text(self, tx: Transaction, fields: dict[str, Value], written: str) -> list[Write]:
        """Put a text into its message, or a long one into a payload; without room, its beginning alone."""
        plain = written.encode(errors="replace")
        room = INLINE_BYTES_MAX if len(plain) <= INLINE_BYTES_MAX else min(PAYLOAD_BYTES_MAX, self._room)
        kept = _cut(plain, max(room, INLINE_BYTES_MAX))
        self._room -= len(kept.encode())
        if len(kept.encode()) <= INLINE_BYTES_MAX + len(CUT):
            fields |= {"text": kept} if kept else {}
            return []
        payload = tx.new_id()
        fields["payload_id"] = payload
        return [Write(payload, "payload", {"content": kept})]


def commit_in_parts(tx: Transaction, agent: EntityId, writes: Iterable[Write]) -> None:
    """Write what is an agent's own in as few commits as its size allows, in one transaction."""
    part: list[Write] = []
    size = 0
    for write in writes:
        weight = len(codec.encode(write.fields)) + 100
        if part and size + weight > COMMIT_BYTES:
            tx.commit(part, by=By.AGENT, agent=agent)
            part, size = [], 0
        part.append(write)
        size += weight
    if part:
        tx.commit(part, by=By.AGENT, agent=agent)


def _head(tx: Transaction, agent: EntityId) -> EntityId | None:
    """Return the last message of the agent's last run that came to its end."""
    state = tx.entity(state_id(agent))
    head = None if state is None else state.value("head_message_id")
    return EntityId(head) if isinstance(head, bytes) else None


def _cut(plain: bytes, bytes_max: int) -> str:
    """Return a text, or its beginning with a sign that it went on."""
    if len(plain) <= bytes_max:
        return plain.decode()
    return plain[:bytes_max].decode(errors="ignore") + CUT


def _tokens(usage: Usage) -> int:
    return usage.input + usage.output
