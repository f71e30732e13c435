"""A report with the facts of its task as they are now: what was decided since the run shows at once.

Never changes what an agent wrote in its own words, and never writes anything.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from daemon.text_comparison import comparison_key

UPDATED = "factsUpdated"
"""The mark of a report whose facts have changed since the agent wrote it."""


def with_current_facts(
    report: Mapping[str, Any], facts: Mapping[str, Any], finished: Iterable[str]
) -> dict[str, Any]:
    """Return a report with these facts, marked if one of them differs from what the report said.

    `finished` are the titles of the ticked checklist items. What the report lists by such a title as left is
    listed as done.
    """
    done = {comparison_key(title) for title in finished}
    remaining, achieved = _lines(report, "remaining"), _lines(report, "achieved")
    now_done = [line for line in remaining if comparison_key(line) in done]
    updated = any(name in report and report[name] != value for name, value in facts.items()) or now_done
    if not updated:
        return dict(report)
    current = {**report, **{name: value for name, value in facts.items() if name in report}, UPDATED: True}
    if now_done:
        current["remaining"] = [line for line in remaining if line not in now_done]
        current["achieved"] = [*achieved, *(line for line in now_done if line not in achieved)]
    return current


def _lines(report: Mapping[str, Any], name: str) -> list[str]:
    lines = report.get(name)
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
