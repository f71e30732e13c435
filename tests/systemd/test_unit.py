"""The user unit: systemd finds no fault in it, its sandbox is tight, and the daemon lives in it.

Never touches the machine's own systemd: where it needs a user manager, it starts one in a mount
namespace of its own, which ends with the test.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.source import ROOT
from tests.systemd.conftest import HIERARCHIES

UNIT = ROOT / "systemd" / "placet.service"
EXPOSURE_MAX = 1.7
MANAGER = "/lib/systemd/systemd"
SCRIPT = Path(__file__).with_name("user_manager.sh")

pytestmark = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")


def analyze(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Ask systemd-analyze as the user whose home this is, with the command where the unit expects it."""
    command = home / ".local" / "bin" / "placet"
    command.parent.mkdir(parents=True)
    command.symlink_to(Path(sysconfig.get_path("scripts")) / "placet")
    runtime = home / "runtime"
    runtime.mkdir()
    return subprocess.run(
        ["systemd-analyze", *arguments],
        env={"PATH": os.defpath, "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    done = analyze(tmp_path, "verify", "--user", UNIT)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_unit_exposes_little(tmp_path: Path) -> None:
    done = analyze(tmp_path, "security", "--user", "--offline=true", "--no-pager", UNIT)
    found = re.search(r"Overall exposure level for placet\.service: ([\d.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    assert float(found[1]) <= EXPOSURE_MAX


ISOLATED = [
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
]


def can_start_systemd() -> bool:
    """Say whether this machine lets us have namespaces and a control group of our own."""
    if os.geteuid() != 0 or not Path(MANAGER).exists() or not shutil.which("unshare"):
        return False
    probe = subprocess.run([*ISOLATED, "unshare", "--user", "true"], capture_output=True, check=False)
    return probe.returncode == 0 and any(os.access(group / "cgroup.procs", os.W_OK) for group in HIERARCHIES)


@pytest.mark.e2e
@pytest.mark.skipif(not can_start_systemd(), reason="needs root, namespaces and a control group")
def test_the_daemon_lives_in_its_sandbox_and_ends_in_time(group: str) -> None:
    done = subprocess.run(
        [*ISOLATED, "bash", SCRIPT, UNIT, sysconfig.get_path("scripts"), ROOT, group],
        env={"PATH": os.defpath + ":/usr/sbin:/sbin", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    facts = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert facts["Before"] == "active", said
    assert facts["Filters"] == "2", said
    assert facts["Kept"] == "Written in the sandbox", said
    assert facts["Result"] == "success", said
    assert float(facts["Stopped_s"]) < 5, said
