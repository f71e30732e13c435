"""A report with the facts of its task as they are now: what was decided since the run shows at once.

Never changes what an agent wrote in its own words, and never writes anything.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from daemon.text_comparison import comparison_key

UPDATED = "factsUpdated"
"""The mark of a report whose facts have changed since the agent wrote it."""


def with_current_facts(
    report: Mapping[str, Any], facts: Mapping[str, Any], ticks: Iterable[tuple[str, bool]]
) -> dict[str, Any]:
    """Return a report with these facts, marked if one of them differs from what the report said.

    `ticks` are the titles of the checklist items, and whether each is ticked. What the report lists by such a
    title as left is listed as done, and what it lists as done is listed as left, if that is so now.
    """
    listed = [(comparison_key(title), is_ticked) for title, is_ticked in ticks]
    still_open = {key for key, is_ticked in listed if not is_ticked}
    done = {key for key, is_ticked in listed if is_ticked} - still_open
    remaining, achieved = _lines(report, "remaining"), _lines(report, "achieved")
    now_done = [line for line in remaining if comparison_key(line) in done]
    now_left = [line for line in achieved if comparison_key(line) in still_open]
    updated = any(name in report and report[name] != value for name, value in facts.items())
    if not (updated or now_done or now_left):
        return dict(report)
    current = {**report, **{name: value for name, value in facts.items() if name in report}, UPDATED: True}
    if now_done or now_left:
        current["remaining"] = _moved_lines(remaining, now_done, now_left)
        current["achieved"] = _moved_lines(achieved, now_left, now_done)
    return current


def _moved_lines(lines: list[str], out: list[str], into: list[str]) -> list[str]:
    stay = [line for line in lines if line not in out]
    return [*stay, *(line for line in into if line not in stay)]


def _lines(report: Mapping[str, Any], name: str) -> list[str]:
    lines = report.get(name)
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
