"""Installs the other programs from their ordinary packages, into folders that git ignores.

Never installs over the system's own: only where node is missing, Debian's is added to it.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from bench.peers.outcome import Unavailable

HERE = Path(__file__).parent
INSTALL_S = 240.0


def node() -> str:
    """Return node, with the packages of package-lock.json installed for it."""
    if not (shutil.which("node") and shutil.which("npm")):
        _apt("install", "--yes", "--no-install-recommends", "nodejs", "npm", folder=HERE)
    wanted, marked = HERE / "package-lock.json", HERE / "node_modules" / ".package-lock.json"
    if not marked.exists() or marked.stat().st_mtime < wanted.stat().st_mtime:
        # What is compiled comes along in the packages; none of their scripts is run.
        _run("npm", "ci", "--ignore-scripts", "--loglevel=error", folder=HERE)
        marked.touch()
    text = shutil.which("node")
    if text is None:
        raise Unavailable("nodejs and npm were installed, but node is not on the PATH")
    return text


def syncthing(into: Path = HERE / "installed") -> str:
    """Return Debian's Syncthing, unpacked into a folder unless the machine has one."""
    unpacked = into / "usr" / "bin" / "syncthing"
    text = shutil.which("syncthing")
    if text is None and not unpacked.exists():
        with tempfile.TemporaryDirectory(prefix="placet-peers-") as name:
            folder = Path(name)
            folder.chmod(0o755)  # apt downloads as a user of its own
            _apt("download", "syncthing", folder=folder)
            package = next(folder.glob("syncthing_*.deb"))
            _run("dpkg-deb", "--extract", str(package), str(into), folder=folder)
    return text or str(unpacked)


def _apt(*words: str, folder: Path) -> None:
    """Run apt-get; a machine that has no lists of packages yet gets them first."""
    try:
        _run("apt-get", "--quiet=2", *words, folder=folder)
    except Unavailable:
        if os.geteuid() != 0:
            raise
        _run("apt-get", "--quiet=2", "update", folder=folder)
        _run("apt-get", "--quiet=2", *words, folder=folder)


def _run(*command: str, folder: Path) -> None:
    """Run an installer; say what it said last if it fails."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=True,
        )
    except FileNotFoundError:
        raise Unavailable(f"there is no {command[0]} here") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} did not end within {INSTALL_S:.0f} s") from None
    except subprocess.CalledProcessError as failed:
        lines = [line.removeprefix("npm error").strip() for line in failed.stderr.splitlines()]
        text = "; ".join([line for line in lines if line][:2]) or "it said nothing"
        raise Unavailable(f"{command[0]} failed: {text[:160]}") from None
