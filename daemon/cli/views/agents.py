"""Agents: the list, and the page of one.

Never passes an agent's words off as the program's: reports are headed as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli import names
from daemon.cli.sentences import retold
from daemon.cli.short import shorts
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import cells, padded, shown
from daemon.cli.views.tasks import PAGE_WIDTH_MAX, report_lines
from daemon.cli.views.values import field_words, value_words
from daemon.cli.when import ago, ahead, moment_words
from daemon.cli.words import _, later, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Agent

_ROW_KEYS: Final = ("id", "task_id", "lifecycle", "mode", "home_device_id", "next_wake_at")
_COLUMNS: Final = (
    Column(later("ID")),
    Column(later("LIFE")),
    Column(later("MODE")),
    Column(later("HOME")),
    Column(later("NEXT WAKE")),
    Column(later("TASK"), gives=True),
)
_WHEN_WIDTH_MIN: Final = 11
_RUN_STYLES: Final = {"completed": ("green",), "failed": ("red",), "running": ("cyan",)}
_LIFE_STYLES: Final = {"active": ("green",), "dormant": ("yellow",), "destroyed": ("dim",)}
_RULING_STYLES: Final = {"denied": ("red",), "deferred": ("yellow",), "immediate": ("green",)}
_TOOL_WIDTH: Final = 28
_HOME_SHOWN: Final = 8
_ID_SHOWN: Final = 12
_FIELD_WIDTH: Final = 22
_TIMES: Final = ("created_at", "updated_at", "last_wake_at", "next_wake_at")
_SHOWN_APART: Final = frozenset(
    {"id", "report", "display_name", "task_title", "runs", "kind", "at_home", "home_device_name", "policy"}
    | {"report_changes_since"}
)


def agent_rows(agents: Iterable[Agent]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, task, lifecycle, mode, home device, next wake."""
    for agent in agents:
        get = agent.get
        yield (
            get("id"),
            get("task_id"),
            get("lifecycle"),
            get("mode"),
            get("home_device_id"),
            get("next_wake_at"),
        )


def agent_row(agent: Agent) -> Iterator[Sequence[object]]:
    """Give the plain columns of one agent."""
    return agent_rows([agent])


def _home(agent: Agent) -> str:
    if agent.get("at_home"):
        return _("here")
    return (
        shown(agent.get("home_device_name") or "") or shown(agent.get("home_device_id") or "")[:_HOME_SHOWN]
    )


def _name(agent: Agent) -> str:
    return shown(agent.get("task_title") or agent.get("display_name") or agent.get("task_id") or "")


def agent_list(agents: Sequence[Agent], look: Look) -> Iterator[str]:
    """Draw the table of agents."""
    ids = shorts(agents)
    rows = [_cells(agent, ids, look) for agent in agents]
    return table(_COLUMNS, rows, look) if rows else iter(())


def _cells(agent: Agent, ids: dict[str, str], look: Look) -> list[Cell]:
    life = str(agent.get("lifecycle") or "")
    return [
        Cell(shown(ids.get(agent.get("id", ""), "")), ("cyan",)),
        Cell(names.agent_state(life), _LIFE_STYLES.get(life, ())),
        Cell(names.agent_state(agent.get("mode"))),
        Cell(_home(agent)),
        Cell(shown(ahead(agent.get("next_wake_at"), look.now_s)), ("dim",)),
        Cell(_name(agent)),
    ]


def agent_line(verb: str, agent: Agent, look: Look) -> Iterator[str]:
    """Answer what was done with an agent in one line."""
    short = shorts([agent]).get(agent.get("id", ""), "")
    sign = look.paint(look.sign("✓"), "green")
    yield f"{sign} {verb} {look.paint(shown(short), 'cyan')}  {_name(agent)}"


def timer_lines(verb: str, agent: Agent, look: Look) -> Iterator[str]:
    """Answer that a timer was set, with all that are: how the words for the time were read is seen there."""
    yield from agent_line(verb, agent, look)
    for at in agent.get("timers") or ():
        said = f"{moment_words(at)}  {look.paint(ahead(at, look.now_s), 'dim')}"
        yield f"  {look.paint(padded(field_words('timers'), _FIELD_WIDTH), 'dim')} {said}"


def _runs(runs: Sequence[dict[str, Any]], look: Look) -> Iterator[str]:
    moments = [shown(ago(run.get("started_at"), look.now_s)) for run in runs]
    wide = max(_WHEN_WIDTH_MIN, *map(cells, moments))
    yield from (_run(run, padded(when, wide), look) for run, when in zip(runs, moments, strict=True))


def _run(run: dict[str, Any], when: str, look: Look) -> str:
    status = shown(run.get("status") or "")
    said = look.paint(names.run_status(status), *_RUN_STYLES.get(status, ()))
    words = f"  {look.paint(when, 'dim')}  {said}"
    error = f": {shown(run['error'])}" if run.get("error") else ""
    return f"{words}  {look.paint(shown(retold(run.get('reason') or '')), 'dim')}{error}"


def agent_page(agent: Agent, look: Look) -> Iterator[str]:
    """Draw all that is known of an agent, its report last."""
    short = shown(shorts([agent]).get(agent.get("id", ""), ""))
    yield f"{look.paint(_name(agent), 'bold')}  {look.paint(short, 'cyan')}"
    for key, value in agent.items():
        if key in _SHOWN_APART or value is None or value in ([], {}):
            continue
        name = field_words(
            "next_wake_at" if key == "next_wake_why" and not agent.get("next_wake_at") else key
        )
        yield f"  {look.paint(padded(name, _FIELD_WIDTH), 'dim')} {_words(agent, key, look)}"
    if runs := agent.get("runs"):
        yield from ("", look.paint(_("Runs"), "bold"))
        yield from _runs(runs, look)
    if report := agent.get("report"):
        yield from ("", look.paint(_("Report of the agent"), "bold") + _since(agent, look))
        yield from report_lines(report, PAGE_WIDTH_MAX, look)


def _since(agent: Agent, look: Look) -> str:
    """Say how much has changed since the report, empty where nothing has."""
    count = agent.get("report_changes_since") or 0
    if not count:
        return ""
    words = ngettext("{count} change since", "{count} changes since", count).format(count=count)
    return f" {look.paint(look.sign('·'), 'dim')} {look.paint(words, 'yellow')}"


def _words(agent: Agent, key: str, look: Look) -> str:
    value: Any = agent.get(key)
    if key == "home_device_id":
        return _home(agent)
    if key == "timers":
        return ", ".join(shown(ahead(one, look.now_s)) for one in value)
    if key == "lifecycle_reason":
        return shown(retold(str(value)))
    if key in _TIMES:
        return shown((ahead if key == "next_wake_at" else ago)(value, look.now_s))
    if key == "next_wake_why":
        why = shown(retold(str(value)))
        return why if agent.get("next_wake_at") else _("none: {why}").format(why=why)
    if key == "task_id":
        return shown(str(value))[:_ID_SHOWN]
    return value_words(value, key)


def policy_rows(agent: Agent) -> Iterator[Sequence[object]]:
    """Give the plain columns: tool, what becomes of its calls."""
    return iter((agent.get("policy") or {}).items())


def policy_page(agent: Agent, look: Look) -> Iterator[str]:
    """Draw what an agent may do: each tool, and the categories of the tasks that it may work on."""
    short = shown(shorts([agent]).get(agent.get("id", ""), ""))
    yield f"{look.paint(_name(agent), 'bold')}  {look.paint(short, 'cyan')}"
    for tool, ruling in (agent.get("policy") or {}).items():
        said = look.paint(names.ruling(ruling), *_RULING_STYLES.get(str(ruling), ()))
        yield f"  {padded(shown(tool), _TOOL_WIDTH)} {said}"
    categories = ", ".join(shown(one) for one in agent.get("allowed_categories") or ())
    yield f"  {padded(_('works on'), _TOOL_WIDTH)} {categories or _('tasks without a category')}"
