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
    from daemon.cli.hooks.hook_verdict import HookAsk

WAIT_DEFAULT_S: Final = 50
"""Clients end a hook after a minute if nothing else is set."""
WAIT_MAX_S: Final = 3600
EXIT_BLOCKED: Final = 2
"""To a client, this status means that the call must not be made; the words are on standard error."""
EXIT_NO_VERDICT: Final = 1
"""To a client, this status means that the hook failed: it asks by itself."""
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
    from daemon.cli.hooks.hook_protocol import INPUT_BYTES_MAX, Client, HookFault, parse_call
    from daemon.cli.hooks.hook_verdict import HookAsk
    from daemon.cli.mcp.tool_calls import Door

    if sys.stdin is None or sys.stdin.isatty():
        raise missing_input(STANDARD_INPUT)
    try:
        call = parse_call(sys.stdin.buffer.read(INPUT_BYTES_MAX + 1), Client(client_name))
    except HookFault as fault:
        print(f"Placet: {fault}", file=sys.stderr)
        # Codex makes a call on which a hook fails: what cannot be asked must be blocked there.
        return EXIT_BLOCKED if client_name == Client.CODEX else EXIT_NO_VERDICT
    door = Door(name, _parent_check())
    execution = os.urandom(16).hex()  # noqa: TID251 - any would do
    return _answer(HookAsk(call, door.call, execution), wait_s)


def _answer(hook_ask: HookAsk, wait_s: int) -> int:
    for number in _SIGNALS:
        signal.signal(number, _end)
    try:
        answer, why = hook_ask.answer(wait_s)
    except _ClientGone:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        hook_ask.withdraw("the program ended its hook")
        return EXIT_NO_VERDICT
    if why:
        print(f"Placet: {why}", file=sys.stderr)
    if answer is not None:
        print(json.dumps(answer, ensure_ascii=True))
    return 0


def _end(*_args: Any) -> NoReturn:
    raise _ClientGone


def _parent_check() -> Any:
    """Return a check that raises if the client has died: a client that is killed signals nobody."""
    parent = os.getppid()

    def check() -> None:
        if os.getppid() != parent:
            raise _ClientGone

    return check
