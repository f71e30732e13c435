"""`placet mcp`: the door for programs that speak the Model Context Protocol.

Never decides, and never takes the name of the agent from the program.
"""

from __future__ import annotations

import click

from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import command
from daemon.words.translation import _


@command("mcp")
@click.option("--as", "name", required=True, metavar="NAME", help="The name under which the program works.")
def mcp_command(name: str) -> None:
    """Let a program that speaks the Model Context Protocol propose and ask, on standard input and output.

    Programs start this themselves: put `placet mcp --as NAME` into their list of servers. A new name waits
    until you let it in: placet agent admit NAME.
    """
    try:
        from daemon.cli.mcp import server
    except ModuleNotFoundError as missing:
        raise CommandError(
            "failed",
            _("the package {name} is not installed").format(name=missing.name),
            _("install placet with the extra mcp"),
        ) from missing
    server.serve(name)
