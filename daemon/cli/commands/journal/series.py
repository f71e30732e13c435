"""Commands on series: list, show, edit, skip, move, end, split, remove, restore.

Never reads a rule or a day: the daemon does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import group, pass_output
from daemon.cli.views.journal.series import series_line, series_list, series_page, series_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output
    from daemon.shapes.others import SeriesJson

_NOTHING: Final = "none"
_OPTIONS: Final = (
    click.option("--title", metavar="TEXT", help="The title of its tasks."),
    click.option(
        "--every", metavar="RULE", help="It comes again: friday, 2 weeks, second tuesday, 3 days after done."
    ),
    click.option("--until", metavar="DATE", help="The last day; `none` for no end."),
    click.option("--due-time", metavar="TIME", help="The hour at which each is due: 9:00; `none`."),
    click.option("--priority", metavar="P", help="P0 (now) to P3 (some day)."),
    click.option("--estimate", "estimate_minutes", metavar="TIME", help="How long it takes: 90, 2h, 1h30."),
    click.option("--label", "labels", multiple=True, metavar="NAME", help="A label; may be given again."),
    click.option("--category", metavar="NAME", help="A category."),
    click.option("--step", "steps", multiple=True, metavar="TEXT", help="A step of the checklist; again."),
)


@group("series")
def series_command() -> None:
    """Tasks that come again: list, show, edit, skip, move, end, split, remove, restore.

    `placet add TITLE --every RULE` makes a series. SERIES is the beginning of an id, or part of the title.
    """


def _value_options(run: Callable[..., object]) -> Callable[..., object]:
    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _values(fields: dict[str, Any]) -> dict[str, Any]:
    """Convert the options into a request: absent ones are left out, `none` empties."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, tuple) and value:
            values[name] = [text for text in value if text != _NOTHING]
        elif value is not None and value != ():
            values[name] = None if value == _NOTHING else value
    if values.get("priority"):
        values["priority"] = values["priority"].upper()
    return values


def _write(output: Output, verb: str, answer: ApiAnswer) -> None:
    output.write_answer(answer, partial(series_line, verb), lambda series: series_rows([series]))


def _address(series: str, deed: str = "") -> str:
    return f"/v1/series/{percent_encode(series)}{deed}"


@series_command.command("list")
@click.option("--removed", is_flag=True, help="The removed ones.")
@pass_output
def list_series(output: Output, removed: bool) -> None:
    """List what comes again. With --plain: id, rule, first day, last day, title, next days."""
    answer = client.get_pages("/v1/series", {"removed": removed}, None, client.PAGE_SIZE)
    output.write_answer(answer, series_list, series_rows)
    if not answer.json:
        output.write_remark(_("Nothing comes again. Add something: placet add TITLE --every friday"))


@series_command.command("show")
@click.argument("series")
@pass_output
def show(output: Output, series: str) -> None:
    """Show a series: how often it comes, its next three days, and what each of its tasks begins with."""
    output.write_answer(client.get(_address(series)), series_page, lambda series: series_rows([series]))


@series_command.command("edit")
@click.argument("series")
@click.option("--first", metavar="DATE", help="Its first day.")
@_value_options
@pass_output
def edit(output: Output, series: str, **fields: Any) -> None:
    """Change a whole series; tasks that somebody touched stay. `none` empties: --until none."""
    values = _values(fields)
    if not values:
        raise click.UsageError(_("nothing to change was given"), click.get_current_context())
    _write(output, _("Changed"), client.send_once("PATCH", _address(series), values))


@series_command.command("skip")
@click.argument("series")
@click.option("--day", metavar="DATE", help="Which day; that of the earliest open task if not given.")
@click.option("--through", metavar="DATE", help="Instead all days up to this one that nobody has touched.")
@pass_output
def skip(output: Output, series: str, day: str | None, through: str | None) -> None:
    """Leave a day out, or with --through all that you missed."""
    body = {"day": day, "through": through}
    _write(output, _("Skipped in"), client.post(_address(series, "/skip"), body))


@series_command.command("move")
@click.argument("series")
@click.argument("to")
@click.option("--day", metavar="DATE", help="Which day; that of the earliest open task if not given.")
@pass_output
def move(output: Output, series: str, to: str, day: str | None) -> None:
    """Let one task be due on another day, TO; the others stay."""
    _write(output, _("Moved in"), client.post(_address(series, "/move"), {"to": to, "day": day}))


@series_command.command("end")
@click.argument("series")
@click.option("--on", metavar="DATE", help="The last day that it may have; today if not given.")
@pass_output
def end(output: Output, series: str, on: str | None) -> None:
    """End a series: nothing of it comes after a day."""
    _write(output, _("Ended"), client.post(_address(series, "/end"), {"on": on}))


@series_command.command("split")
@click.argument("series")
@click.argument("on")
@_value_options
@pass_output
def split(output: Output, series: str, on: str, **fields: Any) -> None:
    """Change a series from a day ON: what came before stays as it was."""
    _write(output, _("Split off"), client.post(_address(series, "/split"), {"on": on, **_values(fields)}))


@series_command.command("remove")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@pass_output
def remove(output: Output, series: tuple[str, ...]) -> int:
    """Remove series; tasks that somebody touched stay. `restore` brings them back."""
    return run_for_each(output, series, _remove, partial(_lines, _("Removed")), series_rows)


@series_command.command("restore")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@pass_output
def restore(output: Output, series: tuple[str, ...]) -> int:
    """Restore removed series, named by their ids."""
    return run_for_each(output, series, _restore, partial(_lines, _("Restored")), series_rows)


def _remove(series: str) -> ApiAnswer:
    return client.send_once("DELETE", _address(series), {})


def _restore(series: str) -> ApiAnswer:
    return client.post(_address(series, "/restore"), {})


def _lines(verb: str, all_series: Sequence[SeriesJson], display: Display) -> Iterator[str]:
    for series in all_series:
        yield from series_line(verb, series, display)
