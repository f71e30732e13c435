"""What is typed or piped into a command: a secret is not shown while it is typed.

Never needs a daemon: it asks on a terminal of its own.
"""

import sys

from tests.support.pseudo_terminal import terminal_of

ASK = """
from daemon.cli.terminal.standard_input import prompted_secret
print("read", len(prompted_secret("code or token", "Code or token")))
"""


def test_a_secret_is_not_shown_on_the_terminal_on_which_it_is_typed() -> None:
    with terminal_of([sys.executable, "-c", ASK]) as shown_terminal:
        shown_terminal.until("Code or token: ")
        shown_terminal.press("493-027\n", then="read 7")
        assert "493" not in shown_terminal.shown


ASK_NAME = """
from daemon.cli.terminal.standard_input import can_prompt, prompted_text
print(can_prompt(), "named", prompted_text("Name of this device", "laptop"))
"""


def test_enter_takes_what_is_offered() -> None:
    with terminal_of([sys.executable, "-c", ASK_NAME]) as shown_terminal:
        shown_terminal.until("Name of this device [laptop]: ")
        shown_terminal.press("\n", then="True named laptop")
