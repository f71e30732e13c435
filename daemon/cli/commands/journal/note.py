"""Commands on notes and transcripts: `note` adds one, `entry` changes them.

Never discards what a person wrote in an editor.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import command, group, joined_words, pass_output
from daemon.cli.terminal.standard_input import piped_text
from daemon.cli.views.journal.entries import entry_deed_lines, entry_list, entry_page, entry_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from daemon.cli.api.client import ApiAnswer
    from daemon.cli.terminal.output import Output

# The daemon refuses a longer text in any case, and a request has a limit of its own.
_BYTES_MAX: Final = 1 << 19
_STANDARD_INPUT: Final = ("-",)


def _require_short(text: str) -> str:
    size = len(text.encode("utf-8", "surrogateescape"))
    if size > _BYTES_MAX:
        raise CommandError(
            "usage",
            _("a text of {size} bytes is longer than 128 KiB (131072 bytes)").format(size=size),
            _("split it into several notes"),
        )
    return text


def _on_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _read_text(words: tuple[str, ...], start: str = "") -> AbstractContextManager[str]:
    """Return the text from the arguments, from standard input, or from an editor on a terminal."""
    from contextlib import nullcontext

    if words and words != _STANDARD_INPUT:
        return nullcontext(" ".join(words))
    if not words and _on_a_terminal():
        from daemon.cli.terminal.editor import edit_text

        return edit_text(start)
    return nullcontext(piped_text("text"))


def _options(run: Callable[..., object]) -> Callable[..., object]:
    for option in (
        click.option("--source", type=click.Choice(["note", "transcript"]), help="What kind of text it is."),
        click.option("--at", metavar="TIME", help="When it happened, such as 'yesterday 14:00'."),
    ):
        run = option(run)
    return run


def _about(at: str | None, source: str | None) -> dict[str, Any]:
    options = {"happened_at": at, "source": source}
    return {key: value for key, value in options.items() if value is not None}


def _add(output: Output, task: str, text: tuple[str, ...], at: str | None, source: str | None) -> None:
    with _read_text(text) as words:
        if not words.strip():
            raise CommandError("usage", _("no text was given"), _("nothing was noted"))
        body = {"text": _require_short(words), **_about(at, source)}
        answer = client.post(f"/v1/tasks/{percent_encode(task)}/entries", body)
    output.write_answer(
        answer,
        lambda entry, display: entry_deed_lines(_("Noted"), [entry], display),
        lambda shown_entry: entry_rows([shown_entry]),
    )


@command("note")
@click.argument("task")
@click.argument("text", nargs=-1)
@_options
@pass_output
def note_command(
    output: Output, task: str, text: tuple[str, ...], at: str | None, source: str | None
) -> None:
    """Add a note to a task; without TEXT in your editor, with - from standard input.

    The text needs no quotes: placet note passport The photos are in the drawer
    """
    _add(output, task, text, at, source)


@group("entry")
def entry_command() -> None:
    """Notes and transcripts: add, edit, list, show, remove, restore."""


@entry_command.command("add")
@click.argument("task")
@click.argument("text", nargs=-1)
@_options
@pass_output
def add(output: Output, task: str, text: tuple[str, ...], at: str | None, source: str | None) -> None:
    """Add a note to a task; without TEXT in your editor, with - from standard input."""
    _add(output, task, text, at, source)


@entry_command.command("list")
@click.argument("task", nargs=-1, required=True)
@click.option("--removed", is_flag=True, help="Only removed notes.")
@pass_output
def list_entries(output: Output, task: tuple[str, ...], removed: bool) -> None:
    """List a task's notes. With --plain: id, time, author, text, source."""
    path = f"/v1/tasks/{percent_encode(joined_words(task, 'a task'))}/entries"
    answer = client.get(path, {"removed": removed})
    output.write_answer(answer, entry_list, entry_rows)
    if not answer.json:
        none = _("No notes yet. Add one: placet note TASK TEXT")
        output.write_remark(_("Nothing removed.") if removed else none)


@entry_command.command("show")
@click.argument("entry")
@pass_output
def show(output: Output, entry: str) -> None:
    """Show a note whole."""
    output.write_answer(client.get(_path(entry)), entry_page, lambda shown_entry: entry_rows([shown_entry]))


@entry_command.command("edit")
@click.argument("entry")
@click.argument("text", nargs=-1)
@_options
@pass_output
def edit(output: Output, entry: str, text: tuple[str, ...], at: str | None, source: str | None) -> None:
    """Change a note: by TEXT, with - from standard input, else in your editor."""
    about = _about(at, source)
    answer = (
        client.send_once("PATCH", _path(entry), about)
        if about and not text
        else _send_text(entry, text, about)
    )
    output.write_answer(
        answer,
        lambda shown_entry, display: entry_deed_lines(_("Changed"), [shown_entry], display),
        lambda shown_entry: entry_rows([shown_entry]),
    )


def _send_text(entry: str, text: tuple[str, ...], about: dict[str, Any]) -> ApiAnswer:
    if text or not _on_a_terminal():
        with _read_text(text or _STANDARD_INPUT) as words:
            return client.send_once("PATCH", _path(entry), {"text": _require_short(words), **about})
    json = client.get(_path(entry)).json
    start = str(json.get("text") or "")
    with _read_text((), start) as words:
        # The change is based on the text that the person saw, even if a newer one has arrived meanwhile.
        body = {"text": _require_short(words), "base": json.get("vector_clock"), **about}
        return client.send_once("PATCH", _path(str(json.get("id") or entry)), body)


@entry_command.command("remove")
@click.argument("entries", nargs=-1, required=True, metavar="ENTRY...")
@pass_output
def remove(output: Output, entries: tuple[str, ...]) -> int:
    """Remove notes; `entry restore` brings them back."""
    return _change_entries(
        output, _("Removed"), entries, lambda ref: client.send_once("DELETE", _path(ref), {})
    )


@entry_command.command("restore")
@click.argument("entries", nargs=-1, required=True, metavar="ENTRY...")
@pass_output
def restore(output: Output, entries: tuple[str, ...]) -> int:
    """Restore removed notes; `entry list --removed` names them."""
    return _change_entries(
        output, _("Restored"), entries, lambda ref: client.post(f"{_path(ref)}/restore", {})
    )


def _change_entries(output: Output, verb: str, refs: tuple[str, ...], ask: Callable[[str], ApiAnswer]) -> int:
    return run_for_each(
        output,
        refs,
        ask,
        lambda shown_entries, display: entry_deed_lines(verb, shown_entries, display),
        entry_rows,
    )


def _path(entry: str) -> str:
    return f"/v1/entries/{percent_encode(entry)}"
