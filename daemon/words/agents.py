"""What is said of an agent and its report, on a terminal and on the page.

Never shows a report as current if something was decided or changed since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words.translation import _, ngettext, pgettext, pgettext_noop

if TYPE_CHECKING:
    from daemon.shapes.answers import AgentJson

_REPORT_LISTS: Final = (("achieved", "done"), ("remaining", "left"), ("learnings", "learnt"))
pgettext_noop("report", "done", "left", "learnt")


def report_fields(report: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a report, wherever it has them."""
    content = report.get("content")
    return content if isinstance(content, dict) else report


def report_list(fields: dict[str, Any], name: str) -> list[str]:
    """Return the lines of a list of a report; none if another device wrote something else there."""
    lines = fields.get(name)
    return [str(line) for line in lines] if isinstance(lines, list) else []


def report_list_words() -> dict[str, str]:
    """Return what the lists of a report are called, by their fields."""
    return {key: pgettext("report", word) for key, word in _REPORT_LISTS}


def report_age_words(agent: AgentJson) -> list[str]:
    """Say how much was decided and changed since the report, and if code brought its facts up to date."""
    decided, changed = agent.get("report_decisions_since") or 0, agent.get("report_changes_since") or 0
    words = []
    if decided:
        words.append(
            ngettext("{count} decision since", "{count} decisions since", decided).format(count=decided)
        )
    if changed:
        words.append(ngettext("{count} change since", "{count} changes since", changed).format(count=changed))
    if (agent.get("report") or {}).get("factsUpdated"):
        words += [_("its facts are those of now"), _("its words are older and may say otherwise")]
    return words


def recurrence_words(agent: AgentJson, timer: str) -> str:
    """Say how often a timer recurs; nothing of one that does not."""
    words = {
        "hour": _("every hour"),
        "day": _("every day"),
        "weekday": _("every working day"),
        "week": _("every week"),
    }
    return words.get((agent.get("recurring") or {}).get(timer, ""), "")
