"""A user manager of systemd for tests: the namespaces and the control group that it lives in.

Never touches the machine's own systemd.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.source_tree import ROOT

UNIT = ROOT / "systemd" / "placet.service"
SCRIPT = ROOT / "tests" / "systemd" / "user_manager.sh"
MANAGER = "/lib/systemd/systemd"
HIERARCHIES = [Path("/sys/fs/cgroup", name) for name in ("systemd", "unified", "")]
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


def put_systemctl(folder: Path, script: str = "#!/bin/sh\n") -> None:
    """Put a double of systemctl into a folder for programs; without a script it does nothing, and well."""
    folder.mkdir(exist_ok=True)
    double = folder / "systemctl"
    double.write_text(script)
    double.chmod(0o755)


def systemd_fault() -> str:
    """Return why no user manager can be started here; empty if one can."""
    if os.geteuid() != 0:
        return f"the tests run as user {os.geteuid()}"
    if not Path(MANAGER).exists():
        return f"{MANAGER} is missing"
    if not shutil.which("unshare"):
        return "unshare is not installed"
    probe = subprocess.run(
        [*ISOLATED, "unshare", "--user", "true"], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        return probe.stderr.strip().partition("\n")[0]
    if not any(os.access(group / "cgroup.procs", os.W_OK) for group in HIERARCHIES):
        return "no control group can be made"
    return ""
