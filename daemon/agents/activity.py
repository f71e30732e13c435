"""What an agent did: its messages, as they were kept while it ran and while people confirmed.

Never shows more of one message than fits a line of a log; the rest stays in its payload.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

from daemon.agents import targets
from daemon.agents.message_ids import deed_ids
from daemon.agents.tools import TOOLS, ArgumentFault, validated
from daemon.journal import refs
from daemon.journal.provenance import iso
from daemon.journal.show import Shown, plain
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

LIMIT_MAX = 500
LOOKED_MAX = 5_000
TEXT_CHARS_MAX = 4_000
_PAGE = 200
_CALLS = frozenset({"action", "tool_result"})


class Activity(Struct, frozen=True, kw_only=True):
    """One message of an agent's. `text` is its beginning where `cut`; `thread_id` is the key of the run.

    `kind` is observation, user or system (what woke it: `trigger`), thought, action, tool_result or summary.
    Where a person's decision made it, `item_id` is what was confirmed, worded from `tool`, `args`, `subject`.
    """

    id: str
    at: str
    thread_id: str
    kind: str
    trigger: str | None = None
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


def activity(
    snapshot: Snapshot, agent: EntityId, *, tools: bool, limit: int, before: str | None = None
) -> list[Activity]:
    """Show the last messages of an agent, oldest first; with `tools` its calls and what they were answered.

    `before` is the id of the first message of the page after. Raises Refused as a reference does.
    """
    first = None if before is None else refs.entity(snapshot, ["message"], before, removed=True).id
    words = _Words(snapshot)
    found: list[Activity] = []
    for held in _messages(snapshot, agent, first):
        if tools or held.text("kind") not in _CALLS or _item(held) is not None:
            found.append(words.line(held))
        if len(found) == min(limit, LIMIT_MAX):
            break
    return found[::-1]


def _messages(snapshot: Snapshot, agent: EntityId, before: EntityId | None) -> Iterator[Entity]:
    """Yield an agent's messages, newest first, up to as many as one question looks through."""
    for _ in range(LOOKED_MAX // _PAGE):
        page = snapshot.newest_referring(agent, "agent_message", _PAGE, before)
        for name in page:
            held = snapshot.entity(name)
            if held is not None:
                yield held
        if len(page) < _PAGE:
            return
        before = page[-1]


def _about(held: Entity) -> dict[str, Any]:
    about = held.value("metadata")
    return about if isinstance(about, dict) else {}


def _item(held: Entity) -> EntityId | None:
    item = _about(held).get("item_id")
    return EntityId(item) if isinstance(item, bytes) else None


class _Words:
    """Turns messages into what is shown; looks each thing up once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._shown = Shown(snapshot)
        self._item = cache(snapshot.item)

    def line(self, held: Entity) -> Activity:
        """Show one message."""
        about, said, item = _about(held), self._text(held), _item(held)
        args, subject = (None, None) if item is None else self._confirmed(item, held.id)
        tokens, created = held.value("tokens"), held.created
        return Activity(
            id=text(held.id),
            at="" if created is None else iso(created.ms),
            thread_id=held.text("thread_id"),
            kind=held.text("kind"),
            trigger=held.text("trigger") or None,
            text=said[:TEXT_CHARS_MAX],
            cut=len(said) > TEXT_CHARS_MAX,
            tool=_word(about, "tool"),
            outcome=_word(about, "outcome"),
            error=about.get("error") is True,
            denied=about.get("denied") is True,
            item_id=None if item is None else text(item),
            args=args,
            subject=subject,
            item_ids=_ids(about.get("item_ids")),
            targets=_ids(held.value("targets")),
            tokens=tokens if type(tokens) is int else None,
            ended=plain(about) if held.text("kind") == "summary" else None,
            device_name="" if created is None else self._shown.wrote_on(created)[1],
        )

    def _text(self, held: Entity) -> str:
        payload = held.value("payload_id")
        kept = self._snapshot.entity(EntityId(payload)) if isinstance(payload, bytes) else None
        return held.text("text") if kept is None else kept.text("content")

    def _confirmed(self, item: EntityId, message: EntityId) -> tuple[Any, str | None]:
        """Return the arguments that a person confirmed, theirs where they edited them, and what is named."""
        held = self._item(item)
        if held is None:
            return None, None
        args = (
            next((one.edited_args for one in held.decisions if message in deed_ids(one.id)), None)
            or held.args
        )
        try:
            known = validated(held.tool, args) if held.tool in TOOLS else None
        except ArgumentFault:
            known = None
        return plain(args), None if known is None else targets.name(self._snapshot, held.tool, known)


def _word(about: dict[str, Any], name: str) -> str | None:
    word = about.get(name)
    return word if isinstance(word, str) else None


def _ids(value: Any) -> list[str]:
    return [text(one) for one in value if isinstance(one, bytes)] if isinstance(value, list) else []
