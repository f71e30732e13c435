"""The command `placet`: finds the command, runs it, and turns what went wrong into one line and a status.

Never shows a traceback, and never imports a command that was not called.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from daemon import __version__
from daemon.cli.api import command_error
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import COMPLETION_VARIABLE, CommandEntry, LazyGroup
from daemon.cli.terminal.output import JSON, JSONL, PLAIN, Output, write_json
from daemon.language import DEFAULT_LANGUAGE
from daemon.words import translation
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECTIONS: Final = {
    gettext_noop("Every day"): {
        "today": CommandEntry("journal.today", "Show what is overdue, due today and due soon."),
        "add": CommandEntry("journal.task", "Add a task."),
        "list": CommandEntry("journal.task", "List the open tasks."),
        "show": CommandEntry("journal.task", "Show a task with all that belongs to it."),
        "search": CommandEntry("journal.search", "Find tasks by words in them."),
        "done": CommandEntry("journal.task", "Mark a task as done."),
        "set": CommandEntry("journal.set_value", "Set a value of a task: its status."),
        "series": CommandEntry(
            "journal.series", "Tasks that come again: list, show, edit, skip, move, end, split."
        ),
        "note": CommandEntry("journal.note", "Add a note to a task."),
        "check": CommandEntry("journal.check", "Checklists: add, tick, edit, move, remove."),
        "entry": CommandEntry("journal.note", "Notes: add, edit, list, show, remove."),
        "times": CommandEntry("journal.times", "Add up time by task, label or category, also as CSV."),
        "timer": CommandEntry("journal.timer", "Time: start, stop, status, list, edit, remove."),
        "link": CommandEntry("journal.link", "Links between tasks: add, list, remove."),
        "label": CommandEntry("journal.label", "Labels: add, list, edit, remove, restore."),
        "preferences": CommandEntry(
            "journal.preferences", "Preferences that agents read: list, add, edit, remove."
        ),
        "category": CommandEntry("journal.category", "Categories: add, list, edit, remove, restore."),
        "task": CommandEntry("journal.task", "Tasks: add, list, show, edit, done, remove, restore."),
    },
    gettext_noop("Agents propose, you decide"): {
        "agent": CommandEntry("proposals.agent", "Agents: create, add, show, wake, pause, move, destroy."),
        "mcp": CommandEntry("proposals.mcp", "Let a program propose by the Model Context Protocol."),
        "ask": CommandEntry("proposals.ask", "Let the hook of a program ask you for permission."),
        "pending": CommandEntry("proposals.pending", "Show what is proposed."),
        "asks": CommandEntry("proposals.asks", "Show what agents ask permission for."),
        "rule": CommandEntry("proposals.standing_rules", "Standing rules: add, list, show, revoke."),
        "review": CommandEntry("proposals.review", "Decide on what is proposed, one by one."),
        "confirm": CommandEntry("proposals.decide", "Confirm proposals."),
        "reject": CommandEntry("proposals.decide", "Reject proposals."),
        "defer": CommandEntry("proposals.decide", "Defer proposals."),
        "undo": CommandEntry("proposals.undo", "Undo your last change, or changes and confirmations."),
        "reopen": CommandEntry("proposals.decide", "Reopen proposals, to decide again."),
        "decisions": CommandEntry("proposals.decisions", "Show what was decided."),
        "receipt": CommandEntry("proposals.receipts", "Print the proof of a decision."),
        "verify-receipt": CommandEntry("proposals.receipts", "Check such a proof, without a daemon."),
    },
    gettext_noop("Your devices"): {
        "pair": CommandEntry("devices.pairing", "Invite a device."),
        "join": CommandEntry("devices.pairing", "Accept an invitation."),
        "devices": CommandEntry("devices.membership", "List, rename and remove devices."),
        "mailbox": CommandEntry("devices.mailbox", "Mailboxes: add, list, check, remove."),
        "bundle": CommandEntry("devices.mailbox", "Take changes along in a file: write, read."),
        "sync": CommandEntry("devices.membership", "Exchange with the other devices now."),
    },
    gettext_noop("History and files"): {
        "log": CommandEntry("journal.log", "Show who changed what, and why."),
        "removed": CommandEntry("journal.removed", "List what was removed, and bring it back."),
        "conflicts": CommandEntry("journal.conflicts", "Show and settle conflicts."),
        "events": CommandEntry("journal.log", "Follow what happens."),
        "import": CommandEntry("files.imports", "Import tasks from a file."),
        "export": CommandEntry("files.exports", "Write the journal to a file."),
        "backup": CommandEntry("files.backups", "Save the whole journal to a file."),
        "restore": CommandEntry("files.backups", "Replace the journal by a backup."),
        "verify": CommandEntry("files.backups", "Check the journal down to the last signature."),
        "compact": CommandEntry("files.backups", "Drop long texts that were overwritten long ago."),
    },
    gettext_noop("The daemon"): {
        "up": CommandEntry("operation.local", "Run the daemon."),
        "status": CommandEntry(
            "operation.status", "Show the state of this device, the others and the agents."
        ),
        "doctor": CommandEntry("operation.status", "Check that everything works."),
        "config": CommandEntry("operation.config", "Settings: get, set, unset, show, edit."),
        "metrics": CommandEntry("operation.metrics", "Print the metrics."),
        "relay": CommandEntry("operation.relay", "Run a relay for mailboxes: up, add, change, list, remove."),
        "service": CommandEntry("operation.service", "The daemon as a service: install, uninstall, status."),
        "completion": CommandEntry(
            "operation.completion", "Print the script by which a shell completes commands."
        ),
        "help": CommandEntry("operation.help", "List all commands, or show how one is used."),
        "paths": CommandEntry("operation.local", "Show where files are."),
        "web": CommandEntry("operation.web", "Open the page in a browser; list and end sessions."),
        "version": CommandEntry("operation.local", "Show the version."),
        "demo": CommandEntry("operation.local", "Play the main story on this machine."),
    },
}


def program() -> LazyGroup:
    """Make the program: its options, and its commands by sections."""
    return LazyGroup(
        _SECTIONS,
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_tell_version,
                help="Show the version.",
            )
        ],
        name="placet",
        help="A task journal on all your devices. Agents propose; you decide.",
        epilog="An id may be shortened to any unique beginning of it, a task named by part of its title. "
        "`placet COMMAND --help` says more.",
    )


def _tell_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        print(f"placet {__version__}")
        context.exit()


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit status."""
    output = Output()
    # What scripts read never depends on who runs them.
    translation.use_language(DEFAULT_LANGUAGE if _is_for_scripts(args) else translation.preferred_language())
    try:
        status = _invoke(list(args), output)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`placet list | head`): nothing failed.
        _drop_output()
        return command_error.EXIT_DONE
    except OSError as error:
        _drop_output()
        message = _("output cannot be written: {reason}").format(reason=error.strerror or error)
        return _report(CommandError("failed", message), as_json=False)
    return status


def _invoke(args: list[str], output: Output) -> int:
    try:
        status = _call(args, output)
    except CommandError as refusal:
        return _report(refusal, _wants_json(args, output))
    except click.UsageError as error:
        return _report(_usage_refusal(error), _wants_json(args, output))
    except (click.Abort, KeyboardInterrupt):
        return command_error.EXIT_INTERRUPTED
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug here is told in one line, with its place
        return _report(_bug(error), _wants_json(args, output))
    return status if isinstance(status, int) else command_error.EXIT_DONE


def _call(args: list[str], output: Output) -> object:
    placet = program()
    if COMPLETION_VARIABLE in os.environ:
        return _complete(placet)
    # Not `main`: it answers a broken pipe and an interrupt by itself, each in its own way.
    try:
        with placet.make_context("placet", args, obj=output) as context:
            return placet.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code


def _complete(placet: LazyGroup) -> int:
    """Answer a shell that asks what may come next; on any fault, with nothing at all."""
    from contextlib import suppress

    from click.shell_completion import shell_complete

    with suppress(Exception):
        return shell_complete(placet, {}, "placet", COMPLETION_VARIABLE, os.environ[COMPLETION_VARIABLE])
    return command_error.EXIT_FAILED


def _usage_refusal(error: click.UsageError) -> CommandError:
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Argument):
        # By its name alone: click would list all that it may be, and then say so again.
        error.param_hint = repr(error.param.human_readable_name)
    message = " ".join(error.format_message().split())
    path = error.ctx.command_path if error.ctx else "placet"
    return CommandError("usage", message, _("see `{command} --help`").format(command=path))


def _bug(error: Exception) -> CommandError:
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "unknown"
    return CommandError(
        "failed",
        _("a bug in placet: {error} at {place}").format(error=repr(error), place=place),
        _("please report it"),
    )


def _wants_json(args: Sequence[str], output: Output) -> bool:
    """A command line that could not be read may still have asked for JSON."""
    return output.form in (JSON, JSONL) or _has_option(args, JSON, JSONL)


def _is_for_scripts(args: Sequence[str]) -> bool:
    return _has_option(args, JSON, JSONL, PLAIN)


def _has_option(args: Sequence[str], *names: str) -> bool:
    options = args[: args.index("--")] if "--" in args else args
    return not {f"--{name}" for name in names}.isdisjoint(options)


def _report(refusal: CommandError, as_json: bool) -> int:
    if as_json:
        write_json(refusal.as_json())
    # Most commands are not refused: the words of refusals are imported for those that are.
    from daemon.cli.framework.error_lines import detail_lines, error_line

    for line in (error_line(refusal), *detail_lines(refusal)):
        _say(f"placet: {escape(line)}")
    return refusal.exit_status


def _say(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        # Nobody reads it; the exit status still tells.
        return


def _drop_output() -> None:
    """Point standard output nowhere, so that its closing cannot fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def main() -> NoReturn:
    """Run the command line of this process, and leave."""
    # One short answer makes no garbage worth collecting; `up` collects again.
    gc.disable()
    _make_writable()
    status = run(sys.argv[1:])
    if "asyncio" not in sys.modules:
        # Only commands of this package ran: nothing is left to tear down, and skipping it is 5 % of the time.
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _make_writable() -> None:
    """Let a terminal of another encoding show what it cannot as escapes, and a closed one be no reader."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the whole run
        else:
            stream.reconfigure(errors="backslashreplace")
