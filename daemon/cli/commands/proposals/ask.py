"""`placet ask --hook`: what the hook of another program runs when it needs a permission.

Never decides, and never says "allow" without a permission that was used for exactly this call.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from daemon.cli.framework.declaration import command
from daemon.cli.terminal.standard_input import STANDARD_INPUT, missing_input

if TYPE_CHECKING:
    from daemon.cli.hooks.hook_protocol import Client
    from daemon.cli.hooks.hook_verdict import HookAsk

    _Outcome = tuple[int, dict[str, Any] | None, str]

WAIT_DEFAULT_S: Final = 50
"""Clients end a hook after a minute if nothing else is set."""
WAIT_MAX_S: Final = 3600
_INPUT_S: Final = 2.0
"""How long the input may take to come, if `--wait` is less."""
_GRACE_S: Final = 5.0
"""How much longer than `--wait` a daemon that does not answer can take."""
_WITHDRAWAL_S: Final = 2.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class _ClientGone(BaseException):
    """The client ended this process, or ended itself: nobody waits for the verdict any more."""


class _TimeIsUp(BaseException):
    """What was to take no longer than the time of `--wait` took longer."""


@command("ask")
@click.option("--hook", "name", required=True, metavar="NAME", help="The agent that asks, by its name here.")
@click.option(
    "--client",
    "client_name",
    type=click.Choice(["claude-code", "codex"]),
    default="claude-code",
    help="Whose hook it is.",
)
@click.option(
    "--wait",
    "wait_s",
    type=click.IntRange(0, WAIT_MAX_S),
    default=WAIT_DEFAULT_S,
    metavar="SECONDS",
    help="How long to wait for your verdict; 50 if nothing is given.",
)
def ask_command(name: str, client_name: str, wait_s: int) -> int:
    """Ask for the permission that a program's hook describes on standard input, and answer the hook.

    Programs run this themselves, as their hook for PermissionRequest or PreToolUse. You decide on any of your
    devices. If nobody decides in time, or the daemon is away, the program asks by itself as ever if it is
    known to do that in its permission mode. Otherwise the answer is no, as it is to what cannot be read or is
    too long. The ask is taken back if the program ends the hook.
    """
    from daemon.cli.hooks.hook_protocol import EXIT_BLOCKED, Client

    if sys.stdin is None or sys.stdin.isatty():
        raise missing_input(STANDARD_INPUT)
    hook = _Hook(name, Client(client_name), time.monotonic() + wait_s)
    try:
        status, answer, why = _outcome_of(hook, wait_s)
    except (_ClientGone, _TimeIsUp):
        # It came after a verdict, which was not answered yet.
        status, answer, why = EXIT_BLOCKED, None, "the hook was ended"
    _end_never()
    return _write_outcome(status, answer, why)


def _outcome_of(hook: _Hook, wait_s: int) -> _Outcome:
    """Return what a hook comes to in this time, if nothing ends it twice."""
    try:
        _on_signals(_end)
        signal.signal(signal.SIGALRM, _end_late)
        signal.setitimer(signal.ITIMER_REAL, max(wait_s, _INPUT_S) + _GRACE_S)
        return hook.run()
    except _ClientGone:
        return hook.end("the program ended its hook", "the hook was ended")
    except _TimeIsUp:
        return hook.end("nobody decided in time", "the daemon did not answer in time")
    except Exception as fault:  # noqa: BLE001 - whatever it is, the call must not slip through
        return hook.fail(str(fault) or type(fault).__name__)


def _write_outcome(status: int, answer: dict[str, Any] | None, why: str) -> int:
    """Write the answer, and the words for people; return the exit status, which blocks what goes unheard."""
    from daemon.cli.hooks.hook_protocol import EXIT_BLOCKED

    # Nobody needs the words, and a full disk must not keep the answer back. Written past the streams of
    # Python, which would fail once more when the process ends, with a status of their own.
    with suppress(OSError):
        if why:
            _write_all(2, f"Placet: {why}\n")
    if answer is None:
        return status
    try:
        _write_all(1, json.dumps(answer, ensure_ascii=True) + "\n")
        # A standard output that was closed leads there, too.
        is_unheard = os.path.samestat(os.fstat(1), os.stat(os.devnull))
    except OSError:
        is_unheard = True
    return EXIT_BLOCKED if is_unheard else status


def _write_all(descriptor: int, text: str) -> None:
    with open(descriptor, "wb", buffering=0, closefd=False) as opened:
        left = text.encode(errors="backslashreplace")
        while left:
            left = left[opened.write(left) :]


class _Hook:
    """One run for a client: its call, then an exit status, an answer or None, and words for people."""

    def __init__(self, name: str, client: Client, until_s: float) -> None:
        self._name = name
        self._client = client
        self._until_s = until_s
        # Until the input is read, it may be of any event.
        self._event: str | None = None
        self._ask: HookAsk | None = None

    def run(self) -> _Outcome:
        """Ask, and wait for the verdict."""
        from daemon.cli.api.placet_asks import new_key
        from daemon.cli.hooks.hook_input import read_input
        from daemon.cli.hooks.hook_protocol import EXIT_ANSWERED, HookFault, parse_call
        from daemon.cli.hooks.hook_verdict import HookAsk
        from daemon.cli.mcp.tool_calls import Door

        input_until_s = max(self._until_s, time.monotonic() + _INPUT_S)
        try:
            call = parse_call(read_input(sys.stdin.fileno(), input_until_s), self._client)
        except HookFault as fault:
            self._event = fault.event
            raise
        self._ask = HookAsk(call, Door(self._name, _parent_check()).call, new_key())
        return EXIT_ANSWERED, *self._ask.answer(max(0.0, self._until_s - time.monotonic()))

    def end(self, reason: str, why: str) -> _Outcome:
        """Take the ask back, for a reason: this process was told to end, or waits in vain."""
        signal.setitimer(signal.ITIMER_REAL, _WITHDRAWAL_S)
        # It is given up in time, and whatever else is wrong, the call must not slip through.
        with suppress(_TimeIsUp, Exception):
            if self._ask is not None:
                self._ask.withdraw(reason)
        return self.fail(why)

    def fail(self, why: str) -> _Outcome:
        """Answer without a verdict."""
        from daemon.cli.hooks.hook_protocol import (
            EXIT_ANSWERED,
            EXIT_BLOCKED,
            EXIT_NO_VERDICT,
            Client,
            fault_answer,
        )

        if self._ask is None:
            return *fault_answer(self._client, self._event, why), why
        if self._client is Client.CODEX:
            return EXIT_BLOCKED, None, why
        answer, _words = self._ask.fall_back(why)
        return EXIT_NO_VERDICT if answer is None else EXIT_ANSWERED, answer, why


def _on_signals(handler: Any) -> None:
    for number in _SIGNALS:
        signal.signal(number, handler)


def _end_never() -> None:
    """Let nothing end this process any more: whoever ends it twice would otherwise get no answer."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    _on_signals(signal.SIG_IGN)


def _end(*_args: Any) -> NoReturn:
    _end_never()
    raise _ClientGone


def _end_late(*_args: Any) -> NoReturn:
    _end_never()
    raise _TimeIsUp


def _parent_check() -> Any:
    """Return a check that raises if the client has died: a client that is killed signals nobody."""
    parent = os.getppid()

    def check() -> None:
        if os.getppid() != parent:
            raise _ClientGone

    return check
