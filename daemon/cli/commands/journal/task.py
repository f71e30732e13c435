"""Commands on tasks: add, list, show, edit, done; all but edit exist at the top level too.

Never checks a value that the daemon checks.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import command, group, has_literal_words, joined_words, pass_output
from daemon.cli.terminal.output import HUMAN, PLAIN
from daemon.cli.views.journal.origins import origin_lines, origin_rows
from daemon.cli.views.journal.series import next_words, series_line, series_rows
from daemon.cli.views.journal.tasks import (
    listed_rows,
    task_line,
    task_list,
    task_page,
    task_row,
    task_rows,
)
from daemon.task_fields import DAY_FIELDS, TASK_FIELDS
from daemon.words.dates import full_day_words, hour_words
from daemon.words.day_groups import begin_later_words, begins_later, option_for_later
from daemon.words.short_ids import SHORT_ID_CHARS_MIN
from daemon.words.task_parts import hour_of
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output
    from daemon.shapes.answers import AgentJson, PendingItemJson, TaskJson
    from daemon.shapes.others import CapturedLineJson, ReadingJson, SeriesJson
    from daemon.task_fields import TaskField

_NOTHING = "none"
_LINE_BYTES_MAX = 6000
_ID_DIGITS = "0123456789abcdef"


def _value_options(run: Callable[..., object]) -> Callable[..., object]:
    for field in reversed(TASK_FIELDS):
        if field.option is not None:
            flag, metavar, words = field.option
            declared = click.option(
                flag, field.name, multiple=field.type == "names", metavar=metavar, help=words
            )
            run = declared(run)
    return run


def _values(fields: dict[str, Any]) -> dict[str, Any]:
    """Convert the options into a request: absent ones are left out, `none` becomes null."""
    values = {key: value for key, value in fields.items() if value is not None and value != ()}
    if "remove_labels" in values:
        values["remove_labels"] = list(values["remove_labels"])
    if "labels" in values:
        values["labels"] = [label for label in values["labels"] if label != _NOTHING]
    for field in TASK_FIELDS:
        if field.type in ("status", "priority") and field.name in values:
            values[field.name] = values[field.name].upper()
    return {key: None if value == _NOTHING else value for key, value in values.items()}


def _line(verb: str) -> Callable[[TaskJson, Display], Iterator[str]]:
    return lambda task, display: task_line(verb, task, display)


def _tell_days(output: Output, answer: ApiAnswer, fields: dict[str, Any]) -> None:
    """Tell the person how the words for days were understood, and if a day has passed that should not."""
    for field in DAY_FIELDS:
        day, typed = answer.json.get(field.name), fields.get(field.name)
        hour = hour_of(field, answer.json.get)
        if hour is not None:
            typed = typed or fields.get("due_time")
        if not typed or not day:
            continue
        read = full_day_words(day, output.display(answer).now_s)
        if field.late and read.is_past:
            output.write_remark(_("Due {day}: that day has passed.").format(day=read.words))
        elif typed.strip() != day:
            output.write_remark(_day_sentence(field, f"{read.words}{hour_words(hour)}"))


def _day_sentence(field: TaskField, day: str) -> str:
    words = _(field.fact).format(day=day)
    return f"{words[:1].upper()}{words[1:]}."


@command("add")
@click.argument("title", nargs=-1, required=True)
@_value_options
@click.option(
    "--every", metavar="RULE", help="It comes again: friday, 2 weeks, second tuesday, 3 days after done."
)
@click.option(
    "--step", "steps", multiple=True, metavar="TEXT", help="With --every: a step of each checklist; again."
)
@pass_output
def add_command(
    output: Output, title: tuple[str, ...], every: str | None, steps: tuple[str, ...], **fields: Any
) -> None:
    """Add a task, or with --every one that comes again; its due is then its first day.

    A day, a length, "every friday", #label, p1 and @category at the end of the line are read; an option goes
    before them. Behind -- all words are the title: placet add -- Buy milk tomorrow
    """
    line, values = joined_words(title, "a title"), _values(fields)
    readings: list[ReadingJson] = []
    new: dict[str, Any] = {"title": line}
    # A line that is too long for an address is too long for a title: the refusal of that says so.
    if not has_literal_words() and len(percent_encode(line)) <= _LINE_BYTES_MAX:
        given = ",".join((values.keys() | ({"every"} if every else set())) - {"labels"})
        captured: CapturedLineJson = client.get("/v1/captured-line", {"line": line, "given": given}).json
        readings = captured.get("readings", [])
        new = {name: value for name, value in captured.items() if name != "readings" and value}
    labels = [*new.get("labels", []), *values.get("labels", [])]
    new |= values | ({"labels": labels} if labels else {}) | ({"every": every} if every else {})
    if "every" in new:
        _add_series(output, new | ({"steps": list(steps)} if steps else {}))
    elif steps:
        raise click.UsageError(_("--step goes with --every"), click.get_current_context())
    else:
        answer = client.post("/v1/tasks", new)
        output.write_answer(answer, _line(_("Added")), task_row)
        due = next((reading["words"] for reading in readings if reading["field"] == "due"), fields["due"])
        _tell_days(output, answer, fields | {"due": due})
    if readings:
        words = ", ".join(reading["words"] for reading in readings)
        output.write_remark(
            _("Read from the line: {words}. To keep them in the title: placet add -- TITLE").format(
                words=words
            )
        )


def _add_series(output: Output, new: dict[str, Any]) -> None:
    """Make a series; what only a single task can have is refused."""
    if unfit := sorted(new.keys() & {"status", "reason", "start"}):
        words = _("what comes again has no {options}; set it at one task of the series")
        raise click.UsageError(
            words.format(options=", ".join(f"--{name}" for name in unfit)), click.get_current_context()
        )
    if "due" in new:
        new["first"] = new.pop("due")
    answer = client.post("/v1/series", new)
    output.write_answer(answer, partial(series_line, _("Added")), lambda series: series_rows([series]))


@command("list")
@click.option("--all", "everything", is_flag=True, help="Also those done and rejected.")
@click.option("--removed", is_flag=True, help="The removed ones.")
@click.option("--later", is_flag=True, help="Also those whose start is still to come.")
@click.option("--label", metavar="NAME", help="Only tasks with this label; `none`: tasks without one.")
@click.option("--category", metavar="NAME", help="Only tasks of this category; `none`: tasks without one.")
@click.option("--status", metavar="STATUS", help="Only tasks of this status, or of several: open,blocked.")
@click.option("--priority", metavar="P", help="Only tasks of this priority, or of several: P0,P1.")
@click.option("--due-before", metavar="DATE", help="Only tasks due before this day.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most this many, the most urgent ones.")
@pass_output
def list_command(
    output: Output, everything: bool, removed: bool, later: bool, limit: int | None, **options: str | None
) -> None:
    """List the open tasks, the most urgent first.

    With --plain: id, status, priority, due, title, labels, ticked/items, waiting proposals, agent.
    """
    # A list shows one line per task; JSON is for programs, which receive everything.
    has_lines = output.form in (HUMAN, PLAIN)
    path, page_size = (
        ("/v1/task-lines", client.LINES_PAGE_SIZE) if has_lines else ("/v1/tasks", client.PAGE_SIZE)
    )
    # A whole list is sorted when it is here: of tasks that change their places meanwhile, pages in that order
    # would leave some out.
    order = None if limit is None else "priority"
    hides_later = not (later or removed)
    # A whole list is narrowed when it is here, so that what it leaves out can be counted.
    query = {
        "all": everything,
        "removed": removed,
        "order": order,
        "begun": hides_later and limit is not None,
        **options,
    }
    answer = client.get_pages(path, query, limit, page_size)
    total = len(answer.json)
    if hides_later:
        now_s = answer.now_s
        answer = answer._replace(json=[task for task in answer.json if not begins_later(task, now_s)])
    output.write_answer(answer, task_list, listed_rows)
    if not total:
        output.write_remark(_nothing_listed_words(removed, narrowed=any(options.values())))
    if words := begin_later_words(total - len(answer.json)):
        output.write_remark(option_for_later(words))


def _nothing_listed_words(removed: bool, *, narrowed: bool) -> str:
    if narrowed:
        return _("No task matches all of that.")
    return _("Nothing removed.") if removed else _("No open tasks. Add one: placet add TITLE")


@command("show")
@click.argument("task", nargs=-1, required=True)
@click.option("--provenance", is_flag=True, help="Who wrote each value, and the statuses so far.")
@pass_output
def show_command(output: Output, task: tuple[str, ...], provenance: bool) -> None:
    """Show a task with its checklists, notes and report, and what of it others wrote.

    TASK is the beginning of an id, or part of the title. With --plain --provenance: entity, field, author,
    time, device, proposal, imported from.
    """
    answer = client.get(f"/v1/tasks/{percent_encode(joined_words(task, 'a task'))}", {"provenance": True})
    agent = _agent_of(answer.json) if output.is_for_people else None
    series = _series_of(answer.json.get("series_id")) if output.is_for_people else None
    pending = _waiting_proposals(answer.json, agent)
    output.write_answer(
        answer,
        lambda task_shown, display: chain(
            task_page(task_shown, agent, display, pending),
            origin_lines(task_shown, display) if provenance else (),
        ),
        origin_rows if provenance else task_row,
    )
    if series is not None:
        output.write_remark(next_words(series))


def _agent_of(task: TaskJson) -> AgentJson | None:
    """Return the agent of a task; None if it has none."""
    agent_id = task.get("agent_id")
    agent: AgentJson | None = client.find(f"/v1/agents/{percent_encode(agent_id)}") if agent_id else None
    return agent


def _waiting_proposals(task: TaskJson, agent: AgentJson | None) -> list[PendingItemJson]:
    """Return the proposals of a task that wait; nothing is asked of the daemon if none do."""
    if agent is None or not agent.get("pending_items"):
        return []
    # The task may be gone by now, and its page is shown all the same.
    return client.find(f"/v1/pending?task={percent_encode(str(task.get('id')))}") or []


def _change_tasks(output: Output, verb: str, words: tuple[str, ...], ask: Callable[[str], ApiAnswer]) -> int:
    """Do the same to one or several tasks, with one request and one commit per task."""
    joined_words(words, "a task")
    return run_for_each(output, _task_refs(words), ask, _lines(verb), task_rows)


def _task_refs(words: tuple[str, ...]) -> Sequence[str]:
    """Decide whether the words name several tasks, or are one title without quotes.

    Quoted titles name several tasks, and so do words that all look like ids. Other words are one title.
    """
    if len(words) > 1 and (any(" " in word.strip() for word in words) or all(map(_is_like_id, words))):
        return words
    return (" ".join(words),)


def _is_like_id(word: str) -> bool:
    return len(word) >= SHORT_ID_CHARS_MIN and all(letter in _ID_DIGITS for letter in word.lower())


def _lines(verb: str) -> Callable[[Sequence[TaskJson], Display], Iterator[str]]:
    return lambda tasks, display: (line for task in tasks for line in task_line(verb, task, display))


@command("done")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@pass_output
def done_command(output: Output, tasks: tuple[str, ...]) -> int:
    """Mark a task as done, or several: by ids, or by titles in quotes."""
    series: list[str] = []

    def finish(ref: str) -> ApiAnswer:
        answer = client.post(f"/v1/tasks/{percent_encode(ref)}/done", {})
        if series_id := answer.json.get("series_id"):
            series.append(series_id)
        return answer

    status = _change_tasks(output, _("Done"), tasks, finish)
    if output.is_for_people:
        for series_id in dict.fromkeys(series):
            if one_series := _series_of(series_id):
                output.write_remark(next_words(one_series))
    return status


def _series_of(series_id: str | None) -> SeriesJson | None:
    """Return a series; None for no id, and if it is not there any more."""
    return client.find(f"/v1/series/{percent_encode(series_id)}") if series_id else None


@command("edit")
@click.argument("task")
@click.option("--title", metavar="TEXT", help="The new title.")
@_value_options
@click.option(
    "--remove-label",
    "remove_labels",
    multiple=True,
    metavar="NAME",
    help="Take a label off; may be given again.",
)
@pass_output
def edit_command(output: Output, task: str, **fields: Any) -> None:
    """Change a task; `none` empties a value: --due none, --label none."""
    values = _values(fields)
    if values.get("labels"):
        values["add_labels"] = values.pop("labels")
    if not values:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    answer = client.send_once("PATCH", f"/v1/tasks/{percent_encode(task)}", values)
    output.write_answer(answer, _line(_("Changed")), task_row)
    _tell_days(output, answer, fields)


@command("remove")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@pass_output
def remove_command(output: Output, tasks: tuple[str, ...]) -> int:
    """Remove tasks, with all that belongs to them; `restore` brings them back."""
    return _change_tasks(
        output,
        _("Removed"),
        tasks,
        lambda ref: client.send_once("DELETE", f"/v1/tasks/{percent_encode(ref)}", {}),
    )


@command("restore")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@pass_output
def restore_command(output: Output, tasks: tuple[str, ...]) -> int:
    """Restore removed tasks, with what belonged to them."""
    return _change_tasks(
        output, _("Restored"), tasks, lambda ref: client.post(f"/v1/tasks/{percent_encode(ref)}/restore", {})
    )


@group("task")
def task_command() -> None:
    """Tasks: add, list, show, edit, done, remove, restore."""


for _verb in (
    add_command,
    list_command,
    show_command,
    edit_command,
    done_command,
    remove_command,
    restore_command,
):
    task_command.add_command(_verb)
