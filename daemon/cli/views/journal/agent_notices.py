"""What a task's page says of its agent: what waits, what lacks its effect, whether it sleeps, how old it is.

Never shows a report as current if something was decided or changed since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.terminal.painted import note_lines
from daemon.words.agents import report_age_words
from daemon.words.proposals import question_words, summary_words, without_other_answers
from daemon.words.sentences import answer_words
from daemon.words.short_ids import short_ids
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import AgentJson, PendingItemJson

_PENDING_SHOWN: Final = 5


def agent_notices(
    agent: AgentJson,
    task: str,
    width: int,
    display: Display,
    pending: Sequence[PendingItemJson] = (),
) -> Iterator[str]:
    """Draw what a person should know of a task's agent; `task` is the short id of the task.

    `pending` are the proposals that wait, of which the first are shown, with what the notes say of each.
    """
    if count := agent.get("pending_items") or 0:
        waiting = ngettext(
            "{count} proposal waits for you: placet pending {task}",
            "{count} proposals wait for you: placet pending {task}",
            count,
        )
        yield display.paint(waiting.format(count=count, task=task), "yellow")
        for item in without_other_answers(pending)[:_PENDING_SHOWN]:
            words = escape(question_words(item) or summary_words(item))
            yield from (f"  {line}" for line in wrap_lines(words, width - 2))
            yield from (f"    {line}" for line in note_lines(item, width - 4, display))
    yield from without_effect_lines(agent, width, display)
    if asleep := _asleep(agent, task):
        yield from (display.paint(line, "yellow") for line in wrap_lines(asleep, width))


def without_effect_lines(agent: AgentJson, width: int, display: Display) -> Iterator[str]:
    """Draw which proposals are confirmed and not in effect, and what to do about each."""
    items = short_ids(agent.get("confirmed_without_effect") or ())
    stuck = agent.get("cannot_take_effect") or []
    if confirmable := [escape(short) for item, short in items.items() if item not in stuck]:
        words = ngettext(
            "{count} proposal is confirmed, and not in effect: placet confirm {items}",
            "{count} proposals are confirmed, and not in effect: placet confirm {items}",
            len(confirmable),
        ).format(count=len(confirmable), items=" ".join(confirmable))
        yield from (display.paint(line, "red") for line in wrap_lines(words, width))
    if undoable := [escape(short) for item, short in items.items() if item in stuck]:
        words = ngettext(
            "{count} proposal is confirmed, and can take no effect: placet undo {items}",
            "{count} proposals are confirmed, and can take no effect: placet undo {items}",
            len(undoable),
        ).format(count=len(undoable), items=" ".join(undoable))
        yield from (display.paint(line, "red") for line in wrap_lines(words, width))


def _asleep(agent: AgentJson, task: str) -> str:
    """Say why an agent does not work, and what to do; nothing of one that works."""
    lifecycle = agent.get("lifecycle")
    if lifecycle == "destroyed":
        return _("its agent was destroyed, which is final")
    if lifecycle != "dormant":
        return ""
    if not agent.get("lifecycle_reason"):
        return _("its agent sleeps; it works again when the task is restored")
    reason = escape(answer_words(agent, "lifecycle_reason"))
    return _("its agent sleeps: {why}; placet agent resume {task}").format(why=reason, task=task)


def since_words(agent: AgentJson, display: Display) -> str:
    """Say how much was decided and changed since the report, and if code brought its facts up to date."""
    dot = display.paint(display.symbol("·"), "dim")
    return "".join(f" {dot} {display.paint(words, 'yellow')}" for words in report_age_words(agent))
