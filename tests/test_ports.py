"""Two runs of the tests on one machine, by whomever, do not take each other's ports.

Never starts a daemon: between the choice of a port and its use, nothing listens there.
"""

import os
import subprocess
import sys

from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT

RUN = "from tests.support.devices import free_port; print(free_port(), flush=True); input()"


def test_two_runs_at_once_have_different_ports():
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_XDIST_WORKER": "gw0"}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RUN],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ports = [run.stdout.readline() for run in runs if run.stdout is not None]
    for run in runs:
        run.communicate("\n", timeout=LIMIT_S)
    assert [run.returncode for run in runs] == [0, 0]
    assert int(ports[0]) != int(ports[1])
