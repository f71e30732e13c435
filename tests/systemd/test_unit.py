"""The user unit: systemd finds no fault in it, its sandbox is tight, and the daemon lives in it.

Never touches the machine's own systemd: if it needs a user manager, it starts one in a mount
namespace of its own, which ends with the test.
"""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from daemon.app.startup import RESTART_S
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT
from tests.support.systemd import ISOLATED, SCRIPT, UNIT

RELAY_UNIT = UNIT.with_name("placet-relay.service")
SERVER_UNIT = UNIT.with_name("placet@.service")
EXPOSURE_MAX = 1.7
SERVER_EXPOSURE_MAX = 1.1

needs_systemd = pytest.mark.external("systemd-analyze")


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
        timeout=LIMIT_S,
        check=False,
    )


@needs_systemd
@pytest.mark.parametrize("unit", [UNIT, RELAY_UNIT], ids=lambda unit: unit.stem)
def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path, unit: Path) -> None:
    result = analyze(tmp_path, "verify", "--user", unit)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


@pytest.mark.parametrize("unit", [UNIT, RELAY_UNIT], ids=lambda unit: unit.stem)
def test_what_failed_is_started_again_for_ever_as_the_daemon_says(unit: Path) -> None:
    lines = unit.read_text().splitlines()
    assert {"Restart=on-failure", "StartLimitIntervalSec=0", f"RestartSec={RESTART_S}"} <= set(lines)


def test_a_daemon_that_answers_nothing_for_a_minute_is_restarted_and_leaves_no_memory_behind() -> None:
    lines = UNIT.read_text().splitlines()
    assert {"WatchdogSec=60", "LimitCORE=0"} <= set(lines)


@needs_systemd
@pytest.mark.parametrize("unit", [UNIT, RELAY_UNIT], ids=lambda unit: unit.stem)
def test_the_unit_exposes_little(tmp_path: Path, unit: Path) -> None:
    result = analyze(tmp_path, "security", "--user", "--offline=true", "--no-pager", unit)
    match = re.search(r"Overall exposure level for placet[a-z-]*\.service: ([\d.]+)", result.stdout)
    assert match, result.stdout + result.stderr
    assert float(match[1]) <= EXPOSURE_MAX


@needs_systemd
def test_systemd_finds_no_fault_in_the_unit_of_a_server_which_exposes_less(tmp_path: Path) -> None:
    # An instance, since a template names no user yet; its program is where this one is.
    unit = tmp_path / "placet@root.service"
    command = Path(sysconfig.get_path("scripts")) / "placet"
    unit.write_text(SERVER_UNIT.read_text().replace("/usr/local/bin/placet", str(command)))
    result = analyze(tmp_path / "home", "verify", unit)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    result = analyze(tmp_path / "again", "security", "--offline=true", "--no-pager", SERVER_UNIT)
    match = re.search(r"Overall exposure level for placet@\w+\.service: ([\d.]+)", result.stdout)
    assert match, result.stdout + result.stderr
    assert float(match[1]) <= SERVER_EXPOSURE_MAX


def test_the_unit_of_a_server_keeps_what_makes_that_of_a_user_safe_and_steady() -> None:
    def promises(unit: Path) -> set[str]:
        own = ("Exec", "Bind", "TemporaryFileSystem", "Configuration", "Runtime", "ProtectHome", "WantedBy")
        lines = unit.read_text().splitlines()
        return {line for line in lines if "=" in line and not line.startswith(("#", "Description", *own))}

    assert promises(UNIT) - promises(SERVER_UNIT) == set()


@pytest.mark.e2e
@pytest.mark.external("user manager")
def test_the_daemon_lives_in_its_sandbox_and_ends_in_time(group: str) -> None:
    result = subprocess.run(
        [*ISOLATED, "bash", SCRIPT, UNIT, sysconfig.get_path("scripts"), ROOT, group],
        env={"PATH": os.defpath + ":/usr/sbin:/sbin", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    text = result.stdout + result.stderr
    assert result.returncode == 0, text
    facts = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    reached = {name for name, answer in facts.items() if answer == "REACHED"}
    assert (reached, facts["Escaped"], facts["Escapes"]) == ({"ControlSocket"}, "False", "none"), text
    assert facts["Before"] == "active", text
    assert facts["Filters"] == "2", text
    assert (facts["Restarts"], facts["Answers"]) == ("1", "Written in the sandbox"), text
    assert facts["Kept"] == "Written in the sandbox", text
    assert facts["Result"] == "success", text
    assert (facts["Relay"], facts["RelayKnown"], facts["RelayStranger"]) == ("active", "200", "401"), text
    assert facts["RelayResult"] == "success", text
    assert (facts["ServerResult"], facts["ServerKept"]) == ("success", "On the server"), text
