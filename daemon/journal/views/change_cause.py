"""Why a value was changed that an agent proposed: in the agent's words, and as the person answered.

Never lets an agent's words pass for the person's.
"""

from typing import Final, NamedTuple

from daemon.journal.fields.validation import REASON_CHARS_MAX
from daemon.journal.references.names import short_text
from daemon.journal.views.agent_argument import NO_ARGUMENT, Argument, argument_of
from daemon.journal.views.lookup import NameLookup
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

_REASONS_SHOWN: Final = 8


class Cause(NamedTuple):
    """Which agent proposed a change, why it was made, and how the agent argued over a person's tick."""

    agent: str | None
    words: Sentence | None
    argument: Argument


NO_CAUSE = Cause(None, None, NO_ARGUMENT)


def read_cause(snapshot: Snapshot, names: NameLookup, effect: EntityId) -> Cause:
    """Report which agent proposed a change, in which words, and how the person answered.

    The agent's words stand in quotation marks that they cannot end, so that none pass for the person's.
    """
    item = snapshot.item(effect)
    if item is None:
        return NO_CAUSE
    proposed = item.occurrences[0]
    reasons = [
        short_text(decision.reason, REASON_CHARS_MAX) for decision in item.decisions if decision.reason
    ][-_REASONS_SHOWN:]
    cause = sentence("proposed-by-agent", "proposed by an agent")
    if proposed.rationale:
        quoted = '"{}"'.format(short_text(proposed.rationale, REASON_CHARS_MAX).replace('"', "'"))
        cause = sentence("proposed-by-agent-because", "proposed by an agent: {words}", words=quoted)
    chosen = names.chosen_answer(effect)
    if chosen is not None:
        cause = sentence(
            "answer-to-agent",
            'the answer "{answer}" to the question of an agent "{question}"',
            question=chosen.question.replace('"', "'"),
            answer=chosen.answer.replace('"', "'"),
        )
    if reasons:
        cause = sentence(
            "proposed-and-answered", "{cause}; {reasons}", cause=cause, reasons="; ".join(reasons)
        )
    return Cause(id_to_text(proposed.agent), cause, argument_of(snapshot, item))
