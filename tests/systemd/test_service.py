"""`placet service`: the unit that it writes, what it asks of systemd, and that it leaves the journal alone.

Never speaks to this machine's own systemd: `systemctl` is a double here, and the real one is asked in
namespaces of its own.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from daemon.cli.api.command_error import CommandError
from daemon.cli.commands.operation import systemd_unit
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT
from tests.support.systemd import ISOLATED, SCRIPT, UNIT, put_systemctl

SYSTEMCTL = """#!/bin/bash
# Remembers what it was asked, and whether the service is enabled and active.
shift 2
echo "$*" >>"$HOME/asked"
last="${@: -1}"
case $1 in
show-environment) [[ ! -e $HOME/no-systemd ]] ;;
is-enabled) [[ -e $HOME/enabled-$last ]] && echo enabled || { echo disabled; exit 1; } ;;
is-active) [[ -e $HOME/enabled-$last ]] && echo active || { echo inactive; exit 3; } ;;
enable)
    [[ ! -e $HOME/broken ]] || { echo "Failed: it is broken" >&2; exit 1; }
    touch "$HOME/enabled-$last" ;;
stop) rm -f "$HOME/enabled-$last" ;;
disable) rm -f "$HOME"/enabled-* ;;
show) [[ -e $HOME/enabled-placet.service ]] && echo 4242 || echo 0 ;;
esac
"""
KEY = "sk-Kanarienvogel-0123456789"
CHANGES = ("daemon-reload", "enable", "disable", "restart", "stop")


class Machine:
    """A home with a double of systemctl."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.unit = home / ".config/systemd/user/placet.service"
        put_systemctl(home / "bin", SYSTEMCTL)

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "daemon", "service", *words],
            cwd=ROOT,
            env={"PATH": f"{self.home}/bin:{os.defpath}", "HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def changes(self) -> list[str]:
        """Return what systemctl was asked to change since this was last asked."""
        path = self.home / "asked"
        words = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return [line for line in words if line.startswith(CHANGES)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_is_installed_once_and_for_all(machine: Machine):
    result = machine.run("install")
    assert result.returncode == 0, result.stderr
    assert machine.changes() == ["daemon-reload", "enable --now placet.service"]
    assert machine.unit.read_text().startswith("# Placet for one user.")
    assert (machine.home / ".local/share/placet").is_dir()
    again = machine.run("install")
    assert (again.returncode, again.stderr.splitlines()[-1:]) == (0, ["It was so already."])
    assert machine.changes() == []


def test_a_unit_of_another_version_is_replaced_and_the_daemon_restarted(machine: Machine):
    machine.run("install")
    machine.unit.write_text("# Placet for one user. An older one.\n")
    machine.changes()
    assert machine.run("install").returncode == 0
    assert machine.changes() == ["daemon-reload", "enable --now placet.service", "restart placet.service"]


def test_a_unit_that_is_not_ours_is_left_alone(machine: Machine):
    machine.unit.parent.mkdir(parents=True)
    machine.unit.write_text("[Service]\nExecStart=/bin/true\n")
    result = machine.run("install")
    assert (result.returncode, machine.changes()) == (6, [])
    assert machine.unit.read_text().startswith("[Service]")


def test_without_systemd_nothing_is_written_and_the_way_without_it_is_said(machine: Machine):
    (machine.home / "no-systemd").touch()
    result = machine.run("install")
    assert result.returncode == 1
    assert "placet up" in result.stderr
    assert not machine.unit.exists()
    assert machine.run("install", PATH="/nonexistent").returncode == 1


def test_what_systemd_says_against_it_is_one_line(machine: Machine):
    (machine.home / "broken").touch()
    result = machine.run("install")
    assert (result.returncode, result.stderr.count("placet: ")) == (1, 1)
    assert "it is broken" in result.stderr


def test_uninstalling_leaves_the_journal_and_is_done_once(machine: Machine):
    machine.run("install")
    path = machine.home / ".local/share/placet/placet.db"
    path.write_text("journal")
    machine.changes()
    result = machine.run("uninstall")
    assert result.returncode == 0, result.stderr
    assert machine.changes() == ["disable --now placet.service", "daemon-reload"]
    assert not machine.unit.exists()
    assert path.read_text() == "journal"
    again = machine.run("uninstall")
    assert (again.returncode, again.stderr, machine.changes()) == (0, "It was so already.\n", [])


def test_status_says_how_it_stands(machine: Machine):
    assert machine.run("status", "--plain").stdout.splitlines()[0] == "installed\tfalse"
    machine.run("install")
    rows = dict(line.split("\t") for line in machine.run("status", "--plain").stdout.splitlines())
    assert rows == {
        "installed": "true",
        "unit": str(machine.unit),
        "enabled": "true",
        "active": "true",
        "socket": "false",
        "pid": "4242",
    }


def test_a_socket_is_installed_while_the_daemon_is_away_and_stays_until_both_are_uninstalled(
    machine: Machine,
):
    machine.run("install")
    machine.changes()
    assert machine.run("install", "--socket").returncode == 0
    assert machine.changes() == [
        "daemon-reload",
        "stop placet.service",
        "enable placet.socket",
        "restart placet.socket",
        "enable --now placet.service",
    ]
    socket = machine.unit.with_suffix(".socket")
    assert f"ListenStream={machine.home}/.local/state/placet/control.sock" in socket.read_text().splitlines()
    for words in (["install"], ["install", "--socket"]):
        assert machine.run(*words).stderr.splitlines()[-1:] == ["It was so already."]
    assert machine.changes() == []
    assert "socket\ttrue" in machine.run("status", "--plain").stdout.splitlines()
    machine.run("uninstall")
    assert machine.changes() == ["disable --now placet.socket placet.service", "daemon-reload"]
    assert not socket.exists()


def test_a_socket_whose_path_is_too_long_for_systemd_is_refused_before_anything_is_written(machine: Machine):
    result = machine.run("install", "--socket", PLACET_HOME=f"{machine.home}/{'x' * 100}")
    assert (result.returncode, machine.changes()) == (2, [])
    assert "too long for systemd" in result.stderr
    assert "without --socket" in result.stderr
    assert not machine.unit.exists()


def test_settings_of_the_shell_are_named_as_left_behind(machine: Machine):
    assert "PLACET_LISTEN_PORT" in machine.run("install", PLACET_LISTEN_PORT="7").stderr


def test_the_models_key_is_taken_along_as_a_credential_and_is_in_no_unit(machine: Machine):
    result = machine.run("install", PLACET_MODEL_KEY=KEY)
    path = machine.home / ".config/placet/model_key"
    assert (result.returncode, path.read_text(), path.stat().st_mode & 0o777) == (0, KEY, 0o600)
    assert f"LoadCredential=model_key:{path}\n" in machine.unit.read_text()
    assert KEY not in machine.unit.read_text() + result.stdout + result.stderr
    assert str(path) in result.stderr
    machine.changes()
    assert machine.run("install").stderr.splitlines()[-1:] == ["It was so already."]
    assert machine.run("install", PLACET_MODEL_KEY=KEY).stderr.splitlines()[-1:] == ["It was so already."]
    assert machine.changes() == []


def test_another_key_replaces_it_and_the_daemon_is_restarted(machine: Machine):
    machine.run("install", PLACET_MODEL_KEY=KEY)
    machine.changes()
    machine.run("install", PLACET_MODEL_KEY="sk-another-one")
    assert machine.changes() == ["enable --now placet.service", "restart placet.service"]
    assert (machine.home / ".config/placet/model_key").read_text() == "sk-another-one"


def test_a_key_that_is_none_is_refused_and_never_shown(machine: Machine):
    result = machine.run("install", PLACET_MODEL_KEY="geheim und\nzweizeilig")
    assert (result.returncode, "geheim" in result.stderr, machine.changes()) == (2, False, [])
    assert not machine.unit.exists()


def test_uninstalling_leaves_no_key_behind(machine: Machine):
    machine.run("install", PLACET_MODEL_KEY=KEY)
    result = machine.run("uninstall")
    assert "key" in result.stderr
    assert not (machine.home / ".config/placet/model_key").exists()


@pytest.mark.external("systemd-analyze")
@pytest.mark.parametrize(
    "folder", ["plain", "with blanks", "50%h", 'a "quote"', "back\\slash", "dollar$HOME", "ü;é"]
)
def test_systemd_finds_no_fault_with_any_path(folder: str, machine: Machine, monkeypatch: pytest.MonkeyPatch):
    odd = machine.home / folder
    (odd / "bin").mkdir(parents=True)
    shutil.copy("/bin/true", odd / "bin/placet")
    monkeypatch.setattr(sys, "executable", str(odd / "bin/python"))
    file = machine.home / "placet.service"
    (odd / "data").mkdir()
    (odd / "data/model_key").write_text(KEY)
    text = systemd_unit.unit_text({"PLACET_HOME": str(odd / "data"), "HOME": str(machine.home)})
    assert "LoadCredential=" in text
    file.write_text(text)
    runtime = machine.home / "runtime"
    runtime.mkdir()
    result = subprocess.run(
        ["systemd-analyze", "verify", "--user", file],
        env={
            "PATH": os.defpath,
            "HOME": str(machine.home),
            "XDG_RUNTIME_DIR": str(runtime),
            "LANG": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_folders_that_a_service_does_not_see_are_named():
    assert (
        systemd_unit.homes_hidden_by_sandbox({"PLACET_HOME": "/tmp/placet", "HOME": "/home/a"})[0]
        == "/tmp/placet"
    )


@pytest.mark.parametrize("folder", ["/home/a\nExecStart=/bin/evil", "/home/a:/etc"])
def test_a_folder_that_would_end_the_line_or_be_put_elsewhere_is_refused(folder: str):
    with pytest.raises(CommandError, match="cannot be written in a systemd unit"):
        systemd_unit.unit_text({"PLACET_HOME": folder, "HOME": "/home/a"})


def test_of_the_home_the_service_sees_its_folders_and_its_program_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/a")
    monkeypatch.setattr(sys, "prefix", "/home/a/venv")
    monkeypatch.setattr(sys, "base_prefix", "/home/a/python")
    lines = systemd_unit.unit_text({"HOME": "/home/a"}).splitlines()
    assert "ProtectHome=tmpfs" in lines
    assert [line for line in lines if line.startswith("BindPaths=")] == [
        "BindPaths=-/home/a/.config/placet",
        "BindPaths=-/home/a/.local/share/placet",
        "BindPaths=%t/placet",
    ]
    # A path with blanks is quoted: this tree may be in such a folder.
    mounts = [line.partition("=")[2].strip('"') for line in lines if line.startswith("BindReadOnlyPaths=")]
    assert mounts == ["-/home/a/venv", f"-{ROOT}", "-/home/a/python", "-%t/systemd/notify"]


def test_a_relative_folder_counts_for_the_service_no_more_than_here():
    home = {"HOME": "/home/a"}
    assert systemd_unit.unit_text(
        {**home, "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "~/c"}
    ) == systemd_unit.unit_text(home)


@pytest.mark.e2e
@pytest.mark.external("user manager")
def test_a_real_user_manager_runs_what_was_installed(group: str) -> None:
    result = subprocess.run(
        [*ISOLATED, "bash", SCRIPT, UNIT, sysconfig.get_path("scripts"), ROOT, group, "install"],
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
    assert facts["Again"].endswith("It was so already."), text
    assert "active:true" in facts["Facts"], text
    assert facts["Key"].startswith("key: the credential model_key"), text
    assert (facts["Away"], facts["Woken"], facts["Back"]) == (
        "inactive",
        "Written in the sandbox",
        "active",
    ), text
    assert facts["Socket"].endswith("/control.sock"), text
    assert "ended while it answered" in facts["Refused"], text
    assert (facts["SocketThen"], facts["Failed"]) == ("active", "failed 0"), text
    assert facts["Mended"] == "Written in the sandbox", text
    assert (facts["After"], facts["Unit"], facts["Data"]) == ("inactive", "gone", "there"), text
