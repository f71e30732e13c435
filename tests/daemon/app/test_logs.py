"""What the daemon's log says of a fault: its kind and where it arose, never what it quotes.

Never starts a daemon: each test logs in a process of its own, whose logging is its own.
"""

import re
import subprocess
import sys

import pytest

_SAY = """
import logging, structlog
from daemon.app.logs import configure_logging

configure_logging()
log = structlog.get_logger("test")


def fails(fault):
    try:
        try:
            raise fault
        except Exception as first:
            raise ExceptionGroup("secret group", [ValueError("secret member")]) from first
    except ExceptionGroup as last:
        raise RuntimeError("secret at last") from last


try:
    fails({fault})
except RuntimeError as fault:
    {say}
"""
_SAYINGS = (
    'log.exception("it failed")',
    'log.error("it failed", exc_info=fault)',
    'log.error("it failed", exc_info=(type(fault), fault, fault.__traceback__))',
    'logging.getLogger("library").exception("it failed")',
)


def logged(fault: str, say: str) -> str:
    script = _SAY.replace("{fault}", fault).replace("{say}", say)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return result.stderr


@pytest.mark.parametrize("say", _SAYINGS)
def test_a_fault_is_told_by_its_kind_and_place_and_not_by_its_words(say: str) -> None:
    text = logged('KeyError("a secret note")', say)
    assert "it failed" in text
    assert all(kind in text for kind in ("KeyError", "ValueError", "RuntimeError", "in fails"))
    assert "secret" not in text


def test_a_fault_of_the_world_is_told_in_its_words() -> None:
    assert "No space left" in logged('OSError(28, "No space left on device")', _SAYINGS[0])


def test_an_error_without_a_fault_is_told_without_one() -> None:
    assert "Traceback" not in logged('KeyError("x")', 'log.error("it failed", exc_info=None)')


HOSTILE = "bye\x1b]0;OWNED\x07\x1b[2J\x9b31m\u202e\u2028\r\nlevel=info event=forged"
_SAY_HOSTILE = """
import logging, sys, structlog
sys.stderr.isatty = lambda: {terminal}
from daemon.app.logs import configure_logging

configure_logging()
hostile = {hostile!r}
log = structlog.get_logger("test")
log.warning("a link ended", reason=hostile, peers=[hostile], fault=ValueError(hostile), count=3)
logging.getLogger("library").warning("heard %s", hostile)
try:
    raise OSError(5, "Input/output error", hostile)
except OSError:
    log.exception("it failed")
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_what_comes_from_elsewhere_neither_begins_a_line_nor_drives_the_terminal(terminal: bool) -> None:
    script = _SAY_HOSTILE.format(terminal=terminal, hostile=HOSTILE)
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    text = finished.stderr.decode()
    assert text.count("OWNED") == 5
    assert not any(line.lstrip().startswith("level=info") for line in text.splitlines())
    # The colours of the terminal's own log are the only control characters.
    colourless = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert {letter for letter in colourless if not letter.isprintable()} == {"\n"}
    assert "\x1b[2J" not in text
    assert "count=3" in colourless


def test_what_strangers_can_cause_at_will_is_not_logged() -> None:
    """Each connection of a stranger is an event for debugging: a line for each would fill a disk."""
    lines = logged("ValueError()", 'log.debug("a caller was turned away"); log.info("ready")')
    assert "turned away" not in lines
    assert "ready" in lines
