"""What the daemon's log says of a fault: its kind and where it arose, never what it quotes.

Never starts a daemon: each test logs in a process of its own, whose logging is its own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_SAY = """
import logging, structlog
from daemon.logs import configure_logging

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
from daemon.logs import configure_logging

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


_SERVE = """
import asyncio, contextlib, socket, sys
from aiohttp import web
from daemon.logs import configure_logging
from tests.support.patience import LIMIT_S

configure_logging()
MALFORMED = [
    b"GET / HTTP/9.9\\r\\n\\r\\n",
    b"POST / HTTP/1.1\\r\\nContent-Length: x\\r\\n\\r\\n",
    b"GET / HTTP/1.1\\r\\nHost: a\\r\\nbad header\\r\\n\\r\\n",
    b"\\x16\\x03\\x01\\x00\\x05hello\\r\\n\\r\\n",
]


async def fail(request):
    raise KeyError("secret")


async def main():
    app = web.Application()
    app.router.add_get("/fail", fail)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    await web.SockSite(runner, listener).start()
    for request in [*MALFORMED, b"GET /fail HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n"]:
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(request)
        async with asyncio.timeout(LIMIT_S):
            print((await reader.read()).split()[1].decode())
        writer.close()
    await runner.cleanup()


asyncio.run(main())
"""


def test_a_request_that_is_no_http_writes_no_line_and_a_fault_of_ours_still_does() -> None:
    finished = subprocess.run([sys.executable, "-c", _SERVE], capture_output=True, check=True, text=True)
    assert finished.stdout.split() == ["400", "400", "400", "400", "500"]
    assert "BadHttp" not in finished.stderr
    assert "BadStatusLine" not in finished.stderr
    assert finished.stderr.count("Error handling request") == 1
    assert "KeyError" in finished.stderr
    assert "secret" not in finished.stderr


def in_journal(say: str, tmp_path: Path, *, is_other: bool = False) -> list[str]:
    """Return what is written to the journal, or to another file under an inherited name of the journal."""
    script = _SAY.replace("{fault}", 'OSError(28, "No space")').replace("{say}", say)
    with (tmp_path / "journal").open("w+") as file:
        status = os.fstat(file.fileno())
        stream = f"{status.st_dev}:{status.st_ino + is_other}"
        environment = {**os.environ, "JOURNAL_STREAM": stream}
        subprocess.run([sys.executable, "-c", script], stderr=file, check=True, env=environment)
        file.seek(0)
        return file.read().splitlines()


def test_the_journal_gets_priorities_on_every_line_and_dates_them_itself(tmp_path: Path) -> None:
    say = (
        'log.info("a", words="x\\n<0>forged"); log.warning("b"); log.error("c"); log.critical("d");'
        'logging.getLogger("library").warning("e\\n<0>forged")'
    )
    lines = in_journal(say, tmp_path)
    assert [line[:3] for line in lines] == ["<6>", "<4>", "<3>", "<2>", "<4>"]
    assert lines[1:4] == ["<4>event=b", "<3>event=c", "<2>event=d"]
    traced = in_journal('logging.getLogger("library").exception("it failed")', tmp_path)
    assert len(traced) > 5
    assert {line[:3] for line in traced} == {"<3>"}


def test_who_only_inherits_the_journals_name_writes_as_ever(tmp_path: Path) -> None:
    (line,) = in_journal('log.warning("b")', tmp_path, is_other=True)
    assert line.startswith("timestamp=")
