"""The package as others install it: built into a wheel, and unpacked beside nothing of this tree.

Never reaches for an index: everything comes from this environment.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest

from daemon.language import LANGUAGES
from tests.support.patience import LIMIT_S
from tests.support.source_tree import PACKAGES, ROOT, modules, project_files, text_of


def run(*command: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command in a clean environment and return what it printed; fail with all of it."""
    clean = {"PATH": os.defpath, "HOME": str(cwd), "LANG": "C.UTF-8"} | (environment or {})
    result = subprocess.run(
        command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel offline, from what git tracks alone: nothing that was built in this tree is there."""
    folder, source = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("source")
    for path in project_files():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    build = ["-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    run(sys.executable, *build, "--wheel-dir", folder, source, cwd=folder)
    (built,) = folder.glob("placet-*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a new environment that finds its dependencies in this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    ours = [path for path in sys.path if path.endswith("site-packages")]
    # As path entries and not as .pth folders: this tree's own editable install must stay unseen.
    (site / "dependencies.pth").write_text("\n".join(ours) + "\n")
    install = ["-m", "pip", "--python", str(folder / "venv/bin/python"), "install", "--quiet", "--no-index"]
    run(sys.executable, *install, "--no-deps", "--ignore-installed", wheel, cwd=folder)
    return folder / "venv"


def test_the_wheel_carries_everything_that_the_three_packages_hold(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {str(path) for path in project_files() if path.parts[0] in PACKAGES}
    assert wanted <= names
    assert any(name.startswith("store/migrations/") and name.endswith(".sql") for name in wanted)


def test_the_wheel_carries_the_catalogs_that_are_compiled_as_it_is_built(wheel: Path) -> None:
    catalogs = {f"daemon/locale/{language}/LC_MESSAGES/placet.mo" for language in LANGUAGES}
    assert catalogs <= set(zipfile.ZipFile(wheel).namelist())
    assert catalogs.isdisjoint(map(str, project_files()))


def test_the_wheel_says_that_its_packages_are_typed(wheel: Path) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(zipfile.ZipFile(wheel).namelist())


def test_an_installation_has_the_man_page_and_a_completion_for_every_shell(installed: Path) -> None:
    share = installed / "share"
    assert (share / "man/man1/placet.1").read_text("utf-8") == text_of(Path("man/placet.1"))
    for shell, place in {
        "bash": "bash-completion/completions/placet",
        "zsh": "zsh/site-functions/_placet",
        "fish": "fish/vendor_completions.d/placet.fish",
    }.items():
        printed = run(installed / "bin/placet", "completion", shell, cwd=installed)
        assert (share / place).read_text("utf-8").strip() == printed.strip()


def test_the_wheel_carries_the_unit_the_man_page_and_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for unit in ("placet.service", "placet.socket", "placet-relay.service"):
        assert any(name.endswith(f"/share/systemd/user/{unit}") for name in names)
    assert any(name.endswith("/share/systemd/system/placet@.service") for name in names)
    assert any(name.endswith("/share/man/man1/placet.1") for name in names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_wheel_carries_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0].split("-")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {*PACKAGES, "placet", "placet.py"}


def test_the_installed_command_works_away_from_this_tree(installed: Path, tmp_path: Path) -> None:
    text = run(installed / "bin/placet", "--help", cwd=tmp_path, environment={"PLACET_HOME": str(tmp_path)})
    assert "Usage" in text


def test_the_installed_command_has_its_words_and_its_unit(installed: Path, tmp_path: Path) -> None:
    german = {"PLACET_HOME": str(tmp_path), "LANG": "de_DE.UTF-8"}
    assert "Aufruf" in run(installed / "bin/placet", "--help", cwd=tmp_path, environment=german)
    module = "daemon.cli.commands.operation.systemd_unit"
    ask = f"from {module} import unit_text; print(unit_text({{'HOME': '/home/a'}}))"
    unit = run(installed / "bin/python", "-c", ask, cwd=tmp_path)
    assert f"ExecStart={installed}/bin/placet up" in unit


def test_the_installed_packages_are_the_wheels(installed: Path, tmp_path: Path) -> None:
    ask = "import daemon, store, syncproto; print(daemon.__file__, store.__file__, syncproto.__file__)"
    for place in run(installed / "bin/python", "-c", ask, cwd=tmp_path).split():
        assert place.startswith(str(installed))


def test_no_other_distribution_owns_our_packages() -> None:
    others = [distribution for distribution in distributions() if distribution.name.lower() != "placet"]
    assert others
    for other in others:
        owned = {Path(str(path)).parts[0].removesuffix(".py") for path in other.files or ()}
        assert owned.isdisjoint({*PACKAGES, "placet"}), other.name


def test_what_is_declared_is_what_is_pinned() -> None:
    declared = tomllib.loads(text_of(Path("pyproject.toml")))["project"]["dependencies"]
    names = {line.split(">=")[0] for line in declared}
    listed = {line for line in text_of(Path("requirements/run.in")).splitlines() if not line.startswith("#")}
    assert names == listed


def test_every_declared_dependency_is_imported() -> None:
    code = "\n".join(text_of(path) for path in modules(*PACKAGES))
    imported = set(re.findall(r"^\s*(?:from|import) (\w+)", code, re.MULTILINE))
    used = {
        name.lower() for top, names in packages_distributions().items() if top in imported for name in names
    }
    declared = tomllib.loads(text_of(Path("pyproject.toml")))["project"]["dependencies"]
    assert {line.split(">=")[0] for line in declared} <= used
