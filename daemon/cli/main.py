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
from daemon.cli import refusals, words
from daemon.cli.grammar import COMPLETE, LazyGroup, Listed
from daemon.cli.output import JSON, JSONL, PLAIN, Output, write_json
from daemon.cli.refusals import Refusal
from daemon.cli.text import shown
from daemon.cli.words import _, later
from daemon.language import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECTIONS: Final = {
    later("Every day"): {
        "add": Listed("task", "Add a task."),
        "list": Listed("task", "List the open tasks."),
        "show": Listed("task", "Show a task with all that belongs to it."),
        "search": Listed("search", "Find tasks by words in them."),
        "done": Listed("task", "Mark a task as done."),
        "note": Listed("note", "Add a note to a task."),
        "check": Listed("check", "Checklists: add, tick, edit, move, remove."),
        "entry": Listed("note", "Notes: add, edit, list, show, remove."),
        "timer": Listed("timer", "Time: start, stop, status, list, edit, remove."),
        "link": Listed("link", "Links between tasks: add, list, remove."),
        "label": Listed("label", "Labels: add, list, edit, remove, restore."),
        "category": Listed("category", "Categories: add, list, edit, remove, restore."),
        "task": Listed("task", "Tasks: add, list, show, edit, done, remove, restore."),
    },
    later("Agents propose, you decide"): {
        "agent": Listed("agent", "Agents: create, show, wake, pause, move, destroy."),
        "pending": Listed("pending", "Show what is proposed."),
        "review": Listed("review", "Decide on what is proposed, one by one."),
        "confirm": Listed("decide", "Let proposals happen."),
        "reject": Listed("decide", "Turn proposals down."),
        "defer": Listed("decide", "Put proposals off."),
        "undo": Listed("decide", "Take confirmations back."),
        "reopen": Listed("decide", "Take any decisions back, to decide again."),
        "decisions": Listed("decisions", "Show what was decided."),
    },
    later("Your devices"): {
        "pair": Listed("pairing", "Invite a device."),
        "join": Listed("pairing", "Accept an invitation."),
        "devices": Listed("peers", "List, rename and remove devices."),
        "sync": Listed("peers", "Exchange with the other devices now."),
    },
    later("History and files"): {
        "log": Listed("log", "Show who changed what, and why."),
        "conflicts": Listed("conflicts", "Show and settle what was said twice."),
        "events": Listed("log", "Follow what happens."),
        "import": Listed("imports", "Take tasks from a file."),
        "export": Listed("exports", "Write the journal to a file."),
        "backup": Listed("keep", "Save the whole journal to a file."),
        "restore": Listed("keep", "Put a backup in place of the journal."),
        "verify": Listed("keep", "Check the journal down to the last signature."),
        "compact": Listed("keep", "Let long texts go that were overwritten long ago."),
    },
    later("The daemon"): {
        "up": Listed("here", "Run the daemon."),
        "status": Listed("status", "Show where things stand."),
        "doctor": Listed("status", "Check that all is well."),
        "config": Listed("config", "Settings: get, set, unset, show, edit."),
        "metrics": Listed("metrics", "Print the metrics."),
        "service": Listed("service", "The daemon as a service: install, uninstall, status."),
        "completion": Listed("completion", "Print the script by which a shell completes placet."),
        "paths": Listed("here", "Show where files are."),
        "web": Listed("here", "Open the journal in a browser (not in this version)."),
        "version": Listed("here", "Show the version."),
        "demo": Listed("here", "Play the main story on this machine."),
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
    words.speak(DEFAULT if _is_for_scripts(args) else words.language_of_person())
    try:
        status = _invoke(list(args), output)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`placet list | head`): nothing failed.
        _drop_output()
        return refusals.DONE
    except OSError as error:
        _drop_output()
        seen = _("output cannot be written: {reason}").format(reason=error.strerror or error)
        return _report(Refusal("failed", seen), as_json=False)
    return status


def _invoke(args: list[str], output: Output) -> int:
    try:
        status = _call(args, output)
    except Refusal as refusal:
        return _report(refusal, _wants_json(args, output))
    except click.UsageError as error:
        return _report(_usage_refusal(error), _wants_json(args, output))
    except (click.Abort, KeyboardInterrupt):
        return refusals.INTERRUPTED
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug here is told in one line, with its place
        return _report(_bug(error), _wants_json(args, output))
    return status if isinstance(status, int) else refusals.DONE


def _call(args: list[str], output: Output) -> object:
    placet = program()
    if COMPLETE in os.environ:
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
        return shell_complete(placet, {}, "placet", COMPLETE, os.environ[COMPLETE])
    return refusals.FAILED


def _usage_refusal(error: click.UsageError) -> Refusal:
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Argument):
        # By its name alone: click would list all that it may be, and then say so again.
        error.param_hint = repr(error.param.human_readable_name)
    message = " ".join(error.format_message().split())
    path = error.ctx.command_path if error.ctx else "placet"
    return Refusal("usage", message, _("see `{command} --help`").format(command=path))


def _bug(error: Exception) -> Refusal:
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "unknown"
    return Refusal(
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


def _report(refusal: Refusal, as_json: bool) -> int:
    if as_json:
        write_json(refusal.as_json())
    for line in (refusal.as_line(), *refusal.detail_lines()):
        _say(f"placet: {shown(line)}")
    return refusal.status


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
