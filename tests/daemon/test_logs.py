"""What the daemon's log says of a fault: its kind and where it arose, never what it quotes.

Never starts a daemon: each test logs in a process of its own, whose logging is its own.
"""

import subprocess
import sys

import pytest

_SAY = """
import logging, structlog
from daemon.app.logs import configure

configure()
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
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stderr


@pytest.mark.parametrize("say", _SAYINGS)
def test_a_fault_is_told_by_its_kind_and_place_and_not_by_its_words(say: str) -> None:
    said = logged('KeyError("a secret note")', say)
    assert "it failed" in said
    assert all(kind in said for kind in ("KeyError", "ValueError", "RuntimeError", "in fails"))
    assert "secret" not in said


def test_a_fault_of_the_world_is_told_in_its_words() -> None:
    assert "No space left" in logged('OSError(28, "No space left on device")', _SAYINGS[0])


def test_an_error_without_a_fault_is_told_without_one() -> None:
    assert "Traceback" not in logged('KeyError("x")', 'log.error("it failed", exc_info=None)')
