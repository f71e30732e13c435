"""What needs no running daemon.

Never starts one.
"""

import re
import subprocess
import sys
from pathlib import Path

from daemon import __version__
from tests.support.commands import Placet, command_environment
from tests.support.pseudo_terminal import terminal
from tests.support.starts import processes


def test_the_version_is_told_in_every_form(placet: Placet):
    assert placet("version").out == f"placet {__version__}\n"
    assert placet("version", "--json").json == {"version": __version__}
    assert placet("version", "--plain").out == f"{__version__}\n"


def test_paths_are_told_with_a_name_each(placet: Placet, home: Path):
    json = placet("paths", "--json").json
    assert json["config_file"] == str(home / "config.toml")
    rows = dict(line.split("\t") for line in placet("paths", "--plain").out.splitlines())
    assert rows == json
    assert placet("paths", LANG="de_DE").out.startswith("Einstellungen")


def test_up_shows_on_a_terminal_where_the_page_is(tmp_path: Path):
    settings = {"PLACET_MDNS_ENABLED": "false", "PLACET_LISTEN_HOST": "127.0.0.1", "PLACET_LISTEN_PORT": "0"}
    with terminal(tmp_path, "up", columns=200, prefix=(), **settings) as shown:
        shown.until("Placet is running. Ctrl-C ends it.")
        address = shown.until("within five minutes").split("The page: ")[1].split()[0]
        assert re.fullmatch(r"http://placet-[a-z0-9]+\.localhost:\d+/in#[a-z0-9]+", address)
        shown.interrupt()
        shown.end()


def test_up_shows_no_secret_to_a_log(tmp_path: Path):
    """A service manager keeps what the daemon prints, and others may read it."""
    settings = {"PLACET_MDNS_ENABLED": "false", "PLACET_LISTEN_HOST": "127.0.0.1", "PLACET_LISTEN_PORT": "0"}
    command = [sys.executable, "-m", "daemon", "up"]
    with processes.Popen(
        command,
        env=command_environment(tmp_path, **settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as daemon:
        assert daemon.stdout is not None
        lines = []
        for line in daemon.stdout:
            lines.append(line)
            if "event=ready" in line:
                daemon.terminate()
    assert lines
    assert not [line for line in lines if "/in#" in line or "Placet is running" in line]
