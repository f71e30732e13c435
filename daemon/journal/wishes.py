"""Wishes: words that a person puts to the agent of a task, from any device.

Never commands: a model reads a wish as a note of the person's, and what it proposes waits as ever.
"""

from typing import Annotated, Final

from msgspec import Meta

from daemon.refusal import usage_error
from store.fold.entity import Entity
from store.sentence import sentence
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

KIND: Final = "message"
RELATION: Final = "agent_wish"
TEXT_CHARS_MAX: Final = 2_000

WishText = Annotated[str, Meta(max_length=TEXT_CHARS_MAX)]


def put_wish(tx: Transaction, agent: EntityId, task: EntityId, text: str) -> EntityId:
    """Write the words of a person to the agent of a task; return the id of the message. Raises Refused."""
    words = text.strip()
    if not words:
        raise usage_error(
            sentence("wish-empty", "there are no words to put to the agent"),
            sentence("use-agent-ask", "say what you want: placet agent ask TASK WORDS"),
        )
    wish = tx.new_id()
    about: dict[str, Value] = {"agent_id": agent, "asked_agent_id": agent, "task_id": task}
    tx.commit([EntityWrite(wish, KIND, {**about, "kind": "user", "text": words})])
    return wish


def is_wish(message: Entity) -> bool:
    """Report whether a message is words of people for an agent: no agent and no import can write such words.

    A file of a journal has the wishes of long ago, and not what the runs of an agent here have read.
    """
    if message.kind != KIND or not message.visible or not message.value("asked_agent_id"):
        return False
    sources = [message.created, *(version.source for version in message.versions("text"))]
    return bool(message.text("text")) and all(
        source is not None
        and source.by is AuthorKind.USER
        and source.effect is None
        and source.origin is None
        for source in sources
    )
