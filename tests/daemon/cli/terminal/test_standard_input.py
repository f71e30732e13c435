"""What is typed or piped into a command: a secret is not shown while it is typed.

Never needs a daemon: it asks on a terminal of its own.
"""

import os
import pty
import sys

ASK = """
from daemon.cli.terminal.standard_input import prompted_secret
print("read", len(prompted_secret("code or token", "Code or token")))
"""


def test_a_secret_is_not_shown_on_the_terminal_on_which_it_is_typed() -> None:
    process, screen = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-c", ASK])
    displayed = b""
    try:
        while b"Code or token: " not in displayed:
            displayed += os.read(screen, 4096)
        os.write(screen, b"493-027\n")
        while b"read 7" not in displayed:
            displayed += os.read(screen, 4096)  # Raises OSError when the process has ended.
    finally:
        os.close(screen)
        os.waitpid(process, 0)
    assert b"493" not in displayed
