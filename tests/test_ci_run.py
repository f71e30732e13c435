"""The script of CI: whoever ends it ends what it started.

Never checks or tests Placet: `make` is a program that waits.
"""

import os
import re
import select
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import LIMIT_S

ENDS_WITHIN_S = LIMIT_S / 2

_MAKE = """#!/bin/sh
case "$1" in check | test) ;; *) exit 0 ;; esac
sleep 600 >/dev/null 2>&1 &
echo "started $!" >> "$STARTED"
wait
"""


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_whoever_ends_the_run_ends_what_it_started(tmp_path: Path, signal_number: signal.Signals) -> None:
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(".ci/run", tmp_path / ".ci")
    programs = tmp_path / "programs"
    programs.mkdir()
    # What is missing here is not installed by a test.
    needs = Path(script).read_text().partition("needs=(")[2].partition(")")[0]
    for name in re.findall(r":([a-z-]+)", needs):
        (programs / name).symlink_to(shutil.which(name) or "/bin/true")
    (programs / "make").unlink()
    (programs / "make").write_text(_MAKE)
    (programs / "make").chmod(0o755)
    started = tmp_path / "started"
    os.mkfifo(started)
    path = f"{programs}:{os.environ['PATH']}"
    with subprocess.Popen(
        [script], env={**os.environ, "PATH": path, "STARTED": str(started)}, stdout=subprocess.DEVNULL
    ) as run:
        children: list[int] = []
        while len(children) < 2:
            children += [int(line.split()[1]) for line in started.read_text().splitlines()]
        ends = [os.pidfd_open(child) for child in children]
        run.send_signal(signal_number)
        assert run.wait(LIMIT_S) == 128 + signal.SIGTERM
    for end in ends:
        # Readable once the process has ended, whoever is its parent by then.
        assert select.select([end], [], [], ENDS_WITHIN_S)[0], "a child goes on"
        os.close(end)
