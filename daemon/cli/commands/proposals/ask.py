"""`placet ask --hook`: what the hook of another program runs when it needs a permission.

Never decides, and never says "allow" without a permission that was used for exactly this call.
"""

from __future__ import annotations

import json
import os
import signal
import sys
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
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class _ClientGone(BaseException):
    """The client ended this process, or ended itself: nobody waits for the verdict any more."""


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
    devices. If nobody decides in time, or the daemon is away, the program asks by itself as ever. The ask is
    taken back if the program ends the hook.
    """
    from daemon.cli.hooks.hook_protocol import Client

    if sys.stdin is None or sys.stdin.isatty():
        raise missing_input(STANDARD_INPUT)
    hook = _Hook(name, Client(client_name))
    try:
        _on_signals(_end)
        status, answer, why = hook.run(wait_s)
    except _ClientGone:
        _on_signals(signal.SIG_IGN)
        status, answer, why = hook.end()
    except Exception as fault:  # noqa: BLE001 - whatever it is, the call must not slip through
        status, answer, why = hook.fail(str(fault) or type(fault).__name__)
    _on_signals(signal.SIG_IGN)
    if why:
        print(f"Placet: {why}", file=sys.stderr)
    if answer is not None:
        print(json.dumps(answer, ensure_ascii=True))
    return status


class _Hook:
    """One run for a client: its call, then an exit status, an answer or None, and words for people."""

    def __init__(self, name: str, client: Client) -> None:
        self._name = name
        self._client = client
        # Until the input is read, it may be of any event.
        self._event: str | None = None
        self._ask: HookAsk | None = None

    def run(self, wait_s: int) -> _Outcome:
        """Ask, and wait for the verdict."""
        from daemon.cli.hooks.hook_protocol import EXIT_ANSWERED, INPUT_BYTES_MAX, HookFault, parse_call
        from daemon.cli.hooks.hook_verdict import HookAsk
        from daemon.cli.mcp.tool_calls import Door

        try:
            call = parse_call(sys.stdin.buffer.read(INPUT_BYTES_MAX + 1), self._client)
        except HookFault as fault:
            self._event = fault.event
            raise
        self._event = call.event
        execution = os.urandom(16).hex()  # noqa: TID251 - any would do
        self._ask = HookAsk(call, Door(self._name, _parent_check()).call, execution)
        return EXIT_ANSWERED, *self._ask.answer(wait_s)

    def end(self) -> _Outcome:
        """Take the ask back: this process was told to end, by the client or by something else."""
        if self._ask is not None:
            self._ask.withdraw("the program ended its hook")
        return self.fail("")

    def fail(self, why: str) -> _Outcome:
        """Answer without a verdict."""
        from daemon.cli.hooks.hook_protocol import fault_answer

        return *fault_answer(self._client, self._event, why or "the hook was ended"), why


def _on_signals(handler: Any) -> None:
    for number in _SIGNALS:
        signal.signal(number, handler)


def _end(*_args: Any) -> NoReturn:
    raise _ClientGone


def _parent_check() -> Any:
    """Return a check that raises if the client has died: a client that is killed signals nobody."""
    parent = os.getppid()

    def check() -> None:
        if os.getppid() != parent:
            raise _ClientGone

    return check
