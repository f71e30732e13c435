"""Agents: the list, and the page of one.

Never passes an agent's words off as the program's: reports are headed as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.cli.views.journal.agent_notices import since_words, without_effect_lines
from daemon.cli.views.journal.tasks import PAGE_WIDTH_MAX, report_lines
from daemon.words import terms
from daemon.words.agents import recurrence_words
from daemon.words.dates import full_time_words, relative_future_time, relative_time
from daemon.words.sentences import answer_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import display_width, escape, pad_right, wrap_lines
from daemon.words.translation import _, gettext_noop, ngettext
from daemon.words.values import field_words, in_quotation_marks, value_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import AgentJson, RunSummaryJson

_ROW_KEYS: Final = ("id", "task_id", "lifecycle", "mode", "home_device_id", "next_wake_at")
_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("LIFE")),
    Column(gettext_noop("MODE")),
    Column(gettext_noop("HOME")),
    Column(gettext_noop("NEXT WAKE")),
    Column(gettext_noop("TASK"), shrinks=True),
)
_WHEN_WIDTH_MIN: Final = 11
_RUN_STYLES: Final = {
    "completed": ("green",),
    "cut short": ("yellow",),
    "failed": ("red",),
    "running": ("cyan",),
}
_LIFE_STYLES: Final = {"active": ("green",), "dormant": ("yellow",), "destroyed": ("dim",)}
_RULING_STYLES: Final = {"denied": ("red",), "deferred": ("yellow",), "immediate": ("green",)}
_TOOL_WIDTH: Final = 28
_HOME_SHOWN: Final = 8
_ID_SHOWN: Final = 12
_FIELD_WIDTH: Final = 22
_WISH_LINES_MAX: Final = 4
_TIMES: Final = ("created_at", "updated_at", "last_wake_at", "next_wake_at")
_SHOWN_APART: Final = frozenset(
    {"id", "report", "display_name", "task_title", "runs", "kind", "at_home", "home_device_name", "policy"}
    | {
        "presence",
        "name",
        "paused_until",
        "report_changes_since",
        "report_decisions_since",
        "confirmed_without_effect",
        "cannot_take_effect",
        "wishes",
    }
    | {f"{name}_{part}" for name in ("lifecycle_reason", "next_wake_why") for part in ("id", "params")}
)


def agent_rows(agents: Iterable[AgentJson]) -> Iterator[Sequence[object]]:
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


def agent_row(agent: AgentJson) -> Iterator[Sequence[object]]:
    """Give the plain columns of one agent."""
    return agent_rows([agent])


def _home(agent: AgentJson) -> str:
    if agent.get("at_home"):
        return _("here")
    return (
        escape(agent.get("home_device_name") or "") or escape(agent.get("home_device_id") or "")[:_HOME_SHOWN]
    )


def _name(agent: AgentJson) -> str:
    """Return the title of an agent's task, and the agent's own name if it has one."""
    if agent.get("kind") == "external":
        return escape(agent.get("name") or "")
    title = escape(agent.get("task_title") or agent.get("display_name") or agent.get("task_id") or "")
    return f"{title} ({escape(agent['name'])})" if agent.get("name") else title


def agent_list(agents: Sequence[AgentJson], display: Display) -> Iterator[str]:
    """Draw the table of agents."""
    ids = short_ids_of(agents)
    rows = [_cells(agent, ids, display) for agent in agents]
    return table_lines(_COLUMNS, rows, display) if rows else iter(())


def _cells(agent: AgentJson, ids: dict[str, str], display: Display) -> list[Cell]:
    life = str(agent.get("lifecycle") or "")
    return [
        Cell(escape(ids.get(agent.get("id", ""), "")), ("cyan",)),
        Cell(terms.agent_state(life), _LIFE_STYLES.get(life, ())),
        Cell(terms.agent_state(agent.get("mode"))),
        Cell(_home(agent)),
        Cell(escape(relative_future_time(agent.get("next_wake_at"), display.now_s)), ("dim",)),
        Cell(_name(agent)),
    ]


def agent_line(verb: str, agent: AgentJson, display: Display) -> Iterator[str]:
    """Answer what was done with an agent in one line."""
    short = short_ids_of([agent]).get(agent.get("id", ""), "")
    sign = display.paint(display.symbol("✓"), "green")
    yield f"{sign} {verb} {display.paint(escape(short), 'cyan')}  {_name(agent)}"


def asked_lines(agent: AgentJson, display: Display) -> Iterator[str]:
    """Answer that words were put to an agent: how many proposals wait, or where the words are read."""
    yield from agent_line(_("Asked agent"), agent, display)
    count = int(agent.get("pending_items") or 0)
    if not agent.get("wishes"):
        words = ngettext("{count} proposal waits", "{count} proposals wait", count).format(count=count)
        yield f"  {words}"
    elif not agent.get("at_home"):
        yield f"  {_('It reads them on {device}, once that device is there.').format(device=_home(agent))}"


def paused_lines(verb: str, agent: AgentJson, display: Display) -> Iterator[str]:
    """Answer that an agent was paused, and until when: how the words for the time were read is seen there."""
    yield from agent_line(verb, agent, display)
    if until := agent.get("paused_until"):
        text = f"{full_time_words(until)}  {display.paint(relative_future_time(until, display.now_s), 'dim')}"
        yield f"  {display.paint(pad_right(field_words('paused_until'), _FIELD_WIDTH), 'dim')} {text}"


def timer_lines(verb: str, agent: AgentJson, display: Display) -> Iterator[str]:
    """Answer that a timer was set, with all that are: how the words for the time were read is seen there."""
    yield from agent_line(verb, agent, display)
    for timer in agent.get("timers") or ():
        often = recurrence_words(agent, timer)
        text = f"{full_time_words(timer)}  {display.paint(relative_future_time(timer, display.now_s), 'dim')}"
        text += f"  {often}" if often else ""
        yield f"  {display.paint(pad_right(field_words('timers'), _FIELD_WIDTH), 'dim')} {text}"


def _runs(runs: Sequence[RunSummaryJson], display: Display) -> Iterator[str]:
    moments = [escape(relative_time(run.get("started_at"), display.now_s)) for run in runs]
    wide = max(_WHEN_WIDTH_MIN, *map(display_width, moments))
    yield from (_run(run, pad_right(when, wide), display) for run, when in zip(runs, moments, strict=True))


def _run(run: RunSummaryJson, when: str, display: Display) -> str:
    status = escape(run.get("status") or "")
    # A run that was cut short after it had proposed something is over, and has a reason too.
    if status == "completed" and run.get("error"):
        status = "cut short"
    text = display.paint(terms.run_status(status), *_RUN_STYLES.get(status, ()))
    words = f"  {display.paint(when, 'dim')}  {text}"
    error = f": {escape(run['error'])}" if run.get("error") else ""
    return f"{words}  {display.paint(escape(answer_words(run, 'reason')), 'dim')}{error}"


def agent_page(agent: AgentJson, display: Display) -> Iterator[str]:
    """Draw all that is known of an agent, its report last."""
    short = escape(short_ids_of([agent]).get(agent.get("id", ""), ""))
    yield f"{display.paint(_name(agent), 'bold')}  {display.paint(short, 'cyan')}"
    for key, value in agent.items():
        if key in _SHOWN_APART or value is None or value in ([], {}):
            continue
        name = field_words(
            "next_wake_at" if key == "next_wake_why" and not agent.get("next_wake_at") else key
        )
        yield f"  {display.paint(pad_right(name, _FIELD_WIDTH), 'dim')} {_words(agent, key, display)}"
    words = ", ".join(
        terms.presence_name(presence) if tool == "all" else f"{escape(tool)}: {terms.presence_name(presence)}"
        for tool, presence in (agent.get("presence") or {}).items()
    )
    yield f"  {display.paint(pad_right(_('verdicts need'), _FIELD_WIDTH), 'dim')} {words}"
    yield from without_effect_lines(agent, PAGE_WIDTH_MAX, display)
    wishes: Any = agent.get("wishes")
    if wishes:
        yield from ("", display.paint(_("Asked, and not read yet"), "bold"))
        for wish in wishes:
            lines = list(wrap_lines(in_quotation_marks(wish), PAGE_WIDTH_MAX - 2))[:_WISH_LINES_MAX]
            yield from (f"  {line}" for line in lines)
    if runs := agent.get("runs"):
        yield from ("", display.paint(_("Runs"), "bold"))
        yield from _runs(runs, display)
    if report := agent.get("report"):
        yield from ("", display.paint(_("Report of the agent"), "bold") + since_words(agent, display))
        yield from report_lines(report, PAGE_WIDTH_MAX, display)


def _words(agent: AgentJson, key: str, display: Display) -> str:
    value: Any = agent.get(key)
    if key == "home_device_id":
        return _home(agent)
    if key == "timers":
        moments = [escape(relative_future_time(timer, display.now_s)) for timer in value]
        often = [recurrence_words(agent, timer) for timer in value]
        return ", ".join(" ".join(filter(None, pair)) for pair in zip(moments, often, strict=True))
    if key == "lifecycle_reason":
        return escape(answer_words(agent, key))
    if key in _TIMES:
        return escape(
            (relative_future_time if key == "next_wake_at" else relative_time)(value, display.now_s)
        )
    if key == "next_wake_why":
        reason = escape(answer_words(agent, key))
        return reason if agent.get("next_wake_at") else _("none: {why}").format(why=reason)
    if key == "task_id":
        return escape(str(value))[:_ID_SHOWN]
    return value_words(value, key)


def policy_rows(agent: AgentJson) -> Iterator[Sequence[object]]:
    """Give the plain columns: tool, what becomes of its calls."""
    return iter((agent.get("policy") or {}).items())


def policy_page(agent: AgentJson, display: Display) -> Iterator[str]:
    """Draw what an agent may do: each tool, and the categories of the tasks that it may work on."""
    short = escape(short_ids_of([agent]).get(agent.get("id", ""), ""))
    yield f"{display.paint(_name(agent), 'bold')}  {display.paint(short, 'cyan')}"
    for tool, ruling in (agent.get("policy") or {}).items():
        text = display.paint(terms.policy_name(ruling), *_RULING_STYLES.get(str(ruling), ()))
        yield f"  {pad_right(escape(tool), _TOOL_WIDTH)} {text}"
    categories = ", ".join(
        escape(allowed_category) for allowed_category in agent.get("allowed_categories") or ()
    )
    yield f"  {pad_right(_('works on'), _TOOL_WIDTH)} {categories or _('tasks without a category')}"


def presence_rows(agent: AgentJson) -> Iterator[Sequence[object]]:
    """Give the plain columns: tool or `all`, what verdicts on its calls need."""
    return iter((agent.get("presence") or {}).items())


def presence_page(agent: AgentJson, display: Display) -> Iterator[str]:
    """Draw what verdicts on an agent's proposals need."""
    short = escape(short_ids_of([agent]).get(agent.get("id", ""), ""))
    yield f"{display.paint(_name(agent), 'bold')}  {display.paint(short, 'cyan')}"
    for tool, presence in (agent.get("presence") or {}).items():
        name = _("all proposals") if tool == "all" else escape(tool)
        yield f"  {pad_right(name, _TOOL_WIDTH)} {terms.presence_name(presence)}"
