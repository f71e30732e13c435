"""What an agent did: its messages, as they were stored while it ran and while people confirmed.

Never shows more of a message than fits a present of a log; the rest stays in its payload.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

from daemon.agents.proposing import reach
from daemon.agents.proposing.authenticity import authentic_item
from daemon.agents.running import wakes
from daemon.agents.tools.agent_record import DESTROYED, DORMANT, load_agent
from daemon.agents.tools.arguments import ArgumentFault
from daemon.agents.tools.message_ids import confirmation_message_ids
from daemon.agents.tools.table import TOOLS, validate_arguments
from daemon.journal.references import entities
from daemon.journal.views.lookup import DROPPED_TEXT, NameLookup, json_value
from daemon.journal.wishes import is_wish
from daemon.timestamps import stamp_utc
from store.fold.entity import Entity
from store.local import run_log
from store.local.run_log import RunStatus
from store.sentence import sentence_fields
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

MESSAGES_MAX = 500
MESSAGES_READ_MAX = 5_000
TEXT_CHARS_MAX = 4_000
_PAGE = 200
_CALLS = frozenset({"action", "tool_result"})
_QUEUED, _DROPPED = "queued", "dropped"


class AgentMessage(Struct, frozen=True, kw_only=True):
    """One message of an agent. `text` is its beginning if `cut` is True; `thread_id` is the key of the run.

    `kind` is observation, user, system, thought, action, tool_result or summary. A user or system message
    says in `trigger` what woke the agent; `trigger_id` and `trigger_params` name that sentence. A message
    that a person's decision made names the confirmed item in `item_id`, with its `tool`, `args` and
    `subject`.
    The `outcome` of a call is queued, skipped, refused, denied, done or dropped: it was queued, and thrown
    away because the run broke off.
    """

    id: str
    at: str
    thread_id: str
    kind: str
    trigger: str | None = None
    trigger_id: str = ""
    trigger_params: dict[str, Any] = {}
    text: str = ""
    cut: bool = False
    tool: str | None = None
    outcome: str | None = None
    error: bool = False
    denied: bool = False
    item_id: str | None = None
    args: Any = None
    subject: str | None = None
    item_ids: list[str] = []
    targets: list[str] = []
    tokens: int | None = None
    ended: Any = None
    device_name: str = ""


def agent_messages(
    snapshot: Snapshot,
    agent: EntityId,
    *,
    tools: bool,
    limit: int,
    before: str | None = None,
    calls: bool = False,
    now_ms: int | None = None,
) -> list[AgentMessage]:
    """Return the last messages of an agent, oldest first; with `tools`, also its calls and their answers.

    With `calls`, return its calls and their answers alone, each run headed by what woke the agent.
    `before` is the id of the first message of the next page. None is dated later than `now_ms`. Raises
    Refused if that reference names no message.
    """
    first = None if before is None else entities.find_entity(snapshot, ["message"], before, removed=True).id
    presenter = _MessagePresenter(snapshot, agent, now_ms)
    messages: list[AgentMessage] = []
    if first is not None:
        presenter.look_for_ends(_messages(snapshot, agent, None), first)
    for message in _messages(snapshot, agent, first):
        if _is_wanted(message, tools=tools, calls=calls):
            messages.append(presenter.present(message))
        presenter.note_end(message)
        if len(messages) == min(limit, MESSAGES_MAX):
            break
    return messages[::-1]


def _is_wanted(message: Entity, *, tools: bool, calls: bool) -> bool:
    is_call = message.text("kind") in _CALLS and _confirmed_item(message) is None
    if calls:
        return is_call or bool(message.text("trigger")) or is_wish(message)
    return tools or not is_call


def _messages(snapshot: Snapshot, agent: EntityId, before: EntityId | None) -> Iterator[Entity]:
    """Yield an agent's messages, newest first, up to the number that one request may read."""
    for _ in range(MESSAGES_READ_MAX // _PAGE):
        page = snapshot.newest_ids_pointing_at(agent, "agent_message", _PAGE, before)
        for identifier in page:
            message = snapshot.entity(identifier)
            if message is not None:
                yield message
        if len(page) < _PAGE:
            return
        before = page[-1]


def _metadata(message: Entity) -> dict[str, Any]:
    metadata = message.value("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _confirmed_item(message: Entity) -> EntityId | None:
    item = _metadata(message).get("item_id")
    return EntityId(item) if isinstance(item, bytes) else None


def _ends_runs(message: Entity) -> bool:
    """Report whether a message closes its run, tells why it failed, or opens a newer run."""
    kind = message.text("kind")
    return (
        bool(message.text("trigger"))
        or kind == "summary"
        or (kind == "system" and _metadata(message).get("error") is True)
    )


class _MessagePresenter:
    """Turns messages into what people see; looks each thing up once."""

    def __init__(self, snapshot: Snapshot, agent: EntityId, now_ms: int | None) -> None:
        self._snapshot = snapshot
        self._now_ms = now_ms
        self._names = NameLookup(snapshot)
        self._item = cache(snapshot.item)
        found_agent = load_agent(snapshot, agent)
        # A run of an agent that was stopped writes nothing more.
        self._rest_is_over = found_agent is not None and found_agent.lifecycle in (DORMANT, DESTROYED)

    def look_for_ends(self, newer: Iterator[Entity], first: EntityId) -> None:
        """Look in what is newer than a page for a sign that the runs on it are over."""
        for message in newer:
            if self._rest_is_over or message.id == first:
                return
            self.note_end(message)

    def note_end(self, message: Entity) -> None:
        """Note a message that only stands after the end of a run: whatever is older is over.

        These messages reach every device; the run log says the same, but only where the agent ran.
        """
        self._rest_is_over = self._rest_is_over or _ends_runs(message)

    def _outcome(self, message: Entity, metadata: dict[str, Any]) -> str | None:
        """Return the outcome of a call; "dropped" for what was queued in a run without an end."""
        outcome, items = _text_of(metadata, "outcome"), metadata.get("item_ids")
        if outcome != _QUEUED or not isinstance(items, list):
            return outcome
        is_over = self._rest_is_over or self._was_ended(message.text("thread_id"))
        queued = (EntityId(item) for item in items if isinstance(item, bytes))
        return outcome if not is_over or any(self._item(item) for item in queued) else _DROPPED

    def _was_ended(self, run_key: str) -> bool:
        """Report whether the run log of this device says that a run is over."""
        run = run_log.find(self._snapshot, run_key)
        return run is not None and run.status not in (RunStatus.QUEUED, RunStatus.RUNNING)

    def present(self, message: Entity) -> AgentMessage:
        """Return one message as people see it."""
        metadata, text, item = _metadata(message), self._text(message), _confirmed_item(message)
        args, subject = (None, None) if item is None else self._confirmed_arguments(item, message.id)
        tokens, created, trigger = message.value("tokens"), message.created, message.text("trigger")
        return AgentMessage(
            id=id_to_text(message.id),
            at="" if created is None else stamp_utc(created.ms, self._now_ms),
            thread_id=message.text("thread_id"),
            kind=message.text("kind"),
            **sentence_fields("trigger", wakes.stored_reason(trigger) if trigger else None),
            text=text[:TEXT_CHARS_MAX],
            cut=len(text) > TEXT_CHARS_MAX,
            tool=_text_of(metadata, "tool"),
            outcome=self._outcome(message, metadata),
            error=metadata.get("error") is True,
            denied=metadata.get("denied") is True,
            item_id=None if item is None else id_to_text(item),
            args=args,
            subject=subject,
            item_ids=_ids(metadata.get("item_ids")),
            targets=_ids(message.value("targets")),
            tokens=tokens if type(tokens) is int else None,
            ended=json_value(metadata) if message.text("kind") == "summary" else None,
            device_name="" if created is None else self._names.writing_device(created)[1],
        )

    def _text(self, message: Entity) -> str:
        payload = message.value("payload_id")
        stored = self._snapshot.entity(EntityId(payload)) if isinstance(payload, bytes) else None
        holder, field = (message, "text") if stored is None else (stored, "content")
        version = holder.version(field)
        # A person let go of the text.
        return DROPPED_TEXT if version is not None and version.value is None else holder.text(field)

    def _confirmed_arguments(self, item: EntityId, message: EntityId) -> tuple[Any, str | None]:
        """Return the arguments that a person confirmed, edited or not, and the name of their target."""
        found_item = self._item(item)
        if found_item is None:
            return None, None
        # An answer to a question is shown as the call that it stands for.
        authentic = authentic_item(self._snapshot, found_item)
        stored = found_item if authentic is None else authentic.item
        args = (
            next(
                (
                    decision.edited_args
                    for decision in stored.decisions
                    if message in confirmation_message_ids(decision.id)
                ),
                None,
            )
            or stored.args
        )
        try:
            confirmed_args = validate_arguments(stored.tool, args) if stored.tool in TOOLS else None
        except ArgumentFault:
            confirmed_args = None
        return json_value(args), None if confirmed_args is None else reach.target_name(
            self._snapshot, stored.tool, confirmed_args
        )


def _text_of(metadata: dict[str, Any], name: str) -> str | None:
    value = metadata.get(name)
    return value if isinstance(value, str) else None


def _ids(value: Any) -> list[str]:
    return (
        [id_to_text(identifier) for identifier in value if isinstance(identifier, bytes)]
        if isinstance(value, list)
        else []
    )
