"""A package of somebody else that has the name of one of ours is named at the start, with what to do.

Never installs one: `python-daemon` is a folder here, or is written over the file that it would replace.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.patience import LIMIT_S
from tests.support.source_tree import PACKAGES, ROOT

START = "import placet; placet.main()"
"""What the script `placet` does, of which an environment may have an older one."""

COMMAND = (sys.executable, "-P", "-c", START)

OTHERS = {
    "one that imports well": ("daemon", "class DaemonContext: ...\n"),
    "one that has a version": ("daemon", '__version__ = "3.1.2"\n'),
    "one that lacks what it needs": ("daemon", "import a_module_that_nobody_has\n"),
    "one that is no Python": ("daemon", "("),
    "another of our names": ("store", ""),
    "the third of our names": ("syncproto", ""),
}


def refusal_of(*command: str | Path, cwd: Path, environment: Mapping[str, str]) -> str:
    """Run a command that has to fail by one clear answer; return what it says."""
    clean = {"PATH": os.defpath, "HOME": str(cwd), "LANG": "C.UTF-8", **environment}
    result = subprocess.run(
        command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert (result.returncode, result.stdout) == (1, ""), result.stderr
    assert "Traceback" not in result.stderr
    assert all(line.startswith("placet: ") for line in result.stderr.splitlines())
    return result.stderr


def test_a_package_of_our_name_that_comes_first_is_named(tmp_path: Path, subtests: pytest.Subtests):
    for number, (what, (package, code)) in enumerate(OTHERS.items()):
        with subtests.test(what):
            first = tmp_path / str(number)
            (first / package).mkdir(parents=True)
            (first / package / "__init__.py").write_text(code)
            text = refusal_of(*COMMAND, "list", cwd=tmp_path, environment={"PYTHONPATH": str(first)})
            path = first / package / "__init__.py"
            assert f"the package {package} at {str(path)!r} is not placet's" in text
            assert f"PYTHONPATH names the folder {str(first)!r}: start placet without it" in text


def test_it_is_named_in_the_language_of_the_environment(tmp_path: Path):
    (tmp_path / "daemon").mkdir()
    (tmp_path / "daemon/__init__.py").touch()
    environment = {"PYTHONPATH": str(tmp_path), "LANG": "de_DE.UTF-8"}
    assert "starten Sie Placet ohne" in refusal_of(*COMMAND, cwd=tmp_path, environment=environment)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with all of ours, as an installation has it."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "placet.py", tmp_path)
    return tmp_path


def test_a_package_that_was_installed_over_ours_is_named_and_so_is_what_it_took_along(
    site: Path, subtests: pytest.Subtests
):
    start = f"import sys; sys.path.insert(0, {str(site)!r}); {START}"
    # Without the packages of this environment, among which ours are once more.
    commands = ([sys.executable, "-S", "-c", start], [sys.executable, "-S", "-m", "daemon"])
    place = site / "daemon" / "__init__.py"
    record = site / "python_daemon-3.1.2.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: python-daemon\nVersion: 3.1.2\n")
    (record / "RECORD").write_text("daemon/__init__.py,,\n")
    place.write_text("class DaemonContext: ...\n")
    for command in commands:
        with subtests.test("installed", command=command):
            text = refusal_of(*command, cwd=site, environment={})
            assert f"the package daemon at {str(place)!r} is not placet's" in text
            assert "it belongs to python-daemon" in text
            assert "in an environment of its own: by pipx" in text
    place.unlink()
    for command in commands:
        with subtests.test("removed", command=command):
            text = refusal_of(*command, cwd=site, environment={})
            assert f"placet's package daemon has lost its file {str(place)!r}" in text
            assert "in an environment of its own: by pipx" in text


def test_one_over_which_ours_was_installed_is_in_nobodys_way(site: Path):
    (site / "daemon/daemon.py").write_text("class DaemonContext: ...\n")
    (site / "daemon/pidfile.py").touch()
    command = [sys.executable, "-m", "daemon", "version"]
    finished = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
