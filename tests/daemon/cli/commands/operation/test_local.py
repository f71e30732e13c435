"""What needs no running daemon.

Never starts one.
"""

from pathlib import Path

from daemon import __version__
from tests.support.commands import Placet


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
